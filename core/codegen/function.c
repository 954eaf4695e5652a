/* function.c - begins functions, with the blocks that emit.c draws; recursive functions of the
 * user, and their calls.
 *
 *     { results } rg_function_k(context, worker, depth, arguments ..)
 *
 * `depth` is the number of enclosing calls; beyond the limit of rt_nest the launch fails. In a
 * stopped launch every caller returns directly after the call, so the stack unwinds without further
 * work. */
#include <stdio.h>

#include "codegen/task.h"
#include "llvm/function_attribute.h"

void function_open(Codegen *g, LLVMValueRef llvm, const IrTask *task, const IrFunction *called) {
  ASSERT(!task || !called, "a task is not called");
  g->f = (Function){.llvm = llvm, .task = task, .called = {.function = called}};
  llvm_function_attribute(llvm, "nounwind", 0);
  if (g->part != CODEGEN_GPU_TASKS) /* LLVM's give NaN for 0 and infinity (llvm_bc/roots.c) */
    llvm_function_text(llvm, "reciprocal-estimates", "none");
  LLVMBasicBlockRef entry = block_new(g, "entry"), start = block_new(g, "start");
  g->f.finish = g->f.done = block_new(g, "finish");
  block_enter(g, entry);
  g->f.entry_end = LLVMBuildBr(g->builder, start);
  block_enter(g, start);
  int trees = g->kernel->trees.count;
  g->f.kept = scratch_array(g->scratch, LLVMValueRef, (trees ? trees : 1) * RT_ENTRY_COUNT);
  g->f.values = scratch_array(g->scratch, LLVMValueRef, g->kernel->next_id);
  g->f.rt_context = LLVMGetParam(llvm, 0); /* gpu_begin sets both for a GPU */
  if (LLVMCountParams(llvm) > 1) g->f.worker = LLVMGetParam(llvm, 1);
  if (!function_is_host(g)) return;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.worker = call_runtime(g, RT_HOST_WORKER, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
}

/* -- recursive functions ----------------------------------------------------------------------- */

enum { CONTEXT, WORKER, DEPTH, FIRST };

static LLVMTypeRef results_type(Codegen *g, const IrFunction *function) {
  int count = function->results.count;
  LLVMTypeRef *types = scratch_array(g->scratch, LLVMTypeRef, count);
  for (int i = 0; i < count; i++) types[i] = value_type(g, function->results.items[i]);
  return LLVMStructTypeInContext(g->context, types, (unsigned)count, false);
}

static LLVMTypeRef function_type(Codegen *g, const IrFunction *function) {
  int count = function->body->params.count;
  LLVMTypeRef *types = scratch_array(g->scratch, LLVMTypeRef, FIRST + count);
  types[CONTEXT] = types[WORKER] = g->pointer;
  types[DEPTH] = g->i32;
  for (int i = 0; i < count; i++)
    types[FIRST + i] = value_type(g, function->body->params.items[i]->type);
  LLVMTypeRef result = function->results.count ? results_type(g, function) : g->void_type;
  return LLVMFunctionType(result, types, (unsigned)(FIRST + count), false);
}

void function_declare_all(Codegen *g) {
  int count = g->kernel->functions.count;
  g->functions = scratch_array(g->scratch, LLVMValueRef, count);
  for (int i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "rg_function_%d", i);
    g->functions[i] =
        LLVMAddFunction(g->module, name, function_type(g, g->kernel->functions.items[i]));
    LLVMSetLinkage(g->functions[i], LLVMInternalLinkage);
    llvm_function_attribute(g->functions[i], "noinline", 0); /* else its stack frame would grow */
  }
}

static void check_depth(Codegen *g, const IrFunction *function) {
  LLVMValueRef operands[] = {value_i32(g, function->fault), g->f.called.depth};
  LLVMValueRef fits = call_runtime(g, RT_NEST, (Callee){0}, operands, 2);
  LLVMBasicBlockRef on = block_new(g, "on");
  block_enter_if(g, fits, on, g->f.finish);
}

static void finish(Codegen *g, const IrFunction *function) {
  ASSERT(g->f.called.function == function, "the function that was opened");
  block_follow(g, g->f.finish);
  guards_release(g);
  if (!function->results.count) LLVMBuildRetVoid(g->builder);
  else LLVMBuildRet(g->builder, build_load(g, results_type(g, function), g->f.called.results));
}

void function_emit(Codegen *g, int number) {
  const IrFunction *function = g->kernel->functions.items[number];
  function_open(g, g->functions[number], NULL, function);
  g->f.called.depth = LLVMGetParam(g->f.llvm, DEPTH);
  LLVMValueRef none = LLVMConstNull(results_type(g, function));
  if (function->results.count) g->f.called.results = block_variable_now(g, none, "results");
  for (int i = 0; i < function->body->params.count; i++)
    value_set(g, function->body->params.items[i], LLVMGetParam(g->f.llvm, (unsigned)(FIRST + i)));
  check_depth(g, function);
  region_emit(g, function->body);
  finish(g, function);
}

static LLVMValueRef result_at(Codegen *g, int number) {
  const Called *called = &g->f.called;
  LLVMTypeRef type = results_type(g, called->function);
  return LLVMBuildStructGEP2(g->builder, type, called->results, (unsigned)number, "");
}

/* Results of a function are in its variable, those of the kernel in the frame. */
void function_return(Codegen *g, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (!g->f.called.function) frame_store(g, g->kernel->args.count + i, inst->operands[i]);
    else build_store(g, value_operand(g, inst, i), result_at(g, i));
  block_leave(g, g->f.finish, "after");
}

void function_invoke(Codegen *g, const IrInst *inst) {
  const IrFunction *function = g->kernel->functions.items[inst->imm];
  int params = function->body->params.count, results = function->results.count;
  ASSERT(inst->operand_count == params + results, "its operands are those of the function");
  LLVMValueRef *args = scratch_array(g->scratch, LLVMValueRef, FIRST + params);
  args[CONTEXT] = g->f.rt_context;
  args[WORKER] = g->f.worker;
  args[DEPTH] = value_i32(g, 1);
  if (g->f.called.function) args[DEPTH] = build_add(g, g->f.called.depth, args[DEPTH]);
  for (int i = 0; i < params; i++) args[FIRST + i] = value_operand(g, inst, i);
  LLVMValueRef given =
      LLVMBuildCall2(g->builder, function_type(g, function), g->functions[inst->imm], args,
                     (unsigned)(FIRST + params), "");
  for (int i = 0; i < results; i++)
    build_store(g, LLVMBuildExtractValue(g->builder, given, (unsigned)i, ""),
                value_operand(g, inst, params + i));
  context_poll_stop(g); /* by now its returned arrays are in guards, which the exit releases */
}
