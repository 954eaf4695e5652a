/* sums.c - elements that a GPU task only adds to, few enough for a block's shared memory
 * (IrTask.block_sums): the block's threads add to a copy there, and the copy is added to the
 * element once, at the end.
 *
 *     begin:  for (k = thread; k < words; k += threads) copy[k] = 0;  wait for the block
 *     end:    wait for the block;  for (k = thread; k < count; k += threads)
 *               if (copy[k]) element[k] += copy[k], atomically
 *
 * All threads of a block reach both barriers, even in a stopped launch. A zero is skipped: nothing
 * was added there, and -0 is preserved. Decision D-codegen-15. */
#include "codegen/gpu/gpu.h"

/* The threads of a block share the numbers below `count`. */
static TestedLoop begin_in_block(Codegen *g, LLVMValueRef count) {
  return tested_begin(g, gpu_special(g, "tid.x"), count, gpu_special(g, "ntid.x"), NULL);
}

/* Makes and clears the copy of one tree's elements, which begin `begin` bytes into its root. */
static void open_copy(Codegen *g, int32_t tree, int64_t begin, int64_t end) {
  int64_t words = (end - begin + 3) / 4;
  ASSERT(begin >= 0 && begin < end && begin % 4 == 0, "whole words of a root");
  LLVMValueRef memory = gpu_shared(g, g->i32, words, "sums");
  TestedLoop loop = begin_in_block(g, value_i32(g, words));
  LLVMValueRef at = build_at_inside(g, g->i32, memory, loop.index);
  build_store(g, value_i32(g, 0), at);
  tested_end(g, &loop);
  LLVMValueRef copy = build_space_cast(g, memory, g->pointer);
  g->f.trees[tree].private_copy = value_byte_offset(g, copy, -begin);
}

void gpu_sums_open(Codegen *g, const IrTask *task) {
  int64_t begin, end;
  for (int i = 0; i < task->block_sums.count; i++) {
    int32_t tree = task->block_sums.items[i].tree;
    if (!g->f.trees[tree].private_copy && ir_block_span(task, tree, &begin, &end))
      open_copy(g, tree, begin, end);
  }
  if (task->block_sums.count) gpu_wait_for_block(g);
}

static void add_sum(Codegen *g, const IrBlockSum *sum) {
  ASSERT(g->f.trees[sum->tree].private_copy, "the block has a copy of the elements");
  LLVMBasicBlockRef add = block_new(g, "add"), next = block_new(g, "next");
  TestedLoop loop = begin_in_block(g, value_i32(g, sum->count));
  LLVMValueRef bytes = build_nsw_mul(g, loop.index, value_i32(g, sum->stride));
  bytes = build_zext(g, build_nsw_add(g, bytes, value_like(bytes, sum->offset)), g->i64);
  LLVMValueRef from = build_at(g, g->i8, g->f.trees[sum->tree].private_copy, bytes);
  LLVMValueRef value = access_load(g, (Element){.type = sum->type}, from);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
  LLVMValueRef is_some =
      type_is_float(sum->type) ? build_fcmp(g, LLVMRealUNE, value, zero) : build_is_some(g, value);
  block_enter_if(g, is_some, add, next);
  LLVMValueRef to = context_root(g, sum->tree);
  to = build_at(g, g->i8, to, bytes);
  atomic_rmw(g, IR_UPDATE_ADD, (Element){.type = sum->type}, to, value);
  block_follow(g, next);
  tested_end(g, &loop);
}

void gpu_sums_close(Codegen *g, const IrTask *task) {
  if (!task->block_sums.count) return;
  gpu_wait_for_block(g);
  for (int i = 0; i < task->block_sums.count; i++) add_sum(g, &task->block_sums.items[i]);
}
