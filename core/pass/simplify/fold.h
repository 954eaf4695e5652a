/* fold.h - the pass `fold`, applied to one body. */
#ifndef RG_PASS_SIMPLIFY_FOLD_H
#define RG_PASS_SIMPLIFY_FOLD_H

#include "pass/pass.h"

/* Folds one body or function, of the kernel or not in it yet. */
void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);

#endif
