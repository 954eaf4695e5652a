/* sums.h - recognises variables that are sums (reductions) of a serial loop. */
#ifndef RG_PASS_ANALYSIS_SUMS_H
#define RG_PASS_ANALYSIS_SUMS_H

#include "ir/ir.h"

/* Does the loop only add to each outside variable that it sets, and does nothing in the loop depend
 * on these sums? Then iterations may add to partial sums, which are combined after the loop. */
bool sums_only(Scratch *scratch, const IrKernel *kernel, const IrInst *loop);

#endif
