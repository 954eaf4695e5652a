/* lanes.c - decides what to vectorise, and how many iterations form a vector: of a range, of nodes,
 * of cells of a leaf's row (D-pass-01), of the set bits of a word of cells, or
 * else of an inner serial loop whose iterations are independent. A body is vectorised if that is
 * clearly cheaper than scalar iterations (lanes_cost.c). A long body takes long to compile for
 * lanes: unless loops in it make up for that at once, it stays scalar until the kernel has run for
 * long enough (takes_long). If a loop has a privatised version, only that is vectorised. Simple
 * bodies of ranges without branches, whose elements are contiguous or every second one, are left to
 * LLVM, which also unrolls them. Leaves notes for explain(). Decision D-pass-02. */
#include "base/bits.h"
#include "ir/access.h"
#include "pass/analysis/effects.h"
#include "pass/vector/lanes.h"
#include "pass/rewrite.h"
#include "pass/loops/loops.h"

enum {
  SHORT_RIM = 40,  /* most insts of a body that is vectorised outside the interior, too */
  LONG = 5000,     /* insts of a body that compiles longer than most kernels, */
  LONGEST = 40000, /* and of one that compiles too long */
  REPAYS = 4,      /* ops that lanes must save per iteration, for each inst of a long body */
  GAIN = 80,       /* largest vector cost, in percent of the scalar cost */
  NARROWEST = 4,   /* lanes of a range whose iterations wait for those before */
  FOUND_GAIN = 90, /* largest cost, in percent, where lanes only find iterations */
  ACTIVE = 30,     /* guessed percentage of active cells under a mask, */
  NOT_FEW = 60     /* and in rows whose sparse parts run in a scalar loop (IR_LONGEST_TWICE) */
};

static bool is_profitable(const PassContext *ctx, const LaneSurvey *s) {
  if (ctx->forces_lanes || ctx->prefers_lanes) return true;
  return !ctx->prefers_scalar && s->vector_cost * 100 <= s->scalar_cost * GAIN;
}

static bool shows_order(const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (ir_is_order_dependent(inst)) return true;
  return false;
}

/* Is the body too long to vectorise now? Notes that a later, longer compile may vectorise it; not
 * if that would change results. */
static bool is_too_long(const PassContext *ctx, IrKernel *kernel, const LaneSurvey *s, int insts) {
  if (insts <= LONG || ctx->forces_lanes) return false;
  if (insts > LONGEST) return true;
  if (s->scalar_cost - s->vector_cost >= (double)insts * s->width * REPAYS) return false;
  if (ctx->has_one_order && shows_order(s->region)) return true;
  kernel->is_long |= !ctx->takes_long;
  return !ctx->takes_long;
}

/* -- notes ------------------------------------------------------------------------------------- */

typedef struct LoopNote {
  IrKernel *kernel;
  const IrTask *task;
  int32_t line; /* of the loop */
  const char *things;
} LoopNote;

static void note(const LoopNote *t, const char *what) {
  /* the privatised version, or the task that counts by this one, has the note */
  if (!t->task->privatised && t->task->line) ir_note(t->kernel, t->line, "%s", what);
}

static void note_scalar(const LoopNote *t, const char *why) {
  note(t, scratch_format(t->kernel->scratch, "one %s at a time: %s", t->things, why));
}

static void note_lanes(const LoopNote *t, int width) {
  note(t,
       scratch_format(t->kernel->scratch, "%d %ss at a time, in vector lanes", width, t->things));
}

/* Would vectorisation change an order of iterations that is observable and must stay? */
static bool must_keep_order(const PassContext *ctx, const IrRegion *body) {
  return ctx->ordered_scalar && shows_order(body);
}

/* Why the surveyed code, of so many insts, stays scalar; NULL: it should be vectorised. */
static const char *reason_against(const PassContext *ctx, const LoopNote *t, const LaneSurvey *s,
                                  int insts) {
  if (s->obstacle && s->line > 0 && s->line != t->line)
    return scratch_format(t->kernel->scratch, "%s (line %d)", s->obstacle, s->line);
  if (s->obstacle) return s->obstacle;
  if (must_keep_order(ctx, s->region))
    return "in another order, results might differ from those of earlier launches";
  if (!is_profitable(ctx, s)) return "in vector lanes, most of it would still run lane by lane";
  if (!is_too_long(ctx, t->kernel, s, insts)) return NULL;
  return t->kernel->is_long ? "its body is long; lanes wait until it has run for some time"
                            : "its body is long";
}

/* Should the surveyed region be vectorised? Leaves a note of the decision. */
static bool accepts_lanes(const PassContext *ctx, const LoopNote *at, const LaneSurvey *s) {
  const char *why = reason_against(ctx, at, s, rewrite_count((IrRegion *)s->region));
  if (why) note_scalar(at, why);
  else note_lanes(at, s->width);
  return !why;
}

/* -- the width --------------------------------------------------------------------------------- */

static int choose_width(const PassContext *ctx, const IrRegion *body) {
  int counts[2] = {0}; /* varying floats and elements of 4 and of 8 bytes */
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_read = inst->op == IR_MEM_LOAD || inst->op == IR_ROW_LOAD;
    bool counts_it = is_read || type_is_float(inst->type);
    if (counts_it && inst->op != IR_CONST) counts[type_size(inst->type) == 8]++;
  }
  int width = ctx->vector_bytes / (counts[1] > counts[0] ? 8 : 4);
  ASSERT(width > 1, "a target whose vectors hold one number has no lanes");
  return width > 16 ? 16 : width;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static int count_insts_of_task(const IrTask *task) {
  return rewrite_count(task->body) + (task->interior ? rewrite_count(task->interior) : 0);
}

static LaneSurvey survey_range(PassContext *ctx, const IrKernel *kernel, const IrTask *task,
                               int width) {
  LaneBody body = ir_lanes_of_task(task, ir_task_main(task), width);
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  if (!task->interior || s.obstacle) return s;
  body.region = task->body;
  LaneSurvey rim = lanes_survey(ctx, kernel, &body);
  s.obstacle = rim.obstacle;
  s.line = rim.line;
  s.region = task->body;
  return s;
}

static bool is_straight(const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_LOOP || inst->op == IR_INVOKE || (inst->op == IR_FOR && !inst->no_unroll))
      return false;
  return true;
}

/* Should the rim stay scalar? On one axis, it is a few iterations at the ends, and those that do
 * not fill a vector. A masked version would be as much code as the interior, so a longer body is
 * scalar there, unless an iteration may take long. */
static bool is_rim_scalar(const PassContext *ctx, const IrTask *task) {
  return task->lanes && task->interior && task->axis_count == 1 && !ctx->forces_lanes &&
         rewrite_count(task->body) > SHORT_RIM && is_straight(task->body);
}

/* Should lanes find the iterations that take a branch, which then run one by one? Not where whole
 * iterations in lanes are cheaper. `s` is the survey of these. */
static bool choose_compaction_of_range(PassContext *ctx, IrKernel *kernel, IrTask *task, int width,
                                       const LaneSurvey *s) {
  LaneBody body = ir_lanes_of_task(task, ir_task_main(task), width);
  if (task->counts || s->is_simple) return false;
  Compaction c = compaction_of_range(ctx, kernel, &body, s);
  if (!c.branch) return false;
  bool may_be_lanes = !s->obstacle && is_profitable(ctx, s);
  double limit = may_be_lanes ? s->vector_cost : s->scalar_cost;
  int gain = ctx->prefers_scalar ? 100 : FOUND_GAIN;
  if (!ctx->forces_lanes && c.cost * 100 > limit * gain) return false;
  bool wants_lanes = ctx->forces_lanes || ctx->prefers_lanes;
  if (may_be_lanes && wants_lanes && !ctx->prefers_scalar) return false;
  c.branch->compacts = true;
  task->lanes = width;
  LoopNote at = {kernel, task, task->line, "position"};
  note(&at, scratch_format(
                kernel->scratch,
                "%d positions at a time are tested, in vector lanes, for the branch of line %d",
                width, c.branch->line));
  return true;
}

/* Puts every second position into lanes, where the others have no effect. */
static bool choose_alternate(PassContext *ctx, IrKernel *kernel, IrTask *task, int width) {
  LoopNote at = {kernel, task, task->line, "position"};
  if (task->counts || !alternate_mark_task(ctx, kernel, task, width)) return false;
  LaneSurvey s = survey_range(ctx, kernel, task, width);
  if (reason_against(ctx, &at, &s, count_insts_of_task(task))) {
    alternate_unmark_task(task);
    return false;
  }
  task->lanes = width;
  note(&at, scratch_format(kernel->scratch,
                           "%d of every second position at a time, in vector lanes", width));
  return true;
}

/* The width at which lanes pay if they do not at the full width, which is returned otherwise. In a
 * long serial loop, as a filter along each position's row, few positions share the wait for the
 * iteration before, and do not reach too many cache lines. Adds the wait to the survey of the
 * narrower width. Decision D-pass-108. */
static int choose_narrower(PassContext *ctx, const IrKernel *kernel, const IrTask *task, int width,
                           LaneSurvey *s) {
  int best = width;
  if (ctx->prefers_scalar || s->obstacle || s->scalar_wait <= 0 || is_profitable(ctx, s))
    return width;
  for (int less = width / 2; less >= NARROWEST; less /= 2) {
    LaneSurvey narrow = survey_range(ctx, kernel, task, less);
    narrow.scalar_cost += narrow.scalar_wait;
    bool is_better = best == width || narrow.vector_cost * best < s->vector_cost * less;
    if (!is_profitable(ctx, &narrow) || !is_better) continue;
    *s = narrow;
    best = less;
  }
  return best;
}

/* False if it stays scalar, also for LLVM, whose estimate of gathers would be too low. */
static bool choose_range(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  int width = choose_width(ctx, ir_task_main(task));
  LoopNote at = {kernel, task, task->line, "position"};
  if (task->scalar) return note_scalar(&at, "':scalar()' asks for it"), false;
  if (choose_alternate(ctx, kernel, task, width)) return true;
  LaneSurvey s = survey_range(ctx, kernel, task, width);
  bool stays = must_keep_order(ctx, task->body);
  if (!stays && choose_compaction_of_range(ctx, kernel, task, width, &s)) return true;
  width = choose_narrower(ctx, kernel, task, width, &s);
  if (!stays && !s.obstacle) non_temporal_mark(ctx, kernel, task, &s);
  bool is_simple = !stays && !s.obstacle && s.is_simple && !ctx->forces_lanes && !task->traffic &&
                   !task->has_words;
  const char *why = is_simple ? "vectorisation is left to LLVM"
                              : reason_against(ctx, &at, &s, count_insts_of_task(task));
  if (!why) {
    task->lanes = width;
    return note_lanes(&at, width), true;
  }
  note_scalar(&at, why);
  non_temporal_clear(task);
  return stays || s.obstacle || is_simple || is_profitable(ctx, &s) || ctx->fast_gathers ||
         !s.gathers;
}

/* -- nodes ------------------------------------------------------------------------------------- */

enum { ENTRY = 8, ENTRY_LANE = 5 }; /* ops to reach a node: scalar, per lane */

static void choose_nodes(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  int width = choose_width(ctx, task->body);
  LoopNote at = {kernel, task, task->line, "node"};
  if (task->scalar) return note_scalar(&at, "':scalar()' asks for it");
  LaneBody body = ir_lanes_of_task(task, task->body, width);
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  s.scalar_cost += ENTRY * width;
  s.vector_cost += ENTRY_LANE * width;
  if (accepts_lanes(ctx, &at, &s)) task->lanes = width;
}

/* -- rows of leaves ---------------------------------------------------------------------------- */

enum { MOST_IN_ARMS = 128 /* insts that lanes compute although their condition may not hold */ };

static bool is_whole_inst(const LaneFact *facts, const IrInst *inst) {
  const LaneFact *at = inst->operand_count ? &facts[inst->operands[0]->id] : NULL;
  switch (inst->op) {
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_REDUCE:
  case IR_ROW_LOAD:
  case IR_ROW_ACTIVE: return true;
  case IR_MEM_LOAD:
  case IR_MEM_STORE:
    return inst->whole && at->shape == LANE_LINEAR && at->step == type_size(ir_element_type(inst));
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

bool lanes_is_whole_row(const LaneFact *facts, const IrInst *row, int width) {
  const IrRegion *body = row->regions[0];
  int in_arms = 0;
  if (ir_row_bounds(row) || row->end % width) return false;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    in_arms += inst->region != body;
    if (in_arms > MOST_IN_ARMS || !is_whole_inst(facts, inst)) return false;
  }
  return true;
}

/* Of a row in straight-line code, as many lanes as the widest number leaves in a vector. */
static int choose_width_of_whole_row(const PassContext *ctx, const LaneFact *facts,
                                     const IrInst *row) {
  const IrRegion *body = row->regions[0];
  int widest = 1, width = 2;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    Type type = ir_is_access(inst->op) ? ir_element_type(inst) : inst->type;
    bool is_number = type_is_integer(type) || type_is_float(type);
    if (is_number && (ir_is_access(inst->op) || facts[inst->id].shape == LANE_VARYING))
      widest = (int)max_i64(widest, type_size(type));
  }
  while (width < IR_MAX_LANES && 2 * width * widest <= ctx->vector_bytes &&
         row->end % (2 * width) == 0)
    width *= 2;
  return width;
}

/* The number of lanes for a row: at most its cells; if windows reach into neighbouring leaves, it
 * must divide the number of cells. */
static int choose_width_of_row(const PassContext *ctx, const IrInst *row) {
  int width = choose_width(ctx, row->regions[0]), cells = row->end;
  bool has_windows = ir_has_op(row->regions[0], IR_ROW_LOAD);
  while (width > 1 && (has_windows ? cells % width : cells <= width / 2)) width /= 2;
  return width;
}

/* Guesses which fraction of the cells under a mask is active, where the body runs in lanes. */
static double active_share(IrRegion *body) {
  return (rewrite_count(body) <= IR_LONGEST_TWICE ? NOT_FEW : ACTIVE) / 100.0;
}

static void choose_row(PassContext *ctx, const LoopNote *at, IrInst *row) {
  LaneBody body = ir_lanes_of(row, 2);
  const LaneFact *facts = ir_lanes(ctx->scratch, at->kernel, &body);
  bool is_whole = lanes_is_whole_row(facts, row, body.width);
  body.width =
      is_whole ? choose_width_of_whole_row(ctx, facts, row) : choose_width_of_row(ctx, row);
  if (body.width < 4 && !is_whole) return note_scalar(at, "its rows are short");
  LaneSurvey s = lanes_survey(ctx, at->kernel, &body);
  if (is_whole) s.vector_cost = 0; /* about that of one cell */
  else if (row->masked) s.scalar_cost *= active_share(row->regions[0]);
  if (accepts_lanes(ctx, at, &s)) row->lanes = body.width;
}

static void choose_cells(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  LoopNote at = {kernel, task, task->line, "cell"};
  for (IrInst *inst = task->body->first; inst; inst = ir_following(inst, task->body))
    if (inst->op == IR_ROW && !task->scalar) choose_row(ctx, &at, inst);
}

/* -- serial loops in one iteration ------------------------------------------------------------- */

enum { FEWEST_TRIPS = 4 };

/* Can the loop be counted in i64 by one with a half-open end, as code generation does? Not if an
 * i64 index may be the largest. */
static bool may_count(const IrInst *loop) {
  int64_t last;
  Type type = loop->operands[0]->type;
  if (facts_step(loop) != 1) return false;
  if (type_bits(type) == 64 && !type_is_signed(type)) return false;
  return type_bits(type) < 64 || ir_is_const(loop->operands[1], &last) ||
         loop->operands[1]->op == IR_SUB;
}

/* Loops over bits of cells are estimated like masked rows. */
static void choose_bits(PassContext *ctx, IrKernel *kernel, const IrTask *task, IrInst *bits) {
  LoopNote at = {kernel, task, task->line, "cell"};
  LaneBody body = ir_lanes_of(bits, choose_width(ctx, bits->regions[0]));
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  s.scalar_cost *= active_share(bits->regions[0]);
  if (accepts_lanes(ctx, &at, &s)) bits->lanes = body.width;
}

/* Are the loop's iterations independent, except perhaps for sums? */
static bool is_independent(const IrKernel *kernel, const IrInst *loop) {
  return loop->independent || (loop->reduces && sums_only(kernel->scratch, kernel, loop));
}

/* Loops that `coalesce` has made (`trips`) gather along several lists: a loop over neighbouring
 * grains took twice as long with iterations in lanes. */
static bool choose_loop(PassContext *ctx, IrKernel *kernel, const IrTask *task, IrInst *loop) {
  ASSERT(loop->op == IR_FOR && loop->lanes <= 1, "a loop is chosen once");
  int64_t trips = facts_trip_count(loop);
  if (loop->trips) return false;
  if (!may_count(loop) || (trips > 0 && trips < FEWEST_TRIPS) || !is_independent(kernel, loop))
    return false;
  if (must_keep_order(ctx, loop->regions[0])) return false;
  int width = choose_width(ctx, loop->regions[0]);
  LaneBody body = ir_lanes_of(loop, width);
  alternate_mark(ctx, kernel, &body);
  LaneSurvey s = lanes_survey_loop(ctx, kernel, loop, width);
  if (s.obstacle || (s.is_simple && !ctx->forces_lanes) || !is_profitable(ctx, &s)) {
    alternate_unmark(loop->regions[0]);
    return false;
  }
  LoopNote at = {kernel, task, loop->line, "iteration"};
  loop->lanes = width;
  note_lanes(&at, width);
  return true;
}

/* Few iterations may take a branch whose arm has to run in order. */
static bool choose_compaction_of_loop(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                                      IrInst *loop) {
  int width = choose_width(ctx, loop->regions[0]);
  if (!may_count(loop) || !compaction_choose(ctx, kernel, loop, width)) return false;
  LoopNote at = {kernel, task, loop->line, "iteration"};
  note(&at,
       scratch_format(kernel->scratch,
                      "%d iterations at a time are tested for the branch, in vector lanes", width));
  return true;
}

/* Outer loops first, since the survey of a loop includes the cost of vectorising its inner
 * loops. */
static void choose_loops(PassContext *ctx, IrKernel *kernel, const IrTask *task, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_done = inst->op == IR_FOR && (choose_loop(ctx, kernel, task, inst) ||
                                          choose_compaction_of_loop(ctx, kernel, task, inst));
    if (inst->op == IR_BITS && inst->independent) choose_bits(ctx, kernel, task, inst);
    is_done |= (inst->op == IR_ROW || inst->op == IR_BITS) && inst->lanes > 1;
    for (int i = 0; i < IR_MAX_REGIONS && !is_done; i++)
      if (inst->regions[i]) choose_loops(ctx, kernel, task, inst->regions[i]);
  }
}

/* In a vectorised body with a loop whose bounds differ by lane: if some lane has many iterations,
 * the loop runs lane by lane, vectorised along its own iterations (vectorise_loops.c). So
 * elements that are adjacent in consecutive iterations are adjacent in lanes, and no lane waits for
 * another. Only for loop bodies that only read. */
static bool may_run_lane_by_lane(const IrKernel *kernel, const LaneFact *facts, IrInst *loop) {
  if (loop->op != IR_FOR || !loop->reduces || loop->no_unroll || facts_trip_count(loop) > 0)
    return false;
  if (!facts[loop->id].diverges || !may_count(loop) || !is_independent(kernel, loop)) return false;
  for (IrInst *at = loop->regions[0]->first; at; at = ir_following(at, loop->regions[0]))
    if (!lanes_only_reads(at) ||
        (at->op == IR_SET && ir_lanes_add_in_order(kernel, loop->regions[0], at)))
      return false;
  return rewrite_count(loop->regions[0]) <= IR_LONGEST_TWICE;
}

static void choose_long_loops(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                              IrRegion *region) {
  if (!region || task->kind != TASK_RANGE || task->lanes <= 1) return;
  LaneBody body = ir_lanes_of_task(task, region, task->lanes);
  const LaneFact *facts = ir_lanes(ctx->scratch, kernel, &body);
  for (IrInst *loop = region->first; loop; loop = ir_following(loop, region)) {
    if (!may_run_lane_by_lane(kernel, facts, loop)) continue;
    int width = choose_width(ctx, loop->regions[0]);
    if (lanes_survey_loop(ctx, kernel, loop, width).obstacle) continue;
    loop->lanes = width;
    ir_note(kernel, loop->line, "where it is long, %d of its iterations at a time, in vector lanes",
            width);
  }
}

/* Are the task's positions blocks of cells? */
static bool iterates_over_words(const IrTask *task) {
  for (const IrInst *inst = task->body->first; inst; inst = ir_following(inst, task->body))
    if (inst->op == IR_BITS && inst->independent) return true;
  return false;
}

static void split_bodies(const PassContext *ctx, IrKernel *kernel, IrTask *task) {
  IrRegion *bodies[] = {task->interior, task->scalar_border ? NULL : task->body};
  if (task->kind != TASK_RANGE || task->lanes <= 1) return;
  if (compaction_branch(ir_task_main(task)) || ir_lanes_alternate(ir_task_main(task))) return;
  for (int i = 0; i < 2; i++) {
    if (!bodies[i]) continue;
    LaneBody lanes = ir_lanes_of_task(task, bodies[i], task->lanes);
    piecewise_split(ctx, kernel, &lanes);
  }
}

bool pass_lanes(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->vector_bytes < 16) return true;
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->privatised && !ctx->forces_lanes) continue; /* its updates take all the time */
    bool stays_scalar =
        task->kind == TASK_RANGE && !iterates_over_words(task) && !choose_range(ctx, kernel, task);
    const IrInst *branch = compaction_branch(ir_task_main(task));
    task->scalar_border = branch ? task->interior != NULL : is_rim_scalar(ctx, task);
    if (task->counts) choose_range(ctx, kernel, task->counts);
    if (task->kind == TASK_NODES) choose_nodes(ctx, kernel, task);
    if (task->kind == TASK_LEAVES) choose_cells(ctx, kernel, task);
    split_bodies(ctx, kernel, task);
    if (branch) choose_loops(ctx, kernel, task, branch->regions[0]);
    if (branch) continue;
    if (!task->scalar_border) choose_long_loops(ctx, kernel, task, task->body);
    choose_long_loops(ctx, kernel, task, task->interior);
    if (task->scalar || task->lanes) continue;
    choose_loops(ctx, kernel, task, task->body);
    if (task->interior) choose_loops(ctx, kernel, task, task->interior);
    task->scalar = stays_scalar;
  }
  return true;
}
