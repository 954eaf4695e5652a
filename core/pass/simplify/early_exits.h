/* early_exits.h - early-exit structurisation: an exit that only skips the following insts becomes
 * an arm of an `if`. */
#ifndef RG_PASS_SIMPLIFY_EARLY_EXITS_H
#define RG_PASS_SIMPLIFY_EARLY_EXITS_H

#include "ir/ir.h"

/* Replaces a LOOP that runs only once (its last inst leaves it) by its insts, if all earlier exits
 * can be written as arms. Exits to outer loops then cross one loop less. False: nothing changed. */
bool exits_dissolve(IrInst *loop);

/* Replaces the exits that only end the loop's iteration by arms. False: some cannot be written so,
 * and nothing changed. */
bool exits_sink(IrInst *loop);

/* The exits in a loop, also in loops inside it, that concern it. */
typedef struct LoopExits {
  bool breaks;    /* it is left, by a break of just this loop */
  bool continues; /* its iteration ends, by a continue of just this loop */
  bool outer;     /* a loop around it is left or continued, or the function returns */
} LoopExits;
LoopExits exits_of(const IrInst *loop);
/* For insts that leave their loop: exits that leave more than it cross one loop less. */
void exits_cross_less(IrRegion *region);

#endif
