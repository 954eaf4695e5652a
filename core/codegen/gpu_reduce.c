/* gpu_reduce.c - reductions of a GPU's task. Each thread has a partial sum; those of a warp are
 * exchanged, halving their number five times, and one lane combines what they came to with the
 * frame's slot. All threads of a warp come to the end of the task. A block that is not whole warps
 * (an ordered task's: one thread) combines each thread's own.
 *
 *     end:       whole warps?  yes: together   no: combine
 *     together:  for d = 16, 8, 4, 2, 1:  sum = sum op (sum of lane ^ d);  lane 0? combine: out
 *     combine:   slot = slot op sum, atomically;  out */
#include <string.h>

#include "codegen/emit.h"

enum { LANES = 32 };

static LLVMValueRef shuffle_word(Codegen *g, LLVMValueRef word, int distance) {
  static const char name[] = "llvm.nvvm.shfl.sync.bfly.i32";
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, NULL, 0);
  LLVMValueRef args[] = {value_integer(g->i32, -1), word, value_integer(g->i32, distance),
                         value_integer(g->i32, LANES - 1)};
  return LLVMBuildCall2(g->builder, type, function, args, 4, "");
}

static LLVMValueRef shuffle_bits(Codegen *g, LLVMValueRef bits, int distance) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  unsigned width = LLVMGetIntTypeWidth(type);
  if (width <= 32) {
    LLVMValueRef word = LLVMBuildZExt(g->builder, bits, g->i32, "");
    return LLVMBuildTrunc(g->builder, shuffle_word(g, word, distance), type, "");
  }
  LLVMValueRef high = LLVMBuildLShr(g->builder, bits, value_index(g, 32), "");
  LLVMValueRef low = shuffle_word(g, LLVMBuildTrunc(g->builder, bits, g->i32, ""), distance);
  high = shuffle_word(g, LLVMBuildTrunc(g->builder, high, g->i32, ""), distance);
  high = LLVMBuildShl(g->builder, LLVMBuildZExt(g->builder, high, g->i64, ""),
                      value_index(g, 32), "");
  return LLVMBuildOr(g->builder, LLVMBuildZExt(g->builder, low, g->i64, ""), high, "");
}

/* The value of the lane whose number differs by `distance`. */
static LLVMValueRef shuffle(Codegen *g, LLVMValueRef value, int distance) {
  LLVMTypeRef type = LLVMTypeOf(value);
  unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind  ? LLVMGetIntTypeWidth(type)
                  : LLVMGetTypeKind(type) == LLVMDoubleTypeKind ? 64
                  : LLVMGetTypeKind(type) == LLVMFloatTypeKind  ? 32
                                                                : 16;
  LLVMTypeRef integer = LLVMIntTypeInContext(g->context, bits);
  LLVMValueRef other =
      shuffle_bits(g, LLVMBuildBitCast(g->builder, value, integer, ""), distance);
  return LLVMBuildBitCast(g->builder, other, type, "");
}

void gpu_reduce(Codegen *g, LLVMValueRef *sums, GpuCombine *combine) {
  int count = g->shares.count;
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), together = block_new(g, "together"),
                    one = block_new(g, "combine"), out = block_new(g, "out");
  LLVMValueRef *own = scratch_array(g->scratch, LLVMValueRef, count);
  LLVMValueRef rest = LLVMBuildURem(g->builder, gpu_special(g, "ntid"), value_index(g, LANES), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, rest, value_index(g, 0), ""), together, one);
  block_enter(g, together);
  for (int i = 0; i < count; i++) {
    own[i] = sums[i];
    for (int distance = LANES / 2; distance; distance /= 2)
      sums[i] = combine(g, &g->shares.items[i], sums[i], shuffle(g, sums[i], distance));
  }
  LLVMValueRef lane = LLVMBuildURem(g->builder, gpu_special(g, "tid"), value_index(g, LANES), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, lane, value_index(g, 0), ""), one, out);
  block_enter(g, one);
  for (int i = 0; i < count; i++) {
    LLVMValueRef both[] = {own[i], sums[i]};
    LLVMBasicBlockRef blocks[] = {from, together};
    sums[i] = LLVMBuildPhi(g->builder, LLVMTypeOf(both[0]), "");
    LLVMAddIncoming(sums[i], both, blocks, 2);
  }
  for (int i = 0; i < count; i++) {
    const Share *share = &g->shares.items[i];
    atomic_rmw(g, share->op, share->type, context_slot(g, share->slot), sums[i]);
  }
  block_jump(g, out);
  block_enter(g, out);
}
