/* flatten.h - if-conversion: turns the body of a row into straight-line code for vector lanes. */
#ifndef RG_PASS_SIMPLIFY_FLATTEN_H
#define RG_PASS_SIMPLIFY_FLATTEN_H

#include "ir/ir.h"

/* NULL if the body can be flattened, else the reason, for explain(); *line is then the user's line
 * of the offending inst. `may_mask`, by field: may a write under an `if` store the old value when
 * the condition is false? */
const char *flatten_obstacle(const IrRegion *body, const bool *may_mask, int32_t *line);
/* Turns IFs into selects and variables into values. */
void flatten(IrKernel *kernel, IrRegion *body);

#endif
