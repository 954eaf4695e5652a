/* tangent.h - forward-mode differentiation. */
#ifndef RG_PASS_GRADIENT_TANGENT_H
#define RG_PASS_GRADIENT_TANGENT_H

#include "pass/gradient/companion.h"

/* Adds to the kernel what computes derivatives along a direction, for the pass `adjoint`. False
 * with err: it has none. */
bool tangent_make(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err);

#endif
