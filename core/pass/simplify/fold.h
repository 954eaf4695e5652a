/* fold.h - the pass `fold`, applied to one region. */
#ifndef RG_PASS_SIMPLIFY_FOLD_H
#define RG_PASS_SIMPLIFY_FOLD_H

#include "pass/pass.h"

/* Folds a body or function that is not in the kernel yet. */
void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);

#endif
