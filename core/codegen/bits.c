/* bits.c - the loop over the set bits of a word, one iteration each:
 *
 *     for (rest = word; rest; rest &= rest - 1) { position = trailing zeros of rest; .. } */
#include "codegen/emit.h"

SetBits bits_begin(Codegen *g, LLVMValueRef word) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), turn = block_new(g, "bit");
  SetBits bits = {.head = block_new(g, "bits")};
  bits.again = block_new(g, "again");
  bits.leave = block_new(g, "leave");
  block_jump(g, bits.head);
  block_enter(g, bits.head);
  bits.rest = LLVMBuildPhi(g->builder, g->i64, "rest");
  LLVMAddIncoming(bits.rest, &word, &before, 1);
  LLVMValueRef zero = value_integer(g->i64, 0);
  LLVMValueRef is_some = LLVMBuildICmp(g->builder, LLVMIntNE, bits.rest, zero, "");
  block_branch(g, is_some, turn, bits.leave);
  block_enter(g, turn);
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

void bits_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef word = value_operand(g, inst, 0);
  const IrRegion *body = inst->regions[0];
  if (value_is_vector(word) || body->params.count != 1)
    return codegen_fail(g, inst, "it walks one word");
  Turns turns = turns_begin(g, inst);
  SetBits bits = bits_begin(g, word);
  const IrInst *param = body->params.items[0];
  value_set(g, param, arith_convert(g, TYPE(I64), param->type, bits.position));
  turns_emit(g, &turns, bits.leave, bits.again);
  bits_next(g, &bits);
  turns_end(g, &turns);
}
