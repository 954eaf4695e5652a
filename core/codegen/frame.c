/* frame.c - the frame's slots, by which the host region accesses arguments, tasks and results. A
 * stopped launch leaves the host region after the task that noticed the stop. */
#include "codegen/emit.h"

/* A slot holds a value of any scalar type in its low bytes. */
static void store_slot(Codegen *g, int64_t slot, Type type, LLVMValueRef value) {
  access_store(g, (Element){.type = type}, context_slot(g, slot), value);
}

static void emit_run(Codegen *g, const IrInst *inst) {
  if (inst->imm < 0 || inst->imm >= g->kernel->tasks.count)
    return codegen_fail(g, inst, "there is no such task");
  LLVMValueRef task = value_integer(g->i32, inst->imm);
  call_runtime(g, RT_RUN, (Callee){0}, &task, 1);
  context_poll_stop(g);
}

static void emit_return(Codegen *g, const IrInst *inst) {
  if (g->f.called.function) return function_return(g, inst);
  for (int i = 0; i < inst->operand_count; i++)
    store_slot(g, g->kernel->args.count + i, inst->operands[i]->type, value_operand(g, inst, i));
  block_jump(g, g->f.finish);
  block_enter(g, block_new(g, "after"));
}

/* Slots are constant during a task, so this reads them in the entry block. The value of a GET that
 * only names the slot of a REDUCE is unused; LLVM removes it. */
static void emit_get(Codegen *g, const IrInst *inst) {
  ASSERT(type_is_scalar(inst->type), "a slot holds one number");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  value_set(g, inst, access_load(g, (Element){.type = inst->type}, context_slot(g, inst->imm)));
  block_hoist_end(g, back);
}

void frame_emit(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_FRAME_GET: return emit_get(g, inst);
  case IR_FRAME_SET:
    if (inst->operand_count < 1) return;
    return store_slot(g, inst->imm, inst->operands[0]->type, value_operand(g, inst, 0));
  case IR_ARG:
  case IR_FRAME_LOAD:
    return value_set(g, inst,
                     access_load(g, (Element){.type = inst->type}, context_slot(g, inst->imm)));
  case IR_RUN: return emit_run(g, inst);
  default: return emit_return(g, inst);
  }
}
