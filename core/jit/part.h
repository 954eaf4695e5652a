/* part.h - a part of a kernel on its way to an object: some of its functions, for one target, in a
 * context, a module and memory of its own. So parts are compiled on several threads at once. */
#ifndef RG_JIT_PART_H
#define RG_JIT_PART_H

#include "base/scratch.h"
#include "codegen/codegen.h"
#include "jit/jit.h"

typedef struct Part {
  const RgCodegenRequest *request;
  const IrKernel *kernel;  /* read by all parts */
  RgTarget kind;
  CodegenPart wanted;
  CodegenShare share;
  int64_t weight;          /* the heaviest part is compiled first */
  /* of its work: */
  Heap heap;
  Scratch scratch;
  LlvmContext llvm;
  JitTarget target;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  /* what comes of it: */
  bool ok;
  Error err;
  RgCodegenObject object;
  double emit_ms, optimize_ms, object_ms;
} Part;

/* Compiles it, in the calling thread; part->ok says whether that went well, else part->err why not.
 * The first fields are the caller's, all others 0. */
void part_compile(Part *part);
void part_free(Part *part);

/* split.c: divides the tasks of a kernel into shares that weigh about the same, each worth a module
 * of its own: share_of_task[k] is set for each, and sums, what each share weighs. The number of
 * shares, which depends on the kernel alone: so do its objects. */
enum { MOST_SHARES = 16 };
int split_tasks(Scratch *scratch, const IrKernel *kernel, int *share_of_task,
                int64_t sums[MOST_SHARES]);

/* quick.c: iterations run one by one; `keeps_order`: but where results would show it. */
void quick_run_alone(IrKernel *kernel, bool keeps_order);

#endif
