/* mem2reg.h - the pass `mem2reg`, applied to one body. */
#ifndef RG_PASS_SIMPLIFY_MEM2REG_H
#define RG_PASS_SIMPLIFY_MEM2REG_H

#include "pass/pass.h"

/* Promotes the variables of one body or function, and folds what that changes. */
void mem2reg_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);

#endif
