/* maths_parts.h - building blocks shared by the functions for both types. Polynomials interpolate
 * at Chebyshev points, with rounded coefficients; the comment after each is its error. */
#ifndef RG_RT_MATHS_PARTS_H
#define RG_RT_MATHS_PARTS_H

#include "maths_lane.h"

/* ln 2; the high part has few enough digits for exact multiples */
#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define LN2 0x1.62e42fefa39efp-1
#define LOG2E 0x1.71547652b82fep+0
#define PI_HIGH 0x1.921fb54442d18p+1
#define PI_LOW 0x1.1a62633145c07p-53
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
/* pi / 2 in pieces of 33 bits, and the remainder */
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a600000p-34
#define HALF_PI_3 0x1.3198a2e000000p-69
#define HALF_PI_4 0x1.b839a252049c1p-104
#define HALF_PI_REST 0x1.0b4611a626331p-34

/* declared again, more precisely than in rt.h: these entries are pure functions of numbers */
__attribute__((const)) double rt_math_reduce(double x, int32_t part);
__attribute__((const)) double rt_math_fmod(double x, double y);

INLINE V within(V x, double low, double high) {
  x = x < low ? (V)low : x;
  return x > high ? (V)high : x;
}

/* -- powers of two ----------------------------------------------------------------------------- */

/* v * 2^n, where shifted = n + ROUNDER and |n| < 2000: in two steps, so that a result below the
 * normal numbers is rounded once. */
INLINE V times_power(V v, V shifted) {
  U sum = (bits_of(shifted) + 2048u) & 0xfffu, half = sum >> 1;
  return v * from_bits((half - 1u) << 52) * from_bits((sum - half - 1u) << 52);
}

/* A positive number as 2^exponent * fraction, sqrt(1/2) <= fraction < sqrt(2). */
typedef struct Split {
  V fraction, exponent;
} Split;

INLINE Split split_normal(V x) {
  U bits = bits_of(x) - 0x3fe6a09e667f3bcdu + ((uint64_t)1023 << 52);
  V biased = from_bits((bits >> 52) | 0x4330000000000000u);
  return (Split){from_bits((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu),
                 biased - (0x1p52 + 1023)};
}

INLINE Split split(V x) {
  M is_small = x < 0x1p-1022;
  Split parts = split_normal(is_small ? x * 0x1p54 : x);
  parts.exponent = is_small ? parts.exponent - 54.0 : parts.exponent;
  return parts;
}

/* -- special values, as the C standard has them ------------------------------------------------ */

/* `value` is log(x) of a positive x */
INLINE V at_edges_of_log(V x, V value) {
  if (__builtin_expect(!any(!((x > 0.0) & (x < __builtin_inf()))), 1)) return value;
  value = x == __builtin_inf() ? x : value;
  value = x == 0.0 ? (V)-__builtin_inf() : value;
  return x < 0.0 ? (V)__builtin_nan("") : x != x ? x : value;
}

/* `value` is |x|^y of finite numbers; a negative x has only powers with a whole y */
INLINE V at_edges_of_pow(V x, V y, V value) {
  V size = magnitude(x), height = magnitude(y), half = height * 0.5;
  M is_plain = (x > 0.0) & (x < __builtin_inf()) & (height < __builtin_inf());
  if (__builtin_expect(!any(!is_plain), 1)) return value;
  M is_whole = (height >= 0x1p52) | ((height + 0x1p52) - 0x1p52 == height);
  M is_odd = is_whole & (height < 0x1p53) & ((half + 0x1p52) - 0x1p52 != half);
  M to_zero = (size == 0.0) != (y < 0.0);
  M is_end = (size == 0.0) | (size == __builtin_inf());
  value = is_end ? (to_zero ? (V)0.0 : (V)__builtin_inf()) : value;
  M is_negative = (bits_of(x) & SIGN) != 0u;
  value = (is_negative & is_odd) ? -value : value;
  value = (is_negative & !is_whole & !is_end) ? (V)__builtin_nan("") : value;
  value = ((x != x) | (y != y)) ? x + y : value;
  M is_one = (x == 1.0) | (y == 0.0) | ((size == 1.0) & (height == __builtin_inf()));
  return is_one ? (V)1.0 : value;
}

/* -- angles ------------------------------------------------------------------------------------ */

/* An angle reduced by a multiple of pi / 2: high + low in about -pi/4 .. pi/4, and the low bits of
 * the multiple. */
typedef struct Angle {
  U quadrant;
  V high, low;
} Angle;

/* beyond this angle, multiples of the pieces are no longer exact */
#define NEAR_ANGLE 0x1.8p20

INLINE void reduce_far(V x, Angle *angle) {
  M is_far = magnitude(x) > NEAR_ANGLE;
  if (__builtin_expect(!any(is_far), 1)) return;
  EACH_LANE(i) {
    if (!LANE(is_far, i)) continue;
    LANE(angle->quadrant, i) = (uint64_t)rt_math_reduce(LANE(x, i), 0);
    LANE(angle->high, i) = rt_math_reduce(LANE(x, i), 1);
    LANE(angle->low, i) = rt_math_reduce(LANE(x, i), 2);
  }
}

/* a - b, and its rounding error */
INLINE V minus_exactly(V a, V b, V *rest) {
  V sum = a - b, taken = a - sum;
  *rest = (a - (sum + taken)) + (taken - b);
  return sum;
}

INLINE Angle reduce(V x) {
  V shifted = x * TWO_OVER_PI + ROUNDER, n = shifted - ROUNDER, rest_2, rest_3;
  V left = minus_exactly(x - n * HALF_PI_1, n * HALF_PI_2, &rest_2);
  left = minus_exactly(left, n * HALF_PI_3, &rest_3);
  V low = (rest_2 + rest_3) - n * HALF_PI_4, high = left + low;
  Angle angle = {bits_of(shifted), high, (left - high) + low};
  reduce_far(x, &angle);
  return angle;
}

/* for a result in f32 */
INLINE Angle reduce_single(V x) {
  V shifted = x * TWO_OVER_PI + ROUNDER, n = shifted - ROUNDER;
  Angle angle = {bits_of(shifted), (x - n * HALF_PI_1) - n * HALF_PI_REST, (V)0.0};
  reduce_far(x, &angle);
  return angle;
}

#define IS_ODD(quadrant) (((quadrant) & 1u) != 0u)
/* -v in quadrants 2 and 3 */
INLINE V flip(V v, U quadrant) { return from_bits(bits_of(v) ^ (quadrant & 2u) << 62); }

#endif
