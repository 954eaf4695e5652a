/* updates.c - updates other than sums. First, they are split into reads and writes:
 *
 *     update mul %p, %a     =>     %b = load %p   %c = mul %b, %a   store %p, %c
 *
 * if only one iteration reaches the element: each parameter of the parallel loop, plus a constant,
 * is one of its indices, or there is no parallel loop. Then products, minima, maxima and old values
 * have a derivative. For minima and maxima of elements that iterations share, the adjoint compares
 * each value with the final one, which is read after the update:
 *
 *     update max %p, %a     =>     update max %p, %a   %b = load %p
 *
 * If the factors of a shared product have no derivative, the element's derivative is multiplied by
 * them. Other shared products have no derivative. */
#include "ir/facts.h"
#include "pass/gradient/plan.h"
#include "pass/gradient/slice.h"
#include "pass/rewrite.h"

static bool has_own_element(const IrInst *update) {
  const IrInst *loop = ir_parallel_loop(update);
  return !loop || facts_distinguishes_iterations(update->operands[0], loop->regions[0]);
}

bool update_has_winner(const IrInst *update) {
  return update->imm == IR_UPDATE_MIN || update->imm == IR_UPDATE_MAX;
}

UpdateRule update_rule(const IrInst *update, bool is_active) {
  bool is_element = update->op != IR_REDUCE;
  switch ((IrUpdate)update->imm) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB: return UPDATE_ADDS;
  case IR_UPDATE_MUL:
  case IR_UPDATE_DIV: return is_element && !is_active ? UPDATE_SCALES : UPDATE_LACKS_RULE;
  case IR_UPDATE_MOD: return is_element && !is_active ? UPDATE_KEEPS : UPDATE_LACKS_RULE;
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX: return is_element ? UPDATE_CHOOSES : UPDATE_LACKS_RULE;
  default: return UPDATE_LACKS_RULE;
  }
}

bool update_is_shared_winner(const IrKernel *kernel, const IrInst *update, Companion companion) {
  return update->op == IR_UPDATE && update_has_winner(update) &&
         update->operands[0]->op == IR_PLACE && !has_own_element(update) &&
         companion_component(kernel, update->operands[0]->field, companion) >= 0;
}

typedef struct Splitting {
  IrKernel *kernel;
  Companion companion;
  bool reads_winners;
} Splitting;

/* An RMW is split as well, since no other iteration can observe it. */
static bool split_update(IrKernel *kernel, IrInst *update) {
  IrBuilder b = rewrite_before(kernel, update);
  IrInst *old = ir_load(&b, update->operands[0]);
  IrInst *change = ir_convert(&b, update->operands[1], old->type); /* of f16, which is f32 here */
  IrInst *value = rewrite_update_value(&b, (IrUpdate)update->imm, old, change);
  ir_store(&b, update->operands[0], value)->uncounted = update->uncounted;
  if (update->op == IR_RMW) ir_replace_uses(update, ir_convert(&b, old, update->type));
  ir_delete(update);
  return true;
}

/* Turns an RMW whose old value is unused into an update or a store; returns the new inst. */
static IrInst *forget_old_value(IrKernel *kernel, IrInst *rmw) {
  if (rmw->uses) return rmw;
  IrBuilder b = rewrite_before(kernel, rmw);
  IrInst *now = rmw->imm == IR_UPDATE_EXCHANGE
                    ? ir_store(&b, rmw->operands[0], rmw->operands[1])
                    : ir_update(&b, (IrUpdate)rmw->imm, rmw->operands[0], rmw->operands[1]);
  now->uncounted = rmw->uncounted;
  ir_delete(rmw);
  return now;
}

static bool visit_update(void *data, IrInst *update) {
  const Splitting *splitting = data;
  IrKernel *kernel = splitting->kernel;
  bool is_sum = update->op == IR_UPDATE && update_rule(update, false) == UPDATE_ADDS;
  if ((update->op != IR_UPDATE && update->op != IR_RMW) || is_sum) return true;
  if (update->operands[0]->op != IR_PLACE ||
      companion_component(kernel, update->operands[0]->field, splitting->companion) < 0)
    return true;
  if (has_own_element(update)) return split_update(kernel, update);
  if (update->op == IR_RMW) update = forget_old_value(kernel, update);
  if (!splitting->reads_winners || !update_is_shared_winner(kernel, update, splitting->companion))
    return true;
  IrBuilder after = rewrite_after(kernel, update);
  ir_load(&after, update->operands[0]);
  return true;
}

void updates_split(IrKernel *kernel, Companion companion, bool reads_winners) {
  ir_walk(kernel->body, visit_update, &(Splitting){kernel, companion, reads_winners});
}

/* -- tangents of shared minima and maxima ------------------------------------------------------ */

/*     range %i {                        range %i { .. update max %p, %v .. }
 *       .. update max %p, %v ..    =>   range %i { .. if %v == load %p { store %p, %v } }
 *     }
 *
 * The second loop recomputes the values and leaves the element unchanged, but its tangent gives the
 * element the derivative of the winning value. Of equal values, one iteration's derivative remains.
 * Decision D-pass-93. */

typedef struct Winners {
  IrKernel *kernel;
  Companion companion;
  Plans plans; /* only for refusals */
  /* of the current loop */
  Slice slice; /* of the values that may win */
  VEC(IrInst *) updates;
} Winners;

static void refuse(Winners *w, const IrInst *update) {
  plans_refuse(&w->plans, update,
               "the derivative of a minimum or maximum that iterations share needs its values a "
               "second time, and the loop changes what they are computed from",
               "write them to a field first, and compare them in a loop of its own");
}

static void keep_winner(Winners *w, IrInst *inst) {
  if (w->companion == COMPANION_DUAL)
    plans_refuse(&w->plans, inst,
                 "minima and maxima that iterations share have no second derivative", NULL);
  vec_push(w->kernel->scratch, &w->updates, inst);
  slice_add(&w->slice, inst);
  if (w->slice.unrepeatable || w->slice.is_overwritten) refuse(w, inst);
}

static void store_winner(IrKernel *kernel, IrInst *update) {
  IrBuilder b = rewrite_before(kernel, update);
  IrInst *place = update->operands[0], *won = ir_load(&b, place);
  IrInst *value = ir_convert(&b, update->operands[1], won->type);
  IrBuilder in = rewrite_into(&b, ir_if(&b, ir_binary(&b, IR_EQ, value, won))->regions[0]);
  ir_store(&in, place, value)->uncounted = true;
  ir_delete(update);
}

static void add_loop(Winners *w, IrInst *loop) {
  IrMap *map = ir_map(w->kernel->scratch, w->kernel);
  IrInst *own = rewrite_copy_kept(w->kernel, loop, w->slice.kept, map);
  ir_insert_after(loop, own);
  for (int k = 0; k < w->updates.count; k++)
    store_winner(w->kernel, ir_mapped(map, w->updates.items[k]));
}

static void add_loops(Winners *w, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    bool is_parallel = ir_is_unordered(inst);
    next = inst->next;
    for (int k = 0; !is_parallel && k < IR_MAX_REGIONS && inst->regions[k]; k++)
      add_loops(w, inst->regions[k]);
    if (!is_parallel) continue;
    w->updates.count = 0;
    const IrRegion *body = inst->regions[0];
    w->slice = slice_of(w->kernel, body);
    for (IrInst *at = body->first; at; at = ir_following(at, body))
      if (update_is_shared_winner(w->kernel, at, w->companion)) keep_winner(w, at);
    if (w->updates.count) add_loop(w, inst);
  }
}

bool winners_store(IrKernel *kernel, Companion companion, Error *err) {
  Winners winners = {.kernel = kernel, .companion = companion, .plans = {.err = err}};
  add_loops(&winners, kernel->body);
  return !winners.plans.is_refused;
}
