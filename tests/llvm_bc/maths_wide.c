/* maths_wide.c - the runtime's mathematics for LANES numbers at once, behind pointers, so that
 * maths_test.c, which knows no vectors, can call it. Compiled by clang, once for each LANES. */
#include "maths.c"

#define WIDE_1(f, type, x, y) NAMED(f, type)(x)
#define WIDE_2(f, type, x, y) NAMED(f, type)(x, y)
#define JOIN(name, type, lanes) wide_##name##_##type##x##lanes
#define JOIN_LANES(name, type, lanes) JOIN(name, type, lanes)

#define WIDE(name, arguments, type, T, VECTOR) \
  void JOIN_LANES(name, type, LANES)(const T *a, const T *b, T *out); \
  void JOIN_LANES(name, type, LANES)(const T *a, const T *b, T *out) { \
    VECTOR x, y; \
    for (int i = 0; i < LANES; i++) x[i] = a[i], y[i] = b[i]; \
    (void)y; \
    x = WIDE_##arguments(name, type, x, y); \
    for (int i = 0; i < LANES; i++) out[i] = x[i]; \
  }
#if LANES != 2
#define MATH(OP, name, arguments) WIDE(name, arguments, f32, float, S)
#include "maths.def"
#undef MATH
#endif
#if LANES != 16
#define MATH(OP, name, arguments) WIDE(name, arguments, f64, double, V)
#include "maths.def"
#undef MATH
#endif
