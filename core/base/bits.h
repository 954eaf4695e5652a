/* bits.h - small arithmetic shared by several rooms. */
#ifndef RG_BASE_BITS_H
#define RG_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t align_up(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}
static inline bool is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }
static inline int log2_floor(uint64_t value) { return 63 - __builtin_clzll(value | 1); }
/* floor_div and floor_mod test for this first, since most divisors are powers of two, and a 64-bit
 * division is as slow as ten other operations. */
static inline bool is_shift_divisor(int64_t b) { return b > 0 && is_power_of_two((uint64_t)b); }
static inline int64_t floor_div(int64_t a, int64_t b) {
  if (is_shift_divisor(b)) return a >> __builtin_ctzll((uint64_t)b);
  int64_t q = a / b;
  return q - ((a % b != 0) & ((a < 0) != (b < 0)));
}
static inline int64_t floor_mod(int64_t a, int64_t b) {
  if (is_shift_divisor(b)) return a & (b - 1);
  int64_t remainder = a % b;
  return remainder && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
