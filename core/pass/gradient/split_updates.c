/* split_updates.c - splits updates other than sums into reads and writes:
 *
 *     update mul %p, %a     =>     %b = load %p   %c = mul %b, %a   store %p, %c
 *
 * if only one iteration reaches the element: each parameter of the parallel loop, plus a constant,
 * is one of its indices, or there is no parallel loop. Then products, minima, maxima and old values
 * have a derivative. For minima and maxima of elements that iterations share, the adjoint compares
 * each value with the final one, which is read after the update; for tangents, winners.c does so:
 *
 *     update max %p, %a     =>     update max %p, %a   %b = load %p
 *
 * If the factors of a shared product have no derivative, the element's derivative is multiplied by
 * them. Other shared products have no derivative. */
#include "pass/gradient/split_updates.h"

#include "ir/facts.h"
#include "pass/gradient/plan.h"
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
  ir_store(&b, update->operands[0], value)->further = update->further;
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
  now->further = rmw->further;
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
