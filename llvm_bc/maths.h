/* maths.h - the functions of maths.def for one number, for the core: constant folding and
 * arch = "lua" run the same source as kernels do. */
#ifndef RG_RT_MATHS_H
#define RG_RT_MATHS_H

#include <stdint.h>

#define MATH_1(name, type, T) __attribute__((const)) T rt_##name##_##type(T x);
#define MATH_2(name, type, T) __attribute__((const)) T rt_##name##_##type(T x, T y);
#define MATH(OP, name, arguments) \
  MATH_##arguments(name, f32, float) MATH_##arguments(name, f64, double)
#include "maths.def"
#undef MATH
#undef MATH_1
#undef MATH_2

#endif
