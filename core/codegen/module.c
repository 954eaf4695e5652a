/* module.c - emits a kernel as a module: one function for the host region, one per task, and one
 * per recursive function.
 *
 *     entry:   hoisted values and variables     -> start
 *     start:   the work                         -> finish
 *     finish:  releases the guards' references, combines partials of reductions, returns; a launch
 *              that is stopped or has failed jumps here */
#include <stdio.h>

#include "codegen/emit.h"
#include "llvm/function_attribute.h"

void function_begin(Codegen *g, const char *name, bool is_host) {
  LLVMTypeRef params[] = {g->pointer, g->pointer, g->i64, g->i64};
  LLVMTypeRef type = LLVMFunctionType(g->void_type, params, is_host ? 1 : 4, false);
  function_open(g, LLVMAddFunction(g->module, name, type), is_host);
}

void function_open(Codegen *g, LLVMValueRef function, bool is_host) {
  g->function = function;
  llvm_function_attribute(g->function, "nounwind", 0);
  if (g->part != CODEGEN_GPU_TASKS) /* LLVM's give NaN for 0 and infinity (root.c) */
    llvm_function_text(g->function, "reciprocal-estimates", "none");
  LLVMBasicBlockRef entry = block_new(g, "entry"), start = block_new(g, "start");
  g->finish = g->done = block_new(g, "finish");
  block_enter(g, entry);
  g->entry_end = LLVMBuildBr(g->builder, start);
  block_enter(g, start);
  int trees = g->kernel->trees.count;
  g->frame = g->ambient = g->zeros = NULL;
  g->task = NULL;
  g->roots = scratch_array(g->scratch, LLVMValueRef, trees);
  g->bases = scratch_array(g->scratch, LLVMValueRef, trees);
  g->reserved = scratch_array(g->scratch, LLVMValueRef, trees);
  g->large = scratch_array(g->scratch, LLVMValueRef, trees);
  g->private_copies = scratch_array(g->scratch, LLVMValueRef, trees);
  g->values = scratch_array(g->scratch, LLVMValueRef, g->kernel->next_id);
  g->exits.count = g->shares.count = g->guards.count = 0;
  g->gpu_task = NULL;
  g->row = NULL;
  g->mate = g->mates = NULL;
  g->is_alone = false;
  memset(g->coordinates, 0, sizeof g->coordinates);
  g->list = (ContextList){0};
  g->gathered_bytes = 0;
  g->is_host = is_host;
  g->cursor = NULL;
  g->is_serial = false;
  g->straight = 0;
  g->rt_context = LLVMGetParam(g->function, 0);
  g->worker = is_host ? NULL : LLVMGetParam(g->function, 1);
  if (!is_host) return;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->worker = call_runtime(g, RT_HOST_WORKER, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
}

/* A stopped thread must exit instead of waiting for its block, since lanes that share look-ups wait
 * in a barrier until it arrives or is gone. */
static void end_stopped(Codegen *g) {
  if (g->finish == g->done) return;
  block_enter(g, g->finish);
  guards_release(g);
  LLVMBuildRetVoid(g->builder);
}

void function_end(Codegen *g) {
  block_jump(g, g->done);
  end_stopped(g);
  block_enter(g, g->done);
  guards_release(g);
  if (g->gpu_task) gpu_sums_close(g, g->gpu_task);
  reduce_finish(g);
  stream_close(g);
  LLVMBuildRetVoid(g->builder);
}

static void emit_gpu_task(Codegen *g, const IrTask *task, const char *name) {
  GpuPositions positions = gpu_begin(g, name);
  g->gpu_task = task;
  if (ir_spread(task) > 1) g->finish = block_new(g, "stopped");
  gpu_sums_open(g, task);
  context_poll_stop(g); /* an earlier task of the launch may have failed */
  g->is_serial = task->kind == TASK_SERIAL;
  if (g->is_serial) gpu_serial(g, task, positions);
  else if (task->kind == TASK_RANGE) gpu_range(g, task, positions);
  else gpu_nodes(g, task, positions);
  function_end(g);
}

static void emit_task(Codegen *g, const IrTask *task, int number) {
  char name[32];
  snprintf(name, sizeof name, "rg_task_%d", number);
  if (g->part == CODEGEN_GPU_TASKS) return emit_gpu_task(g, task, name);
  function_begin(g, name, false);
  g->task = task;
  g->is_serial = task->kind == TASK_SERIAL;
  LLVMValueRef begin = LLVMGetParam(g->function, 2), end = LLVMGetParam(g->function, 3);
  switch (task->kind) {
  case TASK_RANGE:
    if (task->counts) claim_range(g, task, begin, end);
    else task_range(g, task, begin, end);
    break;
  case TASK_LEAVES:
  case TASK_NODES: task_list(g, task, begin, end); break;
  case TASK_SERIAL: emit_region(g, task->body); break;
  }
  function_end(g);
}

static void emit_host(Codegen *g) {
  function_begin(g, "rg_host", true);
  if (g->kernel->body) emit_region(g, g->kernel->body);
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
  Codegen g = {.scratch = scratch,
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
