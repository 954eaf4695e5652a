/* lane_mask.c - bits of cells (rt_mask_active, rt_mask_set) in lanes: gathers the 32-bit word that
 * holds each lane's bit. A bit that is set already, as nearly all bits are that a loop sets, is not
 * set again; the others are set lane by lane. */
#include "codegen/emit.h"

enum { BITS = 32 };

/* Is the bit of each lane's cell set? False in inactive lanes. */
static LLVMValueRef gather_bits(Codegen *g, const IrInst *inst) {
  LLVMTypeRef narrow = value_lanes(g->i32, g->width);
  LLVMValueRef words = value_broadcast(g, value_operand(g, inst, 0), g->width),
               cell = value_broadcast(g, value_operand(g, inst, 1), g->width);
  LLVMValueRef shift = value_integer(LLVMTypeOf(cell), 5);
  LLVMValueRef number = LLVMBuildLShr(g->builder, cell, shift, "");
  LLVMValueRef at = LLVMBuildGEP2(g->builder, g->i32, words, &number, 1, "");
  LLVMValueRef bits = lane_gather(g, TYPE(U32), at);
  LLVMValueRef bit = LLVMBuildAnd(g->builder, LLVMBuildTrunc(g->builder, cell, narrow, ""),
                                  value_integer(narrow, BITS - 1), "");
  bits = LLVMBuildLShr(g->builder, bits, bit, "");
  return LLVMBuildTrunc(g->builder, bits, lane_mask_type(g), "");
}

static void set_bits(Codegen *g, const IrInst *inst) {
  LLVMValueRef before = g->mask, is_set = gather_bits(g, inst);
  LLVMBasicBlockRef some = block_new(g, "unset"), end = block_new(g, "bits.set");
  g->mask = lane_both(g, before, LLVMBuildNot(g->builder, is_set, ""));
  block_branch(g, lane_any(g, g->mask), some, end);
  block_enter(g, some);
  lane_each(g, inst);
  block_jump(g, end);
  block_enter(g, end);
  g->mask = before;
}

bool lane_mask_bits(Codegen *g, const IrInst *inst) {
  if (ir_is_call(inst, RT_MASK_ACTIVE)) {
    value_set(g, inst, gather_bits(g, inst));
    return true;
  }
  if (!ir_is_call(inst, RT_MASK_SET)) return false;
  set_bits(g, inst);
  return true;
}
