/* winners.h - minima and maxima that iterations share, for tangents. */
#ifndef RG_PASS_GRADIENT_WINNERS_H
#define RG_PASS_GRADIENT_WINNERS_H

#include "pass/gradient/companion.h"

/* Gives each parallel loop with such updates a second one, which stores the values that won. False
 * with err: a value cannot be computed a second time. */
bool winners_store(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err);

#endif
