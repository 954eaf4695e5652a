/* split_updates.h - updates other than sums as reads and writes. */
#ifndef RG_PASS_GRADIENT_SPLIT_UPDATES_H
#define RG_PASS_GRADIENT_SPLIT_UPDATES_H

#include "pass/gradient/companion.h"

/* Of elements with derivatives that no other iteration of a parallel loop reaches.
 * `reads_winners`: a LOAD follows each shared minimum and maximum. */
void updates_split(IrKernel *kernel, Companion companion, bool reads_winners);
bool update_has_winner(const IrInst *update);

/* What an update of a shared element, or of a variable of a whole loop, makes of the derivative
 * that the element has; in both directions. */
typedef enum UpdateRule {
  UPDATE_ADDS,      /* that of the value is added to it */
  UPDATE_KEEPS,     /* it stays */
  UPDATE_SCALES,    /* it is changed by the value, as the element is */
  UPDATE_CHOOSES,   /* it is that of the value that won */
  UPDATE_LACKS_RULE /* that is not known */
} UpdateRule;
/* is_active: the value has a derivative. */
UpdateRule update_rule(const IrInst *update, bool is_active);
/* Is it a minimum or maximum, of elements with derivatives, that several iterations may update? */
bool update_is_shared_winner(const IrKernel *kernel, const IrInst *update, Companion companion);

#endif
