/* rerun.h - the part of a primal that its adjoint runs once more, to tape what it needs (tape.h).
 * */
#ifndef RG_PASS_GRADIENT_RERUN_H
#define RG_PASS_GRADIENT_RERUN_H

#include "pass/gradient/plan.h"

/* By id: the insts that taped values are computed from, including all writes to the fields that
 * they read. Refuses those that must not happen twice. */
const bool *rerun_find(Plans *plans);
/* Turns the primal's body into that part, which tapes. */
void rerun_make(Plans *plans);

#endif
