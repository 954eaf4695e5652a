/* rows.c - chooses the lanes of a leaf's rows whose body is straight-line code; other rows are left
 * to the pass `lanes`. A row stays one ROW until `cell_loops`. The elements of a list's chunk
 * that do not fill a vector become another ROW.
 *
 * Before that, loop-invariant code moves out: values, and reads at invariant places of fields that
 * the task does not write (an iteration sees the state before the loop).
 * Keeps the order of effects, and leaves notes for explain(). Decision D-pass-01. */
#include "base/bits.h"
#include "ir/facts.h"
#include "pass/analysis/effects.h"
#include "pass/simplify/simplify.h"
#include "pass/analysis/leaf_shape.h"
#include "pass/rewrite.h"

enum { SMALLEST_VECTOR = 16 /* bytes */ };

typedef struct Rows {
  PassContext *ctx;
  IrKernel *kernel;
  IrTask *task;
  LeafShape shape;
  IrInst *grid, *row;     /* grid: NULL if leaves have one axis */
  const Effects *effects; /* of the task, as it was before this pass */
} Rows;

/* -- the row ----------------------------------------------------------------------------------- */

static void find_row(Rows *r) {
  for (IrInst *inst = r->task->body->first; inst; inst = inst->next) {
    if (inst->op == IR_GRID) r->grid = inst;
    if (inst->op == IR_ROW) r->row = inst;
  }
  if (!r->grid) return;
  for (IrInst *inst = r->grid->regions[0]->first; inst; inst = inst->next)
    if (inst->op == IR_ROW) r->row = inst;
}

/* -- loop-invariant code motion ---------------------------------------------------------------- */

static bool is_invariant(const Rows *r, const IrInst *inst) {
  if (ir_effects(inst) & IR_PURE) return true;
  if (inst->op != IR_LOAD || inst->operands[0]->op != IR_PLACE) return false;
  int field = inst->operands[0]->field;
  /* effects by which elements disappear or are appended */
  unsigned moves = EFFECT_DEACTIVATES | EFFECT_APPENDS | EFFECT_POPS;
  bool is_written = r->effects->fields[field].verbs & EFFECT_WRITES;
  const IrField *of = &r->kernel->fields.items[field];
  if (of->array >= 0) return !is_written && !r->kernel->arrays.items[of->array].is_shared;
  return !is_written && !(r->effects->trees[of->tree] & moves);
}

static void hoist_invariants(const Rows *r, IrInst *loop) {
  IrRegion *region = loop->regions[0];
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (!is_invariant(r, inst) || !facts_uses_only_outside(inst, region)) continue;
    ir_move_before(loop, inst);
  }
}

/* -- the width --------------------------------------------------------------------------------- */

typedef struct Reach { /* the body's demands on a row */
  int widest;          /* bytes of an element or value */
  int lower, upper;    /* largest distances of reads before and after a cell, along the row */
  bool has_runs;
} Reach;

static Reach find_reach(const Rows *r) {
  Reach reach = {.widest = 1, .has_runs = true};
  const IrRegion *body = r->row->regions[0];
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (type_is_integer(inst->type) || type_is_float(inst->type))
      reach.widest = (int)max_i64(reach.widest, type_size(inst->type));
    if (inst->op != IR_CELL) continue;
    const IrField *field = &r->kernel->fields.items[inst->field];
    const SNodeComponent *component = &field->node->components[field->component];
    int offset = inst->offset[inst->axis_count - 1];
    reach.lower = (int)max_i64(reach.lower, -offset);
    reach.upper = (int)max_i64(reach.upper, offset);
    reach.widest = (int)max_i64(reach.widest, type_size(field->type));
    reach.has_runs &= leaf_shape_has_runs(&r->shape, field->node) &&
                      component->stride == (uint64_t)type_size(field->type);
  }
  return reach;
}

/* The largest power of two of lanes that fits the target's vectors and divides the row; 1 if
 * vectorisation is not profitable. */
static int largest_width(const Rows *r, const Reach *reach) {
  int extent = r->row->end, width = 1;
  while (width < 64 && 2 * width * reach->widest <= r->ctx->vector_bytes &&
         extent % (2 * width) == 0)
    width *= 2;
  return width * reach->widest >= SMALLEST_VECTOR || (width == extent && width > 1) ? width : 1;
}

static void note_scalar(const Rows *r, int32_t line, const char *why) {
  ir_note(r->kernel, line, "rows are not straight vector code: %s", why);
}

/* By field: is it accessed only through cells, so that no other iteration writes its elements? */
static bool *fields_accessed_by_cells(const Rows *r) {
  bool *of_cells = scratch_array(r->ctx->scratch, bool, r->kernel->fields.count);
  for (int f = 0; f < r->kernel->fields.count; f++) of_cells[f] = true;
  for (int i = 0; i < r->effects->accesses.count; i++) {
    const EffectAccess *access = &r->effects->accesses.items[i];
    if (access->verb & EFFECT_WRITES && access->place->inst->op == IR_PLACE)
      of_cells[access->field] = false;
  }
  return of_cells;
}

static int choose_width(const Rows *r) {
  int32_t line = 0;
  const char *why = !r->ctx->target.vector_rows ? "a GPU runs cells in its own lanes"
                    : r->task->scalar
                        ? "':scalar()' asks for it"
                        : flatten_obstacle(r->row->regions[0], fields_accessed_by_cells(r), &line);
  if (why) return note_scalar(r, line, why), 1;
  Reach reach = find_reach(r);
  if (!reach.has_runs) return note_scalar(r, line, "a row of cells is not one run of memory"), 1;
  int width = largest_width(r, &reach);
  if (width == 1) return note_scalar(r, line, "the row's length is not a multiple of a vector"), 1;
  if (reach.lower > width || reach.upper > width)
    return note_scalar(r, line, "it reads further than a vector"), 1;
  ir_note(r->kernel, r->row->line, "rows of %d cells run in %d lanes", r->row->end, width);
  return width;
}

/* -- lanes ------------------------------------------------------------------------------------- */

/* Where the row's position is used as data, it becomes a value per lane; in addresses it stays that
 * of the first lane. */
static void use_lanes_of_position(const Rows *r) {
  IrRegion *body = r->row->regions[0];
  IrInst *position = body->params.items[0];
  IrBuilder b = rewrite_first(r->kernel, body, NULL);
  IrInst *lane = ir_unary(&b, IR_LANE, position);
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    for (int i = 0; i < inst->operand_count && inst->op != IR_CELL && inst != lane; i++)
      if (inst->operands[i] == position) ir_set_operand(inst, i, lane);
  if (!ir_is_used(lane)) ir_delete(lane);
}

/* Splits the row of a list's chunk: full vectors of elements first, then the rest. */
static void split_elements(Rows *r, int width) {
  ASSERT(r->row->operand_count >= 2, "the row of a chunk ends with its first and last element");
  IrBuilder b = rewrite_before(r->kernel, r->grid ? r->grid : r->row);
  IrInst *count = r->row->operands[r->row->operand_count - 1];
  IrInst *whole = ir_binary_const(&b, IR_BAND, count, -width);
  IrInst *rest = ir_copy_inst(r->kernel, r->row, NULL);
  ir_set_operand(rest, rest->operand_count - 2, whole);
  ir_set_operand(r->row, r->row->operand_count - 1, whole);
  ir_insert_after(r->row, rest);
}

static void vectorise_rows(Rows *r) {
  ASSERT(r->row->end > 0 && r->row->width == 1, "a row has cells, and is not yet vectorised");
  r->effects = effects_of(r->ctx, r->kernel, r->task);
  hoist_invariants(r, r->row);
  if (r->grid) hoist_invariants(r, r->grid);
  int width = choose_width(r);
  if (width == 1) return;
  if (snode_has_lists(r->shape.node_level)) split_elements(r, width);
  r->row->width = width;
  flatten(r->kernel, r->row->regions[0]);
  rewrite_drop_dead(r->row->regions[0]);
  use_lanes_of_position(r);
}

bool pass_rows(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    Rows r = {.ctx = ctx, .kernel = kernel, .task = task};
    if (task->kind != TASK_LEAVES || task->cells) continue;
    leaf_shape_of_task(kernel, task, &r.shape);
    find_row(&r);
    if (r.row && r.row->width == 1) vectorise_rows(&r);
  }
  return true;
}
