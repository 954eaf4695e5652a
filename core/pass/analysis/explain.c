/* explain.c - notes for kernel:explain() how every access was compiled. Changes nothing.
 *
 *     line 12   reads 'x': cells of the leaf and of its neighbours, each found once per leaf
 *     line 14   updates 'm': atomic; looked up through 2 levels at each access
 *
 * Earlier passes note why something was not optimised; this one notes the result. It runs
 * just before `lower_places`, while accesses still name their field. All accesses of a line to one
 * field by one kind share a row: copies of a body (edges and interior, unrolled iterations) and the
 * numbers of a vector are merged. Runs only on request (PassContext.explains). */
#include "pass/address/lower_places.h"

typedef struct Row {
  int32_t line;
  const char *name;
  EffectVerb verb;
  bool own, counterpart, near, walked, direct; /* how the elements are found */
  bool checked, unchecked;
  bool ordered;                /* with release and acquire order */
  bool atomic, plain, in_copy; /* in_copy: in each worker's private copy, */
  bool alone;                  /* or plainly, in memory that has no private copies */
  int levels;                  /* slots on the way from the root */
} Row;

typedef struct Explain {
  IrKernel *kernel;
  const IrTask *task;
  bool is_parallel;      /* several threads may run it: a task, or a function */
  bool has_block_copies; /* of the target */
  Lower *lower;          /* the survey of its lists, as `lower_places` will make it */
  VEC(Row) rows;
} Explain;

/* -- collecting -------------------------------------------------------------------------------- */

static Row *row_for(Explain *x, const EffectAccess *access, const char *name) {
  Row fresh = {.line = access->inst->line, .name = name, .verb = access->verb};
  for (int i = 0; i < x->rows.count; i++) {
    Row *row = &x->rows.items[i];
    if (row->line == fresh.line && row->verb == fresh.verb && !strcmp(row->name, name)) return row;
  }
  vec_push(x->kernel->scratch, &x->rows, fresh);
  return &vec_last(&x->rows);
}

static int count_levels(const SNode *node) {
  int count = 0;
  for (; node; node = node->parent) count += snode_is_managed(node);
  return count;
}

static void record_place(const Explain *x, Row *row, const IrInst *place, const SNode *node) {
  int levels = count_levels(node);
  if (place->in_visited_node) {
    row->own = true;
    return;
  }
  if (place->op == IR_PLACE) {
    *(levels ? &row->walked : &row->direct) = true;
    *(place->in_bounds ? &row->unchecked : &row->checked) = true;
    row->levels = levels;
    return;
  }
  ASSERT(node, "only cells of trees have neighbours");
  bool is_own = true;
  for (int axis = 0; axis < place->axis_count; axis++) is_own &= place->offset[axis] == 0;
  *(is_own ? &row->own : &row->near) = true;
  row->counterpart |= snode_node_level(node) != x->kernel->levels.items[x->task->level].node;
}

static const char *append_text(ListWay way, bool is_own) {
  if (way == LIST_AT_ONCE && is_own)
    return "appends to '%s': without locks, as no other iteration changes the list";
  switch (way) {
  case LIST_STAGED:
    return "appends to '%s': each worker buffers elements, and appends many at once";
  case LIST_LOGGED:
    return "appends to '%s': workers buffer elements, which are appended after the loop; a single "
           "worker appends directly";
  default: return "appends to '%s': iterations that share a list take turns";
  }
}

static const char *pop_text(Lower *l, const IrInst *pop) {
  switch (lists_call_way(l, pop, l->kernel->levels.items[pop->level].node)) {
  case RT_LIST_OWN: return "pops from '%s': without locks, as no other iteration changes the list";
  case RT_LIST_LOCKED: return "pops from '%s': iterations that share a list take turns";
  default: return "pops from '%s': adjacent iterations that share a list pop together";
  }
}

/* Notes ops on cells and lists of a level, which look them up at each call, perhaps in many
 * iterations at once. */
static void note_call(const Explain *x, const EffectCall *call) {
  static const struct {
    IrOp op;
    const char *text;
  } texts[] = {
      {IR_ACTIVATE, "activates cells of '%s': one of the competing iterations creates each"},
      {IR_DEACTIVATE, "deactivates cells of '%s': freed after the loop"},
      {IR_IS_ACTIVE,
       "tests whether cells of '%s' are active: looked up from the root at each call"},
      {IR_APPEND, NULL},
      {IR_POP, NULL},
      {IR_LENGTH, "reads lengths of '%s': looked up from the root at each call"},
      {IR_COUNT, "counts '%s': from its list of active nodes, once"},
      {IR_CLEAR, "empties '%s' as a whole, once"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0] && call->inst->line > 0; i++) {
    bool is_alone =
        !x->is_parallel && (ir_effects(call->inst) & IR_TOPOLOGY) && call->op != IR_CLEAR;
    if (texts[i].op != call->op || is_alone) continue;
    const char *name = x->kernel->levels.items[call->inst->level].name, *text = texts[i].text;
    bool is_own = call->inst->nonatomic;
    if (call->op == IR_APPEND) text = append_text(lists_way(x->lower, call->inst), is_own);
    if (call->op == IR_POP) text = pop_text(x->lower, call->inst);
    ir_note(x->kernel, call->inst->line, text, name && name[0] ? name : "an SNode");
  }
}

static void record_access(Explain *x, const EffectAccess *access) {
  const IrInst *inst = access->inst;
  if (inst->line <= 0) return;
  const IrField *field = &x->kernel->fields.items[access->field];
  Row *row = row_for(x, access, field->name && field->name[0] ? field->name : "a field");
  record_place(x, row, inst->operands[0], field->node);
  if (inst->op == IR_UPDATE)
    *(inst->private_copy ? &row->in_copy : inst->nonatomic ? &row->plain : &row->atomic) = true;
  row->ordered |= access->verb == EFFECT_EXCHANGES && !inst->relaxed;
  row->alone = field->array >= 0 && x->kernel->arrays.items[field->array].is_counted;
}

/* -- notes ------------------------------------------------------------------------------------- */

static const char *place_text(Scratch *scratch, const Row *row) {
  const char *leaf =
      row->own && row->near ? "cells of the leaf and of its neighbours, each found once per leaf"
      : row->near           ? "cells of neighbouring leaves, each found once per leaf"
      : row->counterpart    ? "cells of the leaf at the same position, found once per leaf"
      : row->own            ? "cells of the visited leaf"
                            : NULL;
  const char *walk = row->direct ? "addressed directly"
                     : row->walked
                         ? scratch_format(scratch, "looked up through %d level%s at each access",
                                          row->levels, row->levels == 1 ? "" : "s")
                         : NULL;
  if (leaf && walk) return scratch_format(scratch, "%s; others %s", leaf, walk);
  return leaf ? leaf : walk;
}

static const char *check_text(const Row *row, bool has_interior) {
  if (!row->checked) return "";
  if (!row->unchecked) return ", checked against the shape";
  return has_interior ? ", checked against the shape at the edges of the loop only"
                      : ", partly checked against the shape";
}

static void note_row(Explain *x, const Row *row) {
  static const char *const verbs[] = {[EFFECT_READS] = "reads",
                                      [EFFECT_STORES] = "writes",
                                      [EFFECT_UPDATES] = "updates",
                                      [EFFECT_EXCHANGES] = "exchanges"};
  const char *how =
      row->verb == EFFECT_EXCHANGES && row->ordered    ? "atomic, immediate, release and acquire; "
      : row->verb == EFFECT_EXCHANGES                  ? "atomic, immediate; "
      : row->verb != EFFECT_UPDATES || !x->is_parallel ? ""
      : row->in_copy && x->has_block_copies            ? "in each block's copy, atomic; "
      : row->in_copy && row->alone ? "not atomic if one worker runs all, otherwise atomic; "
      : row->in_copy ? "in each worker's private copy if that is faster, otherwise atomic; "
      : row->atomic && row->plain ? "partly atomic; "
      : row->atomic               ? "atomic; "
                                  : "not atomic, as no other iteration reaches the element; ";
  bool has_interior = x->task && x->task->interior;
  ir_note(x->kernel, row->line, "%s '%s': %s%s%s", verbs[row->verb], row->name, how,
          place_text(x->kernel->scratch, row), check_text(row, has_interior));
}

static void explain_body(PassContext *ctx, IrKernel *kernel, const IrTask *task, bool is_parallel,
                         const Effects *effects) {
  Lower lower = {.ctx = ctx, .kernel = kernel, .task = task, .is_called = is_parallel && !task};
  Explain x = {.kernel = kernel,
               .task = task,
               .is_parallel = is_parallel,
               .has_block_copies = ctx->target.block_copies,
               .lower = &lower};
  map_init(&lower.lists, ctx->scratch);
  lists_survey(&lower, effects);
  for (int i = 0; i < effects->calls.count; i++)
    if (!effects->calls.items[i].is_called) note_call(&x, &effects->calls.items[i]);
  for (int i = 0; i < effects->accesses.count; i++)
    if (!effects->accesses.items[i].place->is_called)
      record_access(&x, &effects->accesses.items[i]);
  for (int i = 0; i < x.rows.count; i++) note_row(&x, &x.rows.items[i]);
}

static void explain_function(PassContext *ctx, IrKernel *kernel, const IrFunction *function) {
  if (function->line > 0)
    ir_note(kernel, function->line, "'%s' calls itself: compiled once, and called", function->name);
  const Effects *effects = effects_collect(ctx->scratch, kernel, function->body, NULL);
  explain_body(ctx, kernel, NULL, true, effects);
}

bool pass_explain(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (!ctx->explains) return true;
  explain_body(ctx, kernel, NULL, false, effects_of(ctx, kernel, NULL));
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->privatised) continue; /* its privatised version has the same accesses */
    explain_body(ctx, kernel, task, true, effects_of(ctx, kernel, task));
  }
  for (int i = 0; i < kernel->functions.count; i++)
    explain_function(ctx, kernel, kernel->functions.items[i]);
  return true;
}
