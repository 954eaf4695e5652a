/* mask.c - bits of bitmasked cells: the runtime's entry points inline (llvm_bc/node_bitmasked.c), and the loop over the
 * set bits of a word, whose turns are as many as there are, whatever the word's density:
 *
 *     for (rest = word; rest; rest &= rest - 1) { position = count of trailing zeros of rest; .. } */
#include "codegen/emit.h"

static LLVMValueRef as_long(Codegen *g, const IrInst *inst, int k) {
  return arith_convert(g, inst->operands[k]->type, TYPE(I64), value_operand(g, inst, k));
}

void mask_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef words = value_operand(g, inst, 0), cell = as_long(g, inst, 1);
  if (value_is_vector(words) || value_is_vector(cell)) return codegen_fail(g, inst, "its cell differs by lane");
  LLVMValueRef two[] = {words, cell};
  switch (inst->op) {
  case IR_MASK_LIVE: {
    LLVMValueRef live = call_runtime(g, "rt_mask_live", two, 2);
    return value_set(g, inst, LLVMBuildICmp(g->builder, LLVMIntNE, live, value_integer(g->i32, 0), ""));
  }
  case IR_MASK_SET: call_runtime(g, "rt_mask_set", two, 2); return;
  case IR_MASK_KEEP: call_runtime(g, "rt_mask_keep", two, 2); return;
  case IR_MASK_BITS: {
    LLVMValueRef args[] = {words, cell, as_long(g, inst, 2)};
    return value_set(g, inst, call_runtime(g, "rt_mask_bits", args, 3));
  }
  case IR_MASK_WAS: {
    LLVMValueRef args[] = {g->rt_context, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm), words, cell,
                           as_long(g, inst, 2)};
    return value_set(g, inst, call_runtime(g, "rt_mask_was", args, 6));
  }
  default: {
    LLVMValueRef args[] = {g->rt_context, g->worker, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm),
                           words, cell};
    call_runtime(g, "rt_mask_clear", args, 6);
  }
  }
}

void mask_bits(Codegen *g, const IrInst *inst) {
  LLVMValueRef word = value_operand(g, inst, 0), zero = value_integer(g->i64, 0);
  const IrRegion *body = inst->regions[0];
  if (value_is_vector(word) || body->params.count != 1) return codegen_fail(g, inst, "it walks one word");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), head = block_new(g, "bits"), turn = block_new(g, "bit");
  LLVMBasicBlockRef again = block_new(g, "again"), leave = block_new(g, "leave");
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef rest = LLVMBuildPhi(g->builder, g->i64, "rest");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, rest, zero, ""), turn, leave);
  block_enter(g, turn);
  LLVMValueRef args[] = {rest, LLVMConstInt(LLVMInt1TypeInContext(g->context), 1, false)};
  LLVMValueRef position = call_intrinsic(g, "llvm.cttz", g->i64, args, 2);
  value_set(g, body->params.items[0], arith_convert(g, TYPE(I64), body->params.items[0]->type, position));
  vec_push(g->scratch, &g->exits, ((Exit){leave, again}));
  emit_region(g, body);
  g->exits.count--;
  block_jump(g, again);
  block_enter(g, again);
  LLVMValueRef less = LLVMBuildSub(g->builder, rest, value_integer(g->i64, 1), "");
  LLVMValueRef next = LLVMBuildAnd(g->builder, rest, less, "");
  block_jump(g, head);
  LLVMAddIncoming(rest, (LLVMValueRef[]){word, next}, (LLVMBasicBlockRef[]){before, again}, 2);
  block_enter(g, leave);
}
