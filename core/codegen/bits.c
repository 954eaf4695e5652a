/* bits.c - the loop over the set bits of a word, one iteration each:
 *
 *     for (rest = word; rest; rest &= rest - 1) { position = trailing zeros of rest; .. }
 *
 * Vectorised, say by 16, each iteration advances by 16 positions, and the low 16 bits of the rest
 * are the mask. */
#include "codegen/region.h"

static void emit_alone(Codegen *g, const IrInst *inst, LLVMValueRef word) {
  const IrRegion *body = inst->regions[0];
  const IrInst *param = body->params.items[0];
  LLVMBasicBlockRef before = block_here(g), some = block_new(g, "bit"), head = block_new(g, "bits"),
                    again = block_new(g, "again"), leave = block_new(g, "leave");
  block_follow(g, head);
  LLVMValueRef rest = build_phi(g, word, before, "rest");
  block_enter_if(g, build_is_some(g, rest), some, leave);
  LLVMValueRef position = call_binary(g, "llvm.cttz", rest, value_bool(g, true));
  value_set(g, param, arith_convert(g, TYPE(I64), param->type, position));
  control_iteration(g, body, leave, again);
  LLVMValueRef less = build_sub(g, rest, value_index(g, 1));
  build_phi_next(rest, build_and(g, rest, less), block_here(g));
  block_jump(g, head);
  block_enter(g, leave);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

/* The vectorised loop: all positions of the word from 0 on, masked by its bits. */
static void emit_lanes(Codegen *g, const LaneLoop *loop, LLVMValueRef word) {
  ASSERT(loop->width > 1 && loop->width <= 32, "a shift by the width leaves bits");
  LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)loop->width);
  LLVMBasicBlockRef before = block_here(g), body = block_new(g, "bits"),
                    some = block_new(g, "some"), next = block_new(g, "next"),
                    leave = block_new(g, "bits.end");
  LLVMValueRef width = value_index(g, loop->width);
  block_enter_unless(g, build_is_zero(g, word), body, leave);
  LLVMValueRef rest = build_phi(g, word, before, "rest"),
               position = build_phi(g, value_index(g, 0), before, "position");
  block_enter_if(g, build_is_some(g, build_trunc(g, rest, narrow)), some, next);
  lane_iterations(g, loop, position, lanes_of_bits(g, rest, loop->width), next);
  LLVMBasicBlockRef back = lane_next(g, loop, next);
  LLVMValueRef left = build_lshr(g, rest, width);
  build_phi_next(rest, left, back);
  build_phi_next(position, build_add(g, position, width), back);
  block_enter_if(g, build_is_zero(g, left), leave, body);
}

/* A constant word: an iteration per bit, without a loop. */
static void emit_unrolled(Codegen *g, const IrInst *inst, uint64_t word) {
  const IrInst *param = inst->regions[0]->params.items[0];
  for (; word; word &= word - 1) {
    value_set(g, param, value_integer(value_type(g, param->type), __builtin_ctzll(word)));
    region_emit(g, inst->regions[0]);
  }
}

void bits_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef word = value_operand(g, inst, 0);
  if (inst->unrolled && LLVMIsAConstantInt(word))
    return emit_unrolled(g, inst, LLVMConstIntGetZExtValue(word));
  if (inst->lanes <= 1) return emit_alone(g, inst, word);
  const IrRegion *body = inst->regions[0];
  LaneLoop loop = {.body = body, .index = body->params.items[0], .width = inst->lanes};
  emit_lanes(g, &loop, word);
}
