/* gpu.h - shared by the files that emit GPU tasks: gpu*.c. */
#ifndef RG_CODEGEN_GPU_GPU_H
#define RG_CODEGEN_GPU_GPU_H

#include "codegen/emit.h"

enum { GPU_LANES = 32 };  /* of a warp */
enum { GPU_BLOCK = 128 }; /* threads of a block, at most: core/device/cuda/launch.c */

/* warp.c */
LLVMValueRef gpu_special(Codegen *g, const char *name); /* "tid.x", "lanemask.lt", ..: i32 */
LLVMValueRef gpu_lanes_here(Codegen *g); /* the active mask of the warp, a bit per lane: i32 */
/* `value` of lane number `lane`; all of `lanes` must be active, and `lane` is one of them. */
LLVMValueRef gpu_from_lane(Codegen *g, LLVMValueRef lanes, LLVMValueRef value, LLVMValueRef lane);
void gpu_wait(Codegen *g, LLVMValueRef lanes); /* barrier of these lanes; orders memory, too */
void gpu_fence(Codegen *g);       /* between a plain access and an atomic one: release or acquire */
void gpu_order_after(Codegen *g); /* makes the load before it an acquire */
void gpu_wait_for_block(Codegen *g); /* barrier of all threads of the block; orders memory, too */
/* Shared memory of a block: an array of `count` elements, in its own address space. */
LLVMValueRef gpu_shared(Codegen *g, LLVMTypeRef of, int64_t count, const char *name);
/* The lanes among `lanes` that have not exited and for which `is_set` is true, a bit each. */
LLVMValueRef gpu_ballot(Codegen *g, LLVMValueRef lanes, LLVMValueRef is_set);
/* for (index = from; index < to; index += step), of i32: leaf.c */
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
/* Combines the values of a warp whose lanes are all active; every lane gets the result. */
LLVMValueRef gpu_join(Codegen *g, LLVMValueRef value, const GpuJoin *join);

#endif
