/* winners.h - tangents of minima and maxima that iterations share. */
#ifndef RG_PASS_GRADIENT_WINNERS_H
#define RG_PASS_GRADIENT_WINNERS_H

#include "pass/gradient/companion.h"

/* Adds a second loop after each parallel loop with such updates, which stores the winning values.
 * False with err: a value cannot be recomputed. */
bool winners_store(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err);

#endif
