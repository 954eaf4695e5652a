/* fold.h - what the pass `fold` does, in one region. */
#ifndef RG_PASS_FOLD_H
#define RG_PASS_FOLD_H

#include "pass/pass.h"

/* Of a body or function that is not in the kernel yet. */
void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);

#endif
