/* gpu.h - what the files of GPU tasks share: gpu*.c. */
#ifndef RG_CODEGEN_GPU_H
#define RG_CODEGEN_GPU_H

#include "codegen/emit.h"

enum { GPU_LANES = 32 };        /* of a warp */
enum { GPU_BLOCK = 128 };       /* threads of a block, at most: core/device/cuda_launch.c */

/* gpu_warp.c */
LLVMValueRef gpu_special(Codegen *g, const char *name); /* "tid.x", "lanemask.lt", ..: i32 */
LLVMValueRef gpu_lanes_here(Codegen *g); /* those that are here together, a bit each: i32 */
/* `value` of lane number `lane`, one of `lanes`, all of which are here. */
LLVMValueRef gpu_from_lane(Codegen *g, LLVMValueRef lanes, LLVMValueRef value, LLVMValueRef lane);
void gpu_wait(Codegen *g, LLVMValueRef lanes); /* for all of them; what they wrote shows */
void gpu_fence(Codegen *g); /* between an access and an atomic one: releases, or acquires */
void gpu_order_after(Codegen *g); /* a load that acquires: what others wrote before is seen */
void gpu_wait_for_block(Codegen *g); /* for all its threads, likewise */
/* Memory of a block: an array of `count`, of the address space for that. */
LLVMValueRef gpu_shared(Codegen *g, LLVMTypeRef of, int64_t count, const char *name);
/* Of `lanes`, those that have not ended for which the bool is set, a bit each. */
LLVMValueRef gpu_ballot(Codegen *g, LLVMValueRef lanes, LLVMValueRef is_set);
/* for (index = from; index < to; index += step), of i32: gpu_leaf.c */
typedef struct GpuLoop {
  LLVMValueRef index, step;
  LLVMBasicBlockRef head, leave;
} GpuLoop;
GpuLoop gpu_loop_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step);
void gpu_loop_end(Codegen *g, const GpuLoop *loop);

typedef struct GpuJoin {
  IrUpdate op;
  Type type;
} GpuJoin;
/* All values of a warp, whose lanes are all here, combined: in each lane. */
LLVMValueRef gpu_join(Codegen *g, LLVMValueRef value, const GpuJoin *join);

#endif
