/* integer.c - division of integers, and shifts: x86 traps where Regolith returns 0 or wraps.
 * Division rounds down. By zero it gives 0; the least integer by -1 wraps. A constant divisor, the
 * usual case, needs no checks: a power of two becomes a shift or a mask. */
#include "base/bits.h"
#include "codegen/operator.h"

/* -- by reciprocals ---------------------------------------------------------------------------- */

/* Integers of up to 32 bits are multiplied by a reciprocal in lanes, since processors have no
 * vector division of integers, and where the divisor is constant during a task (`reciprocal`),
 * whose reciprocal is computed in the entry block. In doubles, with r = 1 / |b|:
 *
 *     floor(a / b) = nearest(a / b + r / 2 - 1/2)
 *
 * The argument is never nearer than r / 2 to where `nearest` changes, and a * (1 / b) is off by
 * less than |a / b| * 2^-52 < r * 2^-19: so the quotient is exact. `nearest` is the addition of
 * 3 * 2^51, after which the low bits of the double are the whole number modulo 2^32; so the least
 * integer divided by -1 wraps. For a division by zero, 1 / b is replaced by 0: the argument is
 * -1/2, which rounds to the even neighbour 0. Decisions D-codegen-11, D-codegen-30. */
enum { MOST_BITS = 32 };
static const double rounder = 0x1.8p52;

static bool reciprocal_serves(Type type, LLVMValueRef b) {
  return type_bits(type) <= MOST_BITS && type_bits(type) > 1 && value_is_vector(b);
}

typedef struct Divisor {
  LLVMValueRef inverse, shift; /* 1 / b; r / 2 - 1/2 */
  LLVMValueRef kept;           /* mask for the remainder: all ones, or 0 if b is 0 */
} Divisor;

static Divisor divisor_of(Codegen *g, Type type, LLVMValueRef b) {
  LLVMValueRef zero = build_is_zero(g, b), real = arith_convert(g, type, TYPE(F64), b);
  LLVMTypeRef shape = LLVMTypeOf(real);
  LLVMValueRef inverse = build_fdiv(g, value_real(shape, 1), real);
  inverse = build_select(g, zero, value_real(shape, 0), inverse);
  LLVMValueRef half = build_fmul(g, call_unary(g, "llvm.fabs", inverse), value_real(shape, 0.5));
  return (Divisor){.inverse = inverse,
                   .shift = build_fadd(g, half, value_real(shape, -0.5)),
                   .kept = build_select(g, zero, value_like(b, 0), value_like(b, -1))};
}

/* Prepares the divisor; if all lanes share it, in the entry block, where the frame is read. */
static Divisor prepare(Codegen *g, Type type, LLVMValueRef b) {
  if (value_is_vector(b)) return divisor_of(g, type, b);
  LLVMBasicBlockRef back = block_hoist_begin(g);
  Divisor divisor = divisor_of(g, type, b);
  block_hoist_end(g, back);
  return divisor;
}

LLVMValueRef reciprocal_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(type_bits(type) <= MOST_BITS, "a double holds numerator and divisor exactly");
  ASSERT(op == IR_FLOORDIV || op == IR_MOD, "integers are divided");
  Divisor by = prepare(g, type, b);
  int width = value_width(a) > value_width(b) ? value_width(a) : value_width(b);
  LLVMValueRef x = arith_convert(g, type, TYPE(F64), a);
  value_match(g, &x, &by.inverse);
  value_match(g, &x, &by.shift);
  LLVMValueRef sum = build_fadd(g, build_fmul(g, x, by.inverse), by.shift);
  sum = build_fadd(g, sum, value_real(LLVMTypeOf(sum), rounder));
  LLVMValueRef bits = build_bitcast(g, sum, value_lanes(g->i64, width));
  LLVMValueRef quotient = build_trunc(g, bits, value_vector(g, type, width));
  if (op == IR_FLOORDIV) return quotient;
  value_match(g, &a, &b);
  value_match(g, &quotient, &by.kept);
  return build_and(g, build_sub(g, a, build_mul(g, quotient, b)), by.kept);
}

/* -- by division ------------------------------------------------------------------------------- */

/* The positive constant in every lane of `b`; else 0. */
static int64_t constant_divisor(LLVMValueRef b, Type type) {
  LLVMValueRef one = value_constant(b);
  if (!one || !LLVMIsAConstantInt(one) || type_bits(type) == 1) return 0;
  int64_t number = LLVMConstIntGetSExtValue(one);
  if (number < 0 && !type_is_signed(type) && type_bits(type) < 64)
    number = (int64_t)LLVMConstIntGetZExtValue(one);
  return number > 0 ? number : 0;
}

/* Signed division by a divisor that is neither 0 nor -1: SDiv rounds toward zero, so subtracts 1 if
 * there is a remainder and signs differ. */
static LLVMValueRef signed_floor(Codegen *g, IrOp op, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef quotient = build_sdiv(g, a, b);
  LLVMValueRef rest = build_sub(g, a, build_mul(g, quotient, b));
  LLVMValueRef has_rest = build_is_some(g, rest);
  LLVMValueRef differ = build_icmp(g, LLVMIntSLT, build_xor(g, rest, b), value_like(rest, 0));
  LLVMValueRef down = build_and(g, has_rest, differ);
  if (op == IR_MOD) return build_select(g, down, build_add(g, rest, b), rest);
  return build_add(g, quotient, build_sext(g, down, LLVMTypeOf(quotient)));
}

static LLVMValueRef signed_by_constant(Codegen *g, IrOp op, Type type, LLVMValueRef a,
                                       LLVMValueRef b, int64_t n) {
  ASSERT(n > 0, "other divisors are checked at run time");
  if (is_power_of_two((uint64_t)n))
    return op == IR_MOD ? build_and(g, a, value_like(a, n - 1))
                        : build_ashr(g, a, value_like(a, log2_floor((uint64_t)n)));
  /* floor(a / n) = ((a ^ s) / n) ^ s, with s all ones for a negative a: saves the remainder */
  LLVMValueRef sign = build_ashr(g, a, value_like(a, type_bits(type) - 1));
  LLVMValueRef quotient = build_xor(g, build_udiv(g, build_xor(g, a, sign), b), sign);
  if (op == IR_FLOORDIV) return quotient;
  return build_sub(g, a, build_mul(g, quotient, b));
}

static LLVMValueRef signed_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  int64_t n = constant_divisor(b, type);
  if (n) return signed_by_constant(g, op, type, a, b, n);
  LLVMValueRef zero = build_is_zero(g, b), minus = build_icmp(g, LLVMIntEQ, b, value_like(b, -1));
  LLVMValueRef safe = build_select(g, build_or(g, zero, minus), value_like(b, 1), b);
  LLVMValueRef value = signed_floor(g, op, a, safe);
  LLVMValueRef by_minus = op == IR_MOD ? value_like(a, 0) : build_neg(g, a);
  value = build_select(g, minus, by_minus, value);
  return build_select(g, zero, value_like(a, 0), value);
}

static LLVMValueRef unsigned_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a,
                                    LLVMValueRef b) {
  bool proven = constant_divisor(b, type) != 0;
  LLVMValueRef zero = build_is_zero(g, b);
  LLVMValueRef safe = proven ? b : build_select(g, zero, value_like(b, 1), b);
  LLVMValueRef value = op == IR_MOD ? build_urem(g, a, safe) : build_udiv(g, a, safe);
  return proven ? value : build_select(g, zero, value_like(a, 0), value);
}

LLVMValueRef integer_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(!type_is_float(type) && (op == IR_FLOORDIV || op == IR_MOD), "integers are divided");
  if (!constant_divisor(b, type) && reciprocal_serves(type, b))
    return reciprocal_divide(g, op, type, a, b);
  value_match(g, &a, &b);
  return type_is_signed(type) ? signed_divide(g, op, type, a, b)
                              : unsigned_divide(g, op, type, a, b);
}

LLVMValueRef integer_shift(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef count) {
  ASSERT(is_power_of_two((uint64_t)type_bits(type)), "a mask limits the count to the width");
  LLVMValueRef masked = build_and(g, count, value_like(count, type_bits(type) - 1));
  LLVMValueRef args[] = {a, a, masked};
  switch (op) {
  case IR_SHL: return build_shl(g, a, masked);
  case IR_SHR: return build_lshr(g, a, masked);
  case IR_SAR: return build_ashr(g, a, masked);
  case IR_ROL: return call_intrinsic(g, "llvm.fshl", LLVMTypeOf(a), args, 3);
  default: return call_intrinsic(g, "llvm.fshr", LLVMTypeOf(a), args, 3);
  }
}
