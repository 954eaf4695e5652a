/* unroll.h - the pass `unroll`, applied to one task. */
#ifndef RG_PASS_LOOPS_UNROLL_H
#define RG_PASS_LOOPS_UNROLL_H

#include "ir/task.h"

/* Unrolls the small nests of the task's body, in one version that keeps its checks; leaves
 * constants for `fold`. */
void unroll_whole(IrKernel *kernel, IrTask *task);

#endif
