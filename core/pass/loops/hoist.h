/* hoist.h - hoists reads of elements that every iteration of a serial loop repeats. */
#ifndef RG_PASS_LOOPS_HOIST_H
#define RG_PASS_LOOPS_HOIST_H

#include "ir/ir.h"

/* Hoists out of `nest`, a loop nest that runs at least once; `runs` says so of an inner loop. */
void hoist_reads(IrKernel *kernel, IrInst *nest, bool (*runs)(const IrInst *loop));

#endif
