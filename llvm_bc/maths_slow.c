/* maths_slow.c - the slow paths of maths.c, for one lane at a time: reduction of huge angles, and
 * fmod with huge quotients. They compute in integers, and so exactly. */
#include "rt.h"

/* 2 / pi, the first 64 digits first */
static const uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

enum { FRACTION_BITS = 52, BIAS = 1023, SPECIAL = 0x7ff };

static uint64_t bits_of(double x) {
  union {
    double x;
    uint64_t u;
  } same = {x};
  return same.u;
}
static double from_bits(uint64_t u) {
  union {
    uint64_t u;
    double x;
  } same = {u};
  return same.x;
}
static int exponent_of(uint64_t bits) { return (int)(bits >> FRACTION_BITS & SPECIAL); }
static uint64_t digits_of(uint64_t bits) { return (bits & ~0ull >> 12) | 1ull << FRACTION_BITS; }

/* 2^power of -1022 <= power <= 1023 */
static double power_of_two(int power) {
  return from_bits((uint64_t)(power + BIAS) << FRACTION_BITS);
}

/* The 64 binary digits of 2 / pi from digit `first` on, which may lie before the point. */
static uint64_t window(int first) {
  if (first <= -64) return 0;
  if (first < 0) return two_over_pi[0] >> -first;
  int word = first / 64, shift = first % 64;
  return shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift)
               : two_over_pi[word];
}

/* Payne-Hanek reduction of |x| = m * 2^e. Bits of 2 / pi whose product with x is a multiple of 4 do
 * not matter, nor do those after the next 192: the product modulo 4 then has 190 binary places, of
 * which the smallest reduced angle of a double has at most 62 leading zeros. */
static void multiply(uint64_t bits, unsigned __int128 *fraction, uint64_t *quadrant) {
  uint64_t m = digits_of(bits);
  int first = exponent_of(bits) - BIAS - FRACTION_BITS - 2; /* weight of that digit in x: 2 */
  unsigned __int128 low = (unsigned __int128)m * window(first + 128),
                    middle = (unsigned __int128)m * window(first + 64) + (uint64_t)(low >> 64);
  uint64_t high = m * window(first) + (uint64_t)(middle >> 64);
  unsigned __int128 top = (unsigned __int128)high << 64 | (uint64_t)middle;
  *quadrant = high >> 62;
  *fraction = top << 2 | (uint64_t)low >> 62;
}

/* The upper 128 bits of the product. */
static unsigned __int128 high_product(unsigned __int128 a, unsigned __int128 b) {
  uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
  unsigned __int128 low = (unsigned __int128)a0 * b0, one = (unsigned __int128)a1 * b0,
                    two = (unsigned __int128)a0 * b1;
  unsigned __int128 carry = (low >> 64) + (uint64_t)one + (uint64_t)two;
  return (unsigned __int128)a1 * b1 + (one >> 64) + (two >> 64) + (carry >> 64);
}

/* x reduced by a multiple of pi / 2. `part`: 0 the multiple modulo 4, 1 the angle, 2 its rounding
 * error. */
double rt_math_reduce(double x, int32_t part) {
  const unsigned __int128 half_pi =
      (unsigned __int128)0xc90fdaa22168c234 << 64 | 0xc4c6628b80dc1cd1; /* times 2^-127 */
  uint64_t bits = bits_of(x), quadrant;
  if (exponent_of(bits) == SPECIAL) return part ? x - x : 0;
  unsigned __int128 fraction;
  multiply(bits, &fraction, &quadrant);
  int is_negative = (int)(bits >> 63);
  if (fraction >> 127) { /* more than half a quadrant: measure back from the next one */
    fraction = 0 - fraction;
    quadrant++;
    is_negative ^= 1;
  }
  if (part == 0) return (double)(int64_t)((bits >> 63 ? 0 - quadrant : quadrant) & 3);
  unsigned __int128 angle = high_product(fraction, half_pi); /* times 2^-127 */
  uint64_t top = (uint64_t)(angle >> 64);
  int shift = top ? __builtin_clzll(top) : 64 + __builtin_clzll((uint64_t)angle | 1);
  angle <<= shift;
  double sign = is_negative ? -1 : 1, unit = power_of_two(75 - 127 - shift);
  double high = (double)(int64_t)(uint64_t)(angle >> 75) * unit;
  double low = (double)(int64_t)((uint64_t)(angle >> 22) & ~0ull >> 11) * unit * 0x1p-53;
  return sign * (part == 1 ? high : low);
}

/* The result is unspecified for infinite or NaN arguments and for y = 0, which the caller
 * handles. */
double rt_math_fmod(double x, double y) {
  uint64_t a = bits_of(x), b = bits_of(y);
  int ea = exponent_of(a), eb = exponent_of(b);
  if (ea == SPECIAL || eb == SPECIAL || b == 0) return x;
  uint64_t m = ea ? digits_of(a) : a << 1, n = eb ? digits_of(b) : b << 1;
  while (n >> FRACTION_BITS == 0) n <<= 1, eb--;
  if (m == 0) return 0;
  while (m >> FRACTION_BITS == 0) m <<= 1, ea--;
  for (; ea > eb; ea--) {
    if (m >= n) m -= n;
    if (m == 0) return 0;
    m <<= 1;
  }
  if (ea == eb && m >= n) m -= n;
  if (m == 0) return 0;
  while (m < 1ull << FRACTION_BITS && ea > 1) m <<= 1, ea--;
  if (m >> FRACTION_BITS && ea >= 1)
    return from_bits((m & ~0ull >> 12) | (uint64_t)ea << FRACTION_BITS);
  return from_bits(m >> (1 - (ea < 1 ? ea : 1)));
}
