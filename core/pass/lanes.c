/* lanes.c - how many iterations run side by side, in the lanes of vector registers: of a range, or
 * cells of a leaf's row where `rows` has made no straight vector code of them. A body runs in lanes
 * if that is clearly cheaper than one iteration after the other (lanes_cost.h). Of a loop that has
 * a privatised version that alone runs in lanes. Simple bodies of ranges, in which all elements are
 * neighbours, or every second is, and nothing branches, are left to LLVM, which also unrolls them.
 * Leaves notes for explain(). */
#include "pass/effects.h"
#include "pass/lanes_cost.h"
#include "pass/rewrite.h"

enum {
  LONGEST = 5000, /* insts of a body: compiling it takes longer still */
  GAIN = 80       /* percent of the scalar cost that lanes may reach at most */
};

static bool pays(const PassContext *ctx, const LaneSurvey *s) {
  return ctx->forces_lanes || s->beside * 100 <= s->alone * s->width * GAIN;
}

/* -- notes ------------------------------------------------------------------------------------- */

typedef struct Told { IrKernel *kernel; const IrTask *task; const char *things; } Told;

static void note(const Told *t, const char *what) {
  /* its privatised version says it, or the task that counts by it */
  if (!t->task->privatised && t->task->line)
    ir_note(t->kernel, t->task->line, "%s", what);
}

static void note_alone(const Told *t, const char *why) {
  note(t, scratch_format(t->kernel->scratch, "one %s at a time: %s", t->things, why));
}

static void note_obstacle(const Told *t, const LaneSurvey *s) {
  const char *at = s->line > 0 && s->line != t->task->line
                       ? scratch_format(t->kernel->scratch, " (line %d)", s->line) : "";
  note_alone(t, scratch_format(t->kernel->scratch, "%s%s", s->obstacle, at));
}

static void note_cost(const Told *t) {
  note_alone(t, "side by side, in vector lanes, most of it would still be done one by one");
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

static bool is_long(const IrTask *task) {
  int count = rewrite_count(task->body);
  return count + (task->interior ? rewrite_count(task->interior) : 0) > LONGEST;
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

static void choose_range(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  int width = width_of(ctx, task->interior ? task->interior : task->body);
  Told told = {kernel, task, "position"};
  if (task->scalar) return note_alone(&told, "':scalar()' asks for it");
  if (is_long(task) && !ctx->forces_lanes) return note_alone(&told, "its body is long");
  LaneSurvey s = survey_range(ctx, kernel, task, width);
  if (s.obstacle) return note_obstacle(&told, &s);
  if (s.is_simple && !ctx->forces_lanes)
    return note_alone(&told, "vectorisation is left to LLVM");
  if (!pays(ctx, &s)) return note_cost(&told);
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
  if (rewrite_count(inst->regions[0]) > LONGEST && !c->ctx->forces_lanes)
    return note_alone(&c->told, "its body is long"), true;
  LaneBody body = ir_lanes_of_row(inst, width);
  LaneSurvey s = lanes_survey(c->ctx, c->told.kernel, &body);
  if (s.obstacle) return note_obstacle(&c->told, &s), true;
  if (!pays(c->ctx, &s)) return note_cost(&c->told), true;
  inst->lanes = width;
  note_lanes(&c->told, width);
  return true;
}

static void choose_cells(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  Cells c = {ctx, {kernel, task, "cell"}};
  if (!task->scalar) ir_walk(task->body, choose_row, &c);
}

bool pass_lanes(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->for_cuda || ctx->vector_bytes < 16) return true;
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->privatised && !ctx->forces_lanes) continue; /* its updates take all the time */
    if (task->kind == TASK_RANGE) choose_range(ctx, kernel, task);
    if (task->counts) choose_range(ctx, kernel, task->counts);
    if (task->kind == TASK_LEAVES) choose_cells(ctx, kernel, task);
  }
  return true;
}
