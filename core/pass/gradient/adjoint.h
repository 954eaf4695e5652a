/* adjoint.h - shared by the files that reverse a kernel: adjoint.c (regions, values, variables),
 * recompute.c (primal values, and loops with carried variables), elements.c (accesses). */
#ifndef RG_PASS_GRADIENT_ADJOINT_H
#define RG_PASS_GRADIENT_ADJOINT_H

#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

typedef struct Adjoint {
  IrKernel *kernel;
  Plans plans;
  IrMap *primal; /* of a primal value: its recomputed copy, visible where insts are emitted */
  IrMap *sums;   /* the adjoint so far, from uses in the value's own region; NULL: 0 */
  /* a VAR that accumulates the adjoint of a variable, or of a value used in other regions */
  IrMap *variables;
  const IrRegion *iteration; /* the body of the parallel loop that is being reversed; NULL: none */
} Adjoint;

/* -- recompute.c ------------------------------------------------------------------------------- */

/* The recomputed copy of a needed primal value. */
IrInst *adjoint_primal(Adjoint *a, IrBuilder *b, const IrInst *value);
/* Reads the inst from the tape; of a loop, its array. Does nothing for what is not on the tape. */
void adjoint_read_tape(Adjoint *a, IrBuilder *b, const IrInst *inst);
/* The last index of a FOR. */
IrInst *adjoint_last(Adjoint *a, IrBuilder *b, const IrInst *loop);
/* Copies a loop, without the insts in its region. */
IrInst *adjoint_copy_loop(Adjoint *a, IrBuilder *b, const IrInst *loop);
/* Copies the inst, with the `needed` insts of its regions; and all needed insts of a region. */
void adjoint_copy_inst(Adjoint *a, IrBuilder *b, IrInst *inst, const bool *needed);
void adjoint_copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed);
/* The current value of a variable; of a local array, a copy. */
IrInst *adjoint_save(Adjoint *a, IrBuilder *b, IrInst *storage);
/* Saves the values that variables have where the op begins, for its reversal. */
void adjoint_keep_entries(Adjoint *a, IrBuilder *b, const IrInst *inst);
/* Gives the region its own copies of the variables that it needs from outside, with their saved
 * values; returns the previous ones, which adjoint_leave restores. */
IrInst **adjoint_enter(Adjoint *a, IrBuilder *b, const Plan *plan);
void adjoint_leave(Adjoint *a, const Plan *plan, IrInst *const *outer);
/* Reverses a FOR whose derivatives need loop-carried variables. */
void adjoint_reverse_carried(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan);

/* -- adjoint.c --------------------------------------------------------------------------------- */

/* Adds to the adjoint of a value; NULL: nothing. */
void adjoint_add(Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint);
/* The adjoint of a value, once all its uses are reversed; NULL: 0. */
IrInst *adjoint_of(const Adjoint *a, IrBuilder *b, const IrInst *value);
/* Emits the reversal of region `number` of the op into `region`. */
void adjoint_reverse_inside(Adjoint *a, const IrBuilder *b, IrRegion *region, const IrInst *inst,
                            int number);

/* -- elements.c -------------------------------------------------------------------------------- */

void adjoint_reverse_load(Adjoint *a, IrBuilder *b, const IrInst *load);
void adjoint_reverse_store(Adjoint *a, IrBuilder *b, const IrInst *store);
void adjoint_reverse_update(Adjoint *a, IrBuilder *b, const IrInst *update);

#endif
