/* reduce.c - the end of a GPU task with reductions: each thread has a partial. The lanes of a
 * warp combine theirs by five shuffles; the warps of a block combine theirs through shared memory;
 * and one thread combines the result with the frame's slot. All threads of a block come here,
 * except those that exited because of a stop. In a block that is not whole warps (the single thread
 * of an ordered task) each thread combines its own partial with the slot.
 *
 *     end:       whole warps?  yes: together   no: one
 *     together:  for d = 16, 8, 4, 2, 1:  sum = sum op (sum of lane ^ d)
 *                lane 0? put:  partial[warp] = sum
 *     meet:      wait for the block;  thread 0? others   no: out
 *     others:    for warp = 1 .. warps - 1:  sum = sum op partial[warp]
 *     one:       slot = slot op sum, atomically;  out */
#include "codegen/gpu/gpu.h"

enum { MOST_WARPS = 32 }; /* the hardware's limit per block */

static LLVMValueRef is_multiple(Codegen *g, const char *special) {
  LLVMValueRef rest =
      LLVMBuildAnd(g->builder, gpu_special(g, special), value_integer(g->i32, GPU_LANES - 1), "");
  return LLVMBuildICmp(g->builder, LLVMIntEQ, rest, value_integer(g->i32, 0), "");
}

static LLVMValueRef count_warps(Codegen *g, const char *special) {
  return LLVMBuildUDiv(g->builder, gpu_special(g, special), value_integer(g->i32, GPU_LANES), "");
}

static LLVMValueRef either(Codegen *g, LLVMValueRef a, LLVMBasicBlockRef from, LLVMValueRef b,
                           LLVMBasicBlockRef or_from) {
  LLVMValueRef phi = LLVMBuildPhi(g->builder, LLVMTypeOf(a), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){a, b}, (LLVMBasicBlockRef[]){from, or_from}, 2);
  return phi;
}

static LLVMValueRef partial_at(Codegen *g, LLVMValueRef partials, LLVMTypeRef type,
                               LLVMValueRef warp) {
  return LLVMBuildInBoundsGEP2(g->builder, type, partials, &warp, 1, "");
}

/* Stores the sums of each warp, which all its lanes hold, into `partials`. */
static void put_partials(Codegen *g, const LLVMValueRef *sums, const LLVMValueRef *partials) {
  LLVMBasicBlockRef put = block_new(g, "put"), meet = block_new(g, "meet");
  block_branch(g, is_multiple(g, "tid.x"), put, meet);
  block_enter(g, put);
  LLVMValueRef warp = count_warps(g, "tid.x");
  for (int i = 0; i < g->f.shares.count; i++)
    LLVMBuildStore(g->builder, sums[i], partial_at(g, partials[i], LLVMTypeOf(sums[i]), warp));
  block_jump(g, meet);
  block_enter(g, meet);
  gpu_wait_for_block(g);
}

/* Combines the sums of warp 0 with those of the other warps, in place. */
static void add_others(Codegen *g, LLVMValueRef *sums, const LLVMValueRef *partials) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), head = block_new(g, "others"),
                    other = block_new(g, "other"), all = block_new(g, "all");
  LLVMValueRef warps = count_warps(g, "ntid.x"), first = value_integer(g->i32, 1);
  LLVMValueRef *next = scratch_array(g->scratch, LLVMValueRef, g->f.shares.count);
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef warp = LLVMBuildPhi(g->builder, g->i32, "warp");
  LLVMAddIncoming(warp, &first, &before, 1);
  for (int i = 0; i < g->f.shares.count; i++) {
    LLVMValueRef sum = LLVMBuildPhi(g->builder, LLVMTypeOf(sums[i]), "sum");
    LLVMAddIncoming(sum, &sums[i], &before, 1);
    sums[i] = sum;
  }
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntULT, warp, warps, ""), other, all);
  block_enter(g, other);
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    LLVMTypeRef type = LLVMTypeOf(sums[i]);
    LLVMValueRef partial =
        LLVMBuildLoad2(g->builder, type, partial_at(g, partials[i], type, warp), "");
    next[i] = reduce_combine(g, share->op, share->type, sums[i], partial);
    LLVMAddIncoming(sums[i], &next[i], &other, 1);
  }
  LLVMValueRef further = LLVMBuildNUWAdd(g->builder, warp, first, "");
  LLVMAddIncoming(warp, &further, &other, 1);
  block_jump(g, head);
  block_enter(g, all);
}

/* Skips the result of a stopped launch: lanes that exited (module.c) have stored no partials. */
static void leave_if_stopped(Codegen *g, LLVMBasicBlockRef out) {
  if (g->f.finish == g->f.done) return;
  LLVMBasicBlockRef on = block_new(g, "on");
  block_branch(g, call_runtime(g, RT_STOPPED, (Callee){0}, NULL, 0), out, on);
  block_enter(g, on);
}

void gpu_reduce(Codegen *g, const LLVMValueRef *own) {
  int count = g->f.shares.count;
  ASSERT(count > 0 && g->part == CODEGEN_GPU_TASKS, "partials of a GPU's threads");
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), together = block_new(g, "together"),
                    one = block_new(g, "one"), out = block_new(g, "out"),
                    first = block_new(g, "first");
  LLVMValueRef *sums = scratch_array(g->scratch, LLVMValueRef, count),
               *partials = scratch_array(g->scratch, LLVMValueRef, count);
  block_branch(g, is_multiple(g, "ntid.x"), together, one);
  block_enter(g, together);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->f.shares.items[i];
    GpuJoin join = {share->op, share->type};
    sums[i] = gpu_join(g, own[i], &join);
    partials[i] = gpu_shared(g, LLVMTypeOf(sums[i]), MOST_WARPS, "partial");
  }
  put_partials(g, sums, partials);
  LLVMValueRef thread = gpu_special(g, "tid.x"), zero = value_integer(g->i32, 0);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, thread, zero, ""), first, out);
  block_enter(g, first);
  leave_if_stopped(g, out);
  add_others(g, sums, partials);
  LLVMBasicBlockRef all = LLVMGetInsertBlock(g->builder);
  block_jump(g, one);
  block_enter(g, one);
  for (int i = 0; i < count; i++) sums[i] = either(g, own[i], from, sums[i], all);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->f.shares.items[i];
    atomic_rmw(g, share->op, (Element){.type = share->type}, context_slot(g, share->slot), sums[i]);
  }
  block_jump(g, out);
  block_enter(g, out);
}
