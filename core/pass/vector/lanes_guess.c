/* lanes_guess.c - see lanes_guess.h.
 *
 *     bounds                        trip count
 *     constants                     known
 *     values of the launch          LONG: usually extents
 *     what a pass expects           that (`trips`): lists of several cells
 *     last <= begin + a constant    that constant plus 1: `max(i - 1, 0), min(i + 1, n - 1)`
 *     anything else, `while`        SHORT: neighbours in a cell, pixels of a triangle
 *
 * The two arms of an `if` are equally likely; for bounds checks that passes add, the first arm is
 * almost certain. */
#include "pass/vector/lanes_guess.h"

#include "ir/facts.h"
#include "pass/vector/lanes_cost.h"

static const double LONG = 64, SHORT = 5, SELDOM = 1.0 / 64;

enum { DEEPEST = 6, FEW = 8 /* operations that LLVM executes rather than branch around */ };

/* -- trip counts ------------------------------------------------------------------------------- */

int64_t lanes_trips(const IrInst *loop) {
  int64_t begin, last;
  if (loop->op != IR_FOR || !ir_is_const(loop->operands[0], &begin) ||
      !ir_is_const(loop->operands[1], &last) || last < begin)
    return 0;
  uint64_t after_first = (uint64_t)last - (uint64_t)begin;
  return after_first < INT32_MAX ? (int64_t)after_first + 1 : INT32_MAX;
}

/* Is high <= low + *by, unless something wraps? */
static bool is_near(const IrInst *low, const IrInst *high, int64_t *by, int depth) {
  int64_t above, below;
  const IrInst *top = facts_split_constant(high, &above),
               *bottom = facts_split_constant(low, &below);
  *by = above - below;
  if (top == bottom) return true;
  if (depth == DEEPEST) return false;
  bool is_least = top->op == IR_MIN, is_most = bottom->op == IR_MAX;
  for (int i = 0; i < 2 && (is_least || is_most); i++) {
    int64_t rest;
    if (!is_near(is_least ? bottom : bottom->operands[i], is_least ? top->operands[i] : top, &rest,
                 depth + 1))
      continue;
    *by += rest;
    return true;
  }
  return false;
}

TripGuess lanes_guess_trips(const IrInst *loop) {
  int64_t known = lanes_trips(loop), by, step;
  if (known) return (TripGuess){.trips = (double)known, .is_known = true, .is_even = true};
  if (loop->op != IR_FOR) return (TripGuess){.trips = SHORT};
  if (loop->trips) return (TripGuess){.trips = (double)loop->trips};
  const IrInst *begin = loop->operands[0], *last = loop->operands[1];
  bool counts = type_is_integer(begin->type) && ir_is_const(loop->operands[2], &step) && step == 1;
  if (counts && is_near(begin, last, &by, 0) && by >= 0 && by < (int64_t)LONG)
    return (TripGuess){.trips = (double)by + 1, .is_even = true};
  bool is_fixed = facts_is_of_launch(begin) && facts_is_of_launch(last);
  return (TripGuess){.trips = is_fixed ? LONG : SHORT};
}

/* -- arms -------------------------------------------------------------------------------------- */

/* Is it a bounds check that passes add: `u32(index) < extent`, or several of them? */
static bool is_check(const IrInst *condition) {
  if (condition->op == IR_BAND)
    return is_check(condition->operands[0]) && is_check(condition->operands[1]);
  return condition->op == IR_LT && condition->operands[0]->op == IR_CONVERT &&
         type_is_integer(condition->operands[0]->type) &&
         !type_is_signed(condition->operands[0]->type);
}

double lanes_guess_arm(const IrInst *inst, int arm) {
  if (!is_check(inst->operands[0])) return 0.5;
  return arm == 0 ? 1 : SELDOM;
}

static int weight(const IrRegion *arm) {
  int all = 0;
  for (const IrInst *inst = arm ? arm->first : NULL; inst && all <= FEW; inst = inst->next) {
    bool is_light = inst->op == IR_VAR || inst->op == IR_GET || inst->op == IR_SET;
    if (!is_light) all += ir_effects(inst) & IR_PURE ? lanes_op_cost(inst) : FEW + 1;
  }
  return all;
}

bool lanes_is_foreseen(const IrInst *inst) {
  return is_check(inst->operands[0]) ||
         (weight(inst->regions[0]) <= FEW && weight(inst->regions[1]) <= FEW);
}
