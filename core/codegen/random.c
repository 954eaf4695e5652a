/* random.c - RANDOM: Philox4x32-10 (base/philox.h), expanded inline, per lane if its operands are.
 * The counter is the iteration followed by the block number; LLVM merges the blocks that several
 * draws of one iteration share. */
#include "base/philox.h"
#include "codegen/emit.h"

/* The low or high 32 bits of a 64-bit value, as 64 bits, since vectors multiply these without a
 * shuffle. */
static LLVMValueRef low(Codegen *g, LLVMValueRef value, LLVMValueRef mask) {
  return LLVMBuildAnd(g->builder, value, mask, "");
}
static LLVMValueRef high(Codegen *g, LLVMValueRef value, LLVMValueRef bits) {
  return LLVMBuildLShr(g->builder, value, bits, "");
}
static LLVMValueRef both(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildXor(g->builder, a, b, "");
}

/* One Philox round on counter `c` with key `k`. */
static void philox_round(Codegen *g, LLVMValueRef c[4], LLVMValueRef k[2], LLVMValueRef mask,
                         LLVMValueRef bits) {
  static const uint32_t multipliers[2] = PHILOX_MULTIPLIERS, steps[2] = PHILOX_STEPS;
  LLVMTypeRef type = LLVMTypeOf(c[0]);
  LLVMValueRef product[2];
  for (int i = 0; i < 2; i++)
    product[i] = LLVMBuildMul(g->builder, c[2 * i], value_integer(type, multipliers[i]), "");
  LLVMValueRef first = both(g, both(g, high(g, product[1], bits), c[1]), k[0]),
               third = both(g, both(g, high(g, product[0], bits), c[3]), k[1]);
  c[0] = first;
  c[1] = low(g, product[1], mask);
  c[2] = third;
  c[3] = low(g, product[0], mask);
  for (int i = 0; i < 2; i++) {
    LLVMValueRef next =
        LLVMBuildAdd(g->builder, k[i], value_integer(LLVMTypeOf(k[i]), steps[i]), "");
    k[i] = low(g, next, value_integer(LLVMTypeOf(k[i]), UINT32_MAX));
  }
}

static LLVMValueRef joined(Codegen *g, LLVMValueRef low_half, LLVMValueRef high_half,
                           LLVMValueRef bits) {
  return LLVMBuildOr(g->builder, low_half, LLVMBuildShl(g->builder, high_half, bits, ""), "");
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
  LLVMValueRef block = high(g, number, one);
  LLVMValueRef c[4] = {low(g, index, mask), high(g, index, bits), low(g, block, mask),
                       high(g, block, bits)};
  LLVMValueRef k[2] = {low(g, key, mask), high(g, key, bits)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) philox_round(g, c, k, mask, bits);
  LLVMValueRef odd =
      LLVMBuildICmp(g->builder, LLVMIntNE, low(g, number, one), value_integer(type, 0), "");
  value_set(g, inst,
            LLVMBuildSelect(g->builder, odd, joined(g, c[2], c[3], bits),
                            joined(g, c[0], c[1], bits), ""));
}

/* The high half of a product, from four products of halves: vectors have no wider ones. */
LLVMValueRef random_high_product(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  value_match(g, &a, &b);
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef mask = value_integer(type, UINT32_MAX), bits = value_integer(type, 32);
  LLVMValueRef a_low = low(g, a, mask), a_high = high(g, a, bits), b_low = low(g, b, mask),
               b_high = high(g, b, bits);
  LLVMBuilderRef builder = g->builder;
  LLVMValueRef middle = LLVMBuildAdd(builder, LLVMBuildMul(builder, a_high, b_low, ""),
                                     high(g, LLVMBuildMul(builder, a_low, b_low, ""), bits), "");
  LLVMValueRef other =
      LLVMBuildAdd(builder, LLVMBuildMul(builder, a_low, b_high, ""), low(g, middle, mask), "");
  LLVMValueRef top =
      LLVMBuildAdd(builder, LLVMBuildMul(builder, a_high, b_high, ""), high(g, middle, bits), "");
  return LLVMBuildAdd(builder, top, high(g, other, bits), "");
}
