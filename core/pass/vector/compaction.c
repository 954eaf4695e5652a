/* compaction.c - decides where lanes only find the iterations that take a branch, which then run
 * one by one (vectorise_found.c). A body that ends in a branch which the processor cannot predict
 * costs a misprediction for every other iteration, also where the arm must run in order.
 *
 * Iterations of a serial loop take effect in their own order. Their condition must not depend on
 * what arms do: the insts before the branch are pure, or loads of elements that arms do not write.
 * But it may compare with a minimum or maximum that arms keep, since each arm only makes it harder
 * to meet: the lanes that are found then test it again.
 * The iterations of a range are unordered, so there the whole scalar body, condition included, runs
 * for each lane that is found, whatever it writes; and the branch may be in the arm of another.
 * Decisions D-pass-83, D-pass-84. */
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"

enum {
  LEAST_TRIPS = 32,   /* for which full vectors matter */
  LEAST_OF_BEST = 16, /* the same, where few iterations take the branch */
  MISS = 20,          /* a misprediction for every other iteration, in scalar ops (lanes_cost.c) */
  PER_LANE = 4,       /* to find a lane's bit */
  MOST_REPEATED = 25, /* percent of a scalar iteration that is before the branch, */
  MOST_LOST = 15,     /* and that a range loses if all its iterations take the branch */
  GAIN = 80,          /* largest cost, in percent of the scalar one */
  LONGEST_ARM = 60    /* insts: a longer arm takes longer than a misprediction */
};

/* -- the form ---------------------------------------------------------------------------------- */

bool lanes_only_reads(const IrInst *inst) {
  bool is_variable = inst->op == IR_VAR || inst->op == IR_GET || inst->op == IR_SET;
  return is_variable || inst->op == IR_IF || inst->op == IR_MEM_LOAD ||
         (ir_effects(inst) & IR_PURE);
}

/* Can the inst run in lanes first, and again for the lanes that are found? */
static bool may_repeat(const IrInst *inst) {
  switch (inst->op) {
  case IR_FOR:
  case IR_LOOP:
  case IR_BREAK:
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return true;
  case IR_CALL: return !(ir_effects(inst) & ~(IR_PURE | IR_READ));
  default: return lanes_only_reads(inst);
  }
}

IrInst *compaction_last_branch(const IrRegion *region) {
  IrInst *branch = region->last;
  if (!branch || branch->op != IR_IF || branch->regions[1]->first || !branch->regions[0]->first)
    return NULL;
  for (const IrInst *at = region->first; at != branch; at = ir_following(at, region))
    if (!may_repeat(at)) return NULL;
  return branch;
}

/* The survey of what is before the branch. */
static LaneSurvey survey_before(const PassContext *ctx, const IrKernel *kernel,
                                const LaneBody *body, IrInst *branch) {
  IrRegion *home = branch->region;
  ir_remove(branch);
  LaneSurvey s = lanes_survey(ctx, kernel, body);
  ir_region_append(home, branch);
  return s;
}

/* -- serial loops ------------------------------------------------------------------------------ */

/* May the write change what a later iteration reads before its branch? */
static bool is_read_before_branch(const IrRegion *body, const IrInst *write) {
  for (const IrInst *at = body->first; at; at = at->next)
    if (at->op == IR_MEM_LOAD && ir_may_alias(at, write)) return true;
  return false;
}

static bool may_follow_branch(const IrRegion *body, const IrInst *inst) {
  if (ir_is_write(inst->op)) return !is_read_before_branch(body, inst);
  return ir_is_call(inst, RT_OUTSIDE) || lanes_only_reads(inst);
}

static bool is_part_of(const IrInst *part, const IrInst *condition) {
  if (part == condition) return true;
  return condition->op == IR_BAND &&
         (is_part_of(part, condition->operands[0]) || is_part_of(part, condition->operands[1]));
}

/* Does the GET read the best number so far, which the condition compares with another number, and
 * which the arm sets only to that number?
 *
 *     if lt %d, (get %best) { set %best, %d; set %index, %k }                                  */
static bool reads_best(const IrInst *get, const IrInst *branch) {
  const IrInst *compared = NULL, *best = get->operands[0];
  const IrRegion *body = branch->region, *arm = branch->regions[0];
  for (const IrUse *use = get->uses; use; use = use->next) {
    if (ir_is_inside(use->user, arm)) continue; /* runs again */
    if (compared || !is_part_of(use->user, branch->operands[0])) return false;
    compared = use->user;
  }
  if (!compared || (compared->op != IR_LT && compared->op != IR_LE && compared->op != IR_GT &&
                    compared->op != IR_GE))
    return false;
  const IrInst *number = compared->operands[compared->operands[0] == get];
  for (const IrUse *use = best->uses; use; use = use->next) {
    bool is_set = use->user->op != IR_GET && ir_is_inside(use->user, body);
    if (is_set && (use->user->op != IR_SET || use->user->operands[1] != number)) return false;
  }
  return !ir_is_inside(best, body) && number != get;
}

/* The branch at the end of a serial loop of this form; else NULL. `has_best`: it depends on the
 * best number so far. */
static IrInst *find_branch(const IrInst *loop, bool *has_best) {
  const IrRegion *body = loop->regions[0];
  IrInst *branch = compaction_last_branch(body);
  *has_best = false;
  for (IrInst *at = body->first; branch && at != branch; at = at->next) {
    bool is_best = at->op == IR_GET && reads_best(at, branch);
    *has_best |= is_best;
    if (!is_best && at->op != IR_MEM_LOAD && !(ir_effects(at) & IR_PURE)) return NULL;
  }
  const IrRegion *arm = branch ? branch->regions[0] : NULL;
  int count = 0;
  for (const IrInst *at = arm ? arm->first : NULL; at; at = ir_following(at, arm))
    if (++count > LONGEST_ARM || !may_follow_branch(body, at)) return NULL;
  return branch;
}

bool compaction_choose(const PassContext *ctx, IrKernel *kernel, IrInst *loop, int width) {
  bool has_best = false;
  IrInst *branch = loop->no_unroll ? NULL : find_branch(loop, &has_best);
  if (!branch || (!has_best && lanes_is_predictable(branch)) ||
      !lanes_is_long(loop, has_best ? LEAST_OF_BEST : LEAST_TRIPS))
    return false;
  LaneBody lanes = ir_lanes_of(loop, width);
  LaneSurvey s = survey_before(ctx, kernel, &lanes, branch);
  bool varies = s.facts[branch->operands[0]->id].shape == LANE_VARYING;
  double each = s.scalar_cost / width + PER_LANE; /* a lane that is found */
  double scalar = s.scalar_cost + (has_best ? 0 : width * MISS),
         vector = s.vector_cost + (has_best ? MISS + each : 2 * MISS + each * width / 2);
  if (s.obstacle || !varies || vector * 100 > scalar * GAIN) return false;
  loop->lanes = width;
  branch->compacts = true;
  return true;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static bool may_run_scalar(const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (ir_is_refcount(inst->op) || inst->op == IR_CHUNK_CURSOR) return false;
  return true;
}

enum { DEEP = 8 /* operands of operands that are followed */ };

/* Does the value depend on elements or variables? A pattern of indices, such as the colours of a
 * checkerboard, is predicted. */
static bool depends_on_data(const IrInst *value, int depth) {
  bool is_data = value->op == IR_MEM_LOAD || value->op == IR_GET || value->op == IR_RANDOM;
  if (is_data || depth == DEEP) return true;
  for (int i = 0; i < value->operand_count; i++)
    if (depends_on_data(value->operands[i], depth + 1)) return true;
  return false;
}

/* The cost of a scalar iteration, times the number of lanes: before a branch, and in its arm. */
typedef struct Parts {
  double before, arm;
} Parts;

/* Is little lost if all iterations take the branch, so that the search by lanes is in vain? */
static bool loses_little(const Parts *parts, double found) {
  double all = parts->before + parts->arm;
  return parts->before * 100 <= all * MOST_REPEATED && found * 100 <= all * MOST_LOST;
}

Compaction compaction_of_range(const PassContext *ctx, IrKernel *kernel, const LaneBody *body,
                               const LaneSurvey *whole) {
  Compaction best = {0};
  double share = 1;
  if (!may_run_scalar(body->region)) return best;
  for (IrInst *branch = compaction_last_branch(body->region); branch;
       branch = compaction_last_branch(branch->regions[0])) {
    LaneSurvey s = survey_before(ctx, kernel, body, branch);
    double rest = whole->scalar_cost - s.scalar_cost - share * MISS * body->width;
    share *= lanes_guess_arm(ctx, branch, 0);
    Parts parts = {s.scalar_cost, rest / share};
    double find = s.vector_cost + 2 * MISS, bits = PER_LANE * body->width;
    double cost = find + share * (parts.before + bits) + rest;
    bool varies = !s.obstacle && s.facts[branch->operands[0]->id].shape == LANE_VARYING;
    bool is_useful = !lanes_is_predictable(branch) && depends_on_data(branch->operands[0], 0) &&
                     loses_little(&parts, find + bits);
    if (varies && (is_useful || ctx->forces_lanes) && (!best.branch || cost < best.cost))
      best = (Compaction){branch, cost};
  }
  return best;
}

IrInst *compaction_branch(const IrRegion *body) {
  IrInst *branch = body->last;
  while (branch && branch->op == IR_IF && !branch->compacts) branch = branch->regions[0]->last;
  return branch && branch->compacts ? branch : NULL;
}
