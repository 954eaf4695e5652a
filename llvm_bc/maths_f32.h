/* maths_f32.h - the functions for f32: computed in doubles to some 35 digits and rounded once. So a
 * result differs from the correctly rounded one in about one of a thousand cases, by an error of
 * 0.501 units in the last place. */
#include "maths_parts.h"

/* e^x of -150 < x < 150 */
INLINE V single_exp(V x) {
  V shifted = x * LOG2E + ROUNDER, r = x - (shifted - ROUNDER) * LN2;
  V q = POLYNOMIAL(r, 0x1.0000000000000p-1, 0x1.55555567532adp-3, 0x1.5555555c87148p-5,
                   0x1.1110c632a3088p-7, 0x1.6c16858b7acb9p-10, 0x1.a15179d80ae96p-13,
                   0x1.a1132015ba37ep-16); /* 2^-35 */
  return from_bits(bits_of((1.0 + r) + r * r * q) + (bits_of(shifted) << 52));
}

S NAMED(exp, f32)(S x) { return narrow(single_exp(within(widen(x), -120, 120))); }

/* the natural logarithm of 2^exponent * fraction, by 2 atanh(f / (2 + f)) */
INLINE V single_log_fraction(V fraction) {
  V f = fraction - 1.0, s = f / (2.0 + f), z = s * s;
  return 2.0 * s + s * z *
                       POLYNOMIAL(z, 0x1.55555555553b8p-1, 0x1.9999999b86b7cp-2,
                                  0x1.2492462aa8c89p-2, 0x1.c71fcd1ced0aep-3, 0x1.7382d06f0c1dep-3,
                                  0x1.546adfbbda333p-3); /* 2^-44 */
}

S NAMED(log, f32)(S number) {
  V x = widen(number);
  Split parts = split_normal(x);
  return narrow(at_edges_of_log(x, single_log_fraction(parts.fraction) + parts.exponent * LN2));
}

S NAMED(log10, f32)(S number) {
  V x = widen(number);
  Split parts = split_normal(x);
  V value = single_log_fraction(parts.fraction) * 0x1.bcb7b1526e50ep-2 +
            parts.exponent * 0x1.34413509f79ffp-2;
  return narrow(at_edges_of_log(x, value));
}

/* -- angles ------------------------------------------------------------------------------------ */

INLINE V single_sine(V r, V z) {
  return r * (1.0 + z * POLYNOMIAL(z, -0x1.555555545dd83p-3, 0x1.11110deeb33b2p-7,
                                   -0x1.a013a6edc8f34p-13, 0x1.6dbdd26f56d2dp-19)); /* 2^-35 */
}
INLINE V single_cosine(V z) {
  return (1.0 - 0.5 * z) + z * z *
                               POLYNOMIAL(z, 0x1.5555555502be6p-5, -0x1.6c16bf5495185p-10,
                                          0x1.a015c40ec65ecp-16,
                                          -0x1.25242a3a17327p-22); /* 2^-38 */
}

S NAMED(sin, f32)(S x) {
  Angle a = reduce_single(widen(x));
  V z = a.high * a.high, s = single_sine(a.high, z), c = single_cosine(z);
  return narrow(flip(IS_ODD(a.quadrant) ? c : s, a.quadrant));
}

S NAMED(cos, f32)(S x) {
  Angle a = reduce_single(widen(x));
  V z = a.high * a.high, s = single_sine(a.high, z), c = single_cosine(z);
  return narrow(flip(IS_ODD(a.quadrant) ? s : c, a.quadrant + 1u));
}

S NAMED(tan, f32)(S x) {
  Angle a = reduce_single(widen(x));
  V z = a.high * a.high, s = single_sine(a.high, z), c = single_cosine(z);
  M odd = IS_ODD(a.quadrant);
  return narrow((odd ? -c : s) / (odd ? s : c));
}

/* asin(t) / t of t * t = z <= 1/4 */
INLINE V single_arcsine(V z) {
  return 1.0 + z * POLYNOMIAL(z, 0x1.55555554ede81p-3, 0x1.333334d009e10p-4, 0x1.6db5cef583cefp-5,
                              0x1.f20913ba8d370p-6, 0x1.6a9c2ffd8a6d0p-6, 0x1.3c5d44991a0f2p-6,
                              0x1.64157dc57bfb9p-8, 0x1.e055c6ab71d4cp-6); /* 2^-36 */
}

S NAMED(asin, f32)(S number) {
  V x = widen(number), size = magnitude(x), half = 0.5 - 0.5 * size;
  M is_large = size > 0.5;
  V t = is_large ? root(half) : size;
  V value = t * single_arcsine(is_large ? half : x * x);
  return narrow(signed_as(is_large ? PI_HIGH / 2 - 2.0 * value : value, x));
}

S NAMED(acos, f32)(S number) {
  V x = widen(number), size = magnitude(x), half = 0.5 - 0.5 * size;
  M is_large = size > 0.5;
  V t = is_large ? root(half) : x;
  V value = t * single_arcsine(is_large ? half : x * x);
  V large = x < 0.0 ? PI_HIGH - 2.0 * value : 2.0 * value;
  return narrow(is_large ? large : PI_HIGH / 2 - value);
}

/* atan(y / x) of positive numbers, neither both 0 nor both infinite */
INLINE V single_arctangent(V y, V x) {
  M is_flat = y < 0.5 * x, is_steep = y > 2.0 * x;
  V above = is_flat ? y : is_steep ? -x : y - x, below = is_flat ? x : is_steep ? y : y + x;
  V base = is_flat ? (V)0.0 : is_steep ? (V)(PI_HIGH / 2) : (V)(PI_HIGH / 4);
  V t = above / below, z = t * t;
  V rest = t * z *
           POLYNOMIAL(z, -0x1.5555555526564p-2, 0x1.999998dd5c199p-3, -0x1.24920ad95fe5bp-3,
                      0x1.c70c9aef0f951p-4, -0x1.735ced515af99p-4, 0x1.321dd6d863431p-4,
                      -0x1.c5d6bf841debdp-5, 0x1.a6c6fad583813p-6); /* 2^-36 */
  return base + (t + rest);
}

S NAMED(atan, f32)(S number) {
  V x = widen(number);
  return narrow(signed_as(single_arctangent(magnitude(x), (V)1.0), x));
}

S NAMED(atan2, f32)(S above, S below) {
  V y = widen(above), x = widen(below), height = magnitude(y), width = magnitude(x);
  M both = (height == width) & (height == __builtin_inf());
  height = both ? (V)1.0 : height;
  width = (both | ((height == 0.0) & (width == 0.0))) ? (V)1.0 : width;
  V angle = single_arctangent(height, width);
  angle = (bits_of(x) & SIGN) != 0u ? PI_HIGH - angle : angle;
  return narrow(((x != x) | (y != y)) ? x + y : signed_as(angle, y));
}

/* -- hyperbolic -------------------------------------------------------------------------------- */

S NAMED(sinh, f32)(S number) {
  V x = widen(number), z = x * x, e = single_exp(within(x, -120, 120));
  V small = x + x * z * (0x1.5555555555555p-3 + z * (0x1.1111111111111p-7 + z * 0x1.a01ap-13));
  return narrow(z < 0x1p-10 ? small : 0.5 * (e - 1.0 / e));
}

S NAMED(cosh, f32)(S number) {
  V e = single_exp(within(widen(number), -120, 120));
  return narrow(0.5 * (e + 1.0 / e));
}

S NAMED(tanh, f32)(S number) {
  V x = widen(number), z = x * x, e = single_exp(within(x + x, -60, 60));
  V small = x * (1.0 - z * (0x1.5555555555555p-2 - z * 0x1.1111111111111p-3));
  return narrow(z < 0x1p-16 ? small : 1.0 - 2.0 / (e + 1.0));
}

/* -- two arguments ----------------------------------------------------------------------------- */

S NAMED(fmod, f32)(S dividend, S divisor) {
  V x = widen(dividend), y = widen(divisor), size = magnitude(x), by = magnitude(y);
  V quotient = size / by, n = nearest(quotient);
  V rest = size - n * by;
  rest = rest < 0.0 ? rest + by : rest;
  M is_far = !(quotient < 0x1p28); /* its product may not be exact */
  if (__builtin_expect(any(is_far), 0)) {
    EACH_LANE(i) if (LANE(is_far, i)) LANE(rest, i) = rt_math_fmod(LANE(size, i), LANE(by, i));
  }
  rest = by == __builtin_inf() ? size : rest;
  V value = signed_as(rest, x);
  M is_wrong = (x != x) | (y != y) | (size == __builtin_inf()) | (by == 0.0);
  return narrow(is_wrong ? (V)__builtin_nan("") : value);
}

S NAMED(pow, f32)(S base, S exponent) {
  V x = widen(base), y = widen(exponent);
  Split parts = split_normal(magnitude(x));
  V power = y * (parts.exponent + single_log_fraction(parts.fraction) * LOG2E);
  power = within(power, -200, 200);
  V value = at_edges_of_pow(x, y, single_exp(power * LN2));
  S square = base * base, result = narrow(value);
  result = exponent == 2.0f ? square : result;
  result = exponent == 3.0f ? square * base : result;
  return exponent == 4.0f ? square * square : result;
}
