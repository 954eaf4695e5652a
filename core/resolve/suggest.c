/* suggest.c - hints for unknown names: a similar one, the library's, or the equivalent of another
 * language's. */
#include <stdio.h>

#include "resolve/resolve.h"

typedef struct Word {
  const char *foreign, *ours;
} Word;

static const Word types[] = {
    {"int", "i32"},       {"integer", "i32"},   {"int32", "i32"},    {"long", "i64"},
    {"int64", "i64"},     {"int64_t", "i64"},   {"int32_t", "i32"},  {"short", "i16"},
    {"char", "i8"},       {"byte", "u8"},       {"uint8", "u8"},     {"uint", "u32"},
    {"uint32", "u32"},    {"uint64", "u64"},    {"size_t", "i64"},   {"float", "f32"},
    {"number", "f64"},    {"double", "f64"},    {"float32", "f32"},  {"float64", "f64"},
    {"half", "f16"},      {"float16", "f16"},   {"boolean", "bool"}, {"vec2f", "vec2"},
    {"vec3f", "vec3"},    {"float2", "vec2"},   {"float3", "vec3"},  {"float4", "vec4"},
    {"double2", "dvec2"}, {"double3", "dvec3"}, {"int2", "ivec2"},   {"int3", "ivec3"},
    {"vector", "vec3"},   {"matrix", "mat3"},
};
static const Word functions[] = {
    {"length", "norm"},
    {"lenght", "norm"},
    {"magnitude", "norm"},
    {"len", "norm"},
    {"mag", "norm"},
    {"normalized", "normalize"},
    {"normalise", "normalize"},
    {"unit", "normalize"},
    {"lerp", "mix"},
    {"inv", "inverse"},
    {"det", "determinant"},
    {"transposed", "transpose"},
    {"saturate", "clamp"},
    {"outer_product", "outer"},
};

static const Word methods[] = {
    {"push", "append"},     {"insert", "append"},     {"add_element", "append"},
    {"len", "length"},      {"size", "count"},        {"each", "items"},
    {"iter", "items"},      {"remove", "deactivate"}, {"delete", "deactivate"},
    {"free", "deactivate"}, {"swap", "exchange"},     {"cas", "compare_exchange"},
    {"atomic_add", "add"},  {"atomic_max", "max"},    {"atomic_min", "min"},
};

static const char *translate(Str word, const Word *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (str_is(word, words[i].foreign)) return words[i].ours;
  return NULL;
}
#define TRANSLATE(word, words) translate(word, words, sizeof words / sizeof words[0])

static const char *did_you_mean(Resolve *r, const char *prefix, const char *name) {
  return name ? scratch_format(r->scratch, "did you mean '%s%s'?", prefix, name) : NULL;
}

static Str after_dot(Str name) {
  int from = name.length;
  while (from > 0 && name.data[from - 1] != '.') from--;
  return (Str){name.data + from, name.length - from};
}

/* -- types ------------------------------------------------------------------------------------- */

const char *suggest_type(Resolve *r, const char *name) {
  static const char *const known[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                      "u16",  "u32", "u64", "f16", "f32", "f64"};
  Str last = after_dot(str_of(name));
  const char *ours = TRANSLATE(last, types);
  if (!ours) ours = str_nearest(last, known, sizeof known / sizeof known[0]);
  return ours ? did_you_mean(r, "", ours)
              : "a type is one of rg's, such as i32 or vec2, or what a global or a capture holds";
}

/* -- library names ---------------------------------------------------------------------- */

/* A bare name that is in a library: `sin` for math.sin. */
static const char *in_library(Resolve *r, Str name) {
  static const char *const libraries[] = {"rg.", "math.", "bit."};
  Type type;
  for (int i = 0; i < 3; i++) {
    const char *full = scratch_format(r->scratch, "%s%.*s", libraries[i], name.length, name.data);
    if (builtin_find(full)) return did_you_mean(r, "", full);
  }
  return type_parse_any(name, &type) ? did_you_mean(r, "rg.", sema_text(r->s, name)) : NULL;
}

const char *suggest_name(Resolve *r, Str name) {
  const char *near = resolve_nearest(r, name);
  return near ? near : in_library(r, name);
}

const char *suggest_builtin(Resolve *r, Str path) {
  Str last = after_dot(path);
  const char *ours = TRANSLATE(last, functions), *type = TRANSLATE(last, types);
  if (ours) return did_you_mean(r, "rg.", ours);
  if (type) return did_you_mean(r, "rg.", type);
  const char *elsewhere = in_library(r, last); /* math.min for rg.min */
  return elsewhere ? elsewhere : did_you_mean(r, "", builtin_nearest(path));
}

/* -- members ----------------------------------------------------------------------------------- */

const char *suggest_vector_member(Resolve *r, Str name, bool is_call) {
  const char *ours = TRANSLATE(name, functions);
  if (builtin_method(name))
    return scratch_format(r->scratch, "call it: v:%.*s()", name.length, name.data);
  if (ours) return scratch_format(r->scratch, "did you mean ':%s()'?", ours);
  const char *path =
      scratch_format(r->scratch, "rg.%.*s", name.length < 30 ? name.length : 30, name.data);
  const char *near = is_call ? builtin_nearest(str_of(path)) : NULL;
  if (near && builtin_method(str_of(near + strlen("rg."))))
    return did_you_mean(r, "", near + strlen("rg."));
  return is_call ? "they have dot cross norm normalize outer transpose trace determinant inverse "
                   "clamp mix .."
                 : NULL;
}

const char *suggest_field_member(Resolve *r, Str name, const char *object) {
  static const char *const members[] = {"shape", "offset", "type"};
  const char *near = str_nearest(name, members, 3);
  if (method_find(name))
    return scratch_format(r->scratch, "call it: %s:%s(..)", object, sema_text(r->s, name));
  if (near) return did_you_mean(r, "", near);
  if (str_is(name, "length") || str_is(name, "size"))
    return scratch_format(r->scratch, "write #%s or %s.shape[0]", object, object);
  return "in a kernel it has 'shape', 'offset' and 'type'";
}

const char *suggest_method(Resolve *r, Str name) {
  const char *ours = TRANSLATE(name, methods);
  return did_you_mean(r, "", ours ? ours : method_nearest(name));
}

const char *suggest_modifier(Resolve *r, Str name) {
  static const char *const known[] = {"serial", "block",  "independent",
                                      "vec",    "scalar", "global"};
  const char *near = str_nearest(name, known, (int)(sizeof known / sizeof *known));
  return near ? did_you_mean(r, "", near)
              : "loops have ':serial()', ':block(n)', ':vec()', ':independent()', ':scalar()' and "
                "':global()'";
}
