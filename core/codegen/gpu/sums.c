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

static LLVMValueRef plus(Codegen *g, LLVMValueRef a, int64_t b) {
  return LLVMBuildNSWAdd(g->builder, a, value_integer(g->i32, b), "");
}

/* Makes and clears the copy of one tree's elements, which begin `begin` bytes into its root. */
static void open_copy(Codegen *g, int32_t tree, int64_t begin, int64_t end) {
  int64_t words = (end - begin + 3) / 4;
  ASSERT(begin >= 0 && begin < end && begin % 4 == 0, "whole words of a root");
  LLVMValueRef memory = gpu_shared(g, g->i32, words, "sums");
  GpuLoop loop = gpu_loop_begin(g, gpu_special(g, "tid.x"), value_integer(g->i32, words),
                                gpu_special(g, "ntid.x"));
  LLVMValueRef at = LLVMBuildInBoundsGEP2(g->builder, g->i32, memory, &loop.index, 1, "");
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), at);
  gpu_loop_end(g, &loop);
  LLVMValueRef copy = LLVMBuildAddrSpaceCast(g->builder, memory, g->pointer, "");
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
  GpuLoop loop = gpu_loop_begin(g, gpu_special(g, "tid.x"), value_integer(g->i32, sum->count),
                                gpu_special(g, "ntid.x"));
  LLVMValueRef bytes =
      LLVMBuildNSWMul(g->builder, loop.index, value_integer(g->i32, sum->stride), "");
  bytes = LLVMBuildZExt(g->builder, plus(g, bytes, sum->offset), g->i64, "");
  LLVMValueRef from =
      LLVMBuildGEP2(g->builder, g->i8, g->f.trees[sum->tree].private_copy, &bytes, 1, "");
  LLVMValueRef value = access_load(g, (Element){.type = sum->type}, from);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
  LLVMValueRef is_some = type_is_float(sum->type)
                             ? LLVMBuildFCmp(g->builder, LLVMRealUNE, value, zero, "")
                             : LLVMBuildICmp(g->builder, LLVMIntNE, value, zero, "");
  block_branch(g, is_some, add, next);
  block_enter(g, add);
  LLVMValueRef to = context_root(g, sum->tree);
  to = LLVMBuildGEP2(g->builder, g->i8, to, &bytes, 1, "");
  atomic_rmw(g, IR_UPDATE_ADD, (Element){.type = sum->type}, to, value);
  block_jump(g, next);
  block_enter(g, next);
  gpu_loop_end(g, &loop);
}

void gpu_sums_close(Codegen *g, const IrTask *task) {
  if (!task->block_sums.count) return;
  gpu_wait_for_block(g);
  for (int i = 0; i < task->block_sums.count; i++) add_sum(g, &task->block_sums.items[i]);
}
