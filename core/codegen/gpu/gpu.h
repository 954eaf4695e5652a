/* gpu.h - tasks of a GPU, and ops that its threads share. */
#ifndef RG_CODEGEN_GPU_GPU_H
#define RG_CODEGEN_GPU_GPU_H

#include "codegen/task.h"

enum { GPU_LANES = RT_GPU_LANES };
enum { GPU_BLOCK = 128 }; /* threads of a block, at most: core/device/cuda/launch.c */

LLVMValueRef gpu_special(Codegen *g, const char *name); /* "tid.x", "laneid", ..: i32 */
/* Shared memory of a block: an array of `count` elements, in its own address space. */
LLVMValueRef gpu_shared(Codegen *g, LLVMTypeRef of, int64_t count, const char *name);

/* the positions of one thread, and its number; i64 */
typedef struct GpuPositions {
  LLVMValueRef begin, first, end, step, thread;
} GpuPositions;
GpuPositions gpu_begin(Codegen *g, const IrTask *task, const char *name); /* opens the entry */
/* combine.c: at the begin and at the end of a task */
void gpu_sums_open(Codegen *g, const IrTask *task);
void gpu_sums_close(Codegen *g, const IrTask *task);
void gpu_range(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_serial(Codegen *g, const IrTask *task, GpuPositions positions);
/* GRID and ROW of a leaf that threads share: other leaves have loops (pass/vector/cell_loops.c) */
void gpu_grid(Codegen *g, const IrInst *inst);
void gpu_row(Codegen *g, const IrInst *inst);
void gpu_nodes(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_all_gather(Codegen *g, const IrInst *inst); /* all_gather.c: ALL_GATHER, GATHERED */
void gpu_gathered(Codegen *g, const IrInst *inst);
/* At the end of a task: combines this thread's partials of g->shares, in place, into the frame. */
void gpu_reduce(Codegen *g, LLVMValueRef *sums);
/* MEM_UPDATE or MEM_RMW of an element that is the same for all iterations; false for any other. */
bool gpu_update(Codegen *g, const IrInst *inst);

#endif
