/* lanes.c - how many iterations run side by side, in the lanes of vector registers: of a range, of
 * nodes, of cells of a leaf's row where `rows` has made no straight vector code of them, of the
 * cells whose bits a word has, or else of a serial loop inside whose turns are apart. A body runs
 * in lanes if that is clearly cheaper than one iteration after the other (lanes_cost.h). A long
 * body takes long to compile for lanes: unless loops in it repay that at once, it waits until the
 * kernel has proved worth it (takes_long). Of a loop that has a privatised version that alone runs
 * in lanes. Simple bodies of ranges, in which all elements are neighbours, or every second is, and
 * nothing branches, are left to LLVM, which also unrolls them.
 * Leaves notes for explain(). */
#include "pass/effects.h"
#include "pass/lanes_cost.h"
#include "pass/lanes_guess.h"
#include "pass/rewrite.h"
#include "pass/streams.h"
#include "pass/sums.h"

enum {
  SHORT_RIM = 40, /* insts that are compiled in lanes for what is outside an interior, too */
  LONG = 5000,    /* insts of a body: compiling it takes longer than most kernels, */
  LONGEST = 40000, /* and too long */
  REPAYS = 4,     /* ops that lanes save in an iteration, for each inst of a long body */
  GAIN = 80,      /* percent of the scalar cost that lanes may reach at most */
  ACTIVE = 30,    /* percent of the cells under a mask, guessed, */
  NOT_FEW = 60    /* and in rows of which few go one by one (IR_LONGEST_TWICE) */
};

static bool pays(const PassContext *ctx, const LaneSurvey *s) {
  return ctx->forces_lanes || s->beside * 100 <= s->alone * GAIN;
}

static bool has_no_order(void *data, IrInst *inst) {
  (void)data;
  return !ir_shows_order(inst);
}

/* Notes that the kernel may be compiled anew where lanes wait; not for what would have other
 * results then. */
static bool is_too_long(const PassContext *ctx, IrKernel *kernel, const LaneSurvey *s, int insts) {
  if (insts <= LONG || ctx->forces_lanes) return false;
  if (insts > LONGEST) return true;
  if (s->alone - s->beside >= (double)insts * s->width * REPAYS) return false;
  if (ctx->has_one_order && !ir_walk((IrRegion *)s->region, has_no_order, NULL)) return true;
  kernel->is_long |= !ctx->takes_long;
  return !ctx->takes_long;
}

/* -- notes ------------------------------------------------------------------------------------- */

typedef struct Told {
  IrKernel *kernel;
  const IrTask *task;
  int32_t line;         /* of the loop */
  const char *things;
} Told;

static void note(const Told *t, const char *what) {
  /* its privatised version says it, or the task that counts by it */
  if (!t->task->privatised && t->task->line)
    ir_note(t->kernel, t->line, "%s", what);
}

static void note_alone(const Told *t, const char *why) {
  note(t, scratch_format(t->kernel->scratch, "one %s at a time: %s", t->things, why));
}

static void note_obstacle(const Told *t, const LaneSurvey *s) {
  const char *at = s->line > 0 && s->line != t->line
                       ? scratch_format(t->kernel->scratch, " (line %d)", s->line) : "";
  note_alone(t, scratch_format(t->kernel->scratch, "%s%s", s->obstacle, at));
}

static void note_cost(const Told *t) {
  note_alone(t, "side by side, in vector lanes, most of it would still be done one by one");
}

static void note_long(const Told *t) {
  note_alone(t, t->kernel->is_long ? "its body is long; lanes wait until it has run for some time"
                                   : "its body is long");
}

static void note_lanes(const Told *t, int width) {
  note(t, scratch_format(t->kernel->scratch, "%d %ss side by side, in vector lanes", width,
                         t->things));
}

/* -- the width --------------------------------------------------------------------------------- */

static bool add_bytes(void *data, IrInst *inst) {
  int *counts = data; /* varying floats and elements of 4 and of 8 bytes */
  bool counts_it = type_is_float(inst->type) || inst->op == IR_MEM_LOAD || inst->op == IR_ROW_LOAD;
  if (counts_it && inst->op != IR_CONST) counts[type_size(inst->type) == 8]++;
  return true;
}

static int width_of(const PassContext *ctx, const IrRegion *body) {
  int counts[2] = {0};
  ir_walk((IrRegion *)body, add_bytes, counts);
  int width = ctx->vector_bytes / (counts[1] > counts[0] ? 8 : 4);
  return width > 16 ? 16 : width;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static int insts_of(const IrTask *task) {
  return rewrite_count(task->body) + (task->interior ? rewrite_count(task->interior) : 0);
}

static LaneSurvey survey_range(PassContext *ctx, const IrKernel *kernel, const IrTask *task,
                               int width) {
  LaneBody body = {.region = task->interior ? task->interior : task->body,
                   .varying = task->axis_count - 1, .width = width};
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  if (!task->interior || s.obstacle) return s;
  body.region = task->body;
  LaneSurvey rim = lanes_survey(ctx, kernel, &body);
  s.obstacle = rim.obstacle;
  s.line = rim.line;
  return s;
}

static bool is_straight(void *data, IrInst *inst) {
  (void)data;
  return inst->op != IR_LOOP && inst->op != IR_INVOKE && (inst->op != IR_FOR || inst->rolled);
}

/* What is outside the interior of one axis are a few iterations at its ends, and what is left of
 * a whole number of vectors. Under a mask that would be as much code as the interior, so a longer
 * body goes one by one there, unless an iteration may take long. */
static bool is_rim_scalar(const PassContext *ctx, const IrTask *task) {
  return task->lanes && task->interior && task->axis_count == 1 && !ctx->forces_lanes &&
         rewrite_count(task->body) > SHORT_RIM && ir_walk(task->body, is_straight, NULL);
}

static void choose_range(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  int width = width_of(ctx, task->interior ? task->interior : task->body);
  Told told = {kernel, task, task->line, "position"};
  if (task->scalar) return note_alone(&told, "':scalar()' asks for it");
  LaneSurvey s = survey_range(ctx, kernel, task, width);
  if (s.obstacle) return note_obstacle(&told, &s);
  streams_mark(ctx, kernel, task, &s);
  if (s.is_simple && !ctx->forces_lanes && !task->traffic)
    return note_alone(&told, "vectorisation is left to LLVM");
  if (!pays(ctx, &s)) return streams_clear(task), note_cost(&told);
  if (is_too_long(ctx, kernel, &s, insts_of(task))) return streams_clear(task), note_long(&told);
  task->lanes = width;
  note_lanes(&told, width);
}

/* -- nodes ------------------------------------------------------------------------------------- */

enum { ENTRY = 8, ENTRY_LANE = 5 }; /* ops to come to a node: alone, by lane */

static void choose_nodes(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  int width = width_of(ctx, task->body);
  Told told = {kernel, task, task->line, "node"};
  if (task->scalar) return note_alone(&told, "':scalar()' asks for it");
  LaneBody body = {.region = task->body, .varying = -1, .width = width};
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  s.alone += ENTRY * width;
  s.beside += ENTRY_LANE * width;
  if (s.obstacle) return note_obstacle(&told, &s);
  if (!pays(ctx, &s)) return note_cost(&told);
  if (is_too_long(ctx, kernel, &s, rewrite_count(task->body))) return note_long(&told);
  task->lanes = width;
  note_lanes(&told, width);
}

/* -- rows of leaves ---------------------------------------------------------------------------- */

typedef struct Cells {
  PassContext *ctx;
  Told told;
} Cells;

static bool is_no_row_load(void *data, IrInst *inst) { return inst->op != IR_ROW_LOAD; }

/* Lanes for a row: no more than its cells fill, and so many that windows into its neighbours are of
 * whole steps. */
static int width_of_row(const PassContext *ctx, const IrInst *row) {
  int width = width_of(ctx, row->regions[0]), cells = row->end - row->begin;
  bool has_windows = !ir_walk(row->regions[0], is_no_row_load, NULL);
  while (width > 1 && (has_windows ? cells % width : cells <= width / 2)) width /= 2;
  return width;
}

static bool choose_row(void *data, IrInst *inst) {
  Cells *c = data;
  if (inst->op != IR_ROW || inst->width > 1) return true;
  int width = width_of_row(c->ctx, inst);
  if (width < 4) return note_alone(&c->told, "its rows are short"), true;
  LaneBody body = ir_lanes_of_row(inst, width);
  LaneSurvey s = lanes_survey(c->ctx, c->told.kernel, &body);
  int count = rewrite_count(inst->regions[0]);
  if (inst->masked) s.alone *= (count <= IR_LONGEST_TWICE ? NOT_FEW : ACTIVE) / 100.0;
  if (s.obstacle) return note_obstacle(&c->told, &s), true;
  if (!pays(c->ctx, &s)) return note_cost(&c->told), true;
  if (is_too_long(c->ctx, c->told.kernel, &s, count)) return note_long(&c->told), true;
  inst->lanes = width;
  note_lanes(&c->told, width);
  return true;
}

static void choose_cells(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  Cells c = {ctx, {kernel, task, task->line, "cell"}};
  if (!task->scalar) ir_walk(task->body, choose_row, &c);
}

/* -- serial loops in one iteration ------------------------------------------------------------- */

enum { FEWEST_TURNS = 4 };

/* Not of an i64 whose last index may be the largest: code generation counts in i64, half-open. */
static bool may_count(const IrInst *loop) {
  int64_t last;
  Type type = loop->operands[0]->type;
  if (type_bits(type) == 64 && !type_is_signed(type)) return false;
  return type_bits(type) < 64 || ir_is_const(loop->operands[1], &last) ||
         loop->operands[1]->op == IR_SUB;
}

/* Bits of cells, as those of a masked row. */
static void choose_bits(PassContext *ctx, IrKernel *kernel, const IrTask *task, IrInst *bits) {
  Told told = {kernel, task, task->line, "cell"};
  LaneBody body = lanes_of_loop(bits, width_of(ctx, bits->regions[0]));
  int count = rewrite_count(bits->regions[0]);
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  s.alone *= (count <= IR_LONGEST_TWICE ? NOT_FEW : ACTIVE) / 100.0;
  if (s.obstacle) return note_obstacle(&told, &s);
  if (!pays(ctx, &s)) return note_cost(&told);
  if (is_too_long(ctx, kernel, &s, count)) return note_long(&told);
  bits->lanes = body.width;
  note_lanes(&told, body.width);
}

/* Turns that meet nowhere, or in sums alone. */
static bool is_apart(const IrKernel *kernel, const IrInst *loop) {
  return loop->independent || (loop->sums && sums_only(kernel->scratch, kernel, loop));
}

static bool choose_loop(PassContext *ctx, IrKernel *kernel, const IrTask *task, IrInst *loop) {
  int64_t turns = lanes_turns(loop);
  if (!may_count(loop) || (turns && turns < FEWEST_TURNS) || !is_apart(kernel, loop)) return false;
  int width = width_of(ctx, loop->regions[0]);
  LaneSurvey s = lanes_survey_loop(ctx, kernel, loop, width);
  if (s.obstacle || (s.is_simple && !ctx->forces_lanes)) return false;
  if (!pays(ctx, &s)) return false;
  Told told = {kernel, task, loop->line, "iteration"};
  loop->lanes = width;
  note_lanes(&told, width);
  return true;
}

/* Outer loops first: the survey of one knows what its inner loops cost in lanes. */
static void choose_loops(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                         IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_done = inst->op == IR_FOR && choose_loop(ctx, kernel, task, inst);
    if (inst->op == IR_BITS && inst->independent) choose_bits(ctx, kernel, task, inst);
    is_done |= (inst->op == IR_ROW || inst->op == IR_BITS) && inst->lanes > 1;
    is_done |= inst->op == IR_ROW && inst->width > 1;
    for (int i = 0; i < IR_MAX_REGIONS && !is_done; i++)
      if (inst->regions[i]) choose_loops(ctx, kernel, task, inst->regions[i]);
  }
}

/* In a body in lanes whose bounds of a loop differ by lane: where some lane's turns are many, lanes
 * have the loop one after the other, and its turns run side by side. So elements that lie one after
 * the other in turns do so in lanes, and no lane waits for another. Of bodies that only read. */
typedef struct LongLoops {
  PassContext *ctx;
  IrKernel *kernel;
  const IrTask *task;
  const LaneFact *facts;
} LongLoops;

static bool only_reads(void *data, IrInst *inst) {
  switch (inst->op) {
  case IR_VAR: case IR_GET: case IR_SET: case IR_IF: case IR_MEM_LOAD: return true;
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

static bool choose_long(void *data, IrInst *loop) {
  LongLoops *l = data;
  if (loop->op != IR_FOR || !loop->sums || loop->rolled || lanes_turns(loop)) return true;
  if (!l->facts[loop->id].diverges || !may_count(loop)) return true;
  if (!ir_walk(loop->regions[0], only_reads, NULL) || !is_apart(l->kernel, loop)) return true;
  if (rewrite_count(loop->regions[0]) > IR_LONGEST_TWICE) return true;
  int width = width_of(l->ctx, loop->regions[0]);
  if (lanes_survey_loop(l->ctx, l->kernel, loop, width).obstacle) return true;
  loop->lanes = width;
  ir_note(l->kernel, loop->line, "where it is long, %d of its iterations side by side", width);
  return true;
}

static void choose_long_of(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                           IrRegion *region) {
  LaneBody body = {.region = region, .varying = task->axis_count - 1, .width = task->lanes};
  if (!region || task->kind != TASK_RANGE || task->lanes <= 1) return;
  LongLoops l = {ctx, kernel, task, ir_lanes(ctx->scratch, kernel, &body)};
  ir_walk(region, choose_long, &l);
}

static bool is_no_word(void *data, IrInst *inst) {
  return inst->op != IR_BITS || !inst->independent;
}

/* Its positions are blocks of cells. */
static bool goes_by_words(const IrTask *task) { return !ir_walk(task->body, is_no_word, NULL); }

bool pass_lanes(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->for_cuda || ctx->vector_bytes < 16) return true;
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->privatised && !ctx->forces_lanes) continue; /* its updates take all the time */
    if (task->kind == TASK_RANGE && !goes_by_words(task)) choose_range(ctx, kernel, task);
    task->rim_scalar = is_rim_scalar(ctx, task);
    if (task->counts) choose_range(ctx, kernel, task->counts);
    if (task->kind == TASK_NODES) choose_nodes(ctx, kernel, task);
    if (task->kind == TASK_LEAVES) choose_cells(ctx, kernel, task);
    choose_long_of(ctx, kernel, task, task->body);
    choose_long_of(ctx, kernel, task, task->interior);
    if (task->scalar || task->lanes) continue;
    choose_loops(ctx, kernel, task, task->body);
    if (task->interior) choose_loops(ctx, kernel, task, task->interior);
  }
  return true;
}
