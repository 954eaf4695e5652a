/* adjoint.h - what the files that reverse a kernel share: adjoint.c (regions, values, variables),
 * again.c (primal values), elements.c, carried.c (loops whose iterations hang together). */
#ifndef RG_PASS_GRADIENT_ADJOINT_H
#define RG_PASS_GRADIENT_ADJOINT_H

#include "pass/gradient/plan.h"

typedef struct Adjoint {
  IrKernel *kernel;
  Scratch *scratch;
  Plans plans;
  IrMap *primal;             /* the value computed again, here */
  IrMap *sums;               /* the adjoint so far, of uses in the value's own region; none: 0 */
  IrMap *variables;          /* a VAR with the adjoint of uses elsewhere, or of a variable */
  const IrRegion *iteration; /* the body of the parallel loop that is being reversed; NULL: none */
} Adjoint;

/* A builder at the end of a region, with the position of `b`. */
static inline IrBuilder adjoint_inside(Adjoint *a, IrRegion *region, const IrBuilder *b) {
  return (IrBuilder){a->kernel, region, NULL, b->line, b->column};
}

/* -- again.c ----------------------------------------------------------------------------------- */

/* What a needed value of the primal is here. */
IrInst *adjoint_primal(Adjoint *a, IrBuilder *b, const IrInst *value);
/* Before what is in the log, or has something of it inside. */
void adjoint_find_logged(Adjoint *a, IrBuilder *b, const IrInst *inst);
/* The last index of a FOR. */
IrInst *adjoint_last(Adjoint *a, IrBuilder *b, const IrInst *loop);
/* A copy of an op with regions, without them; parameters like those of another region. */
IrInst *adjoint_copy_head(Adjoint *a, IrBuilder *b, const IrInst *inst);
void adjoint_copy_params(Adjoint *a, const IrRegion *from, IrRegion *to);
/* The inst, with what its regions have of `needed`; and all of those in a region. */
void adjoint_copy_inst(Adjoint *a, IrBuilder *b, IrInst *inst, const bool *needed);
void adjoint_copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed);
/* A copy of a variable's value; of a local array another one. */
IrInst *adjoint_save(Adjoint *a, IrBuilder *b, IrInst *storage);
/* Keeps what the variables are where the op begins, for when it is reversed. */
void adjoint_keep_entries(Adjoint *a, IrBuilder *b, const IrInst *inst);
/* Variables of its own for those that the region takes over; returns the previous ones, which
 * adjoint_leave takes. */
IrInst **adjoint_enter(Adjoint *a, IrBuilder *b, const Plan *plan);
void adjoint_leave(Adjoint *a, const Plan *plan, IrInst *const *outer);

/* -- adjoint.c --------------------------------------------------------------------------------- */

/* Adds to the adjoint of a value; NULL: nothing. */
void adjoint_add(Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint);
/* The adjoint of a value when all its uses are reversed. NULL: 0. */
IrInst *adjoint_of(const Adjoint *a, IrBuilder *b, const IrInst *value);
/* Emits the reversal of region `number` of the op into `region`. */
void adjoint_reverse_inside(Adjoint *a, const IrBuilder *b, IrRegion *region, const IrInst *inst,
                            int number);

/* -- elements.c, carried.c --------------------------------------------------------------------- */

void adjoint_reverse_load(Adjoint *a, IrBuilder *b, const IrInst *load);
void adjoint_reverse_store(Adjoint *a, IrBuilder *b, const IrInst *store);
void adjoint_reverse_update(Adjoint *a, IrBuilder *b, const IrInst *update);
/* A FOR that derivatives need carried variables of. */
void adjoint_reverse_carried(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan);

#endif
