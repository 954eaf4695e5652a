/* claim.c - aggregated atomics (pass/tasks/aggregate_atomics.c): a chunk of a range task first runs
 * its positions only to sum what they count, then claims the sum with one atomic addition; after
 * that the body takes its numbers from the cursor, a local variable.
 *
 *     counts: total = ..       claim: if (total) cursor = atomic add (counter, total)       body
 *
 * Or the body stages rows in the chunk's memory, behind the cursor, which counts them:
 *
 *     cursor = 0     body     claim: if (cursor) atomic add (counter, cursor), store the rows */
#include "codegen/task.h"

static void claim(Codegen *g, const IrTask *task, LLVMValueRef total) {
  const IrRegion *region = task->claim;
  ASSERT(region->params.count == 1 && region->last, "a claim of a total, and its first number");
  LLVMBasicBlockRef some = block_new(g, "claim"), after = block_new(g, "claimed");
  build_store(g, value_like(total, 0), g->f.cursor);
  block_enter_unless(g, build_is_zero(g, total), some, after);
  value_set(g, region->params.items[0], total);
  region_emit(g, region);
  if (task->counts) build_store(g, value_of(g, region->last), g->f.cursor);
  block_follow(g, after);
}

static void stage_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  LLVMBasicBlockRef finish = g->f.finish, staged = block_new(g, "staged");
  LLVMTypeRef type = value_type(g, task->claim->params.items[0]->type);
  uint64_t words = (uint64_t)(task->staged + 7) / 8 + 1;
  g->f.cursor = block_variable(g, LLVMArrayType2(g->i64, words), "cursor");
  build_store(g, value_integer(type, 0), g->f.cursor);
  g->f.finish = staged;
  task_range(g, task, begin, end);
  block_follow(g, staged);
  g->f.finish = finish;
  claim(g, task, build_load(g, type, g->f.cursor));
}

void claim_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  if (task->staged) return stage_range(g, task, begin, end);
  ASSERT(task->counts && task->claim, "a task that counts");
  LLVMBasicBlockRef finish = g->f.finish, counted = block_new(g, "counted");
  Type type = task->claim->params.items[0]->type;
  g->f.cursor = block_variable(g, value_type(g, type), "cursor");
  g->f.finish = counted; /* a stopped launch goes on there, too: its body stops at once */
  task_range(g, task->counts, begin, end);
  block_follow(g, counted);
  g->f.finish = finish;
  claim(g, task, reduce_take(g, type));
  task_range(g, task, begin, end);
}

void claim_cursor(Codegen *g, const IrInst *inst) {
  if (g->f.cursor) return value_set(g, inst, g->f.cursor);
  codegen_fail(g, inst, "its task does not count");
  value_set(g, inst, LLVMGetUndef(g->pointer));
}
