/* rerun.h - the part of a primal that its adjoint runs once more, to log what it needs (log.h). */
#ifndef RG_PASS_GRADIENT_RERUN_H
#define RG_PASS_GRADIENT_RERUN_H

#include "pass/gradient/plan.h"

/* By id: what logged values are computed from, including all writes to the fields that these read.
 * Refuses what must not happen again. */
const bool *rerun_find(Plans *plans);
/* Turns the primal's body into that part, which logs. */
void rerun_make(Plans *plans);

#endif
