/* frame.c - the frame's slots, by which the host region accesses arguments, tasks and results. A
 * stopped launch leaves the host region after the task that noticed the stop. */
#include "codegen/task.h"

/* A slot holds a value of any scalar type in its low bytes. */
static void store_slot(Codegen *g, int64_t slot, Type type, LLVMValueRef value) {
  access_store(g, (Element){.type = type}, context_slot(g, slot), value);
}

void frame_set(Codegen *g, const IrInst *inst) {
  store_slot(g, inst->imm, inst->operands[0]->type, value_operand(g, inst, 0));
}

void frame_load(Codegen *g, const IrInst *inst) {
  value_set(g, inst, access_load(g, (Element){.type = inst->type}, context_slot(g, inst->imm)));
}

void frame_run(Codegen *g, const IrInst *inst) {
  LLVMValueRef task = value_i32(g, inst->imm);
  call_runtime(g, RT_RUN, (Callee){0}, &task, 1);
  context_poll_stop(g);
}

void frame_return(Codegen *g, const IrInst *inst) {
  if (g->f.called.function) return function_return(g, inst);
  for (int i = 0; i < inst->operand_count; i++)
    store_slot(g, g->kernel->args.count + i, inst->operands[i]->type, value_operand(g, inst, i));
  block_leave(g, g->f.finish, "after");
}

/* Slots are constant during a task, so this reads them in the entry block. The value of a GET that
 * only names the slot of a REDUCE is unused; LLVM removes it. */
void frame_get(Codegen *g, const IrInst *inst) {
  ASSERT(type_is_scalar(inst->type), "a slot holds one number");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  frame_load(g, inst);
  block_hoist_end(g, back);
}
