/* hoist.h - elements that every turn of a serial loop reads are read once, before it. */
#ifndef RG_PASS_HOIST_H
#define RG_PASS_HOIST_H

#include "ir/ir.h"

/* Of a nest of loops that surely run; `runs` says so of an inner one. */
void hoist_reads(IrKernel *kernel, IrInst *nest, bool (*runs)(const IrInst *loop));

#endif
