/* host.c - the host region: what stands around the tasks of a kernel. It runs once, on the launching side, and
 * reaches tasks and results through the frame alone. A stopped launch leaves it behind the task that noticed. */
#include "codegen/emit.h"

/* A slot holds a value of any scalar type in its low bytes. */
static void store_slot(Codegen *g, int64_t slot, Type type, LLVMValueRef value) {
  access_store(g, type, call_frame_slot(g, slot), value, 1);
}

static void emit_run(Codegen *g, const IrInst *inst) {
  if (inst->imm < 0 || inst->imm >= g->kernel->tasks.count) return codegen_fail(g, inst, "there is no such task");
  LLVMValueRef args[] = {g->rt_context, value_integer(g->i32, inst->imm)};
  call_runtime(g, "rt_run", args, 2);
  call_poll_stop(g);
}

static void emit_return(Codegen *g, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    store_slot(g, g->kernel->args.count + i, inst->operands[i]->type, value_operand(g, inst, i));
  block_jump(g, g->finish);
  block_enter(g, block_new(g, "behind"));
}

void host_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef tree_args[] = {g->rt_context, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm)};
  switch (inst->op) {
  case IR_FRAME_SET:
    if (inst->operand_count > 0) store_slot(g, inst->imm, inst->operands[0]->type, value_operand(g, inst, 0));
    return;
  case IR_ARG: case IR_FRAME_LOAD:
    return value_set(g, inst, access_load(g, inst->type, call_frame_slot(g, inst->imm), 1));
  case IR_RUN: return emit_run(g, inst);
  case IR_LIST_COUNT: return value_set(g, inst, call_runtime(g, "rt_list_count", tree_args, 3));
  case IR_LIST_ORDER: {
    LLVMValueRef args[] = {tree_args[0], tree_args[1], tree_args[2], value_integer(g->i32, inst->extent[0])};
    return value_set(g, inst, call_runtime(g, "rt_list_order", args, 4));
  }
  case IR_DYNAMIC_COUNT: return value_set(g, inst, call_runtime(g, "rt_dynamic_count", tree_args, 3));
  case IR_DYNAMIC_REMEMBER: call_runtime(g, "rt_dynamic_remember", tree_args, 3); return;
  case IR_TREE_CLEAR: call_runtime(g, "rt_tree_clear", tree_args, 3); return;
  case IR_MASK_COUNT: return value_set(g, inst, call_runtime(g, "rt_mask_count", tree_args, 3));
  case IR_MASK_REMEMBER: call_runtime(g, "rt_mask_remember", tree_args, 3); return;
  case IR_MASK_CLEAR_ALL: call_runtime(g, "rt_mask_clear_all", tree_args, 3); return;
  default: return emit_return(g, inst);
  }
}
