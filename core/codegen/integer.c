/* integer.c - edge cases of integer division and shifts: x86 traps where Regolith returns 0 or
 * wraps. Division rounds down. By zero it gives 0; the least integer by -1 wraps. A constant
 * divisor, the usual case, needs no checks: a power of two becomes a shift or a mask. */
#include "base/bits.h"
#include "codegen/emit.h"

/* The positive constant in every lane of `b`; else 0. */
static int64_t constant_divisor(LLVMValueRef b, Type type) {
  if (value_is_vector(b)) {
    if (!LLVMIsAConstantDataVector(b)) return 0;
    LLVMValueRef first = LLVMGetAggregateElement(b, 0);
    for (unsigned i = 1; i < (unsigned)value_width(b); i++)
      if (LLVMGetAggregateElement(b, i) != first) return 0;
    b = first;
  }
  if (!LLVMIsAConstantInt(b) || type_bits(type) == 1) return 0;
  int64_t number = LLVMConstIntGetSExtValue(b);
  if (number < 0 && !type_is_signed(type) && type_bits(type) < 64)
    number = (int64_t)LLVMConstIntGetZExtValue(b);
  return number > 0 ? number : 0;
}

static LLVMValueRef equals(Codegen *g, LLVMValueRef a, int64_t number) {
  return LLVMBuildICmp(g->builder, LLVMIntEQ, a, value_integer(LLVMTypeOf(a), number), "");
}

/* all ones if a < 0, else 0 */
static LLVMValueRef sign_mask(Codegen *g, Type type, LLVMValueRef a) {
  ASSERT(type_is_signed(type), "only signed numbers have a sign");
  return LLVMBuildAShr(g->builder, a, value_integer(LLVMTypeOf(a), type_bits(type) - 1), "");
}

/* Signed division by a divisor that is neither 0 nor -1: SDiv rounds toward zero, so subtracts 1 if
 * there is a remainder and signs differ. */
static LLVMValueRef signed_floor(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef quotient = LLVMBuildSDiv(g->builder, a, b, "");
  LLVMValueRef rest = LLVMBuildSub(g->builder, a, LLVMBuildMul(g->builder, quotient, b, ""), "");
  LLVMValueRef has_rest =
      LLVMBuildICmp(g->builder, LLVMIntNE, rest, LLVMConstNull(LLVMTypeOf(rest)), "");
  LLVMValueRef differ = LLVMBuildICmp(g->builder, LLVMIntSLT, LLVMBuildXor(g->builder, rest, b, ""),
                                      LLVMConstNull(LLVMTypeOf(rest)), "");
  LLVMValueRef down = LLVMBuildAnd(g->builder, has_rest, differ, "");
  if (op == IR_MOD)
    return LLVMBuildSelect(g->builder, down, LLVMBuildAdd(g->builder, rest, b, ""), rest, "");
  return LLVMBuildAdd(g->builder, quotient,
                      LLVMBuildSExt(g->builder, down, LLVMTypeOf(quotient), ""), "");
}

static LLVMValueRef signed_by_constant(Codegen *g, IrOp op, Type type, LLVMValueRef a,
                                       LLVMValueRef b, int64_t n) {
  ASSERT(n > 0, "other divisors are checked at run time");
  LLVMTypeRef shape = LLVMTypeOf(a);
  if (is_power_of_two((uint64_t)n))
    return op == IR_MOD
               ? LLVMBuildAnd(g->builder, a, value_integer(shape, n - 1), "")
               : LLVMBuildAShr(g->builder, a, value_integer(shape, log2_floor((uint64_t)n)), "");
  /* floor(a / n) = ((a ^ s) / n) ^ s, with s all ones for a negative a: saves the remainder */
  LLVMValueRef sign = sign_mask(g, type, a);
  LLVMValueRef quotient = LLVMBuildXor(
      g->builder, LLVMBuildUDiv(g->builder, LLVMBuildXor(g->builder, a, sign, ""), b, ""), sign,
      "");
  if (op == IR_FLOORDIV) return quotient;
  return LLVMBuildSub(g->builder, a, LLVMBuildMul(g->builder, quotient, b, ""), "");
}

static LLVMValueRef signed_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  int64_t n = constant_divisor(b, type);
  if (n) return signed_by_constant(g, op, type, a, b, n);
  LLVMTypeRef shape = LLVMTypeOf(a);
  LLVMValueRef zero = equals(g, b, 0), minus = equals(g, b, -1);
  LLVMValueRef safe = LLVMBuildSelect(g->builder, LLVMBuildOr(g->builder, zero, minus, ""),
                                      value_integer(shape, 1), b, "");
  LLVMValueRef value = signed_floor(g, op, type, a, safe);
  LLVMValueRef by_minus = op == IR_MOD ? LLVMConstNull(shape) : LLVMBuildNeg(g->builder, a, "");
  value = LLVMBuildSelect(g->builder, minus, by_minus, value, "");
  return LLVMBuildSelect(g->builder, zero, LLVMConstNull(shape), value, "");
}

static LLVMValueRef unsigned_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a,
                                    LLVMValueRef b) {
  bool proven = constant_divisor(b, type) != 0;
  LLVMTypeRef shape = LLVMTypeOf(a);
  LLVMValueRef zero = equals(g, b, 0);
  LLVMValueRef safe =
      proven ? b : LLVMBuildSelect(g->builder, zero, value_integer(shape, 1), b, "");
  LLVMValueRef value = op == IR_MOD ? LLVMBuildURem(g->builder, a, safe, "")
                                    : LLVMBuildUDiv(g->builder, a, safe, "");
  return proven ? value : LLVMBuildSelect(g->builder, zero, LLVMConstNull(shape), value, "");
}

static LLVMValueRef divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(!type_is_float(type) && (op == IR_FLOORDIV || op == IR_MOD), "integers are divided");
  if (!constant_divisor(b, type) && reciprocal_serves(g, type, b))
    return reciprocal_divide(g, op, type, a, b);
  value_match(g, &a, &b);
  return type_is_signed(type) ? signed_divide(g, op, type, a, b)
                              : unsigned_divide(g, op, type, a, b);
}

LLVMValueRef integer_floordiv(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b) {
  return divide(g, IR_FLOORDIV, type, a, b);
}

LLVMValueRef integer_mod(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b) {
  return divide(g, IR_MOD, type, a, b);
}

LLVMValueRef integer_shift(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef count) {
  ASSERT(is_power_of_two((uint64_t)type_bits(type)), "a mask limits the count to the width");
  LLVMValueRef masked =
      LLVMBuildAnd(g->builder, count, value_integer(LLVMTypeOf(count), type_bits(type) - 1), "");
  LLVMValueRef args[] = {a, a, masked};
  switch (op) {
  case IR_SHL: return LLVMBuildShl(g->builder, a, masked, "");
  case IR_SHR: return LLVMBuildLShr(g->builder, a, masked, "");
  case IR_SAR: return LLVMBuildAShr(g->builder, a, masked, "");
  case IR_ROL: return call_intrinsic(g, "llvm.fshl", LLVMTypeOf(a), args, 3);
  default: return call_intrinsic(g, "llvm.fshr", LLVMTypeOf(a), args, 3);
  }
}
