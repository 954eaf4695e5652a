/* split_updates.h - updates other than sums as reads and writes. */
#ifndef RG_PASS_GRADIENT_SPLIT_UPDATES_H
#define RG_PASS_GRADIENT_SPLIT_UPDATES_H

#include "ir/ir.h"

/* Of elements with gradients that no other iteration of a parallel loop reaches. */
void updates_split(IrKernel *kernel);

#endif
