/* part.h - a part of a kernel that is compiled to one object: some of its functions, for one
 * target, with a context, a module and memory of its own, so that threads can compile parts in
 * parallel. */
#ifndef RG_JIT_PART_H
#define RG_JIT_PART_H

#include "base/scratch.h"
#include "codegen/codegen.h"
#include "jit/jit.h"

typedef struct Part {
  const RgCodegenRequest *request;
  const IrKernel *kernel; /* read by all parts */
  RgTarget kind;
  CodegenPart wanted;
  CodegenPartition partition;
  int64_t weight; /* the heaviest part is compiled first */
  /* while it is compiled: */
  Heap heap;
  Scratch scratch;
  LlvmContext llvm;
  JitTarget target;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  /* results: */
  bool ok;
  Error err;
  RgCodegenObject object;
  double emit_ms, optimize_ms, object_ms;
} Part;

/* Compiles the part in the calling thread; sets part->ok, or part->err on failure. The caller sets
 * the fields up to `weight`; all others must be 0. */
void part_compile(Part *part);
void part_free(Part *part);

/* split.c: divides the tasks of a kernel into partitions of about equal weight, each large enough
 * for a module of its own. Sets partition_of_task[k] for each task, and sums to the partitions'
 * weights. Returns the number of partitions, which depends only on the kernel, and so its objects
 * do. */
enum { MAX_PARTITIONS = 16 };
int split_tasks(Scratch *scratch, const IrKernel *kernel, int *partition_of_task,
                int64_t sums[MAX_PARTITIONS]);

#endif
