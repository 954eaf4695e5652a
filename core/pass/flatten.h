/* flatten.h - the body of a row as straight-line code, as vector lanes need it. */
#ifndef RG_PASS_FLATTEN_H
#define RG_PASS_FLATTEN_H

#include "ir/ir.h"

/* Can it be? `may_mask` by field: a write under an `if` may store the old value instead. NULL if it
 * can, else why not, for explain(); *line is the user's line of the offending inst. */
const char *flatten_obstacle(const IrRegion *body, const bool *may_mask, int32_t *line);
/* Turns IFs into selects and variables into values. */
void flatten(IrKernel *kernel, IrRegion *body);

#endif
