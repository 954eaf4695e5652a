/* half.h - f16 by its bits. */
#ifndef PTX_HALF_H
#define PTX_HALF_H

#include <math.h>
#include <stdint.h>

static inline float f32_of_half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = exponent == 31 ? (fraction ? NAN : INFINITY)
                : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
                               : ldexpf((float)fraction, -24);
  return bits & 0x8000 ? -value : value;
}

/* To the nearest, ties to even (in the processor's rounding mode: rintl). */
static inline uint16_t half_of(long double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  long double size = fabsl(value);
  if (value != value) return 0x7fff;
  if (isinf(size)) return sign | 0x7c00;
  if (size < 0x1p-14L) return sign | (uint16_t)fabsl(rintl(value * 0x1p24L));
  int exponent;
  frexpl(size, &exponent); /* size = x * 2^exponent, x in [0.5, 1) */
  long double fraction = fabsl(rintl(ldexpl(value, 11 - exponent)));
  if (fraction >= 2048) fraction /= 2, exponent++;
  if (exponent > 16) return sign | 0x7c00;
  return (uint16_t)(sign | (exponent + 14) << 10 | ((int)fraction - 1024));
}

#endif
