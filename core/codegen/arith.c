/* arith.c - operators on values, uniform or per lane, with the meanings stated in op.def. Floats
 * are exact IEEE unless the kernel is fast_math. */
#include "base/bits.h"
#include "codegen/operator.h"

static LLVMValueRef compare(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  static const LLVMIntPredicate with_sign[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                               LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  static const LLVMIntPredicate without[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                             LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  int row = (int)op - (int)IR_EQ;
  ASSERT(row >= 0 && row < 6 && LLVMTypeOf(a) == LLVMTypeOf(b), "a comparison of one type");
  if (type_is_float(type)) return build_fcmp(g, real[row], a, b);
  return build_icmp(g, type_is_signed(type) ? with_sign[row] : without[row], a, b);
}

_Static_assert(IR_NE == IR_EQ + 1 && IR_LT == IR_EQ + 2 && IR_LE == IR_EQ + 3 &&
                   IR_GT == IR_EQ + 4 && IR_GE == IR_EQ + 5,
               "compare() counts on the order of op.def's rows");

/* math.min and math.max of Lua: the first operand unless the second is strictly less (greater). */
static LLVMValueRef extreme(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef takes_second =
      op == IR_MIN ? compare(g, IR_LT, type, b, a) : compare(g, IR_LT, type, a, b);
  return arith_fast(g, build_select(g, takes_second, b, a));
}

/* Floor and modulo of floats go through f64, where a quotient of f32s never rounds up to the next
 * integer, and where the arithmetic is that of Lua's own numbers: a - floor(a / b) * b. */
static LLVMValueRef float_floor(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(op == IR_FLOORDIV || op == IR_MOD, "what rounds a quotient down");
  LLVMValueRef x = arith_convert(g, type, TYPE(F64), a), y = arith_convert(g, type, TYPE(F64), b);
  LLVMValueRef quotient = build_fdiv(g, x, y);
  LLVMValueRef whole = call_unary(g, "llvm.floor", quotient);
  if (op == IR_MOD) whole = build_fsub(g, x, build_fmul(g, whole, y));
  return arith_convert(g, TYPE(F64), type, whole);
}

static LLVMValueRef float_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  switch (op) {
  case IR_ADD: return arith_fast(g, build_fadd(g, a, b));
  case IR_SUB: return arith_fast(g, build_fsub(g, a, b));
  case IR_MUL: return arith_fast(g, build_fmul(g, a, b));
  case IR_DIV: return arith_fast(g, build_fdiv(g, a, b));
  case IR_FLOORDIV:
  case IR_MOD: return float_floor(g, op, type, a, b);
  case IR_MIN:
  case IR_MAX: return extreme(g, op, type, a, b);
  default: ASSERT(false, "an operator of floats"); return a;
  }
}

/* -- integers ---------------------------------------------------------------------------------- */

/* x86 traps where Regolith returns 0 or wraps. Division rounds down. By zero it gives 0; the least
 * integer by -1 wraps. A constant divisor, the usual case, needs no checks: a power of two becomes
 * a shift or a mask. In lanes, integers of up to 32 bits are multiplied by a reciprocal, since
 * processors have no vector division of integers, and where the divisor is constant during a task
 * (`reciprocal`), whose reciprocal is computed in the entry block. In doubles, with r = 1 / |b|:
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

static LLVMValueRef integer_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(!type_is_float(type) && (op == IR_FLOORDIV || op == IR_MOD), "integers are divided");
  if (!constant_divisor(b, type) && reciprocal_serves(type, b))
    return reciprocal_divide(g, op, type, a, b);
  value_match(g, &a, &b);
  return type_is_signed(type) ? signed_divide(g, op, type, a, b)
                              : unsigned_divide(g, op, type, a, b);
}

static LLVMValueRef integer_shift(Codegen *g, IrOp op, Type type, LLVMValueRef a,
                                  LLVMValueRef count) {
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

static LLVMValueRef integer_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  switch (op) {
  case IR_ADD: return build_add(g, a, b);
  case IR_SUB: return build_sub(g, a, b);
  case IR_MUL: return build_mul(g, a, b);
  case IR_FLOORDIV:
  case IR_MOD: return integer_divide(g, op, type, a, b);
  case IR_BAND: return build_and(g, a, b);
  case IR_BOR: return build_or(g, a, b);
  case IR_BXOR: return build_xor(g, a, b);
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR: return integer_shift(g, op, type, a, b);
  case IR_MIN:
  case IR_MAX: return extreme(g, op, type, a, b);
  default: ASSERT(false, "an operator of integers"); return a;
  }
}

LLVMValueRef arith_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  bool divides = (op == IR_FLOORDIV || op == IR_MOD) && !type_is_float(type);
  if (!divides) value_match(g, &a, &b); /* division is cheaper by a uniform divisor */
  if (op >= IR_EQ && op <= IR_GE) return compare(g, op, type, a, b);
  if (math_is_call(op)) return math_call(g, op, type, a, b);
  return type_is_float(type) ? float_binary(g, op, type, a, b) : integer_binary(g, op, type, a, b);
}

static LLVMValueRef absolute(Codegen *g, Type type, LLVMValueRef a) {
  if (type_is_float(type)) return call_unary(g, "llvm.fabs", a);
  if (!type_is_signed(type)) return a;
  /* false: the least integer is not poison, it stays as it is */
  return call_binary(g, "llvm.abs", a, value_bool(g, false));
}

/* clz or ctz; for zero the count is the type's width. */
static LLVMValueRef zeros(Codegen *g, const char *intrinsic, LLVMValueRef a) {
  LLVMValueRef args[] = {a, value_bool(g, false)};
  return call_intrinsic(g, intrinsic, LLVMTypeOf(a), args, 2);
}

LLVMValueRef arith_unary(Codegen *g, IrOp op, Type type, LLVMValueRef a) {
  switch (op) {
  case IR_NEG: return type_is_float(type) ? arith_fast(g, build_fneg(g, a)) : build_neg(g, a);
  case IR_BNOT: return build_not(g, a);
  case IR_BSWAP: return type_bits(type) <= 8 ? a : call_unary(g, "llvm.bswap", a);
  case IR_POPCNT: return call_unary(g, "llvm.ctpop", a);
  case IR_CLZ: return zeros(g, "llvm.ctlz", a);
  case IR_CTZ: return zeros(g, "llvm.cttz", a);
  case IR_ABS: return absolute(g, type, a);
  default: return math_call(g, op, type, a, NULL);
  }
}

LLVMValueRef arith_update(Codegen *g, IrUpdate op, Type type, LLVMValueRef old,
                          LLVMValueRef value) {
  ASSERT(op >= 0 && op < IR_UPDATE_COUNT, "an operator of updates");
  return op == IR_UPDATE_EXCHANGE ? value : arith_binary(g, ir_update_op(op), type, old, value);
}
