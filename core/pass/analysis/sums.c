/* sums.c - see sums.h. A value is partial if it is a variable's value, or that plus other numbers.
 * It may only be stored in the variable, or be added to again. Decision D-pass-07. */
#include "pass/analysis/sums.h"

typedef struct Sums {
  bool *is_set;           /* by id: variables from outside */
  const IrInst **partial; /* by id: the variable of which the value is a partial sum; NULL: none */
} Sums;

static const IrInst *partial_of(const Sums *s, const IrInst *inst, int operand) {
  return operand < inst->operand_count ? s->partial[inst->operands[operand]->id] : NULL;
}

static bool is_addition(const Sums *s, const IrInst *inst) {
  const IrInst *a = partial_of(s, inst, 0), *b = partial_of(s, inst, 1);
  return (inst->op == IR_ADD && !(a && b)) || (inst->op == IR_SUB && !b);
}

static bool adds(Sums *s, const IrInst *inst) {
  if (inst->op == IR_SET && s->is_set[inst->operands[0]->id])
    return partial_of(s, inst, 1) == inst->operands[0];
  if (inst->op == IR_GET && s->is_set[inst->operands[0]->id])
    return s->partial[inst->id] = inst->operands[0], true;
  for (int k = 0; k < inst->operand_count; k++) {
    if (s->is_set[inst->operands[k]->id]) return false;
    if (!partial_of(s, inst, k)) continue;
    if (!is_addition(s, inst)) return false;
    s->partial[inst->id] = partial_of(s, inst, k);
  }
  return true;
}

bool sums_only(Scratch *scratch, const IrKernel *kernel, const IrInst *loop) {
  DEBUG_ASSERT(loop->regions[0], "sums are of a loop");
  const IrRegion *body = loop->regions[0];
  Sums s = {.is_set = scratch_array(scratch, bool, kernel->next_id),
            .partial = scratch_array(scratch, const IrInst *, kernel->next_id)};
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_SET && !ir_is_inside(inst->operands[0], body))
      s.is_set[inst->operands[0]->id] = true;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (!adds(&s, inst)) return false;
  return true;
}
