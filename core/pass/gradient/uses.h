/* uses.h - which elements an adjoint reads once more, and which its primal overwrites. */
#ifndef RG_PASS_GRADIENT_USES_H
#define RG_PASS_GRADIENT_USES_H

#include "pass/gradient/plan.h"

/* Fills kernel->gradient_uses. Refuses kernels that overwrite some elements of a field before, and
 * others after derivatives need what was in them. */
void uses_find(Plans *plans);

#endif
