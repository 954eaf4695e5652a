/* maths_api.c - mathematics as kernels compute it, for hosts: the runtime's own functions. */
#include "maths.h"

#include <stddef.h>
#include <string.h>

#include "api/api.h"

#define CALL_1(function, T) function((T)x)
#define CALL_2(function, T) function((T)x, (T)y)
#define MATH(OP, name, arguments) \
  static double name##_f32(double x, double y) { \
    (void)y; \
    return (double)CALL_##arguments(rt_##name##_f32, float); \
  } \
  static double name##_f64(double x, double y) { \
    (void)y; \
    return CALL_##arguments(rt_##name##_f64, double); \
  }
#include "maths.def"
#undef MATH

static const struct {
  const char *name;
  RgMath f32, f64;
} functions[] = {
#define MATH(OP, name, arguments) {#name, name##_f32, name##_f64},
#include "maths.def"
#undef MATH
};

RgMath rg_math(const char *name, int32_t single) {
  for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name)) return single ? functions[i].f32 : functions[i].f64;
  return NULL;
}
