/* native.c - functions of extensions in C as captured values: a BUILTIN whose name describes the
 * function.
 *
 *     extension 3 7 f64(f64,i32) sample.stir       the runtime's number, the host's, types, name */
#include <stdlib.h>
#include <string.h>

#include "typed/typed.h"

static const char prefix[] = "extension ", array_prefix[] = "array(";

bool native_is(const char *text) { return !strncmp(text, prefix, strlen(prefix)); }

static int type_length(const char *text, const char *ends) {
  int length = (int)strcspn(text, ends);
  if (strncmp(text, array_prefix, strlen(array_prefix))) return length;
  return (int)strcspn(text, ")") + (text[strcspn(text, ")")] == ')');
}

/* NONE, and sets has_unsupported_types, if the type is neither a number nor an array of numbers. */
static Type read_type(Native *native, TypeTable *types, const char **text, const char *ends) {
  int length = type_length(*text, ends), before = (int)strlen(array_prefix);
  Str name = {*text, length};
  Type type = TYPE(NONE), array = TYPE(NONE);
  bool is_array = !strncmp(*text, array_prefix, (size_t)before);
  if (is_array) name = (Str){*text + before, length - before - 1};
  *text += length;
  if (!type_parse_any(name, &type) || !type_is_scalar(type_shape(type)))
    native->has_unsupported_types = true;
  if (!is_array || native->has_unsupported_types) return type;
  if (!types || !type_array(types, type, 1, &array, &(Error){0}))
    native->has_unsupported_types = true;
  return array;
}

static void read_types(Native *native, TypeTable *types, const char *text) {
  bool is_void = !strncmp(text, "()", 2);
  if (is_void) text += 2;
  else native->result = read_type(native, types, &text, "( ");
  if (*text != '(') native->has_unsupported_types = true;
  else text++;
  while (!native->has_unsupported_types && *text && *text != ')') {
    if (native->count == NATIVE_MOST) native->has_unsupported_types = true;
    else native->parameters[native->count++] = read_type(native, types, &text, ",)");
    if (*text == ',') text++;
  }
}

const Builtin *native_read(Scratch *scratch, TypeTable *types, const char *text) {
  Native *native = scratch_new(scratch, Native);
  Builtin *builtin = scratch_new(scratch, Builtin);
  char *end;
  *native = (Native){.result = TYPE(NONE)};
  native->number = (int)strtol(text + strlen(prefix), &end, 10);
  native->id = (int)strtol(end, &end, 10);
  while (*end == ' ') end++;
  read_types(native, types, end);
  const char *name = strrchr(text, ' ');
  *builtin = (Builtin){.name = name + 1,
                       .form = FORM_NATIVE,
                       .op = IR_CONST,
                       .least = native->count,
                       .most = native->count,
                       .native = native};
  return builtin;
}
