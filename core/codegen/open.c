/* open.c - begins a function, with the blocks that module.c draws. */
#include "codegen/task.h"
#include "llvm/function_attribute.h"

void function_open(Codegen *g, LLVMValueRef llvm, const IrTask *task, const IrFunction *called) {
  ASSERT(!task || !called, "a task is not called");
  g->f = (Function){.llvm = llvm, .task = task, .called = {.function = called}};
  llvm_function_attribute(llvm, "nounwind", 0);
  if (g->part != CODEGEN_GPU_TASKS) /* LLVM's give NaN for 0 and infinity (root.c) */
    llvm_function_text(llvm, "reciprocal-estimates", "none");
  LLVMBasicBlockRef entry = block_new(g, "entry"), start = block_new(g, "start");
  g->f.finish = g->f.done = block_new(g, "finish");
  block_enter(g, entry);
  g->f.entry_end = LLVMBuildBr(g->builder, start);
  block_enter(g, start);
  g->f.trees = scratch_array(g->scratch, TreeValues, g->kernel->trees.count);
  g->f.values = scratch_array(g->scratch, LLVMValueRef, g->kernel->next_id);
  g->f.rt_context = LLVMGetParam(llvm, 0); /* gpu_begin sets both for a GPU */
  if (LLVMCountParams(llvm) > 1) g->f.worker = LLVMGetParam(llvm, 1);
  if (!function_is_host(g)) return;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.worker = call_runtime(g, RT_HOST_WORKER, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
}
