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
  LLVMValueRef lanes = value_i32(g, GPU_LANES - 1);
  return build_is_zero(g, build_and(g, gpu_special(g, special), lanes));
}

static LLVMValueRef count_warps(Codegen *g, const char *special) {
  return build_udiv(g, gpu_special(g, special), value_i32(g, GPU_LANES));
}

static LLVMValueRef partial_at(Codegen *g, LLVMValueRef partials, LLVMTypeRef type,
                               LLVMValueRef warp) {
  return build_at_inside(g, type, partials, warp);
}

/* Stores the sums of each warp, which all its lanes hold, into `partials`. */
static void put_partials(Codegen *g, const LLVMValueRef *sums, const LLVMValueRef *partials) {
  LLVMBasicBlockRef meet = block_if(g, is_multiple(g, "tid.x"), "put", "meet");
  LLVMValueRef warp = count_warps(g, "tid.x");
  for (int i = 0; i < g->f.shares.count; i++)
    build_store(g, sums[i], partial_at(g, partials[i], LLVMTypeOf(sums[i]), warp));
  block_follow(g, meet);
  gpu_wait_for_block(g);
}

/* Combines the sums of warp 0 with those of the other warps, in place. */
static void add_others(Codegen *g, LLVMValueRef *sums, const LLVMValueRef *partials) {
  LLVMBasicBlockRef before = block_here(g), head = block_new(g, "others"),
                    other = block_new(g, "other"), all = block_new(g, "all");
  LLVMValueRef warps = count_warps(g, "ntid.x"), first = value_i32(g, 1);
  block_follow(g, head);
  LLVMValueRef warp = build_phi(g, first, before, "warp");
  for (int i = 0; i < g->f.shares.count; i++) sums[i] = build_phi(g, sums[i], before, "sum");
  block_enter_if(g, build_icmp(g, LLVMIntULT, warp, warps), other, all);
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    LLVMTypeRef type = LLVMTypeOf(sums[i]);
    LLVMValueRef partial = build_load(g, type, partial_at(g, partials[i], type, warp));
    build_phi_next(sums[i], combine(g, share->op, share->type, sums[i], partial), other);
  }
  build_phi_next(warp, build_nuw_add(g, warp, first), other);
  block_jump(g, head);
  block_enter(g, all);
}

/* Skips the result of a stopped launch: lanes that exited (module.c) have stored no partials. */
static void leave_if_stopped(Codegen *g, LLVMBasicBlockRef out) {
  if (g->f.finish == g->f.done) return;
  LLVMBasicBlockRef on = block_new(g, "on");
  block_enter_unless(g, call_runtime(g, RT_STOPPED, (Callee){0}, NULL, 0), on, out);
}

void gpu_reduce(Codegen *g, const LLVMValueRef *own) {
  int count = g->f.shares.count;
  ASSERT(count > 0 && g->part == CODEGEN_GPU_TASKS, "partials of a GPU's threads");
  LLVMBasicBlockRef from = block_here(g), together = block_new(g, "together"),
                    one = block_new(g, "one"), out = block_new(g, "out"),
                    first = block_new(g, "first");
  LLVMValueRef *sums = scratch_array(g->scratch, LLVMValueRef, count),
               *partials = scratch_array(g->scratch, LLVMValueRef, count);
  block_enter_if(g, is_multiple(g, "ntid.x"), together, one);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->f.shares.items[i];
    GpuJoin join = {share->op, share->type};
    sums[i] = gpu_join(g, own[i], &join);
    partials[i] = gpu_shared(g, LLVMTypeOf(sums[i]), MOST_WARPS, "partial");
  }
  put_partials(g, sums, partials);
  block_enter_if(g, build_is_zero(g, gpu_special(g, "tid.x")), first, out);
  leave_if_stopped(g, out);
  add_others(g, sums, partials);
  LLVMBasicBlockRef all = block_here(g);
  block_follow(g, one);
  for (int i = 0; i < count; i++) sums[i] = build_either(g, own[i], from, sums[i], all);
  atomic_combine_shares(g, sums);
  block_follow(g, out);
}
