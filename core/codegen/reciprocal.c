/* reciprocal.c - division of integers of up to 32 bits by multiplication with a reciprocal: of
 * lanes, since processors have no vector division of integers, and by divisors that are constant
 * during a task (`reciprocal`), whose reciprocal is computed in the entry block. In doubles, with
 * r = 1 / |b|:
 *
 *     floor(a / b) = nearest(a / b + r / 2 - 1/2)
 *
 * The argument is never nearer than r / 2 to where `nearest` changes, and a * (1 / b) is off by
 * less than |a / b| * 2^-52 < r * 2^-19: so the quotient is exact. `nearest` is the addition of
 * 3 * 2^51, after which the low bits of the double are the whole number modulo 2^32; so the least
 * integer divided by -1 wraps. For a division by zero, 1 / b is replaced by 0: the argument is
 * -1/2, which rounds to the even neighbour 0. Decisions D-codegen-11, D-codegen-30. */
#include "codegen/operator.h"

enum { MOST_BITS = 32 };
static const double rounder = 0x1.8p52;

bool reciprocal_serves(Type type, LLVMValueRef b) {
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
