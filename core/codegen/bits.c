/* bits.c - the loop over the set bits of a word, one iteration each:
 *
 *     for (rest = word; rest; rest &= rest - 1) { position = trailing zeros of rest; .. }
 *
 * Vectorised, say by 16, each iteration advances by 16 positions, and the low 16 bits of the rest
 * are the mask. */
#include "codegen/region.h"

SetBits bits_begin(Codegen *g, LLVMValueRef word) {
  LLVMBasicBlockRef before = block_here(g), body = block_new(g, "bit");
  SetBits bits = {.head = block_new(g, "bits")};
  bits.again = block_new(g, "again");
  bits.leave = block_new(g, "leave");
  block_follow(g, bits.head);
  bits.rest = build_phi(g, word, before, "rest");
  block_enter_if(g, build_is_some(g, bits.rest), body, bits.leave);
  bits.position = call_binary(g, "llvm.cttz", bits.rest, value_bool(g, true));
  return bits;
}

static void bits_next(Codegen *g, const SetBits *bits) {
  LLVMValueRef less = build_sub(g, bits->rest, value_index(g, 1));
  build_phi_next(bits->rest, build_and(g, bits->rest, less), block_here(g));
  block_jump(g, bits->head);
  block_enter(g, bits->leave);
}

void bits_end(Codegen *g, const SetBits *bits) {
  block_follow(g, bits->again);
  bits_next(g, bits);
}

static void emit_alone(Codegen *g, const IrInst *inst, LLVMValueRef word) {
  const IrRegion *body = inst->regions[0];
  SetBits bits = bits_begin(g, word);
  const IrInst *param = body->params.items[0];
  value_set(g, param, arith_convert(g, TYPE(I64), param->type, bits.position));
  control_iteration(g, body, bits.leave, bits.again);
  bits_next(g, &bits);
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
