/* stored_values.h - store-to-load forwarding of elements, within an iteration. */
#ifndef RG_PASS_GRADIENT_STORED_VALUES_H
#define RG_PASS_GRADIENT_STORED_VALUES_H

#include "ir/ir.h"

/* Afterwards a derivative needs an element only as it was before the iteration, or as it is after.
 * */
void stored_values_forward(Scratch *scratch, IrKernel *kernel);

#endif
