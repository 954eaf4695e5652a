/* maths_lane.h - the types by which one source serves any number of lanes. LANES is 1 or a power of
 * two; V is that many doubles, S floats, U the bits of V, M the result of comparing V. With one
 * lane they are plain numbers, else clang's vectors: `a < b ? x : y`, `&` `|` `!` of comparisons,
 * and arithmetic with a plain number are written alike for both. So every lane computes what one
 * number would, to the last bit: no instruction is contracted (-ffp-contract=off), and none depends
 * on the target.
 *
 * Rare cases (a huge argument) take a branch if any lane needs it, and call the runtime for those
 * lanes alone: maths_slow.c. */
#ifndef RG_RT_MATHS_LANE_H
#define RG_RT_MATHS_LANE_H

#include <stdint.h>

#ifndef LANES
#define LANES 1
#endif

#define INLINE static inline __attribute__((always_inline, unused))

#if LANES == 1
typedef double V;
typedef float S;
typedef uint64_t U;
typedef uint32_t U32;
typedef int M;
INLINE U bits_of(V v) {
  union {
    V v;
    U u;
  } same = {v};
  return same.u;
}
INLINE V from_bits(U u) {
  union {
    U u;
    V v;
  } same = {u};
  return same.v;
}
INLINE V widen(S s) { return s; }
INLINE S narrow(V v) { return (S)v; }
INLINE V root(V v) { return __builtin_sqrt(v); }
INLINE S root_single(S s) { return __builtin_sqrtf(s); }
INLINE int any(M m) { return m; }
#define LANE(v, i) (v)
#define NAMED(name, type) rt_##name##_##type
#else
typedef double V __attribute__((ext_vector_type(LANES)));
typedef float S __attribute__((ext_vector_type(LANES)));
typedef uint64_t U __attribute__((ext_vector_type(LANES)));
typedef int64_t M __attribute__((ext_vector_type(LANES)));
INLINE U bits_of(V v) { return (U)v; }
INLINE V from_bits(U u) { return (V)u; }
INLINE V widen(S s) { return __builtin_convertvector(s, V); }
INLINE S narrow(V v) { return __builtin_convertvector(v, S); }
INLINE V root(V v) { return __builtin_elementwise_sqrt(v); }
INLINE S root_single(S s) { return __builtin_elementwise_sqrt(s); }
INLINE int any(M m) { return __builtin_reduce_or(m) != 0; }
#define LANE(v, i) (v)[i]
#define PASTE(name, type, lanes) rt_##name##_##type##x##lanes
#define PASTE_LANES(name, type, lanes) PASTE(name, type, lanes)
#define NAMED(name, type) PASTE_LANES(name, type, LANES)
#endif

#define EACH_LANE(i) for (int i = 0; i < LANES; i++)
#define SIGN 0x8000000000000000u

INLINE V magnitude(V v) { return from_bits(bits_of(v) & ~SIGN); }
INLINE V signed_as(V size, V sign) {
  return from_bits((bits_of(size) & ~SIGN) | (bits_of(sign) & SIGN));
}
/* the upper 26 bits: the product of two such numbers is exact */
INLINE V head(V v) { return from_bits(bits_of(v) & 0xfffffffff8000000u); }

/* The nearest whole number of |v| < 2^51: in the low bits of v + ROUNDER. */
#define ROUNDER 0x1.8p52
INLINE V nearest(V v) { return (v + ROUNDER) - ROUNDER; }

/* c[0] + c[1] x + .. by Estrin's scheme: pairs of terms, then pairs of pairs. The chain of
 * dependent steps is four long instead of the ten of Horner's. */
#define POLYNOMIAL(x, ...) \
  polynomial(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / 8)
INLINE V polynomial(V x, const double *c, int count) {
  V terms[8], power = x * x;
  int left = (count + 1) / 2;
  for (int i = 0; i < left; i++)
    terms[i] = 2 * i + 1 < count ? x * c[2 * i + 1] + c[2 * i] : (V)c[2 * i];
  for (; left > 1; left = (left + 1) / 2) {
    for (int i = 0; i < left / 2; i++) terms[i] = terms[2 * i] + terms[2 * i + 1] * power;
    if (left % 2) terms[left / 2] = terms[left - 1];
    power = power * power;
  }
  return terms[0];
}

#endif
