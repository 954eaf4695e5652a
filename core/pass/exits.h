/* exits.h - exits that only skip what follows become the other arm of their `if`. */
#ifndef RG_PASS_EXITS_H
#define RG_PASS_EXITS_H

#include "ir/ir.h"

/* A LOOP that runs once, since its last inst leaves it: replaced by its insts if what leaves it
 * earlier can be written as arms. Outer exits in it cross one loop less then. */
bool exits_dissolve(IrInst *loop);

#endif
