/* tasks_cost.c - the rough cost of one iteration, in additions: the scheduler's first guess at
 * chunk sizes. Loops count with their trip count if it is constant, else with GUESSED_TRIPS; of an
 * `if`, the costlier arm counts. */
#include "base/bits.h"
#include "pass/tasks/tasks.h"

/* Guesses for what depends on data: trips of a loop, additions that a recursive call takes. */
enum { GUESSED_TRIPS = 8, GUESSED_CALL = 400 };
enum { MOST_COST = 1 << 24 }; /* additions; larger costs would overflow in nests of loops */

static int64_t cost_of_op(IrOp op) {
  switch (op) {
  case IR_CONST:
  case IR_PARAM:
  case IR_ARG:
  case IR_FRAME_GET:
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_PLACE: return 0;
  case IR_LOAD:
  case IR_STORE:
  case IR_IS_ACTIVE:
  case IR_LENGTH: return 4;
  case IR_DIV:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_SQRT:
  case IR_UPDATE: return 8;
  case IR_RMW:
  case IR_CAS:
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_APPEND:
  case IR_POP:
  case IR_PRINT: return 20;
  case IR_POW:
  case IR_RANDOM: return 40;
  case IR_INVOKE: return GUESSED_CALL;
  default: return ir_op_info[op].flags & IR_SLOW ? 20 : 1;
  }
}

static int64_t trips_of(const IrInst *loop) {
  int64_t begin, last, step;
  if (loop->op != IR_FOR) return GUESSED_TRIPS;
  if (!ir_is_const(loop->operands[0], &begin) || !ir_is_const(loop->operands[1], &last) ||
      !ir_is_const(loop->operands[2], &step) || step == 0)
    return GUESSED_TRIPS;
  double trips = ((double)last - (double)begin) / (double)step + 1;
  return trips < 0 ? 0 : trips > MOST_COST ? MOST_COST : (int64_t)trips;
}

static int64_t cost_of_region(const IrRegion *region) {
  int64_t cost = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    cost += cost_of_op(inst->op);
    if (inst->op == IR_IF)
      cost += max_i64(cost_of_region(inst->regions[0]), cost_of_region(inst->regions[1]));
    else if (inst->regions[0]) cost += trips_of(inst) * cost_of_region(inst->regions[0]);
    cost = min_i64(cost, MOST_COST);
  }
  return cost;
}

int32_t tasks_cost(const IrRegion *body) {
  int64_t cost = cost_of_region(body);
  DEBUG_ASSERT(cost >= 0 && cost <= MOST_COST, "a cost fits into 32 bits");
  return (int32_t)cost;
}
