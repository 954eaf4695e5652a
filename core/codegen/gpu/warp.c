/* warp.c - communication between the lanes of a GPU warp, and between the threads of a block.
 * `llvm_bc/group.h` is its counterpart in the runtime. Calls that several lanes make together are
 * convergent: LLVM does not move them to code that fewer lanes reach. */
#include <string.h>

#include "codegen/gpu/warp.h"
#include "codegen/operator.h"
#include "llvm/function_attribute.h"

enum { SHARED_MEMORY = 3 };
LLVMValueRef gpu_special(Codegen *g, const char *name) {
  char intrinsic[64] = "llvm.nvvm.read.ptx.sreg.";
  strncat(intrinsic, name, sizeof intrinsic - 32);
  return call_plain(g, intrinsic, NULL, 0);
}

LLVMValueRef gpu_lanes_here(Codegen *g) {
  static char text[] = "activemask.b32 $0;", out[] = "=r";
  LLVMTypeRef type = LLVMFunctionType(g->i32, NULL, 0, false);
  LLVMValueRef read = LLVMGetInlineAsm(type, text, sizeof text - 1, out, sizeof out - 1, true,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef lanes = LLVMBuildCall2(g->builder, type, read, NULL, 0, "here");
  llvm_call_attribute(lanes, "convergent");
  return lanes;
}

void gpu_wait(Codegen *g, LLVMValueRef lanes) {
  call_plain(g, "llvm.nvvm.bar.warp.sync", &lanes, 1);
}

void gpu_fence(Codegen *g) {
  static char text[] = "fence.acq_rel.gpu;", touches[] = "~{memory}";
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), NULL, 0, false);
  LLVMValueRef fence = LLVMGetInlineAsm(type, text, sizeof text - 1, touches, sizeof touches - 1,
                                        true, false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(g->builder, type, fence, NULL, 0, "");
}

void gpu_order_after(Codegen *g) { call_plain(g, "llvm.nvvm.membar.gl", NULL, 0); }

void gpu_wait_for_block(Codegen *g) { call_plain(g, "llvm.nvvm.barrier0", NULL, 0); }

LLVMValueRef gpu_shared(Codegen *g, LLVMTypeRef of, int64_t count, const char *name) {
  LLVMTypeRef type = LLVMArrayType2(of, (uint64_t)count);
  ASSERT(count > 0, "an array of elements");
  LLVMValueRef memory = LLVMAddGlobalInAddressSpace(g->module, type, name, SHARED_MEMORY);
  LLVMSetLinkage(memory, LLVMInternalLinkage);
  LLVMSetInitializer(memory, LLVMGetUndef(type));
  LLVMSetAlignment(memory, 16);
  return memory;
}

LLVMValueRef gpu_ballot(Codegen *g, LLVMValueRef lanes, LLVMValueRef is_set) {
  LLVMValueRef args[] = {lanes, is_set};
  return call_plain(g, "llvm.nvvm.vote.ballot.sync", args, 2);
}

/* -- values of other lanes --------------------------------------------------------------------- */

typedef struct Shuffle {
  const char *name;
  LLVMValueRef lanes, which;
} Shuffle;

static LLVMValueRef shuffle_word(Codegen *g, const Shuffle *shuffle, LLVMValueRef word) {
  LLVMValueRef args[] = {shuffle->lanes, word, shuffle->which, value_i32(g, GPU_LANES - 1)};
  return call_plain(g, shuffle->name, args, 4);
}

static LLVMValueRef shuffle_bits(Codegen *g, const Shuffle *shuffle, LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  ASSERT(LLVMGetIntTypeWidth(type) <= 64, "a number of one or two words");
  if (LLVMGetIntTypeWidth(type) <= 32) {
    LLVMValueRef word = build_zext(g, bits, g->i32);
    return build_trunc(g, shuffle_word(g, shuffle, word), type);
  }
  LLVMValueRef half = value_index(g, 32), high = build_lshr(g, bits, half);
  LLVMValueRef low = shuffle_word(g, shuffle, build_trunc(g, bits, g->i32));
  high = shuffle_word(g, shuffle, build_trunc(g, high, g->i32));
  high = build_shl(g, build_zext(g, high, g->i64), half);
  return build_or(g, build_zext(g, low, g->i64), high);
}

static unsigned bits_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
  case LLVMDoubleTypeKind: return 64;
  case LLVMFloatTypeKind: return 32;
  default: return 16;
  }
}

static LLVMValueRef shuffle(Codegen *g, const Shuffle *shuffle, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value), bits = LLVMIntTypeInContext(g->context, bits_of(type));
  LLVMValueRef other = shuffle_bits(g, shuffle, build_bitcast(g, value, bits));
  return build_bitcast(g, other, type);
}

LLVMValueRef gpu_from_lane(Codegen *g, LLVMValueRef lanes, LLVMValueRef value, LLVMValueRef lane) {
  Shuffle of = {"llvm.nvvm.shfl.sync.idx.i32", lanes, lane};
  return shuffle(g, &of, value);
}

LLVMValueRef gpu_join(Codegen *g, LLVMValueRef value, const GpuJoin *join) {
  for (int distance = GPU_LANES / 2; distance; distance /= 2) {
    Shuffle of = {"llvm.nvvm.shfl.sync.bfly.i32", value_i32(g, -1), value_i32(g, distance)};
    value = combine(g, join->op, join->type, value, shuffle(g, &of, value));
  }
  return value;
}
