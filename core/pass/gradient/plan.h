/* plan.h - what an adjoint kernel needs from its primal: which values are active, and, per region,
 * which must be recomputed before the region is reversed.
 *
 * A value is *active* if it depends on an element that has a gradient (varied), and an element that
 * has one, or a sum, depends on it (useful). Values that are not floats never are.
 *
 * A region is reversed as a unit: its needed values are recomputed forwards, then its insts are
 * reversed, last to first. Regions inside it are units of their own. So hardly anything is stored:
 * a value of a nested region is recomputed once for each enclosing region that needs it, and the
 * only state that a region takes over is the values that variables had where it was entered. Only
 * what cannot be recomputed is taped: elements that were overwritten between two reads, and the
 * keys of random numbers (tape.h). */
#ifndef RG_PASS_GRADIENT_PLAN_H
#define RG_PASS_GRADIENT_PLAN_H

#include "ir/ir.h"
#include "pass/gradient/gradient.h"
#include "pass/gradient/tape.h"

/* One region as a unit. */
typedef struct Plan {
  IrRegion *region;
  bool *needed; /* by id: recomputed in the region, or used from outside it */
  /* variables from outside whose values at the region's entry are needed */
  VEC(IrInst *) entered;
  IrInst **entry_values; /* by position in `entered`, while the unit is emitted */
  /* of a loop, by id: the insts that recompute its carried variables, iteration by iteration from
   * its beginning; NULL: there are none */
  bool *carried;
} Plan;

typedef struct Plans {
  IrKernel *kernel;
  Companion companion; /* where derivatives of elements are */
  int id_count;
  bool *varied, *useful;
  bool *is_sum;   /* insts on the way from GET to SET of a variable that is only added to */
  bool *reversed; /* ops with regions: something in them is reversed */
  IrInst **insts; /* by id */
  Plan **of;      /* by 2 * id of the owner + number of the region */
  Plan *host;
  Tape tape;
  bool tapes_elements;
  const LoopCounts *counts;
  const bool *rerun; /* by id: the part of the primal that runs once more; NULL: none does */
  bool has_changed;  /* while activity is propagated */
  Error *err;        /* the first refusal */
  bool is_refused;
} Plans;

/* Finds only which values are active. */
void plans_find_active(Plans *plans, IrKernel *kernel, Companion companion, Error *err);
/* By inst id: the ops with regions in which something is reversed. */
const bool *plans_reversed(IrKernel *kernel, Companion companion);
/* False with err: the kernel has no adjoint. */
bool plans_make(Plans *plans, IrKernel *kernel, Companion companion, const LoopCounts *counts,
                Error *err);
/* The trip count of a loop that counts its iterations; NULL: it follows from the operands. */
IrInst *plan_trips(const Plans *plans, const IrInst *loop);
/* Records the first reason why the kernel has no adjoint. Returns false. */
bool plans_refuse(Plans *plans, const IrInst *at, const char *what, const char *hint);
/* The same for an update, or an old value, that has no derivative. */
bool plans_refuse_update(Plans *plans, const IrInst *update);
/* What an update, or a CAS, does to the derivative of its element. */
UpdateRule plan_update_rule(const Plans *plans, const IrInst *update);
/* Tapes the value; refuses if that is impossible. */
void plans_tape(Plans *plans, const IrInst *value);
Plan *plan_of(const Plans *plans, const IrInst *owner, int region);
/* Is it a variable or a local array? */
static inline bool plan_is_storage(const IrInst *inst) {
  return inst->op == IR_VAR || inst->op == IR_LOCAL_ARRAY;
}
bool plan_is_active(const Plans *plans, const IrInst *value);
/* Of an APPEND or a POP: the value, or the variable, of component k of the list's elements; NULL if
 * the component has no derivative. Sets *companion to the number of the derivative's operand. */
IrInst *plan_list_operand(const Plans *plans, const IrInst *inst, int k, int *companion);
/* The number of components of the list's elements; 0 for any other op. */
int plan_list_components(const Plans *plans, const IrInst *inst);
/* Is the write to, or the read from, an element that has a derivative? */
bool plan_has_gradient(const Plans *plans, const IrInst *access);
/* Does the loop set an active variable from outside, other than by adding to it? */
bool plan_carries_variable(const Plans *plans, const IrInst *loop);
/* Must the loop's iterations be reversed in reverse order, since it carries a variable or
 * overwrites elements? */
bool plan_is_ordered(const Plans *plans, const IrInst *loop);

/* -- uses.c: elements that an adjoint reads again, and that its primal overwrites -------------- */

/* Tapes the reads that an adjoint cannot repeat, neither before the launch nor after it. */
void uses_tape(Plans *plans);
/* Fills kernel->gradient_uses. */
void uses_find(Plans *plans);

/* -- slice.c: the part of a primal that its adjoint runs once more, to tape what it needs ------ */

/* By id: the insts that taped values are computed from, including all writes to the fields that
 * they read. Refuses those that must not happen twice. */
const bool *rerun_find(Plans *plans);
/* Turns the primal's body into that part, which tapes. */
void rerun_make(Plans *plans);

#endif
