/* gpu.h - tasks of a GPU, and ops that its threads share. */
#ifndef RG_CODEGEN_GPU_GPU_H
#define RG_CODEGEN_GPU_GPU_H

#include "codegen/task.h"

/* Memory that the threads of a block share, at a multiple of 16. */
LLVMValueRef gpu_shared(Codegen *g, int64_t bytes, const char *name);

/* the positions of one thread, and its number; i64 */
typedef struct GpuPositions {
  LLVMValueRef begin, first, end, step, thread;
} GpuPositions;
GpuPositions gpu_begin(Codegen *g, const IrTask *task, const char *name); /* opens the entry */
/* combine.c: at the start and at the end of a task */
void gpu_sums_open(Codegen *g, const IrTask *task);
void gpu_sums_close(Codegen *g, const IrTask *task);
void gpu_range(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_serial(Codegen *g, const IrTask *task, GpuPositions positions);
void gpu_nodes(Codegen *g, const IrTask *task, GpuPositions positions);
/* At the end of a task: combines this thread's partials of g->shares, in place, into the frame. */
void gpu_reduce(Codegen *g, LLVMValueRef *sums);
/* MEM_UPDATE or MEM_RMW of an element that is the same for all iterations; false for any other. */
bool gpu_update(Codegen *g, const IrInst *inst);

#endif
