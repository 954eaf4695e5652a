/* uses.h - which elements an adjoint reads once more, and which its primal overwrites. */
#ifndef RG_PASS_GRADIENT_USES_H
#define RG_PASS_GRADIENT_USES_H

#include "pass/gradient/plan.h"

/* Logs the reads that an adjoint cannot repeat, neither before the launch nor after it. */
void uses_log(Plans *plans);
/* Fills kernel->gradient_uses. */
void uses_find(Plans *plans);

#endif
