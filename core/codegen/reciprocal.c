/* reciprocal.c - division of integers of up to 32 bits by multiplication with a reciprocal, for
 * divisors that are constant during a task, and for lanes, since processors have no vector division
 * of integers. In doubles, with r = 1 / |b|:
 *
 *     floor(a / b) = nearest(a / b + r / 2 - 1/2)
 *
 * The argument is never nearer than r / 2 to where `nearest` changes, and a * (1 / b) is off by
 * less than |a / b| * 2^-52 < r * 2^-19: so the quotient is exact. `nearest` is the addition of
 * 3 * 2^51, after which the low bits of the double are the whole number modulo 2^32; so the least
 * integer divided by -1 wraps. For a division by zero, 1 / b is replaced by 0: the argument is
 * -1/2, which rounds to the even neighbour 0. Decisions D-codegen-11, D-codegen-30. */
#include "codegen/emit.h"

enum { MOST_BITS = 32 };
static const double rounder = 0x1.8p52;

/* Is the value computed in the entry block, once per task? */
static bool is_hoisted(Codegen *g, LLVMValueRef b) {
  return LLVMIsAInstruction(b) &&
         LLVMGetInstructionParent(b) == LLVMGetInstructionParent(g->f.entry_end);
}

bool reciprocal_serves(Codegen *g, Type type, LLVMValueRef b) {
  return type_bits(type) <= MOST_BITS && type_bits(type) > 1 &&
         (value_is_vector(b) || (!function_is_host(g) && is_hoisted(g, b)));
}

typedef struct Divisor {
  LLVMValueRef inverse, shift; /* 1 / b; r / 2 - 1/2 */
  LLVMValueRef kept;           /* mask for the remainder: all ones, or 0 if b is 0 */
} Divisor;

static Divisor divisor_of(Codegen *g, Type type, LLVMValueRef b) {
  LLVMValueRef zero = LLVMBuildICmp(g->builder, LLVMIntEQ, b, LLVMConstNull(LLVMTypeOf(b)), "");
  LLVMValueRef real = arith_convert(g, type, TYPE(F64), b);
  LLVMTypeRef shape = LLVMTypeOf(real);
  LLVMValueRef inverse = LLVMBuildFDiv(g->builder, value_real(shape, 1), real, "");
  inverse = LLVMBuildSelect(g->builder, zero, value_real(shape, 0), inverse, "");
  LLVMValueRef size = call_intrinsic(g, "llvm.fabs", shape, &inverse, 1);
  LLVMValueRef half = LLVMBuildFMul(g->builder, size, value_real(shape, 0.5), "");
  return (Divisor){.inverse = inverse,
                   .shift = LLVMBuildFAdd(g->builder, half, value_real(shape, -0.5), ""),
                   .kept = LLVMBuildSelect(g->builder, zero, LLVMConstNull(LLVMTypeOf(b)),
                                           value_integer(LLVMTypeOf(b), -1), "")};
}

/* Prepares the divisor, once per task if it is hoisted. */
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
  LLVMValueRef sum = LLVMBuildFMul(g->builder, x, by.inverse, "");
  sum = LLVMBuildFAdd(g->builder, sum, by.shift, "");
  sum = LLVMBuildFAdd(g->builder, sum, value_real(LLVMTypeOf(sum), rounder), "");
  LLVMValueRef bits = LLVMBuildBitCast(g->builder, sum, value_lanes(g->i64, width), "");
  LLVMValueRef quotient =
      LLVMBuildTrunc(g->builder, bits, value_lanes(value_type(g, type), width), "");
  if (op == IR_FLOORDIV) return quotient;
  value_match(g, &a, &b);
  value_match(g, &quotient, &by.kept);
  LLVMValueRef rest = LLVMBuildSub(g->builder, a, LLVMBuildMul(g->builder, quotient, b, ""), "");
  return LLVMBuildAnd(g->builder, rest, by.kept, "");
}
