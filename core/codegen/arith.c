/* arith.c - operators on values, uniform or per lane, with the meanings stated in op.def. Floats
 * are exact IEEE unless the kernel is fast_math; integer.c has the edge cases of integers. */
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
