/* module.c - emits a kernel as a module: one function for the host region, one per task, and one
 * per recursive function.
 *
 *     entry:   hoisted values and variables     -> start
 *     start:   the work                         -> finish
 *     finish:  releases the guards' references, combines partials of reductions, returns; a launch
 *              that is stopped or has failed jumps here */
#include <stdio.h>

#include "codegen/gpu/gpu.h"

/* A stopped thread must exit instead of waiting for its block, since lanes that share look-ups wait
 * in a barrier until it arrives or is gone. */
static void end_stopped(Codegen *g) {
  if (g->f.finish == g->f.done) return;
  block_enter(g, g->f.finish);
  guards_release(g);
  LLVMBuildRetVoid(g->builder);
}

/* Ends both the block that is being written and `finish`. */
static void function_end(Codegen *g) {
  ASSERT(!g->f.exits.count, "every loop was left");
  block_jump(g, g->f.done);
  end_stopped(g);
  block_enter(g, g->f.done);
  guards_release(g);
  if (g->f.task && g->part == CODEGEN_GPU_TASKS) gpu_sums_close(g, g->f.task);
  reduce_finish(g);
  stream_close(g);
  LLVMBuildRetVoid(g->builder);
}

static void emit_gpu_task(Codegen *g, const IrTask *task, const char *name) {
  GpuPositions positions = gpu_begin(g, task, name);
  if (ir_spread(task) > 1) g->f.finish = block_new(g, "stopped");
  gpu_sums_open(g, task);
  context_poll_stop(g); /* an earlier task of the launch may have failed */
  if (task->kind == TASK_SERIAL) gpu_serial(g, task, positions);
  else if (task->kind == TASK_RANGE) gpu_range(g, task, positions);
  else gpu_nodes(g, task, positions);
  function_end(g);
}

static void emit_task(Codegen *g, const IrTask *task, int number) {
  char name[32];
  snprintf(name, sizeof name, "rg_task_%d", number);
  if (g->part == CODEGEN_GPU_TASKS) return emit_gpu_task(g, task, name);
  LLVMTypeRef params[] = {g->pointer, g->pointer, g->i64, g->i64};
  LLVMTypeRef type = LLVMFunctionType(g->void_type, params, 4, false);
  function_open(g, LLVMAddFunction(g->module, name, type), task, NULL);
  LLVMValueRef begin = LLVMGetParam(g->f.llvm, 2), end = LLVMGetParam(g->f.llvm, 3);
  switch (task->kind) {
  case TASK_RANGE:
    if (task->claim) claim_range(g, task, begin, end);
    else task_range(g, task, begin, end);
    break;
  case TASK_LEAVES:
  case TASK_NODES: task_list(g, task, begin, end); break;
  case TASK_SERIAL: region_emit(g, task->body); break;
  }
  function_end(g);
}

static void emit_host(Codegen *g) {
  LLVMTypeRef type = LLVMFunctionType(g->void_type, &g->pointer, 1, false);
  function_open(g, LLVMAddFunction(g->module, "rg_host", type), NULL, NULL);
  if (g->kernel->body) region_emit(g, g->kernel->body);
  function_end(g);
}

static void init_types(Codegen *g) {
  g->context = LLVMGetModuleContext(g->module);
  g->void_type = LLVMVoidTypeInContext(g->context);
  g->bool_type = LLVMInt1TypeInContext(g->context);
  g->i8 = LLVMInt8TypeInContext(g->context);
  g->i32 = LLVMInt32TypeInContext(g->context);
  g->i64 = LLVMInt64TypeInContext(g->context);
  g->pointer = LLVMPointerTypeInContext(g->context, 0);
}

static bool is_of(CodegenShare share, int task) {
  return !share.share_of_task || share.share_of_task[task] == share.number;
}

bool codegen_kernel(Scratch *scratch, LLVMModuleRef module, LLVMBuilderRef builder,
                    const IrKernel *kernel, CodegenPart part, CodegenShare share,
                    CodegenTarget target, Error *err) {
  Codegen g = {.emit = emit_op,
               .scratch = scratch,
               .err = err,
               .kernel = kernel,
               .part = part,
               .target = target,
               .module = module,
               .builder = builder};
  init_types(&g);
  g.tables = scratch_array(scratch, LLVMValueRef, kernel->tables.count);
  function_declare_all(&g);
  if (part != CODEGEN_GPU_TASKS && !share.number) emit_host(&g);
  for (int i = 0; part != CODEGEN_HOST_REGION && i < kernel->tasks.count && !error_is_set(err); i++)
    if (is_of(share, i)) emit_task(&g, kernel->tasks.items[i], i);
  for (int i = 0; i < kernel->functions.count && !error_is_set(err); i++) function_emit(&g, i);
  return !error_is_set(err);
}
