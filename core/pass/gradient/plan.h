/* plan.h - what an adjoint kernel needs of its primal: which values are active, and, per region,
 * which have to be computed again before the region is run backwards.
 *
 * A value is *active* if it depends on an element that has a gradient (varied), and an element that
 * has one, or a sum, depends on it (useful). Values that are not floats never are.
 *
 * A region is reversed as a unit: its needed values are computed forwards once more, then its insts
 * are reversed, last to first. Regions inside it are units of their own. So nothing is stored: a
 * value of a nested region is computed once per level around it where that level needs it, and the
 * values that variables had where the region was entered are the only state it takes over. Only
 * what cannot be computed again is logged: elements that were overwritten between two reads, and
 * the keys of random numbers (log.h). */
#ifndef RG_PASS_GRADIENT_PLAN_H
#define RG_PASS_GRADIENT_PLAN_H

#include "ir/ir.h"
#include "pass/gradient/companion.h"
#include "pass/gradient/log.h"
#include "pass/gradient/split_updates.h"
#include "pass/gradient/trips.h"

/* One region as a unit. */
typedef struct Plan {
  IrRegion *region;
  bool *needed; /* by id: computed again in the region, or used from outside of it */
  /* variables from outside, whose values where the region is entered are needed */
  VEC(IrInst *) entered;
  IrInst **entry_values; /* by position in `entered`, while the unit is emitted */
  /* of a loop: the variables that it carries have to be computed from its begin on, iteration by
   * iteration, by these insts; NULL: none have to */
  bool *carried;
} Plan;

typedef struct Plans {
  IrKernel *kernel;
  Scratch *scratch;
  Companion companion; /* where derivatives of elements are */
  int id_count;
  bool *varied, *useful;
  bool *is_sum;   /* insts on the way from GET to SET of a variable that is only added to */
  bool *reversed; /* ops with regions: something in them is reversed */
  IrInst **insts; /* by id */
  Plan **of;      /* by 2 * id of the owner + number of the region */
  Plan *host;
  Log log;
  bool logs_elements;
  const LoopCounts *counts;
  const bool *rerun; /* by id: the part of the primal that runs once more; NULL: none does */
  Error *err;        /* the first refusal */
  bool is_refused;
} Plans;

/* Only what is active. */
void plans_find_active(Plans *plans, IrKernel *kernel, Companion companion, Scratch *scratch,
                       Error *err);
/* By inst id: the ops with regions in which something is reversed. */
const bool *plans_reversed(IrKernel *kernel, Companion companion, Scratch *scratch);
/* False with err: the kernel has no adjoint. */
bool plans_make(Plans *plans, IrKernel *kernel, Companion companion, const LoopCounts *counts,
                Scratch *scratch, Error *err);
/* How often a loop that counts its iterations ran; NULL: its operands say that. */
IrInst *plan_trips(const Plans *plans, const IrInst *loop);
/* Keeps the first reason why the kernel has no adjoint. False. */
bool plans_refuse(Plans *plans, const IrInst *at, const char *what, const char *hint);
/* The same for an update, or an old value, that has no derivative. */
bool plans_refuse_update(Plans *plans, const IrInst *update);
/* What an update, or a CAS, makes of the derivative of its element. */
UpdateRule plan_update_rule(const Plans *plans, const IrInst *update);
/* The value is to be logged; refuses if it cannot be. */
void plans_log(Plans *plans, const IrInst *value);
Plan *plan_of(const Plans *plans, const IrInst *owner, int region);
/* Is it a variable or a local array? */
static inline bool plan_is_storage(const IrInst *inst) {
  return inst->op == IR_VAR || inst->op == IR_LOCAL_ARRAY;
}
bool plan_is_active(const Plans *plans, const IrInst *value);
/* Of an APPEND or a POP: the value, or the variable, of component k of the list's elements; NULL:
 * the component has no derivative. Sets *companion to the operand of that. */
IrInst *plan_list_operand(const Plans *plans, const IrInst *inst, int k, int *companion);
/* How many components they have; 0: it is another op. */
int plan_list_components(const Plans *plans, const IrInst *inst);
/* Is the write to, or the read from, an element that has a derivative? */
bool plan_has_gradient(const Plans *plans, const IrInst *access);
/* Does the loop set a variable from outside, which has a derivative, other than by adding to it? */
bool plan_carries_variable(const Plans *plans, const IrInst *loop);
/* Then, or where it overwrites elements, its iterations are reversed in reverse order. */
bool plan_is_ordered(const Plans *plans, const IrInst *loop);

#endif
