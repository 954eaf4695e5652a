/* builtin.c - the functions and methods that kernels know, found by name. */
#include <stdio.h>

#include "typed/typed.h"

static const Builtin builtins[] = {
#define BUILTIN(NAME, FORM, OP, LEAST, MOST) \
  {NAME, FORM_##FORM, IR_##OP, LEAST, MOST, ALGEBRA_NONE, NULL, NULL},
#define ALGEBRA(NAME, WHICH, COUNT) \
  {NAME, FORM_ALGEBRA, IR_CONST, COUNT, COUNT, ALGEBRA_##WHICH, NULL, NULL},
#define LIBRARY(NAME, TAKES) \
  {NAME, FORM_LIBRARY, IR_CONST, sizeof TAKES - 1, sizeof TAKES - 1, ALGEBRA_NONE, TAKES, NULL},
#define ARRAY(NAME, WHICH, LEAST, MOST) \
  {NAME, FORM_ARRAY, IR_CONST, LEAST, MOST, ARRAY_##WHICH, NULL, NULL},
#include "typed/builtin.def"
#undef ARRAY
#undef LIBRARY
#undef ALGEBRA
#undef BUILTIN
};
enum { BUILTIN_COUNT = sizeof builtins / sizeof builtins[0] };

static const Method methods[] = {
#define METHOD(NAME, FORM, OP, VALUES) {NAME, METHOD_##FORM, OP, VALUES},
#include "typed/method.def"
#undef METHOD
};
enum { METHOD_COUNT_ROWS = sizeof methods / sizeof methods[0] };

const Builtin *builtin_find(const char *name) {
  for (int i = 0; i < BUILTIN_COUNT; i++)
    if (!strcmp(builtins[i].name, name)) return &builtins[i];
  return NULL;
}

const Builtin *builtin_method(Str name) {
  char full[24];
  if (name.length > 16) return NULL;
  snprintf(full, sizeof full, "rg.%.*s", name.length, name.data);
  const Builtin *builtin = builtin_find(full);
  return builtin && (builtin->form == FORM_ALGEBRA || builtin->form == FORM_ROUND ||
                     builtin->form == FORM_LIBRARY)
             ? builtin
             : NULL;
}

const Builtin *builtin_of_array(Str name) {
  char full[24];
  if (name.length > 16) return NULL;
  snprintf(full, sizeof full, "array.%.*s", name.length, name.data);
  return builtin_find(full);
}

const Method *method_find(Str name) {
  for (int i = 0; i < METHOD_COUNT_ROWS; i++)
    if (str_is(name, methods[i].name)) return &methods[i];
  return NULL;
}

const char *builtin_nearest(Str name) {
  const char *names[BUILTIN_COUNT];
  for (int i = 0; i < BUILTIN_COUNT; i++) names[i] = builtins[i].name;
  return str_nearest(name, names, BUILTIN_COUNT);
}

const char *method_nearest(Str name) {
  const char *names[METHOD_COUNT_ROWS];
  int count = 0;
  for (int i = 0; i < METHOD_COUNT_ROWS; i++)
    if (methods[i].form != METHOD_HOST) names[count++] = methods[i].name;
  return str_nearest(name, names, count);
}
