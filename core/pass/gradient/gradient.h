/* gradient.h - the steps of the pass `adjoint` that rewrite a kernel before it is differentiated,
 * or afterwards. Those that return false with err have found that the kernel has no derivative. */
#ifndef RG_PASS_GRADIENT_GRADIENT_H
#define RG_PASS_GRADIENT_GRADIENT_H

#include "pass/gradient/companion.h"

/* -- loops.c ----------------------------------------------------------------------------------- */

/* Turns serial loops over ranges and active cells into numeric ones. */
bool loops_number_serial(IrKernel *kernel, Companion companion, Error *err);

/* A loop that counts its iterations while it runs; `trips` reads the count after it. */
typedef struct LoopCount {
  IrInst *loop, *trips;
  bool has_end; /* its operands bound its trip count */
} LoopCount;
typedef VEC(LoopCount) LoopCounts;

/* Rewrites each loop with its own exits, among those that `wanted` (by inst id) names, as a FOR
 * without exits, or one of `counts`, which has one at its end. Exits that leave several loops at
 * once stay. */
void loops_number_trips(IrKernel *kernel, const bool *wanted, int count, LoopCounts *counts);

/* -- updates.c --------------------------------------------------------------------------------- */

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
/* Adds a second loop after each parallel loop with such updates, which stores the winning values.
 * */
bool winners_store(IrKernel *kernel, Companion companion, Error *err);

/* -- other files ------------------------------------------------------------------------------- */

/* tangent.c: adds the computation of derivatives along a direction to the kernel. */
bool tangent_make(IrKernel *kernel, Companion companion, Error *err);
/* stored_values.c: store-to-load forwarding of elements, within an iteration. Afterwards a
 * derivative needs an element only as it was before the iteration, or as it is after. */
void stored_values_forward(IrKernel *kernel);
/* gather.c: turns additions to neighbouring elements, in the parallel loops of the host region of a
 * folded kernel, into sums over neighbours; returns whether it changed. */
bool gather_scatters(IrKernel *kernel);

#endif
