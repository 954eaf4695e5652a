/* split_updates.c - updates other than sums as reads and writes:
 *
 *     update mul %p, %a     =>     %b = load %p   %c = mul %b, %a   store %p, %c
 *
 * where one iteration alone reaches the element: each parameter of the parallel loop, plus a
 * constant, is an index of its own, or there is no such loop. Products, minima and maxima have a
 * derivative then; of updates that iterations share they have none. */
#include "pass/gradient/split_updates.h"

#include "ir/facts.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

static const IrInst *parallel_loop(const IrInst *inst) {
  const IrInst *outermost = NULL;
  for (const IrInst *at = inst->region->owner; at; at = at->region->owner)
    if (at->op == IR_RANGE || at->op == IR_ACTIVE) outermost = at;
  return outermost;
}

/* Is some index the parameter plus a constant? */
static bool is_indexed_by(const IrInst *place, const IrInst *param) {
  for (int k = 0; k < place->operand_count; k++) {
    int64_t constant;
    if (facts_split_constant(place->operands[k], &constant) == param) return true;
  }
  return false;
}

static bool is_own(const IrInst *update) {
  const IrInst *loop = parallel_loop(update);
  for (int k = 0; loop && k < loop->regions[0]->params.count; k++)
    if (!is_indexed_by(update->operands[0], loop->regions[0]->params.items[k])) return false;
  return true;
}

static bool split(void *data, IrInst *update) {
  IrKernel *kernel = data;
  bool is_sum = update->imm == IR_UPDATE_ADD || update->imm == IR_UPDATE_SUB;
  if (update->op != IR_UPDATE || is_sum || update->operands[0]->op != IR_PLACE) return true;
  if (plan_gradient(kernel, update->operands[0]->field) < 0 || !is_own(update)) return true;
  IrBuilder b = rewrite_before(kernel, update);
  IrInst *old = ir_load(&b, update->operands[0]);
  IrInst *value = rewrite_update_value(&b, (IrUpdate)update->imm, old, update->operands[1]);
  ir_store(&b, update->operands[0], value)->further = update->further;
  ir_delete(update);
  return true;
}

void updates_split(IrKernel *kernel) { ir_walk(kernel->body, split, kernel); }
