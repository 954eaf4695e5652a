/* type.c - what a type is called and how large it is; every fact comes from a row of type.def. */
#include "type/type.h"

typedef struct ScalarInfo {
  const char *text;
  uint8_t bytes;
  char class;
} ScalarInfo;

static const ScalarInfo scalars[] = {
    [TYPE_NONE] = {"nothing", 0, 'N'},
#define SCALAR(NAME, TEXT, BYTES, CLASS) [TYPE_##NAME] = {TEXT, BYTES, #CLASS[0]},
#include "type/type.def"
#undef SCALAR
    [TYPE_PTR] = {"ptr", 8, 'P'},
    [TYPE_PLACE] = {"place", 0, 'P'},
};
enum { SCALAR_COUNT = sizeof scalars / sizeof scalars[0] };

static const ScalarInfo *info_of(Type t) { return &scalars[t.scalar < SCALAR_COUNT ? t.scalar : TYPE_NONE]; }

bool type_is_bool(Type t) { return info_of(t)->class == 'B'; }
bool type_is_signed(Type t) { return info_of(t)->class == 'S'; }
bool type_is_unsigned(Type t) { return info_of(t)->class == 'U'; }
bool type_is_integer(Type t) { return type_is_signed(t) || type_is_unsigned(t); }
bool type_is_float(Type t) { return info_of(t)->class == 'F'; }

int type_size(Type t) { return info_of(t)->bytes * t.rows * t.cols; }
int type_bits(Type t) { return type_is_bool(t) ? 1 : info_of(t)->bytes * 8; }

const char *type_text(Type t) {
  if (t.scalar != TYPE_NONE && t.cols > 1) return "a matrix";
  if (t.scalar != TYPE_NONE && t.rows > 1) return "a vector";
  return info_of(t)->text;
}

bool type_parse(Str text, Type *type) {
  for (int kind = TYPE_NONE + 1; kind < TYPE_PTR; kind++) {
    if (!str_is(text, scalars[kind].text)) continue;
    *type = type_scalar((ScalarKind)kind);
    return true;
  }
  return false;
}
