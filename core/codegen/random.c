/* random.c - RANDOM: Philox4x32-10 (base/philox.h), expanded inline, per lane if its operands are.
 * The counter is the iteration followed by the block number; LLVM merges the blocks that several
 * draws of one iteration share. */
#include "base/philox.h"
#include "codegen/operator.h"

/* One Philox round on counter `c` with key `k`. Halves of 64-bit values (the low one by the mask,
 * the high one by a shift) stay 64 bits wide, since vectors multiply these without a shuffle. */
static void philox_round(Codegen *g, LLVMValueRef c[4], LLVMValueRef k[2], LLVMValueRef mask,
                         LLVMValueRef bits) {
  static const uint32_t multipliers[2] = PHILOX_MULTIPLIERS, steps[2] = PHILOX_STEPS;
  LLVMTypeRef type = LLVMTypeOf(c[0]);
  LLVMValueRef product[2];
  for (int i = 0; i < 2; i++)
    product[i] = build_mul(g, c[2 * i], value_integer(type, multipliers[i]));
  LLVMValueRef first = build_xor(g, build_xor(g, build_lshr(g, product[1], bits), c[1]), k[0]),
               third = build_xor(g, build_xor(g, build_lshr(g, product[0], bits), c[3]), k[1]);
  c[0] = first;
  c[1] = build_and(g, product[1], mask);
  c[2] = third;
  c[3] = build_and(g, product[0], mask);
  for (int i = 0; i < 2; i++) {
    LLVMValueRef next = build_add(g, k[i], value_like(k[i], steps[i]));
    k[i] = build_and(g, next, value_like(k[i], UINT32_MAX));
  }
}

static LLVMValueRef joined(Codegen *g, LLVMValueRef low_half, LLVMValueRef high_half,
                           LLVMValueRef bits) {
  return build_or(g, low_half, build_shl(g, high_half, bits));
}

void random_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef key = value_operand(g, inst, 0), index = value_operand(g, inst, 1),
               number = value_operand(g, inst, 2);
  value_match(g, &index, &number);
  value_match(g, &index, &key);
  value_match(g, &number, &key);
  LLVMTypeRef type = LLVMTypeOf(index);
  ASSERT(LLVMTypeOf(number) == type && LLVMTypeOf(key) == type, "as many lanes of each");
  LLVMValueRef mask = value_integer(type, UINT32_MAX), bits = value_integer(type, 32),
               one = value_integer(type, 1);
  LLVMValueRef block = build_lshr(g, number, one);
  LLVMValueRef c[4] = {build_and(g, index, mask), build_lshr(g, index, bits),
                       build_and(g, block, mask), build_lshr(g, block, bits)};
  LLVMValueRef k[2] = {build_and(g, key, mask), build_lshr(g, key, bits)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) philox_round(g, c, k, mask, bits);
  LLVMValueRef odd = build_is_some(g, build_and(g, number, one));
  value_set(g, inst,
            build_select(g, odd, joined(g, c[2], c[3], bits), joined(g, c[0], c[1], bits)));
}

/* The high half of a product, from four products of halves: vectors have no wider ones. */
LLVMValueRef random_high_product(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  value_match(g, &a, &b);
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef mask = value_integer(type, UINT32_MAX), bits = value_integer(type, 32);
  LLVMValueRef a_low = build_and(g, a, mask), a_high = build_lshr(g, a, bits),
               b_low = build_and(g, b, mask), b_high = build_lshr(g, b, bits);
  LLVMValueRef middle =
      build_add(g, build_mul(g, a_high, b_low), build_lshr(g, build_mul(g, a_low, b_low), bits));
  LLVMValueRef other = build_add(g, build_mul(g, a_low, b_high), build_and(g, middle, mask));
  LLVMValueRef top = build_add(g, build_mul(g, a_high, b_high), build_lshr(g, middle, bits));
  return build_add(g, top, build_lshr(g, other, bits));
}
