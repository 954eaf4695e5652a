/* maths_f64.h - the functions for f64. Where the rounding error of an intermediate result would
 * matter, it is kept: as pairs `high + low`, and by exact products of heads (maths_lane.h). */
#include "maths_parts.h"

/* The rounding error of a product whose rounded value is `high`. */
INLINE V product_rest(V a, V b, V high) {
  V a1 = head(a), a2 = a - a1, b1 = head(b), b2 = b - b1;
  return ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2;
}

/* -- exp, log ---------------------------------------------------------------------------------- */

/* e^r - 1 - r of |r| <= ln 2 / 2 */
INLINE V exp_rest(V r) {
  return r * r *
         POLYNOMIAL(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
                    0x1.11111111100dcp-7, 0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13,
                    0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19, 0x1.27e4db646b17ep-22,
                    0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29); /* 2^-58 */
}

/* e^x * 2^-by of |x| < 1000 */
INLINE V exp_scaled(V x, double by) {
  V shifted = x * LOG2E + ROUNDER, n = shifted - ROUNDER;
  V high = x - n * LN2_HIGH, r = high - n * LN2_LOW, rest = (high - r) - n * LN2_LOW;
  return times_power(1.0 + (r + (rest + exp_rest(r))), shifted - by);
}

V NAMED(exp, f64)(V x) { return exp_scaled(within(x, -760, 720), 0); }

/* log(1 + f) = f - f^2/2 + s (f^2/2 + R) with s = f / (2 + f), so that only small terms are
 * rounded; returns s (f^2/2 + R). */
INLINE V log_rest(V f, V half_square) {
  V s = f / (2.0 + f), z = s * s;
  return s * (half_square + z * POLYNOMIAL(z, 0x1.5555555555555p-1, 0x1.9999999999a38p-2,
                                           0x1.2492492476c87p-2, 0x1.c71c720160b47p-3,
                                           0x1.745cf901605f7p-3, 0x1.3b1c360763b8ap-3,
                                           0x1.0fbe83c2cbcf3p-3, 0x1.0c04595972ab8p-3)); /* 2^-54 */
}

V NAMED(log, f64)(V x) {
  Split parts = split(x);
  V n = parts.exponent, f = parts.fraction - 1.0, half = 0.5 * f * f;
  V value = n * LN2_HIGH - ((half - (log_rest(f, half) + n * LN2_LOW)) - f);
  return at_edges_of_log(x, value);
}

/* 1 / log(10) and log10(2), each of a short and a long number */
V NAMED(log10, f64)(V x) {
  Split parts = split(x);
  V n = parts.exponent, f = parts.fraction - 1.0, half = 0.5 * f * f;
  V rest = log_rest(f, half), high = from_bits(bits_of(f - half) & 0xffffffff00000000u);
  V low = ((f - high) - half) + rest;
  V large = high * 0x1.bcb7b00000000p-2, whole = n * 0x1.34413509f0000p-2, sum = whole + large;
  V small = n * 0x1.e7fbcc47c4acdp-40 + (low + high) * 0x1.526e50e32a6abp-26 +
            low * 0x1.bcb7b00000000p-2 + ((whole - sum) + large);
  return at_edges_of_log(x, small + sum);
}

/* -- sin, cos, tan ----------------------------------------------------------------------------- */

/* sin(r + low) - r, z = r * r */
INLINE V sine_rest(V r, V low, V z) {
  V cube = z * r;
  V p = POLYNOMIAL(z, 0x1.1111111110bb1p-7, -0x1.a01a019e8357dp-13, 0x1.71de37961e4c6p-19,
                   -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33); /* 2^-54 */
  return cube * -0x1.5555555555555p-3 - (z * (0.5 * low - cube * p) - low);
}

/* cos(r + low) - *one, which is 1 - z / 2 rounded */
INLINE V cosine_rest(V r, V low, V z, V *one) {
  V half = 0.5 * z;
  V p =
      POLYNOMIAL(z, 0x1.5555555555555p-5, -0x1.6c16c16c16966p-10, 0x1.a01a019f4e867p-16,
                 -0x1.27e4fa17a41b4p-22, 0x1.1eeb68b109173p-29, -0x1.907d7aebd5e3dp-37); /* 2^-58 */
  *one = 1.0 - half;
  return ((1.0 - *one) - half) + (z * z * p - r * low);
}

typedef struct Waves {
  V sine, sine_rest, cosine, cosine_rest;
} Waves;

INLINE Waves waves_of(Angle a) {
  V z = a.high * a.high, one;
  V sine = sine_rest(a.high, a.low, z), cosine = cosine_rest(a.high, a.low, z, &one);
  return (Waves){a.high, sine, one, cosine};
}

V NAMED(sin, f64)(V x) {
  Angle a = reduce(x);
  Waves w = waves_of(a);
  V value = IS_ODD(a.quadrant) ? w.cosine + w.cosine_rest : w.sine + w.sine_rest;
  return x == 0.0 ? x : flip(value, a.quadrant);
}

V NAMED(cos, f64)(V x) {
  Angle a = reduce(x);
  Waves w = waves_of(a);
  V value = IS_ODD(a.quadrant) ? w.sine + w.sine_rest : w.cosine + w.cosine_rest;
  return flip(value, a.quadrant + 1u);
}

/* A quotient of sums, corrected by its remainder. */
V NAMED(tan, f64)(V x) {
  Angle a = reduce(x);
  Waves w = waves_of(a);
  M odd = IS_ODD(a.quadrant);
  V above = odd ? -w.cosine : w.sine, above_rest = odd ? -w.cosine_rest : w.sine_rest;
  V below = odd ? w.sine : w.cosine, below_rest = odd ? w.sine_rest : w.cosine_rest;
  V y = below + below_rest, y_rest = (below - y) + below_rest;
  V inverse = 1.0 / y, quotient = (above + above_rest) * inverse;
  V product = quotient * y;
  V left = (above - product) + above_rest;
  left = left - product_rest(quotient, y, product) - quotient * y_rest;
  return magnitude(x) < 0x1p-28 ? x : quotient + left * inverse;
}

/* -- asin, acos, atan -------------------------------------------------------------------------- */

/* (asin(t) - t) / t of t * t = z <= 1/4 */
INLINE V arcsine_rest(V z) {
  return z * POLYNOMIAL(z, 0x1.5555555555556p-3, 0x1.3333333332ec4p-4, 0x1.6db6db6e3292ep-5,
                        0x1.f1c71c1d4aa0dp-6, 0x1.6e8bb1d89492bp-6, 0x1.1c4d343fa57f6p-6,
                        0x1.c9cf3759fd8ffp-7, 0x1.78246f32d075cp-7, 0x1.524ea8b3aad31p-7,
                        0x1.653a8f8cfd43cp-8, 0x1.1d661531b222ep-6, -0x1.e7a24f548c99fp-7,
                        0x1.d78189767524ep-6); /* 2^-55 */
}

/* sqrt(z) as *high + low, `high` of few digits */
INLINE V root_in_two(V z, V *high) {
  V s = root(z);
  *high = head(s);
  return (z - *high * *high) / (s + *high + 0x1p-900);
}

V NAMED(asin, f64)(V x) {
  V size = magnitude(x), half = 0.5 - 0.5 * size;
  M is_large = size > 0.5;
  V z = is_large ? half : x * x, rest = arcsine_rest(z), high, low = root_in_two(z, &high);
  V large = PI_HIGH / 4 -
            ((2.0 * ((high + low) * rest) - (PI_LOW / 2 - 2.0 * low)) - (PI_HIGH / 4 - 2.0 * high));
  return signed_as(is_large ? large : size + size * rest, x);
}

V NAMED(acos, f64)(V x) {
  V half = 0.5 - 0.5 * magnitude(x);
  M is_large = magnitude(x) > 0.5;
  V z = is_large ? half : x * x, rest = arcsine_rest(z), high, low = root_in_two(z, &high);
  V more = (high + low) * rest + low;
  V large = x < 0.0 ? PI_HIGH - 2.0 * (high + (more - PI_LOW / 2)) : 2.0 * (high + more);
  return is_large ? large : PI_HIGH / 2 - (x - (PI_LOW / 2 - x * rest));
}

/* atan(y / x) of positive numbers, neither both 0 nor both infinite */
INLINE V arctangent(V y, V x) {
  M is_flat = y < 0.5 * x, is_steep = y > 2.0 * x, is_middle = !(is_flat | is_steep);
  V sum = y + x, lost = (y - sum) + x; /* of numbers so near each other */
  V above = is_flat ? y : is_steep ? -x : y - x, below = is_flat ? x : is_steep ? y : sum;
  V base = is_flat ? (V)0.0 : is_steep ? (V)(PI_HIGH / 2) : (V)(PI_HIGH / 4);
  V base_low = is_flat ? (V)0.0 : is_steep ? (V)(PI_LOW / 2) : (V)(PI_LOW / 4);
  V t = above / below, z = t * t;
  base_low = is_middle ? base_low - t * lost / below : base_low;
  V rest = t * z *
           POLYNOMIAL(z, -0x1.5555555555555p-2, 0x1.99999999998e0p-3, -0x1.24924924881f5p-3,
                      0x1.c71c71c014e0dp-4, -0x1.745d16016ea5fp-4, 0x1.3b138e4b5b747p-4,
                      -0x1.110ea393fffe2p-4, 0x1.e1a795c3fb24fp-5, -0x1.ad441c37157fap-5,
                      0x1.7b1d7856d14a5p-5, -0x1.37ce51c509047p-5, 0x1.99984c3613cd5p-6,
                      -0x1.2dd40041c2c27p-7); /* 2^-55 */
  return base + (t + (rest + base_low));
}

V NAMED(atan, f64)(V x) { return signed_as(arctangent(magnitude(x), (V)1.0), x); }

V NAMED(atan2, f64)(V y, V x) {
  V height = magnitude(y), width = magnitude(x);
  M is_huge = (height > 0x1p1000) | (width > 0x1p1000);
  M is_tiny = (height < 0x1p-900) & (width < 0x1p-900);
  V scale = is_huge ? (V)0x1p-20 : is_tiny ? (V)0x1p100 : (V)1.0;
  M both = (height == width) & (height == __builtin_inf());
  V h = both ? (V)1.0 : height * scale;
  V w = (both | ((height == 0.0) & (width == 0.0))) ? (V)1.0 : width * scale;
  V angle = arctangent(h, w);
  angle = (bits_of(x) & SIGN) != 0u ? PI_HIGH - (angle - PI_LOW) : angle;
  return ((x != x) | (y != y)) ? x + y : signed_as(angle, y);
}

/* -- sinh, cosh, tanh -------------------------------------------------------------------------- */

/* sinh(x) = x + x z S(z) and cosh(x) = 1 + z / 2 + z z C(z), of |x| <= 1 and z = x * x */
INLINE V sinh_rest(V z) {
  return POLYNOMIAL(z, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a001p-13,
                    0x1.71de3a556f9acp-19, 0x1.ae64567924223p-26, 0x1.612467d1c2fabp-33,
                    0x1.ae777839b3498p-41, 0x1.99f1ba85cd318p-49); /* 2^-56 */
}
INLINE V cosh_rest(V z) {
  return POLYNOMIAL(z, 0x1.5555555555555p-5, 0x1.6c16c16c16c17p-10, 0x1.a01a01a01a010p-16,
                    0x1.27e4fb778b388p-22, 0x1.1eed8efd1461dp-29, 0x1.93974fd0c9438p-37,
                    0x1.ae79075bb94f6p-45, 0x1.6bf80834955f0p-53); /* 2^-58 */
}

V NAMED(sinh, f64)(V x) {
  V size = magnitude(x), e = exp_scaled(within(size, 0, 720), 1); /* e^size / 2 */
  return size < 1.0 ? x + x * (x * x * sinh_rest(x * x)) : signed_as(e - 0.25 / e, x);
}

V NAMED(cosh, f64)(V x) {
  V e = exp_scaled(within(magnitude(x), 0, 720), 1);
  return e + 0.25 / e;
}

/* x - (x cosh(x) - sinh(x)) / cosh(x), or 1 - 2 / (e^2x + 1) */
V NAMED(tanh, f64)(V x) {
  V size = magnitude(x), z = x * x, e = exp_scaled(within(size + size, 0, 50), 0);
  M is_small = size < 0.625;
  V half = 0.5 + z * cosh_rest(z);
  V above = is_small ? x * z * (half - sinh_rest(z)) : (V)2.0;
  V below = is_small ? 1.0 + z * half : e + 1.0;
  V quotient = above / below;
  return signed_as(is_small ? x - quotient : 1.0 - quotient, x);
}

/* -- two arguments ----------------------------------------------------------------------------- */

V NAMED(fmod, f64)(V x, V y) {
  V size = magnitude(x), by = magnitude(y), quotient = size / by, n = nearest(quotient);
  V product = n * by, rest = (size - product) - product_rest(n, by, product);
  rest = rest < 0.0 ? rest + by : rest;
  rest = rest >= by ? rest - by : rest;
  M is_far = !(quotient < 0x1p50) | (size > 0x1p1000) | (by < 0x1p-900);
  if (__builtin_expect(any(is_far), 0)) {
    EACH_LANE(i) if (LANE(is_far, i)) LANE(rest, i) = rt_math_fmod(LANE(size, i), LANE(by, i));
  }
  rest = by == __builtin_inf() ? size : rest;
  V value = signed_as(rest, x);
  M is_wrong = (x != x) | (y != y) | (size == __builtin_inf()) | (by == 0.0);
  return is_wrong ? (V)__builtin_nan("") : value;
}

/* log2(x) = *high + low, with some 65 digits, of a positive x; *high has few digits.
 * log2(fraction) = 2 / (3 ln 2) * s * (3 + s^2 + R), s = (fraction - 1) / (fraction + 1). */
INLINE V log2_in_two(V x, V *high) {
  Split parts = split(x);
  V f = parts.fraction - 1.0, sum = parts.fraction + 1.0, inverse = 1.0 / sum;
  V s = f * inverse, s1 = head(s), sum1 = head(sum), sum2 = parts.fraction - (sum1 - 1.0);
  V s2 = ((f - s1 * sum1) - s1 * sum2) * inverse;
  s = s1 + s2;
  V square1 = s1 * s1, z = s * s;
  V r = s2 * (s1 + s) + z * z *
                            POLYNOMIAL(z, 0x1.3333333333333p-1, 0x1.b6db6db6db6dbp-2,
                                       0x1.5555555555544p-2, 0x1.1745d1745ef53p-2,
                                       0x1.d89d89d566df3p-3, 0x1.99999b2fd9093p-3,
                                       0x1.6968ef7a67e5fp-3, 0x1.4374e7dbe4a1ap-3,
                                       0x1.220e418a36397p-3, 0x1.3251cd831e277p-3); /* 2^-55 */
  V three = head(3.0 + square1 + r), three2 = r - ((three - 3.0) - square1);
  V large = s1 * three, small = s2 * three + three2 * s;
  V p = head(large + small), p2 = small - (p - large);
  V q = p * 0x1.ec709d8000000p-1, q2 = p * 0x1.0e80ff5d27f05p-27 + p2 * 0x1.ec709dc3a03fdp-1;
  *high = head((q + q2) + parts.exponent);
  return q2 - ((*high - parts.exponent) - q);
}

V NAMED(pow, f64)(V x, V exponent) {
  V y = within(exponent, -0x1p66, 0x1p66), log1, log2 = log2_in_two(magnitude(x), &log1);
  V y1 = head(y), large = y1 * log1, small = (y - y1) * log1 + y * log2, power = large + small;
  M is_past = magnitude(power) > 1100.0;
  large = is_past ? within(power, -1100, 1100) : large;
  small = is_past ? (V)0.0 : small;
  V shifted = (is_past ? large : power) + ROUNDER, whole = shifted - ROUNDER;
  V high = large - whole, fraction = high + small, low = (high - fraction) + small;
  V f1 = head(fraction);
  V r1 = f1 * LN2_HIGH, r2 = (fraction - f1 + low) * LN2 + f1 * LN2_LOW, r = r1 + r2;
  V value = times_power(1.0 + (r + (((r1 - r) + r2) + exp_rest(r))), shifted);
  value = at_edges_of_pow(x, exponent, value);
  V square = x * x;
  value = exponent == 2.0 ? square : value;
  value = exponent == 3.0 ? square * x : value;
  return exponent == 4.0 ? square * square : value;
}
