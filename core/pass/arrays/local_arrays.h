/* local_arrays.h - local arrays (LOCAL_ARRAY) whose indices are known. */
#ifndef RG_PASS_ARRAYS_LOCAL_ARRAYS_H
#define RG_PASS_ARRAYS_LOCAL_ARRAYS_H

#include "ir/ir.h"

/* Is it a local array of few numbers, which may become variables although some indices are not
 * constant? */
bool local_arrays_is_short(const IrInst *array);
/* Turns the local arrays of `body` whose indices are constant, with few exceptions, into a VAR per
 * number, removes those that are never read, and returns whether it has changed anything. */
bool local_arrays_split(Scratch *scratch, IrKernel *kernel, IrRegion *body);

#endif
