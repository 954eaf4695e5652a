/* early_exits.h - early-exit structurisation: an exit that only skips the following insts becomes
 * an arm of an `if`. */
#ifndef RG_PASS_SIMPLIFY_EARLY_EXITS_H
#define RG_PASS_SIMPLIFY_EARLY_EXITS_H

#include "ir/ir.h"

/* Replaces a LOOP that runs only once (its last inst leaves it) by its insts, if all earlier exits
 * can be written as arms. Exits to outer loops then cross one loop less. False: nothing changed. */
bool exits_dissolve(IrInst *loop);

#endif
