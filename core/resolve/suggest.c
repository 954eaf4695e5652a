/* suggest.c - hints for unknown names: a similar one, the library's, or the equivalent of another
 * language's. */
#include <stdio.h>

#include "resolve/resolve.h"

static const char *did_you_mean(Resolve *r, const char *prefix, const char *name) {
  return name ? scratch_format(r->scratch, "did you mean '%s%s'?", prefix, name) : NULL;
}

/* -- types ------------------------------------------------------------------------------------- */

/* Our type for a type name of other languages. */
static const char *type_meant(Str word) {
  Type type;
  const char *ours;
  for (int number = 0; (ours = str_synonym(word, number)); number++)
    if (type_parse_any(str_of(ours), &type)) return ours;
  return NULL;
}

const char *suggest_type(Resolve *r, const char *name) {
  static const char *const known[] = {
#define SCALAR(NAME, TEXT, ...) TEXT,
#include "type/type.def"
#undef SCALAR
  };
  Str last = str_after_dot(str_of(name));
  const char *ours = type_meant(last);
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

/* Functions that rg does not have, as formulas. */
static const struct {
  const char *name, *written;
} formulas[] = {
    {"reflect", "v - 2 * v:dot(n) * n"},
    {"distance", "(a - b):norm()"},
    {"dist", "(a - b):norm()"},
    {"fract", "x - rg.floor(x)"},
    {"norm_sqr", "v:dot(v)"},
    {"length2", "v:dot(v)"},
    {"dot2", "v:dot(v)"},
    {"sqr", "x * x"},
    {"square", "x * x"},
    {"rsqrt", "1 / math.sqrt(x)"},
    {"log2", "math.log(x, 2)"},
    {"exp2", "2 ^ x"},
    {"cbrt", "rg.sign(x) * math.abs(x) ^ (1 / 3)"},
    {"trunc", "x < 0 and math.ceil(x) or math.floor(x)"},
};

static const char *formula(Resolve *r, Str name) {
  if (name.length > 7 && !memcmp(name.data, "atomic_", 7))
    return "updates such as x[i] = x[i] + v are atomic; x:add(i, v) also returns the old value";
  for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
    if (str_is(name, formulas[i].name))
      return scratch_format(r->scratch, "write the formula: %s", formulas[i].written);
  return NULL;
}

const char *suggest_builtin(Resolve *r, Str path) {
  Str last = str_after_dot(path);
  const char *elsewhere = in_library(r, last); /* math.min for rg.min */
  if (elsewhere) return elsewhere;
  const char *near = builtin_nearest(path), *type = type_meant(last);
  if (near) return did_you_mean(r, "", near);
  return type ? did_you_mean(r, "rg.", type) : formula(r, last);
}

/* -- members ----------------------------------------------------------------------------------- */

/* A library function that takes vectors but is not a method: `v:abs()`. */
static const char *takes_vector(Resolve *r, Str name) {
  static const char *const libraries[] = {"rg.", "math."};
  for (int i = 0; i < 2; i++) {
    const Builtin *found =
        builtin_find(scratch_format(r->scratch, "%s%.*s", libraries[i], name.length, name.data));
    if (found && found->least <= 1 && found->most >= 1)
      return scratch_format(r->scratch, "did you mean '%s(v)'?", found->name);
  }
  return NULL;
}

/* A method of vectors that the user named by a synonym, or misspelt. */
static const char *vector_method(Resolve *r, Str name) {
  const char *ours, *path = scratch_format(r->scratch, "rg.%.*s", name.length, name.data);
  for (int number = 0; (ours = str_synonym(name, number)); number++)
    if (builtin_method(str_of(ours))) return ours;
  const char *near = builtin_nearest(str_of(path));
  return near && builtin_method(str_of(near + strlen("rg."))) ? near + strlen("rg.") : NULL;
}

const char *suggest_vector_member(Resolve *r, Str name, bool is_call) {
  if (builtin_method(name))
    return scratch_format(r->scratch, "call it: v:%.*s()", name.length, name.data);
  const char *function = takes_vector(r, name), *method = vector_method(r, name);
  if (function) return function;
  if (method) return scratch_format(r->scratch, "did you mean ':%s()'?", method);
  const char *written = formula(r, name);
  if (written || !is_call) return written;
  return "they have dot cross norm normalize outer transpose trace determinant inverse clamp mix "
         "..";
}

const char *suggest_field_member(Resolve *r, Str name, const char *object) {
  static const char *const members[] = {"shape", "offset", "type"};
  const char *near = str_nearest(name, members, 3);
  if (method_find(name))
    return scratch_format(r->scratch, "call it: %s:%s(..)", object, sema_text(r->s, name));
  if (str_is(name, "length") || str_is(name, "size") || str_is(name, "len"))
    return scratch_format(r->scratch, "write #%s or %s.shape[0]", object, object);
  if (near) return did_you_mean(r, "", near);
  if (str_is(name, "grad")) return "make it with one: rg.field(rg.f32, n, { grad = true })";
  return scratch_format(r->scratch,
                        "in a kernel fields have 'shape', 'offset' and 'type'; a member is one of "
                        "an element, %s[i].%s",
                        object, sema_text(r->s, name));
}

const char *suggest_method(Resolve *r, Str name) {
  static const char *const of_all[] = {"sum",    "mean", "norm", "dot",    "argmin",
                                       "argmax", "any",  "all",  "equals", "map"};
  for (size_t k = 0; k < sizeof of_all / sizeof *of_all; k++)
    if (str_is(name, of_all[k]))
      return "it is called outside kernels; a kernel has a loop: s = s + x[i]";
  return did_you_mean(r, "", method_nearest(name));
}

const char *suggest_modifier(Resolve *r, Str name) {
  static const char *const known[] = {"serial", "block", "independent", "vec", "scalar", "global"};
  const char *near = str_nearest(name, known, (int)(sizeof known / sizeof *known));
  return near ? did_you_mean(r, "", near)
              : "loops have ':serial()', ':block(n)', ':vec()', ':independent()', ':scalar()' and "
                "':global()'";
}
