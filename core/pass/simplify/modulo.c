/* modulo.c - strength reduction of modulo: (index + steps) % n, in a range that ends at n.
 *
 *   range 0, %n (%i)    (%i + 1) % %n    =>    %i + 1 >= %n ? %i + 1 - %n : %i + 1
 *                       (%i - 1) % %n    =>    %i - 1 < 0 ? %i - 1 + %n : %i - 1
 *
 * A loop that runs has an end above 0, so one step leaves the range by at most one period. If the
 * end is a constant, so does any number of steps after removing whole periods: (%i + 1 + %n) % %n.
 * An interior decides the comparison (guards.h), and unlike a division it can be vectorised.
 * Decision D-codegen-11. */
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"

typedef struct Search {
  IrKernel *kernel;
  IrInst *range;
} Search;

/* Is the range's axis 0 .. `end`, and do `steps` lead at most one period away? Removes whole
 * periods from *steps. */
static bool is_period(const IrInst *range, int axis, const IrInst *end, int64_t *steps) {
  int64_t first, last;
  if (!ir_is_const(range->operands[2 * axis], &first) || first < 0) return false;
  if (!facts_same_value(range->operands[2 * axis + 1], end)) return false;
  if (!ir_is_const(end, &last)) return *steps >= -1 && *steps <= 1;
  if (last < 1 || *steps < INT32_MIN || last + *steps > INT32_MAX) return false; /* it may wrap */
  *steps %= last;
  if (2 * *steps > last) *steps -= last;
  if (2 * *steps < -last) *steps += last;
  return true;
}

/* `steps`: the operand's distance from the index, perhaps without whole periods. */
static void become_choice(IrKernel *kernel, IrInst *inst, const IndexRange *of, int64_t steps) {
  IrBuilder b = rewrite_before(kernel, inst);
  bool is_past = steps > 0;
  IrInst *index = inst->operands[0], *end = inst->operands[1], *base = (IrInst *)of->base;
  if (steps != of->low) index = ir_binary(&b, IR_ADD, base, ir_const_int(&b, base->type, steps));
  if (!steps) return rewrite_become(kernel, inst, IR_CONVERT, 1, &index);
  IrInst *is_out = ir_binary(&b, is_past ? IR_GE : IR_LT, index,
                             is_past ? end : ir_const_int(&b, index->type, 0));
  IrInst *back = ir_binary(&b, is_past ? IR_SUB : IR_ADD, index, end);
  rewrite_become(kernel, inst, IR_SELECT, 3, (IrInst *[]){is_out, back, index});
}

static bool visit_remainder(void *data, IrInst *inst) {
  Search *search = data;
  if (inst->op != IR_MOD || !type_is(inst->type, TYPE_I32)) return true;
  IndexRange index = ranges_of(inst->operands[0]);
  bool is_step = index.known && index.base && index.bits >= 32 && index.low == index.high;
  if (!is_step || index.low == 0) return true;
  int axis = ranges_param(search->range->regions[0], index.base);
  if (axis < 0 || !type_is(index.base->type, TYPE_I32)) return true;
  int64_t steps = index.low;
  if (is_period(search->range, axis, inst->operands[1], &steps))
    become_choice(search->kernel, inst, &index, steps);
  return true;
}

static bool visit_range(void *data, IrInst *inst) {
  if (inst->op != IR_RANGE) return true;
  Search search = {data, inst};
  ir_walk(inst->regions[0], visit_remainder, &search);
  return true;
}

bool pass_modulo(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)ctx, (void)err;
  if (kernel->body) ir_walk(kernel->body, visit_range, kernel);
  return true;
}
