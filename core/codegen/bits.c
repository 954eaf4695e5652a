/* bits.c - the loop over the set bits of a word, one iteration each:
 *
 *     for (rest = word; rest; rest &= rest - 1) { position = trailing zeros of rest; .. }
 *
 * Vectorised, say by 16, each iteration advances by 16 positions, and the low 16 bits of the rest
 * are the mask. */
#include "codegen/emit.h"

SetBits bits_begin(Codegen *g, LLVMValueRef word) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), body = block_new(g, "bit");
  SetBits bits = {.head = block_new(g, "bits")};
  bits.again = block_new(g, "again");
  bits.leave = block_new(g, "leave");
  block_jump(g, bits.head);
  block_enter(g, bits.head);
  bits.rest = LLVMBuildPhi(g->builder, g->i64, "rest");
  LLVMAddIncoming(bits.rest, &word, &before, 1);
  LLVMValueRef zero = value_integer(g->i64, 0);
  LLVMValueRef is_some = LLVMBuildICmp(g->builder, LLVMIntNE, bits.rest, zero, "");
  block_branch(g, is_some, body, bits.leave);
  block_enter(g, body);
  LLVMValueRef args[] = {bits.rest, LLVMConstInt(LLVMInt1TypeInContext(g->context), 1, false)};
  bits.position = call_intrinsic(g, "llvm.cttz", g->i64, args, 2);
  return bits;
}

static void bits_next(Codegen *g, const SetBits *bits) {
  LLVMValueRef less = LLVMBuildSub(g->builder, bits->rest, value_integer(g->i64, 1), "");
  LLVMValueRef next = LLVMBuildAnd(g->builder, bits->rest, less, "");
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder);
  block_jump(g, bits->head);
  LLVMAddIncoming(bits->rest, &next, &from, 1);
  block_enter(g, bits->leave);
}

void bits_end(Codegen *g, const SetBits *bits) {
  block_jump(g, bits->again);
  block_enter(g, bits->again);
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
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), body = block_new(g, "bits"),
                    some = block_new(g, "some"), next = block_new(g, "next"),
                    leave = block_new(g, "bits.end");
  LLVMValueRef zero = value_index(g, 0), width = value_index(g, loop->width);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, word, zero, ""), leave, body);
  block_enter(g, body);
  LLVMValueRef rest = LLVMBuildPhi(g->builder, g->i64, "rest"),
               position = LLVMBuildPhi(g->builder, g->i64, "position");
  LLVMValueRef bits = LLVMBuildTrunc(g->builder, rest, narrow, "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, LLVMConstNull(narrow), ""), some,
               next);
  block_enter(g, some);
  LLVMValueRef mask = lane_mask_of_bits(g, rest, loop->width);
  lane_iterations(g, loop, position, mask, next);
  LLVMBasicBlockRef back = lane_next(g, loop, next);
  LLVMValueRef left = LLVMBuildLShr(g->builder, rest, width, ""),
               after = LLVMBuildAdd(g->builder, position, width, "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, left, zero, ""), leave, body);
  LLVMBasicBlockRef from[] = {before, back};
  LLVMAddIncoming(rest, (LLVMValueRef[]){word, left}, from, 2);
  LLVMAddIncoming(position, (LLVMValueRef[]){zero, after}, from, 2);
  block_enter(g, leave);
}

/* A constant word: an iteration per bit, without a loop. */
static void emit_unrolled(Codegen *g, const IrInst *inst, uint64_t word) {
  const IrInst *param = inst->regions[0]->params.items[0];
  for (; word; word &= word - 1) {
    value_set(g, param, value_integer(value_type(g, param->type), __builtin_ctzll(word)));
    emit_region(g, inst->regions[0]);
  }
}

void bits_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef word = value_operand(g, inst, 0);
  if (inst->unrolled && LLVMIsAConstantInt(word))
    return emit_unrolled(g, inst, LLVMConstIntGetZExtValue(word));
  if (value_is_vector(word) || inst->regions[0]->params.count < 1)
    return codegen_fail(g, inst, "it walks one word");
  if (inst->lanes <= 1) return emit_alone(g, inst, word);
  const IrRegion *body = inst->regions[0];
  if (!lane_is_sound(body, inst->lanes))
    return codegen_fail(g, inst, "its iterations cannot be lanes");
  LaneLoop loop = {.body = body, .index = body->params.items[0], .width = inst->lanes};
  emit_lanes(g, &loop, word);
}
