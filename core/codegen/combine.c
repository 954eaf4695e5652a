/* combine.c - combines partials of a reduction, and the lanes of one. By contract a float sum has
 * no order, so its additions may be reassociated, in any kernel. */
#include <math.h>

#include "codegen/operator.h"

/* The operator that combines partials. SUB and DIV accumulate by ADD and MUL; `op` itself is
 * applied at the end. */
static IrUpdate combines_by(IrUpdate op) {
  return op == IR_UPDATE_SUB ? IR_UPDATE_ADD : op == IR_UPDATE_DIV ? IR_UPDATE_MUL : op;
}

static LLVMValueRef least_integer(LLVMTypeRef type, Type of, bool largest) {
  int bits = type_bits(of);
  uint64_t ones = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (!type_is_signed(of)) return value_integer(type, largest ? (int64_t)ones : 0);
  return value_integer(type, (int64_t)(largest ? ones >> 1 : (ones >> 1) + 1));
}

LLVMValueRef combine_identity(Codegen *g, IrUpdate op, Type type, int width) {
  LLVMTypeRef shape = value_vector(g, type, width);
  bool is_float = type_is_float(type);
  switch (combines_by(op)) {
  case IR_UPDATE_ADD: return is_float ? value_real(shape, -0.0) : value_integer(shape, 0);
  case IR_UPDATE_MUL: return is_float ? value_real(shape, 1) : value_integer(shape, 1);
  case IR_UPDATE_MIN:
    return is_float ? value_real(shape, INFINITY) : least_integer(shape, type, true);
  case IR_UPDATE_MAX:
    return is_float ? value_real(shape, -INFINITY) : least_integer(shape, type, false);
  case IR_UPDATE_BAND: return value_integer(shape, -1);
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return value_integer(shape, 0);
  default: ASSERT(false, "the operator of a reduction has an identity"); return NULL;
  }
}

LLVMValueRef combine(Codegen *g, IrUpdate op, Type type, LLVMValueRef sum, LLVMValueRef value) {
  LLVMValueRef result = arith_update(g, combines_by(op), type, sum, value);
  if (type_is_float(type) && LLVMIsAInstruction(result) && LLVMCanValueUseFastMathFlags(result))
    LLVMSetFastMathFlags(result, LLVMGetFastMathFlags(result) | LLVMFastMathAllowReassoc);
  return result;
}

/* Combines each lane with the identity first, so that a NaN does not become the maximum. */
LLVMValueRef combine_lanes(Codegen *g, IrUpdate op, Type type, LLVMValueRef value) {
  int width = value_width(value);
  LLVMValueRef none = combine_identity(g, op, type, width);
  value = combine(g, op, type, none, value);
  for (int half = width / 2; half > 1; half /= 2)
    value = combine(g, op, type, lanes_some(g, value, 0, half), lanes_some(g, value, half, half));
  return combine(g, op, type, value_lane(g, value, 0), value_lane(g, value, 1));
}
