/* local_arrays.h - local arrays (LOCAL_ARRAY) whose indices are known. */
#ifndef RG_PASS_ARRAYS_LOCAL_ARRAYS_H
#define RG_PASS_ARRAYS_LOCAL_ARRAYS_H

#include "ir/ir.h"

/* Turns the local arrays of `body` whose indices are all constant into a VAR per number, removes
 * those that are never read, and returns whether it has changed anything. */
bool local_arrays_split(Scratch *scratch, IrKernel *kernel, IrRegion *body);

#endif
