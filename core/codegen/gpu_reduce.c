/* gpu_reduce.c - the end of a GPU's task that reduces: each thread has a partial. Those of a warp
 * are exchanged, halving their number five times, and one lane combines what they come to with the
 * frame's slot. All threads of a warp come here. A block that is not whole warps (an ordered
 * task's: one thread) combines each thread's own.
 *
 *     end:       whole warps?  yes: together   no: one
 *     together:  for d = 16, 8, 4, 2, 1:  sum = sum op (sum of lane ^ d);  lane 0? one: out
 *     one:       slot = slot op sum, atomically;  out */
#include "codegen/gpu.h"

static LLVMValueRef is_multiple(Codegen *g, const char *special) {
  LLVMValueRef rest = LLVMBuildAnd(g->builder, gpu_special(g, special),
                                   value_integer(g->i32, GPU_LANES - 1), "");
  return LLVMBuildICmp(g->builder, LLVMIntEQ, rest, value_integer(g->i32, 0), "");
}

static LLVMValueRef either(Codegen *g, LLVMValueRef a, LLVMBasicBlockRef from, LLVMValueRef b,
                           LLVMBasicBlockRef or_from) {
  LLVMValueRef phi = LLVMBuildPhi(g->builder, LLVMTypeOf(a), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){a, b}, (LLVMBasicBlockRef[]){from, or_from}, 2);
  return phi;
}

void gpu_reduce(Codegen *g, const LLVMValueRef *own) {
  int count = g->shares.count;
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), together = block_new(g, "together"),
                    one = block_new(g, "one"), out = block_new(g, "out");
  LLVMValueRef *sums = scratch_array(g->scratch, LLVMValueRef, count);
  block_branch(g, is_multiple(g, "ntid.x"), together, one);
  block_enter(g, together);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->shares.items[i];
    GpuJoin join = {share->op, share->type};
    sums[i] = gpu_join(g, own[i], &join);
  }
  block_branch(g, is_multiple(g, "tid.x"), one, out);
  block_enter(g, one);
  for (int i = 0; i < count; i++) sums[i] = either(g, own[i], from, sums[i], together);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->shares.items[i];
    atomic_rmw(g, share->op, share->type, context_slot(g, share->slot), sums[i]);
  }
  block_jump(g, out);
  block_enter(g, out);
}
