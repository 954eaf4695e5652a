/* gather.h - turns additions to neighbouring elements into sums over neighbours. */
#ifndef RG_PASS_GRADIENT_GATHER_H
#define RG_PASS_GRADIENT_GATHER_H

#include "ir/ir.h"

/* Rewrites the parallel loops of the host region of a folded kernel; returns whether it changed. */
bool gather_scatters(Scratch *scratch, IrKernel *kernel);

#endif
