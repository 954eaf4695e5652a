/* roots.c - powers of the reciprocal square root of lanes, under fast_math: RSQRT and RSQRT_CUBE on
 * machines with AVX-512, which estimate 1 / sqrt(x) to 14 bits. With y near 1 / sqrt(x), n odd, and
 * e = 1 - x * y^2, which is small,
 *
 *     1 / sqrt(x)^n  =  y^n * (1 - e)^(-n/2)  =  y^n * (1 + n/2 * e + ..)
 *
 * (a Newton-Raphson step). The omitted term is 1.9 e^2 for n = 3: with e below 2^-13 this is less
 * than half an ulp of an f32. An f64 needs one more refinement of y. The result needs neither root
 * nor division, which share one slow execution unit. If x is 0 or infinite, or y^n is infinite, y^n
 * is already right and must not be corrected. LLVM's own estimates give NaN there, so they are
 * turned off (function_open in codegen). Only linked into kernels, where `power`, 1 or 3, and
 * `unscaled` are constants. Decisions D-codegen-07, D-codegen-30. */
#include <stdint.h>

#define INLINED __attribute__((always_inline))
#define VECTOR(type, lanes) type __attribute__((ext_vector_type(lanes)))
#define FMA __builtin_elementwise_fma

/* A number of 24 bits near 5/3, for which the factor that is left out of an unscaled cube,
 * IR_CUBE_SCALE, is 1 / (CUBE - 1) with an error of 2^-44. */
#define CUBE 0x1.aaaaa8p+0

/* For 0, infinity and the smallest x, e is NaN or -infinity; the maximum instruction then returns
 * its other operand, and y^power is not changed. Where x is usual (neither it nor the power is 0 or
 * infinite), a branch skips that. The correction of an unscaled cube is a single multiplication. */
#define ROOTS(type, name, lanes, estimate) \
  typedef VECTOR(type, lanes) name; \
  static inline INLINED name corrected_##name(name x, name y, int32_t power, int32_t unscaled, \
                                              int32_t is_usual) { \
    const name one = unscaled ? (type)CUBE : 1, least = one - (type)1.5; \
    name product = (power == 1 ? x : y) * y; \
    name e = FMA(-(power == 1 ? y : x), product, one); \
    if (!__builtin_expect(is_usual, 1)) e = e > least ? e : least; \
    name factor = unscaled ? e : FMA(e, (name)((type)0.5 * (type)power), (name)1); \
    return (power == 1 ? y : product * y) * factor; \
  } \
  INLINED name rt_root_##name(name x, int32_t power, int32_t unscaled, int32_t is_usual) { \
    name y = estimate(x, (name)0, -1); \
    if (sizeof(type) == 8) y = corrected_##name(x, y, 1, 0, 0); \
    return corrected_##name(x, y, power, unscaled, is_usual); \
  }
ROOTS(float, f32x4, 4, __builtin_ia32_rsqrt14ps128_mask)
ROOTS(float, f32x8, 8, __builtin_ia32_rsqrt14ps256_mask)
ROOTS(float, f32x16, 16, __builtin_ia32_rsqrt14ps512_mask)
ROOTS(double, f64x2, 2, __builtin_ia32_rsqrt14pd128_mask)
ROOTS(double, f64x4, 4, __builtin_ia32_rsqrt14pd256_mask)
ROOTS(double, f64x8, 8, __builtin_ia32_rsqrt14pd512_mask)

/* sum + root * root, rounded toward 0, so that a sum of finite numbers is finite. */
INLINED f32x16 rt_add_square_f32x16(f32x16 sum, f32x16 root) {
  enum { TOWARD_0 = 8 | 3 }; /* and no exceptions */
  return __builtin_ia32_vfmaddps512_mask(root, root, sum, -1, TOWARD_0);
}

/* Whether x, a sum of squares and this number, is usual: powers of numbers from TINY, 1e-25, on are
 * finite. Compares as integers, since LLVM may sink the comparison into the loop, where it should
 * not take a slot of the float units. */
INLINED int32_t rt_is_usual_f32(float rest) {
  enum { TINY = 0x16000000, INFINITE = 0x7f800000 };
  union {
    float number;
    uint32_t bits;
  } same = {rest};
  return same.bits - TINY < INFINITE - TINY;
}
