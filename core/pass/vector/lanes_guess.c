/* lanes_guess.c - see lanes_guess.h.
 *
 *     bounds                        trip count
 *     constants                     known
 *     values of the launch          LONG: usually extents
 *     what a pass expects           that number (`trips`): lists of several cells
 *     last <= begin + a constant    that constant plus 1: `max(i - 1, 0), min(i + 1, n - 1)`
 *     anything else, `while`        SHORT: neighbours in a cell, pixels of a triangle
 *
 * The two arms of an `if` are equally likely, unless the tuner tries code for rare branches; for
 * bounds checks that passes add, the first arm is almost certain. */
#include "pass/vector/lanes_guess.h"

#include "ir/facts.h"
#include "pass/vector/lanes_cost.h"

static const double LONG = 64, SHORT = 5, FAILED_CHECK = 1.0 / 64, RARE = 1.0 / 16;

enum { DEEPEST = 6, FEW = 8 /* operations that LLVM executes rather than branch around */ };

/* -- trip counts ------------------------------------------------------------------------------- */

/* Is high <= low + *by, unless an operation wraps? */
static bool differ_by_at_most(const IrInst *low, const IrInst *high, int64_t *by, int depth) {
  int64_t above, below;
  const IrInst *top = facts_split_constant(high, &above),
               *bottom = facts_split_constant(low, &below);
  *by = above - below;
  if (top == bottom) return true;
  if (depth == DEEPEST) return false;
  bool is_least = top->op == IR_MIN, is_most = bottom->op == IR_MAX;
  for (int i = 0; i < 2 && (is_least || is_most); i++) {
    int64_t rest;
    if (!differ_by_at_most(is_least ? bottom : bottom->operands[i],
                           is_least ? top->operands[i] : top, &rest, depth + 1))
      continue;
    *by += rest;
    return true;
  }
  return false;
}

TripGuess lanes_guess_trips(const IrInst *loop) {
  int64_t known = facts_trips(loop), by;
  if (known > 0) return (TripGuess){.trips = (double)known, .is_known = true, .is_even = true};
  if (loop->op != IR_FOR) return (TripGuess){.trips = SHORT};
  if (loop->trips) return (TripGuess){.trips = (double)loop->trips};
  const IrInst *begin = loop->operands[0], *last = loop->operands[1];
  if (facts_step(loop) == 1 && differ_by_at_most(begin, last, &by, 0) && by >= 0 &&
      by < (int64_t)LONG)
    return (TripGuess){.trips = (double)by + 1, .is_even = true};
  bool is_fixed = facts_is_of_launch(begin) && facts_is_of_launch(last);
  return (TripGuess){.trips = is_fixed ? LONG : SHORT};
}

bool lanes_is_long(const IrInst *loop, int64_t trips) {
  int64_t by;
  ASSERT(loop->op == IR_FOR, "a numeric loop has bounds");
  return lanes_guess_trips(loop).trips >= (double)trips ||
         (differ_by_at_most(loop->operands[0], loop->operands[1], &by, 0) && by >= trips);
}

/* -- arms -------------------------------------------------------------------------------------- */

double lanes_guess_arm(const PassContext *ctx, const IrInst *inst, int arm) {
  ASSERT(inst->op == IR_IF && (arm == 0 || arm == 1), "an arm of an `if`");
  if (facts_is_check(inst->operands[0])) return arm == 0 ? 1 : FAILED_CHECK;
  bool is_rare = ctx->rare_branches && !inst->regions[1]->first;
  return !is_rare ? 0.5 : arm == 0 ? RARE : 1 - RARE;
}

static int cost_of_arm(const IrRegion *arm) {
  int all = 0;
  for (const IrInst *inst = arm ? arm->first : NULL; inst && all <= FEW; inst = inst->next) {
    bool is_light = inst->op == IR_VAR || inst->op == IR_GET || inst->op == IR_SET;
    if (!is_light) all += ir_effects(inst) & IR_PURE ? lanes_op_cost(inst) : FEW + 1;
  }
  return all;
}

bool lanes_is_predictable(const IrInst *inst) {
  return facts_is_check(inst->operands[0]) ||
         (cost_of_arm(inst->regions[0]) <= FEW && cost_of_arm(inst->regions[1]) <= FEW);
}
