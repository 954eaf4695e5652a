/* early_exits.h - early-exit structurisation: an exit that only skips the following insts becomes
 * an arm of an `if`. */
#ifndef RG_PASS_SIMPLIFY_EARLY_EXITS_H
#define RG_PASS_SIMPLIFY_EARLY_EXITS_H

#include "ir/ir.h"

/* Replaces a LOOP that runs only once (its last inst leaves it) by its insts, if all earlier exits
 * can become arms. Exits to outer loops then cross one loop less. False: nothing changed. */
bool exits_dissolve(IrInst *loop);

/* Turns the exits that only end the loop's iteration into arms. False: some cannot become arms, and
 * nothing changed. */
bool exits_sink(IrInst *loop);

/* Which exits a loop has, also those in loops inside it. */
typedef struct LoopExits {
  bool breaks;    /* a break of just this loop */
  bool continues; /* a continue of just this loop */
  bool outer;     /* an exit to a loop around it, or a return */
} LoopExits;
LoopExits exits_of(const IrInst *loop);
/* For insts that are moved out of their loop: exits to outer loops then cross one loop less. */
void exits_cross_less(IrRegion *region);

#endif
