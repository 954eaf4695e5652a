/* compaction.c - see compaction.h. A body that ends in a branch which the processor cannot predict
 * costs a misprediction for every other iteration, also where the arm must run in order. Here the
 * condition is computed in lanes, and the arm runs for each lane whose bit is set:
 *
 *     for %0, %n, %1 (%k) {               for lanes=8 compacts %0, %n, %1 (%k, %m: boolx8) {
 *       %x = mem.load %at                   %x: f32x8 = lanes.load %at, %m
 *       if (lt %x, %limit) {          =>    bits (mask.bits (%m and lt %x, %limit)) (%lane) {
 *         mem.store .., %x                    %x = mem.load (%at of %k + %lane)
 *         set %count, ..                      mem.store .., %x
 *       }                                     set %count, ..
 *     }                                     }
 *                                         }
 *
 * Iterations take effect in their own order. The condition must not depend on what arms do: the
 * insts before the branch are pure, or loads of elements that arms do not write.
 *
 * The iterations of a range are unordered, so there the whole scalar body, condition included, runs
 * for each lane that is found, whatever it writes; and the branch may be in the arm of another:
 *
 *     body (%i) {                             body (%i, %all: boolx8) {
 *       %x = mem.load %at                       %found: boolx8 = var
 *       if (lt %x, %limit) {              =>    %x: f32x8 = lanes.load %at, %all
 *         ..                                    set %found, (mask.and %all, (lt %x, %limit))
 *       }                                       bits (mask.bits %found) (%lane) {
 *     }                                           .. the scalar body at %i + %lane
 *                                               }
 *                                             } */
#include "pass/rewrite.h"
#include "pass/vector/compaction.h"
#include "pass/vector/lanes_guess.h"

enum {
  LEAST_TRIPS = 32,   /* for which whole vectors matter */
  MISS = 20,          /* a misprediction for every other iteration, in scalar ops (lanes_cost.c) */
  PER_LANE = 4,       /* to find a lane's bit */
  MOST_REPEATED = 25, /* percent of a scalar iteration that is before the branch, */
  MOST_LOST = 15,     /* and that a range loses if all its iterations take the branch */
  GAIN = 80,          /* largest cost, in percent of the scalar one */
  LONGEST_ARM = 60    /* insts: a longer arm takes longer than a misprediction */
};

/* -- the form ---------------------------------------------------------------------------------- */

static bool may_precede_branch(void *data, IrInst *inst) {
  (void)data;
  return inst->op == IR_MEM_LOAD || (ir_effects(inst) & IR_PURE);
}

typedef struct Arm {
  const IrRegion *body; /* of the loop, with the branch at its end */
  int count;
} Arm;

/* May the write change what a later iteration reads before its branch? */
static bool is_read_before_branch(const IrRegion *body, const IrInst *write) {
  for (const IrInst *at = body->first; at; at = at->next)
    if (at->op == IR_MEM_LOAD && (!at->alias || !write->alias || at->alias == write->alias))
      return true;
  return false;
}

static bool may_follow_branch(void *data, IrInst *inst) {
  Arm *arm = data;
  if (++arm->count > LONGEST_ARM) return false;
  switch (inst->op) {
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_MEM_LOAD: return true;
  case IR_MEM_STORE:
  case IR_MEM_UPDATE: return !is_read_before_branch(arm->body, inst);
  case IR_CALL: return inst->entry == RT_OUTSIDE;
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

/* The branch at the end of a loop of this form; else NULL. */
static IrInst *find_branch(const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  IrInst *branch = body->last;
  if (!branch || branch->op != IR_IF || branch->regions[1]->first || !branch->regions[0]->first)
    return NULL;
  for (IrInst *at = body->first; at != branch; at = at->next)
    if (!may_precede_branch(NULL, at)) return NULL;
  Arm arm = {.body = body};
  return ir_walk(branch->regions[0], may_follow_branch, &arm) ? branch : NULL;
}

/* -- the choice -------------------------------------------------------------------------------- */

bool compaction_choose(const PassContext *ctx, IrKernel *kernel, IrInst *loop, int width) {
  IrInst *branch = loop->rolled ? NULL : find_branch(loop);
  if (!branch || lanes_is_predictable(branch) || !lanes_is_long(loop, LEAST_TRIPS)) return false;
  IrRegion *body = loop->regions[0];
  ir_remove(branch); /* only what is before it is in lanes */
  LaneBody lanes = ir_lanes_of_loop(loop, body, width);
  LaneSurvey s = lanes_survey(ctx, kernel, &lanes);
  bool varies = s.facts[branch->operands[0]->id].shape == LANE_VARYING;
  ir_region_append(body, branch);
  double scalar = s.scalar_cost + width * MISS,
         vector = s.vector_cost + 2 * MISS + (s.scalar_cost / width + PER_LANE) * width / 2;
  if (s.obstacle || !varies || vector * 100 > scalar * GAIN) return false;
  loop->lanes = width;
  loop->compacts = true;
  return true;
}

/* -- the rewriting ----------------------------------------------------------------------------- */

static bool forget_load_shape(void *data, IrInst *inst) {
  (void)data;
  if (inst->op == IR_MEM_LOAD) vectorise_forget_shape(inst);
  return true;
}

/* Moves the scalar body, whose branch is taken, into a loop over the lanes that take it. */
static void write_arm(Vectoriser *v, IrRegion *body, IrInst *branch, IrInst *word) {
  IrMap *with = ir_map(v->scratch, v->kernel);
  IrInst *index = body->params.items[0], *first = v->to->params.items[0];
  IrInst *bits = vectorise_emit(v, IR_BITS, TYPE(NONE), 1, &word);
  IrRegion *to = bits->regions[0];
  IrInst *lane = ir_region_param(v->kernel, to, index->type);
  IrBuilder b = rewrite_inside(v->kernel, to, NULL);
  ir_map_put(with, index, ir_binary(&b, IR_ADD, first, lane));
  ir_walk(body, forget_load_shape, NULL);
  ir_region_append(body, branch);
  rewrite_operands(body, with);
  rewrite_move_all(body, to);
  rewrite_move_all(branch->regions[0], to);
  ir_delete(branch);
}

void compaction_write(Scratch *scratch, IrKernel *kernel, IrInst *loop) {
  IrRegion *body = loop->regions[0];
  IrInst *branch = body->last;
  Vectoriser v;
  DEBUG_ASSERT(branch->op == IR_IF, "compaction_choose has checked the form");
  ir_remove(branch);
  LaneBody lanes = ir_lanes_of_loop(loop, body, loop->lanes);
  vectorise_open_loop(&v, scratch, kernel, &lanes, loop);
  vectorise_rest(&v, body->first);
  IrInst *taken = vectorise_and(&v, v.mask, vectorise_lanes(&v, branch->operands[0]));
  IrInst *word = vectorise_mask_bits(&v, taken);
  write_arm(&v, body, branch, word);
  rewrite_drop_dead(v.to);
  loop->regions[0] = v.to;
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* Can the inst run in lanes first, and again for the lanes that are found? */
static bool may_repeat(void *data, IrInst *inst) {
  (void)data;
  switch (inst->op) {
  case IR_MEM_LOAD:
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_FOR:
  case IR_LOOP:
  case IR_BREAK:
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return true;
  case IR_CALL: return !(ir_effects(inst) & ~(IR_PURE | IR_READ));
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

static bool may_run_scalar(void *data, IrInst *inst) {
  (void)data;
  bool holds_arrays = inst->op == IR_OWN || inst->op == IR_ACQUIRE || inst->op == IR_MOVE ||
                      inst->op == IR_RELEASE || inst->op == IR_DISOWN;
  return !holds_arrays && inst->op != IR_CURSOR;
}

IrInst *compaction_last_branch(const IrRegion *region) {
  IrInst *branch = region->last;
  if (!branch || branch->op != IR_IF || branch->regions[1]->first || !branch->regions[0]->first)
    return NULL;
  for (IrInst *at = region->first; at != branch; at = at->next) {
    if (!may_repeat(NULL, at)) return NULL;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (at->regions[i] && !ir_walk(at->regions[i], may_repeat, NULL)) return NULL;
  }
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
  if (!ir_walk((IrRegion *)body->region, may_run_scalar, NULL)) return best;
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

IrRegion *compaction_write_body(Scratch *scratch, IrKernel *kernel, const LaneBody *body) {
  IrRegion *scalar = (IrRegion *)body->region;
  IrInst *branch = compaction_branch(scalar);
  Vectoriser v;
  vectorise_open(&v, scratch, kernel, body, NULL);
  v.found = ir_var(&v.b, v.mask->type);
  vectorise_rest(&v, scalar->first);
  branch->compacts = false;
  ir_walk(scalar, forget_load_shape, NULL);
  vectorise_inner(scratch, kernel, branch->regions[0]);
  vectorise_found(&v, scalar);
  rewrite_drop_dead(v.to);
  return v.to;
}
