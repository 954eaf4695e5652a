/* arith.c - operators on values, uniform or per lane, with the meanings stated in op.def. Floats
 * are exact IEEE unless the kernel is fast_math; integer.c has the edge cases of integers. */
#include "codegen/emit.h"

LLVMValueRef arith_fast(Codegen *g, LLVMValueRef value) {
  if (g->kernel->fast_math && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value))
    LLVMSetFastMathFlags(value, LLVMFastMathAllowReassoc | LLVMFastMathAllowReciprocal |
                                    LLVMFastMathAllowContract | LLVMFastMathNoSignedZeros);
  return value;
}

LLVMValueRef arith_select(Codegen *g, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no) {
  value_match(g, &yes, &no);
  ASSERT(LLVMTypeOf(yes) == LLVMTypeOf(no), "both sides of a choice are of one type");
  if (value_is_all(condition) && value_width(yes) == value_width(condition)) return yes;
  if (value_is_vector(condition)) {
    yes = value_broadcast(g, yes, value_width(condition));
    no = value_broadcast(g, no, value_width(condition));
  }
  return LLVMBuildSelect(g->builder, condition, yes, no, "");
}

static LLVMValueRef compare(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  static const LLVMIntPredicate with_sign[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                               LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  static const LLVMIntPredicate without[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                             LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  int row = (int)op - (int)IR_EQ;
  ASSERT(row >= 0 && row < 6 && LLVMTypeOf(a) == LLVMTypeOf(b), "a comparison of one type");
  if (type_is_float(type)) return LLVMBuildFCmp(g->builder, real[row], a, b, "");
  return LLVMBuildICmp(g->builder, type_is_signed(type) ? with_sign[row] : without[row], a, b, "");
}

_Static_assert(IR_NE == IR_EQ + 1 && IR_LT == IR_EQ + 2 && IR_LE == IR_EQ + 3 &&
                   IR_GT == IR_EQ + 4 && IR_GE == IR_EQ + 5,
               "compare() counts on the order of op.def's rows");

/* math.min and math.max of Lua: the first operand unless the second is strictly less (greater). */
static LLVMValueRef extreme(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef takes_second =
      op == IR_MIN ? compare(g, IR_LT, type, b, a) : compare(g, IR_LT, type, a, b);
  return arith_fast(g, LLVMBuildSelect(g->builder, takes_second, b, a, ""));
}

/* Floor and modulo of floats go through f64, where a quotient of f32s never rounds up to the next
 * integer, and where the arithmetic is that of Lua's own numbers: a - floor(a / b) * b. */
static LLVMValueRef float_floor(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  ASSERT(op == IR_FLOORDIV || op == IR_MOD, "what rounds a quotient down");
  LLVMValueRef x = arith_convert(g, type, TYPE(F64), a), y = arith_convert(g, type, TYPE(F64), b);
  LLVMValueRef quotient = LLVMBuildFDiv(g->builder, x, y, "");
  LLVMValueRef whole = call_intrinsic(g, "llvm.floor", LLVMTypeOf(quotient), &quotient, 1);
  if (op == IR_MOD)
    whole = LLVMBuildFSub(g->builder, x, LLVMBuildFMul(g->builder, whole, y, ""), "");
  return arith_convert(g, TYPE(F64), type, whole);
}

static LLVMValueRef float_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  switch (op) {
  case IR_ADD: return arith_fast(g, LLVMBuildFAdd(g->builder, a, b, ""));
  case IR_SUB: return arith_fast(g, LLVMBuildFSub(g->builder, a, b, ""));
  case IR_MUL: return arith_fast(g, LLVMBuildFMul(g->builder, a, b, ""));
  case IR_DIV: return arith_fast(g, LLVMBuildFDiv(g->builder, a, b, ""));
  case IR_FLOORDIV:
  case IR_MOD: return float_floor(g, op, type, a, b);
  case IR_MIN:
  case IR_MAX: return extreme(g, op, type, a, b);
  default: break;
  }
  codegen_fail(g, NULL,
               scratch_format(g->scratch, "%s of floats has no meaning", ir_op_info[op].text));
  return a;
}

static LLVMValueRef integer_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  switch (op) {
  case IR_ADD: return LLVMBuildAdd(g->builder, a, b, "");
  case IR_SUB: return LLVMBuildSub(g->builder, a, b, "");
  case IR_MUL: return LLVMBuildMul(g->builder, a, b, "");
  case IR_FLOORDIV: return integer_floordiv(g, type, a, b);
  case IR_MOD: return integer_mod(g, type, a, b);
  case IR_BAND: return LLVMBuildAnd(g->builder, a, b, "");
  case IR_BOR: return LLVMBuildOr(g->builder, a, b, "");
  case IR_BXOR: return LLVMBuildXor(g->builder, a, b, "");
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR: return integer_shift(g, op, type, a, b);
  case IR_MIN:
  case IR_MAX: return extreme(g, op, type, a, b);
  default: break;
  }
  codegen_fail(g, NULL,
               scratch_format(g->scratch, "%s of integers has no meaning", ir_op_info[op].text));
  return a;
}

LLVMValueRef arith_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  bool divides = (op == IR_FLOORDIV || op == IR_MOD) && !type_is_float(type);
  if (!divides) value_match(g, &a, &b); /* division is cheaper by a uniform divisor */
  if (op >= IR_EQ && op <= IR_GE) return compare(g, op, type, a, b);
  if (math_is_call(op)) return math_call(g, op, type, a, b);
  return type_is_float(type) ? float_binary(g, op, type, a, b) : integer_binary(g, op, type, a, b);
}

static LLVMValueRef absolute(Codegen *g, Type type, LLVMValueRef a) {
  if (type_is_float(type)) return call_intrinsic(g, "llvm.fabs", LLVMTypeOf(a), &a, 1);
  if (!type_is_signed(type)) return a;
  /* false: the least integer is not poison, it stays as it is */
  LLVMValueRef args[] = {a, LLVMConstInt(g->bool_type, 0, false)};
  return call_intrinsic(g, "llvm.abs", LLVMTypeOf(a), args, 2);
}

/* clz or ctz; for zero the count is the type's width. */
static LLVMValueRef zeros(Codegen *g, const char *intrinsic, LLVMValueRef a) {
  LLVMValueRef args[] = {a, LLVMConstInt(g->bool_type, 0, false)};
  return call_intrinsic(g, intrinsic, LLVMTypeOf(a), args, 2);
}

LLVMValueRef arith_unary(Codegen *g, IrOp op, Type type, LLVMValueRef a) {
  switch (op) {
  case IR_NEG:
    return type_is_float(type) ? arith_fast(g, LLVMBuildFNeg(g->builder, a, ""))
                               : LLVMBuildNeg(g->builder, a, "");
  case IR_BNOT: return LLVMBuildNot(g->builder, a, "");
  case IR_BSWAP:
    return type_bits(type) <= 8 ? a : call_intrinsic(g, "llvm.bswap", LLVMTypeOf(a), &a, 1);
  case IR_POPCNT: return call_intrinsic(g, "llvm.ctpop", LLVMTypeOf(a), &a, 1);
  case IR_CLZ: return zeros(g, "llvm.ctlz", a);
  case IR_CTZ: return zeros(g, "llvm.cttz", a);
  case IR_ABS: return absolute(g, type, a);
  default: return math_call(g, op, type, a, NULL);
  }
}

/* Converts f64 to a type that is computed in f32 with one rounding. x86 has no direct instruction
 * for f16, and a plain conversion through f32 would round twice; so the intermediate f32 is rounded
 * to odd: if inexact, to the neighbour whose last bit is 1, which is never a tie of the type. */
static LLVMValueRef narrow_once(Codegen *g, Type to, LLVMValueRef a) {
  ASSERT(type_is(type_computed(to), TYPE_F32), "the intermediate type has 32 bits");
  int width = value_width(a);
  LLVMTypeRef single = value_lanes(value_type(g, TYPE(F32)), width),
              bits = value_lanes(g->i32, width);
  LLVMValueRef near = LLVMBuildFPTrunc(g->builder, a, single, "");
  LLVMValueRef back = LLVMBuildFPExt(g->builder, near, LLVMTypeOf(a), "");
  LLVMValueRef near_bits = LLVMBuildBitCast(g->builder, near, bits, "");
  LLVMValueRef inexact = LLVMBuildFCmp(g->builder, LLVMRealONE, back, a, "");
  LLVMValueRef even = LLVMBuildICmp(g->builder, LLVMIntEQ,
                                    LLVMBuildAnd(g->builder, near_bits, value_integer(bits, 1), ""),
                                    value_integer(bits, 0), "");
  LLVMValueRef too_small = LLVMBuildFCmp(g->builder, LLVMRealOLT, absolute(g, TYPE(F64), back),
                                         absolute(g, TYPE(F64), a), "");
  LLVMValueRef step =
      LLVMBuildSelect(g->builder, too_small, value_integer(bits, 1), value_integer(bits, -1), "");
  LLVMValueRef odd = LLVMBuildSelect(g->builder, LLVMBuildAnd(g->builder, inexact, even, ""),
                                     LLVMBuildAdd(g->builder, near_bits, step, ""), near_bits, "");
  LLVMTypeRef target = value_lanes(value_type(g, to), width);
  return LLVMBuildFPTrunc(g->builder, LLVMBuildBitCast(g->builder, odd, single, ""), target, "");
}

static LLVMValueRef from_float(Codegen *g, Type from, Type to, LLVMValueRef a, LLVMTypeRef target) {
  if (type_is_bool(to))
    return LLVMBuildFCmp(g->builder, LLVMRealUNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
  if (type_is_float(to)) {
    Type in = type_computed(to);
    if (!type_equal(in, to) && type_bits(from) > type_bits(in)) return narrow_once(g, to, a);
    return type_bits(to) > type_bits(from) ? LLVMBuildFPExt(g->builder, a, target, "")
                                           : LLVMBuildFPTrunc(g->builder, a, target, "");
  }
  Type in = type_computed(from);
  if (!type_equal(in, from)) return arith_convert(g, in, to, arith_convert(g, from, in, a));
  return saturate(g, from, to, a, target);
}

/* Every integer that is finite in f16 is exact in f32, so an integer reaches f16 through f32
 * rounded once. */
static LLVMValueRef from_integer(Codegen *g, Type from, Type to, LLVMValueRef a,
                                 LLVMTypeRef target) {
  if (type_is_bool(to))
    return LLVMBuildICmp(g->builder, LLVMIntNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
  Type in = type_computed(to);
  if (!type_equal(in, to)) return arith_convert(g, in, to, arith_convert(g, from, in, a));
  if (type_is_float(to))
    return type_is_signed(from) ? LLVMBuildSIToFP(g->builder, a, target, "")
                                : LLVMBuildUIToFP(g->builder, a, target, "");
  if (type_bits(to) == type_bits(from)) return a;
  if (type_bits(to) < type_bits(from)) return LLVMBuildTrunc(g->builder, a, target, "");
  return type_is_signed(from) ? LLVMBuildSExt(g->builder, a, target, "")
                              : LLVMBuildZExt(g->builder, a, target, "");
}

LLVMValueRef arith_convert(Codegen *g, Type from, Type to, LLVMValueRef a) {
  if (type_equal(from, to)) return a;
  ASSERT(!type_is_none(from) && !type_is_none(to), "numbers are converted to numbers");
  LLVMTypeRef target = value_lanes(value_type(g, to), value_width(a));
  return type_is_float(from) ? from_float(g, from, to, a, target)
                             : from_integer(g, from, to, a, target);
}

LLVMValueRef arith_update(Codegen *g, IrUpdate op, Type type, LLVMValueRef old,
                          LLVMValueRef value) {
  ASSERT(op >= 0 && op <= IR_UPDATE_COUNT, "an operator of updates");
  static const IrOp ops[IR_UPDATE_COUNT] = {
      [IR_UPDATE_ADD] = IR_ADD,           [IR_UPDATE_SUB] = IR_SUB, [IR_UPDATE_MUL] = IR_MUL,
      [IR_UPDATE_DIV] = IR_DIV,           [IR_UPDATE_MIN] = IR_MIN, [IR_UPDATE_MAX] = IR_MAX,
      [IR_UPDATE_BAND] = IR_BAND,         [IR_UPDATE_BOR] = IR_BOR, [IR_UPDATE_BXOR] = IR_BXOR,
      [IR_UPDATE_FLOORDIV] = IR_FLOORDIV, [IR_UPDATE_MOD] = IR_MOD, [IR_UPDATE_POW] = IR_POW,
      [IR_UPDATE_SHL] = IR_SHL,           [IR_UPDATE_SHR] = IR_SHR, [IR_UPDATE_SAR] = IR_SAR};
  if (op == IR_UPDATE_EXCHANGE) return value;
  if (op < IR_UPDATE_COUNT) return arith_binary(g, ops[op], type, old, value);
  codegen_fail(g, NULL, "an update has no operator");
  return old;
}
