/* alternate.h - bodies in which only every second iteration has an effect, as in red-black sweeps:
 * their lanes are two iterations apart (ALTERNATE). */
#ifndef RG_PASS_VECTOR_ALTERNATE_H
#define RG_PASS_VECTOR_ALTERNATE_H

#include "ir/lanes.h"
#include "pass/pass.h"

/* Marks a body that is not yet in lanes by ALTERNATE; false: it has no such form. */
bool alternate_mark(const PassContext *ctx, IrKernel *kernel, const LaneBody *lanes);
void alternate_unmark(IrRegion *body);
/* The bodies of a range task: all of them, or none and false. */
bool alternate_mark_task(const PassContext *ctx, IrKernel *kernel, IrTask *task, int width);
void alternate_unmark_task(IrTask *task);

#endif
