/* uses.h - finds which elements an adjoint reads again, and which its primal overwrites. */
#ifndef RG_PASS_GRADIENT_USES_H
#define RG_PASS_GRADIENT_USES_H

#include "pass/gradient/plan.h"

/* Tapes the reads that an adjoint cannot repeat, neither before the launch nor after it. */
void uses_tape(Plans *plans);
/* Fills kernel->gradient_uses. */
void uses_find(Plans *plans);

#endif
