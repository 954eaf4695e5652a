/* alternate.c - puts every second iteration into lanes, where the others have no effect.
 *
 *     body (%i, %j) {                     body (%i, %j) {
 *       ..                                  %p: i32 = mod (add %i, %j), 2
 *       if (mod (add %i, %j), 2) == %c {    %acts: bool = eq %p, %c
 *         mem.store ..             =>       alternate %acts
 *       }                                   ..
 *     }                                     if %acts { mem.store .. }
 *                                         }
 *
 * Under a mask, half of the lanes would be idle. Moreover, each vector would wait for the masked
 * store of the one before it, since the neighbours that it loads are in the same bytes, and a
 * pending store cannot be forwarded in parts. Decision D-pass-95. */
#include "ir/facts.h"
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"

/* -- the condition ----------------------------------------------------------------------------- */

/* The lowest bit of a number, perhaps converted; otherwise NULL. */
static const IrInst *lowest_bit(const IrInst *value) {
  int64_t by;
  while (value->op == IR_CONVERT) value = value->operands[0];
  bool is_bit = value->op == IR_MOD
                    ? ir_is_const(value->operands[1], &by) && by == 2
                    : value->op == IR_BAND && ir_is_const(value->operands[1], &by) && by == 1;
  return is_bit && type_is_integer(value->type) ? value : NULL;
}

static bool is_bit(const IrInst *value) {
  int64_t number;
  return lowest_bit(value) || (ir_is_const(value, &number) && (number == 0 || number == 1));
}

/* Does the bit change from each iteration to the next? */
static bool bit_alternates(const LaneFact *facts, const IrInst *value) {
  const IrInst *bit = lowest_bit(value);
  const LaneFact *number = bit ? &facts[bit->operands[0]->id] : NULL;
  return number && number->shape == LANE_LINEAR && number->step & 1;
}

/* Does the condition hold in every second iteration, or in none? */
static bool alternates(const LaneFact *facts, const IrInst *condition) {
  if (condition->op != IR_EQ && condition->op != IR_NE) return false;
  for (int k = 0; k < 2; k++) {
    const IrInst *bit = condition->operands[k], *other = condition->operands[1 - k];
    if (bit_alternates(facts, bit) && facts[other->id].shape == LANE_UNIFORM &&
        (condition->op == IR_EQ || is_bit(other)))
      return true;
  }
  return false;
}

/* An alternating condition among those that all must hold. */
static IrInst *find_alternating(const LaneFact *facts, IrInst *condition) {
  while (condition && condition->op == IR_GET) condition = facts_implied_by(condition->operands[0]);
  if (!condition || alternates(facts, condition)) return condition;
  if (condition->op != IR_BAND) return NULL;
  IrInst *first = find_alternating(facts, condition->operands[0]);
  return first ? first : find_alternating(facts, condition->operands[1]);
}

/* The condition of one of the branches that end the body and its arms. */
static IrInst *find_condition_of_body(const LaneFact *facts, const IrRegion *body) {
  for (const IrInst *branch = compaction_last_branch(body); branch;
       branch = compaction_last_branch(branch->regions[0])) {
    IrInst *condition = find_alternating(facts, branch->operands[0]);
    if (condition && facts_is_of_params(condition, body)) return condition;
  }
  return NULL;
}

/* -- the mark ---------------------------------------------------------------------------------- */

bool alternate_mark(const PassContext *ctx, IrKernel *kernel, const LaneBody *lanes) {
  IrRegion *body = (IrRegion *)lanes->region;
  IrInst *condition = find_condition_of_body(ir_lanes(ctx->scratch, kernel, lanes), body);
  if (!condition) return false;
  IrMap *moved = ir_map(ctx->scratch, kernel);
  IrBuilder b = rewrite_before(kernel, body->first);
  rewrite_move_up(condition, ir_emit(&b, IR_ALTERNATE, TYPE(NONE), 1, &condition), moved);
  return true;
}

void alternate_unmark(IrRegion *body) {
  IrInst *mark = (IrInst *)ir_lanes_alternate(body);
  if (mark) ir_delete(mark);
}

bool alternate_mark_task(const PassContext *ctx, IrKernel *kernel, IrTask *task, int width) {
  IrRegion *const bodies[] = {task->interior, task->body};
  for (int i = 0; i < 2; i++) {
    LaneBody lanes = ir_lanes_of_task(task, bodies[i], width);
    if (!bodies[i] || alternate_mark(ctx, kernel, &lanes)) continue;
    alternate_unmark_task(task);
    return false;
  }
  return true;
}

void alternate_unmark_task(IrTask *task) {
  if (task->interior) alternate_unmark(task->interior);
  alternate_unmark(task->body);
}
