/* tangent.h - forward-mode differentiation. */
#ifndef RG_PASS_GRADIENT_TANGENT_H
#define RG_PASS_GRADIENT_TANGENT_H

#include "pass/gradient/companion.h"

/* Adds the computation of derivatives along a direction to the kernel. False with err: it has none.
 * */
bool tangent_make(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err);

#endif
