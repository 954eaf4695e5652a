/* op_float.c - f32 and f64 (float.def, which is read once per type), comparisons, and the
 * approximations that devices have. */
#include <fenv.h>
#include <math.h>

#include "ops.h"

static inline f32 number32(u32 bits) {
  f32 value;
  memcpy(&value, &bits, 4);
  return value;
}
static inline u32 bits32(f32 value) {
  u32 bits;
  memcpy(&bits, &value, 4);
  return bits;
}
static inline f32 canonical(f32 value) { return value != value ? number32(0x7fffffff) : value; }
/* Replaces a subnormal number by a zero with its sign. */
static inline f32 flushed(f32 value) {
  return fabsf(value) < 0x1p-126f ? number32(bits32(value) & 0x80000000u) : value;
}
static inline f32 clamped(f32 value) { return value > 0 ? value < 1 ? value : 1 : 0; }

/* The number, if one is a NaN; -0 is below +0. */
static inline f32 smallerf(f32 a, f32 b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline f32 largerf(f32 a, f32 b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}
static inline f64 smaller(f64 a, f64 b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && signbit(a)) ? a : b;
}
static inline f64 larger(f64 a, f64 b) {
  if (a != a) return b;
  if (b != b) return a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

/* Directed rounding is rare enough to change the processor's mode. */
#define ROUNDED(F, SQRT, FMA) \
  static __attribute__((noinline)) F rounded2_##F(int mode, char op, volatile F a, volatile F b) { \
    fesetround(mode); \
    volatile F value = op == '+'   ? a + b \
                       : op == '-' ? a - b \
                       : op == '*' ? a * b \
                       : op == '/' ? a / b \
                                   : SQRT(a); \
    fesetround(FE_TONEAREST); \
    return value; \
  } \
  static __attribute__((noinline)) F rounded_fma_##F(int mode, volatile F a, volatile F b, \
                                                     volatile F c) { \
    fesetround(mode); \
    volatile F value = FMA(a, b, c); \
    fesetround(FE_TONEAREST); \
    return value; \
  }
ROUNDED(f32, sqrtf, fmaf)
ROUNDED(f64, sqrt, fma)
#undef ROUNDED

/* f32: four rows each. */
#define F(NAME) NAME##f
#define rounded2 rounded2_f32
#define rounded_fma rounded_fma_f32
#define ONE(NAME, ID, VALUE) \
  OP1(NAME ".f32", ID##_f32, f32, f32, canonical(VALUE)) \
  OP1(NAME ".ftz.f32", ID##_ftz, f32, f32, (A = flushed(A), flushed(canonical(VALUE))))
#define TWO(NAME, ID, VALUE) \
  OP2(NAME ".f32", ID##_f32, f32, f32, f32, canonical(VALUE)) \
  OP2(NAME ".ftz.f32", ID##_ftz, f32, f32, f32, \
      (A = flushed(A), B = flushed(B), flushed(canonical(VALUE)))) \
  OP2(NAME ".sat.f32", ID##_sat, f32, f32, f32, clamped(VALUE)) \
  OP2(NAME ".ftz.sat.f32", ID##_ftzsat, f32, f32, f32, \
      (A = flushed(A), B = flushed(B), clamped(flushed(VALUE))))
#define THREE(NAME, ID, VALUE) \
  OP3(NAME ".f32", ID##_f32, f32, f32, f32, f32, canonical(VALUE)) \
  OP3(NAME ".ftz.f32", ID##_ftz, f32, f32, f32, f32, \
      (A = flushed(A), B = flushed(B), C = flushed(C), flushed(canonical(VALUE)))) \
  OP3(NAME ".sat.f32", ID##_sat, f32, f32, f32, f32, clamped(VALUE)) \
  OP3(NAME ".ftz.sat.f32", ID##_ftzsat, f32, f32, f32, f32, \
      (A = flushed(A), B = flushed(B), C = flushed(C), clamped(flushed(VALUE))))
#include "float.def"
#undef F
#undef rounded2
#undef rounded_fma
#undef ONE
#undef TWO
#undef THREE
#define F(NAME) NAME
#define rounded2 rounded2_f64
#define rounded_fma rounded_fma_f64
#define ONE(NAME, ID, VALUE) OP1(NAME ".f64", ID##_f64, f64, f64, VALUE)
#define TWO(NAME, ID, VALUE) OP2(NAME ".f64", ID##_f64, f64, f64, f64, VALUE)
#define THREE(NAME, ID, VALUE) OP3(NAME ".f64", ID##_f64, f64, f64, f64, f64, VALUE)
#include "float.def"
#undef ONE
#undef TWO
#undef THREE

#include "float_more.def"
#undef OP1
#undef OP2
#undef OP3
#undef SAME

const Op float_ops[] = {
#define OP1(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP2(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP3(NAME, ID, ...) OP_ROW(NAME, ID)
#define SAME(NAME, ID) OP_ROW(NAME, ID)
#define ONE(NAME, ID, VALUE) \
  OP_ROW(NAME ".f32", ID##_f32) OP_ROW(NAME ".ftz.f32", ID##_ftz) OP_ROW(NAME ".f64", ID##_f64)
#define TWO(NAME, ID, VALUE) \
  ONE(NAME, ID, VALUE) OP_ROW(NAME ".sat.f32", ID##_sat) OP_ROW(NAME ".ftz.sat.f32", ID##_ftzsat)
#define THREE(NAME, ID, VALUE) TWO(NAME, ID, VALUE)
#include "float.def"
#include "float_more.def"
};
const uint32_t float_op_count = sizeof float_ops / sizeof float_ops[0];
