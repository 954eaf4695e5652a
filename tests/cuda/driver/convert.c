/* convert.c - cvt. The usual pairs have a loop of their own; all others go through long double,
 * which holds every number of every type exactly, so that only one rounding occurs.
 * (Where long double has 53 bits, 64-bit integers to floats are only right in the usual pairs.) */
#include "convert.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "half.h"
#include "ops.h"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* An integer of type S in a register of type R becomes one in a register of type D. */
#define INTEGER(S, R, D) \
  static void S##_##R##_##D(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const R *a = SRC(R, inst->a); \
    EACH_LANE(d[l] = (D)(S)a[l]); \
  }
#define TO_EACH(DO, S, R) DO(S, R, u16) DO(S, R, u32) DO(S, R, u64)
// clang-format off
#define INTEGERS(DO) \
  TO_EACH(DO, u8, u16) TO_EACH(DO, u8, u32) TO_EACH(DO, u8, u64) TO_EACH(DO, s8, u16) \
  TO_EACH(DO, s8, u32) TO_EACH(DO, s8, u64) TO_EACH(DO, u16, u16) TO_EACH(DO, u16, u32) \
  TO_EACH(DO, u16, u64) TO_EACH(DO, s16, u16) TO_EACH(DO, s16, u32) TO_EACH(DO, s16, u64) \
  TO_EACH(DO, u32, u32) TO_EACH(DO, u32, u64) TO_EACH(DO, s32, u32) TO_EACH(DO, s32, u64) \
  TO_EACH(DO, u64, u64) TO_EACH(DO, s64, u64)
// clang-format on
INTEGERS(INTEGER)

// clang-format off
static const struct { bool is_signed; uint8_t type, from, to; Run run; } integers[] = {
#define ROW(S, R, D) {(S)-1 < (S)1, sizeof(S), sizeof(R), sizeof(D), S##_##R##_##D},
    INTEGERS(ROW)
#undef ROW
};
// clang-format on

/* Numbers to floats, to nearest; and floats to integers, towards zero and clamped. */
#define TO_FLOAT(D, S) \
  static void D##_of_##S(Warp *warp, const Inst *inst) { \
    D *d = DST(D, inst->d); \
    const S *a = SRC(S, inst->a); \
    EACH_LANE(d[l] = (D)a[l]); \
  }
#define TO_FLOATS(DO) \
  DO(f32, s32) \
  DO(f32, u32) DO(f32, s64) DO(f32, u64) DO(f64, s32) DO(f64, u32) DO(f64, s64) DO(f64, u64)
TO_FLOATS(TO_FLOAT)

// clang-format off
static const struct { char to, from; uint8_t to_bytes, from_bytes; Run run; } floats[] = {
#define ROW(D, S) {'f', (S)-1 < (S)1 ? 's' : 'u', sizeof(D), sizeof(S), D##_of_##S},
    TO_FLOATS(ROW)
#undef ROW
};
// clang-format on

static long double read(const Convert *convert, const Warp *warp, const Inst *inst, uint32_t l) {
  uint64_t bits = convert->from_bytes == 2   ? SRC(u16, inst->a)[l]
                  : convert->from_bytes == 4 ? SRC(u32, inst->a)[l]
                                             : SRC(u64, inst->a)[l];
  f32 single;
  f64 twice;
  switch (convert->from.kind) {
  case 'f':
    if (convert->from.bytes == 2) return f32_of_half((u16)bits);
    if (convert->from.bytes == 8) return memcpy(&twice, &bits, 8), twice;
    memcpy(&single, &bits, 4);
    return convert->flushes && fabsf(single) < 0x1p-126f ? copysignf(0, single) : single;
  case 's':
    return convert->from.bytes == 1   ? (s8)bits
           : convert->from.bytes == 2 ? (s16)bits
           : convert->from.bytes == 4 ? (s32)bits
                                      : (s64)bits;
  default:
    return convert->from.bytes == 1   ? (u8)bits
           : convert->from.bytes == 2 ? (u16)bits
           : convert->from.bytes == 4 ? (u32)bits
                                      : bits;
  }
}

/* A NaN becomes 0, or the top bit if a 64-bit type is involved, as the manual says. */
static uint64_t integer_of(const Convert *convert, long double value) {
  uint32_t width = convert->to.bytes * 8u;
  if (value != value)
    return convert->from.bytes == 8 || convert->to.bytes == 8 ? 1ull << (width - 1) : 0;
  if (convert->to.kind == 's') {
    long double top = ldexpl(1, (int)width - 1);
    return value >= top   ? (1ull << (width - 1)) - 1
           : value < -top ? 1ull << (width - 1)
                          : (uint64_t)(s64)value;
  }
  uint64_t most = width == 64 ? UINT64_MAX : (1ull << width) - 1;
  return value < 0 ? 0 : value >= ldexpl(1, (int)width) ? most : (uint64_t)value;
}

static uint64_t float_of(const Convert *convert, long double value) {
  if (convert->saturates) value = value > 0 ? value < 1 ? value : 1 : 0;
  uint64_t bits = 0;
  if (convert->to.bytes == 2) {
    bits = half_of(value);
  } else if (convert->to.bytes == 4) {
    volatile f32 single = (f32)value;
    f32 plain = single;
    if (convert->flushes && fabsf(plain) < 0x1p-126f) plain = copysignf(0, plain);
    memcpy(&bits, &plain, 4);
    if (plain != plain) bits = 0x7fffffff;
  } else {
    volatile f64 twice = (f64)value;
    f64 plain = twice;
    memcpy(&bits, &plain, 8);
  }
  return bits;
}

/* Bits of type `to` in a register that may be wider. */
static uint64_t widened(Type to, uint64_t bits) {
  if (to.kind != 's') return to.bytes == 8 ? bits : bits & ((1ull << to.bytes * 8) - 1);
  return to.bytes == 1   ? (uint64_t)(s8)bits
         : to.bytes == 2 ? (uint64_t)(s16)bits
         : to.bytes == 4 ? (uint64_t)(s32)bits
                         : bits;
}

static void convert_any(Warp *warp, const Inst *inst) {
  const Convert convert = *inst->u.convert;
  for (uint32_t left = warp->mask; left; left &= left - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(left);
    volatile long double value = read(&convert, warp, inst, l);
    fesetround(convert.rounding);
    if (convert.to_integer && value == value) value = rintl(value);
    bool is_float = convert.to.kind == 'f';
    uint64_t bits;
    if (is_float) {
      bits = float_of(&convert, value);
    } else if (convert.from.kind == 'f' || convert.saturates) {
      bits = integer_of(&convert, value);
    } else {
      bits = value < 0 ? (uint64_t)(s64)value : (uint64_t)value;
    }
    fesetround(FE_TONEAREST);
    bits = widened(convert.to, bits);
    if (convert.to_bytes == 2) DST(u16, inst->d)[l] = (u16)bits;
    else if (convert.to_bytes == 4) DST(u32, inst->d)[l] = (u32)bits;
    else DST(u64, inst->d)[l] = bits;
  }
}

static void widen_float(Warp *warp, const Inst *inst) {
  f64 *d = DST(f64, inst->d);
  const f32 *a = SRC(f32, inst->a);
  EACH_LANE(d[l] = a[l]);
}
static void narrow_float(Warp *warp, const Inst *inst) {
  f32 *d = DST(f32, inst->d);
  const f64 *a = SRC(f64, inst->a);
  EACH_LANE(f32 value = (f32)a[l]; if (value != value) {
    u32 bits = 0x7fffffff;
    memcpy(&value, &bits, 4);
  } d[l] = value);
}

static Run usual(const Convert *convert) {
  Type to = convert->to, from = convert->from;
  if (convert->saturates || convert->flushes) return NULL;
  if (to.kind != 'f' && from.kind != 'f') {
    if (to.bytes != convert->to_bytes) return NULL;
    for (uint32_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
      if (integers[i].type == from.bytes && integers[i].is_signed == (from.kind == 's') &&
          integers[i].from == convert->from_bytes && integers[i].to == convert->to_bytes)
        return integers[i].run;
    return NULL;
  }
  if (convert->rounding != FE_TONEAREST || from.bytes != convert->from_bytes) return NULL;
  if (to.kind == 'f' && from.kind == 'f') {
    if (convert->to_integer) return NULL;
    if (to.bytes == 8 && from.bytes == 4) return widen_float;
    if (to.bytes == 4 && from.bytes == 8) return narrow_float;
    return NULL;
  }
  for (uint32_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
    if (floats[i].to == to.kind && floats[i].from == from.kind && floats[i].to_bytes == to.bytes &&
        floats[i].from_bytes == from.bytes)
      return floats[i].run;
  return NULL;
}

void convert_encode(Inst *inst, const Convert *convert) {
  inst->run = usual(convert);
  if (inst->run) return;
  static struct {
    Convert **at;
    uint32_t count, room;
  } kept; /* few differ */
  inst->run = convert_any;
  for (uint32_t i = 0; i < kept.count; i++) {
    if (memcmp(kept.at[i], convert, sizeof *convert) != 0) continue;
    inst->u.convert = kept.at[i];
    return;
  }
  Convert *copy = malloc(sizeof *copy);
  if (!copy) abort();
  *copy = *convert;
  PUSH(kept, copy);
  inst->u.convert = copy;
}
