/* half.c - conversions from and to half precision (f16), which compiled code calls if the processor
 * has no instruction for them. GCC's library for MinGW has them, but passes f16 in memory; clang
 * passes it in registers. */
#include <stdint.h>
#include <string.h>

#define REGISTER(name) __asm__("__" name)
_Float16 half_from_double(double x) REGISTER("truncdfhf2");
_Float16 half_from_float(float x) REGISTER("truncsfhf2");
float half_to_float(_Float16 x) REGISTER("extendhfsf2");

/* Rounds to the nearest, ties to even. */
static uint16_t half_bits(double x) {
  enum { DROPPED_BITS = 52 - 10 };
  const uint64_t infinite = 0x7ff0000000000000, overflows = 0x40effe0000000000 /* 65520 */,
                 normal = 0x3f10000000000000 /* 2^-14 */, bias = (uint64_t)(1023 - 15) << 52;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  bits &= ~(UINT64_C(1) << 63);
  if (bits > infinite) return sign | 0x7e00 | (uint16_t)(bits >> DROPPED_BITS & 0x3ff);
  if (bits >= overflows) return sign | 0x7c00;
  if (bits >= normal) {
    uint64_t tie = (UINT64_C(1) << (DROPPED_BITS - 1)) - 1 + (bits >> DROPPED_BITS & 1);
    return sign | (uint16_t)((bits - bias + tie) >> DROPPED_BITS);
  }
  /* adding 2^52 rounds to a whole number of 2^-24 */
  volatile double units = (x < 0 ? -x : x) * 0x1p24 + 0x1p52;
  return sign | (uint16_t)(units - 0x1p52);
}

static _Float16 half_of(uint16_t bits) {
  _Float16 half;
  memcpy(&half, &bits, sizeof half);
  return half;
}

_Float16 half_from_double(double x) { return half_of(half_bits(x)); }
_Float16 half_from_float(float x) { return half_of(half_bits(x)); }

float half_to_float(_Float16 x) {
  uint16_t half;
  memcpy(&half, &x, sizeof half);
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
           fraction = half & 0x3ff;
  float value = (float)fraction * 0x1p-24f;
  uint32_t bits;
  if (exponent == 0) memcpy(&bits, &value, sizeof bits);
  else if (exponent == 31) bits = 0x7f800000 | fraction << 13 | (fraction ? 1u << 22 : 0);
  else bits = (exponent + 127 - 15) << 23 | fraction << 13;
  bits |= sign;
  memcpy(&value, &bits, sizeof bits);
  return value;
}
