/* counts.h - what the files of the pass `counts` share. */
#ifndef RG_PASS_COUNTS_H
#define RG_PASS_COUNTS_H

#include "ir/ir.h"

/* Does the op change, or read, what the guard has? */
bool counts_uses_guard(const IrInst *inst, const IrInst *guard);
/* Returns how many references memory takes over from guards of the function. */
int counts_hand_over(Scratch *scratch, const IrKernel *kernel, IrRegion *body);

#endif
