/* sums.h - what variables from outside a loop are to it. */
#ifndef RG_PASS_SUMS_H
#define RG_PASS_SUMS_H

#include "ir/ir.h"

/* Is each variable from outside that the loop sets one to which it only adds, and does nothing in
 * it depend on what has been added? Then partial sums of its turns may be added in the end. */
bool sums_only(Scratch *scratch, const IrKernel *kernel, const IrInst *loop);

#endif
