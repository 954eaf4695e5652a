/* rows.c - prepares the rows of a leaf for the passes that run several of their cells at once.
 * Loop-invariant code moves out of rows and grids: values, and reads at invariant places of fields
 * that the task does not write (an iteration sees the state before the loop). Accesses to cells are
 * marked `whole` where a vector may access cells that its mask omits, too: it then stores their old
 * values, since loads that overlap a masked store wait until that has reached the cache.
 * Keeps the order of effects. Decision D-pass-01. */
#include "ir/facts.h"
#include "pass/analysis/effects.h"

typedef struct Rows {
  PassContext *ctx;
  IrKernel *kernel;
  IrTask *task;
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

/* -- accesses to cells ------------------------------------------------------------------------- */

/* Marks the accesses to cells by which vectors may access all their lanes: reads, since the cells
 * of a leaf exist, and writes to fields whose elements only their own iterations write. */
static void mark_whole(const Rows *r) {
  const IrRegion *body = r->row->regions[0];
  bool *elsewhere = scratch_array(r->ctx->scratch, bool, r->kernel->fields.count);
  for (int i = 0; i < r->effects->accesses.count; i++) {
    const EffectAccess *access = &r->effects->accesses.items[i];
    bool is_own = access->place->inst->op == IR_CELL && effects_where(access->place) == EFFECT_OWN;
    if (access->verb & EFFECT_WRITES && !is_own) elsewhere[access->field] = true;
  }
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_write = inst->op == IR_STORE || inst->op == IR_UPDATE;
    if (inst->op != IR_LOAD && !is_write) continue;
    inst->whole =
        inst->operands[0]->op == IR_CELL && !(is_write && elsewhere[inst->operands[0]->field]);
  }
}

static void improve_rows(Rows *r) {
  ASSERT(r->row->end > 0 && r->row->lanes <= 1, "a row has cells, and is not yet vectorised");
  r->effects = effects_of(r->ctx, r->kernel, r->task);
  hoist_invariants(r, r->row);
  if (r->grid) hoist_invariants(r, r->grid);
  mark_whole(r);
}

bool pass_rows(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    Rows r = {.ctx = ctx, .kernel = kernel, .task = task};
    if (task->kind != TASK_LEAVES || task->cells) continue;
    find_row(&r);
    if (r.row) improve_rows(&r);
  }
  return true;
}
