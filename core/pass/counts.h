/* counts.h - what the files of the passes `counts` and `locks` share. */
#ifndef RG_PASS_COUNTS_H
#define RG_PASS_COUNTS_H

#include "ir/ir.h"

/* Does the op change, or read, what the guard has? */
bool counts_uses_guard(const IrInst *inst, const IrInst *guard);
/* A fresh array that only the function around it knows, and no other iteration. */
bool counts_is_private(const IrInst *array);
/* What a body does with arrays that others have, too: something; and something with elements, by
 * headers rather than by places. */
typedef struct CountsUse { bool any, elements; } CountsUse;
CountsUse counts_use(const IrKernel *kernel, IrRegion *body);
/* Does the op reach elements of such an array, its first operand? */
bool counts_reaches(const IrInst *inst);
/* Of each function: do tasks call it? */
bool *counts_find_parallel(Scratch *scratch, const IrKernel *kernel);
/* Returns how many references memory takes over from guards of the function. */
int counts_hand_over(Scratch *scratch, const IrKernel *kernel, IrRegion *body);

#endif
