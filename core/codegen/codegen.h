/* codegen.h - emits a kernel's host region and tasks (ir/task.h, after the pass `lower_places`) as
 * LLVM functions. Knows the LOW ops and the entry points of rt.h; leaves trees, layouts and
 * analyses to the passes, and inlining, optimisation and targets to the room jit.
 *
 *     void rg_host(RtContext *context)
 *     void rg_task_<n>(RtContext *context, RtWorker *worker, int64_t begin, int64_t end)
 *     .entry rg_task_<n>(RtGpuLaunch launch)       of a GPU, by value */
#ifndef RG_CODEGEN_CODEGEN_H
#define RG_CODEGEN_CODEGEN_H

#include <llvm-c/Core.h>

#include "base/error.h"
#include "ir/ir.h"

typedef enum CodegenPart {
  CODEGEN_ALL,         /* host region and tasks, for a CPU */
  CODEGEN_HOST_REGION, /* of a kernel whose tasks a GPU runs */
  CODEGEN_GPU_TASKS
} CodegenPart;

/* Which part of a kernel goes into this module, where several modules divide one kernel. The host
 * region is in partition 0; a kernel with recursive functions is not divided. */
typedef struct CodegenPartition {
  int number;
  const int *partition_of_task; /* by task; NULL: one module has all tasks */
} CodegenPartition;

/* The properties of the processor that code generation depends on. */
typedef struct CodegenTarget {
  bool estimates_roots; /* 1 / sqrt(x) to 14 bits, in vectors of 128 to 512 bits */
  int call_bytes;       /* the widest vectors that functions of the runtime take */
} CodegenTarget;

/* Emits into `module`, which the caller owns, with the caller's builder. Must run under guard_run:
 * if memory runs out, module and builder are left incomplete, and the caller disposes of them.
 * False with codegen.failed for a kernel that is not in the form that task.h describes. */
bool codegen_kernel(Scratch *scratch, LLVMModuleRef module, LLVMBuilderRef builder,
                    const IrKernel *kernel, CodegenPart part, CodegenPartition partition,
                    CodegenTarget target, Error *err);

#endif
