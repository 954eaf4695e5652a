/* split_updates.h - splits updates other than sums into reads and writes. */
#ifndef RG_PASS_GRADIENT_SPLIT_UPDATES_H
#define RG_PASS_GRADIENT_SPLIT_UPDATES_H

#include "pass/gradient/companion.h"

/* Splits updates of elements with derivatives that only one iteration of a parallel loop reaches.
 * `reads_winners`: adds a LOAD after each shared minimum and maximum. */
void updates_split(IrKernel *kernel, Companion companion, bool reads_winners);
bool update_has_winner(const IrInst *update);

/* What an update of a shared element, or a reduction of a whole loop, does to the element's
 * derivative; in both directions. */
typedef enum UpdateRule {
  UPDATE_ADDS,      /* adds the value's derivative to it */
  UPDATE_KEEPS,     /* leaves it unchanged */
  UPDATE_SCALES,    /* multiplies or divides it by the value, like the element */
  UPDATE_CHOOSES,   /* replaces it by the derivative of the final value */
  UPDATE_LACKS_RULE /* has no derivative */
} UpdateRule;
/* is_active: the value has a derivative. */
UpdateRule update_rule(const IrInst *update, bool is_active);
/* Is it a minimum or maximum, of elements with derivatives, that several iterations may update? */
bool update_is_shared_winner(const IrKernel *kernel, const IrInst *update, Companion companion);

#endif
