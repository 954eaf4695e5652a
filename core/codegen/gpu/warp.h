/* warp.h - what threads of a GPU do together: warp.c. */
#ifndef RG_CODEGEN_GPU_WARP_H
#define RG_CODEGEN_GPU_WARP_H

#include "codegen/operator.h"

enum { GPU_LANES = 32 };  /* of a warp */
enum { GPU_BLOCK = 128 }; /* threads of a block, at most: core/device/cuda/launch.c */

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
typedef struct GpuJoin {
  IrUpdate op;
  Type type;
} GpuJoin;
/* Combines the values of a warp whose lanes are all active; every lane gets the result. */
LLVMValueRef gpu_join(Codegen *g, LLVMValueRef value, const GpuJoin *join);

#endif
