/* trips.h - loops of unknown length as loops over numbered iterations. */
#ifndef RG_PASS_GRADIENT_TRIPS_H
#define RG_PASS_GRADIENT_TRIPS_H

#include "ir/ir.h"

/* Rewrites each loop with its own exits, among those that `wanted` (by inst id) names, as a FOR
 * without exits. Exits that leave several loops at once stay. */
void trips_number(Scratch *scratch, IrKernel *kernel, const bool *wanted, int count);

#endif
