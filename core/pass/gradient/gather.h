/* gather.h - additions to neighbouring elements become sums over neighbours. */
#ifndef RG_PASS_GRADIENT_GATHER_H
#define RG_PASS_GRADIENT_GATHER_H

#include "ir/ir.h"

/* For the parallel loops of the host region. The kernel is folded. Returns whether it changed. */
bool gather_scatters(Scratch *scratch, IrKernel *kernel);

#endif
