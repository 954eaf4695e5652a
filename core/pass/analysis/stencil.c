/* stencil.c - two lints, which warn of code that looks right and is not. Changes nothing.
 *
 *     for i in rg.range({1, n}) do x[i] = 0.5 * (x[i-1] + x[i+1]) end
 *
 * In place, an iteration reads neighbours that other iterations write. The lint warns of a store
 * computed from another element of the same field whose indices are those of the store plus
 * constants, if another iteration stores to that element. It is silent about updates, and about
 * loops with a condition that is more than an ordering of indices and numbers: it may separate
 * readers from writers, like `(i + j) % 2 == 0`, a mask, or `i == 0`.
 *
 *     for i, j in rg.range(n, m) do x[i * m + j] = 1 end
 *
 * Products of i32 wrap after 2^31 - 1, so they cannot reach all cells of a longer axis. */
#include "base/map.h"
#include "pass/analysis/effects.h"

enum { DEEPEST = 12 };

typedef struct Stencil {
  IrKernel *kernel;
  const IrTask *task;
  int64_t extents[SNODE_MAX_AXES]; /* of the loop; INT64_MAX: not known */
  bool may_be_apart;
  Map reads; /* of its body: id of the inst -> EffectAccess */
} Stencil;

/* -- the loop ---------------------------------------------------------------------------------- */

static bool note_bound(void *data, IrInst *inst) {
  Stencil *s = data;
  int64_t value, slot = inst->imm - s->task->bounds;
  if (inst->op != IR_FRAME_SET || slot < 0 || slot >= 2 * s->task->axis_count) return true;
  if (ir_is_const(inst->operands[0], &value)) s->extents[slot / 2] += slot % 2 ? value : -value;
  else s->extents[slot / 2] = INT64_MIN / 2; /* stays below 0 */
  return true;
}

/* Sets the extents: two iterations of a range differ by less than its constant extent. */
static void find_extents(Stencil *s) {
  for (int k = 0; k < SNODE_MAX_AXES; k++) s->extents[k] = 0;
  if (s->task->kind == TASK_RANGE) ir_walk(s->kernel->body, note_bound, s);
  for (int k = 0; k < SNODE_MAX_AXES; k++)
    if (s->extents[k] <= 0) s->extents[k] = INT64_MAX;
}

/* Is the condition only an ordering of indices and numbers? */
static bool is_order(const IrInst *inst, int depth) {
  bool is_logic = inst->op == IR_BAND || inst->op == IR_BOR || inst->op == IR_BNOT;
  switch (inst->op) {
  case IR_CONST:
  case IR_PARAM:
  case IR_ARG:
  case IR_FRAME_GET: return true;
  case IR_LT:
  case IR_LE:
  case IR_GT:
  case IR_GE:
  case IR_ADD:
  case IR_SUB:
  case IR_NEG:
  case IR_CONVERT: break;
  default:
    if (!is_logic || !type_is_bool(inst->type)) return false;
  }
  if (depth > DEEPEST) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!is_order(inst->operands[i], depth + 1)) return false;
  return true;
}

static bool look_at_condition(void *data, IrInst *inst) {
  Stencil *s = data;
  if (inst->op != IR_IF && inst->op != IR_SELECT && inst->op != IR_FOR) return true;
  int conditions = inst->op == IR_FOR ? 3 : 1;
  for (int i = 0; i < conditions; i++) s->may_be_apart |= !is_order(inst->operands[i], 0);
  return !s->may_be_apart;
}

/* -- in place ---------------------------------------------------------------------------------- */

/* Does another iteration store to the element that is read? */
static bool is_of_neighbour(const Stencil *s, const EffectPlace *stored, const EffectPlace *read) {
  bool differs = false;
  for (int axis = 0; axis < stored->inst->operand_count; axis++) {
    const IndexRange *a = &stored->index[axis], *b = &read->index[axis];
    if (stored->inst->operands[axis] == read->inst->operands[axis]) continue;
    if (!a->known || !b->known || a->base != b->base || a->low != a->high || b->low != b->high)
      return false;
    int64_t distance = b->low > a->low ? b->low - a->low : a->low - b->low;
    if (!distance) continue;
    int param = ranges_exact_param(stored->function, a);
    if (param < 0 || distance >= s->extents[param]) return false;
    differs = true;
  }
  return differs;
}

/* Is the value computed from such a read of the store's field? Searches the store's operands, not
 * all reads, since a body may have thousands of both. */
static bool comes_from_neighbour(const Stencil *s, const EffectAccess *store, const IrInst *value,
                                 int depth) {
  const EffectAccess *read = map_find_int(&s->reads, (uint64_t)value->id);
  if (read && read->field == store->field && is_of_neighbour(s, store->place, read->place))
    return true;
  if (depth > DEEPEST || !(ir_effects(value) & IR_PURE)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (comes_from_neighbour(s, store, value->operands[i], depth + 1)) return true;
  return false;
}

static void note_reads(Stencil *s, Scratch *scratch, const Effects *effects) {
  map_init(&s->reads, scratch);
  for (int a = 0; a < effects->accesses.count; a++) {
    EffectAccess *access = &effects->accesses.items[a];
    if (access->verb == EFFECT_READS && access->place->index)
      map_put_int(&s->reads, (uint64_t)access->inst->id, access);
  }
}

static void check_store(const Stencil *s, const EffectAccess *store) {
  const char *name = s->kernel->fields.items[store->field].name;
  if (!store->place->index || !comes_from_neighbour(s, store, store->inst->operands[1], 0)) return;
  ir_warn(s->kernel, store->inst->line, store->inst->column,
          "an element of '%s' is computed here from another one, which an iteration running at "
          "the same time may have written or not: write to a second field, or take the loop's "
          "iterations in order, ':serial()'",
          name && name[0] ? name : "a field");
}

/* -- products ---------------------------------------------------------------------------------- */

static bool has_product(const IrInst *index, int depth) {
  if (type_bits(index->type) > 32 || depth > DEEPEST) return false;
  if (index->op == IR_MUL || index->op == IR_SHL) return true;
  if (index->op != IR_ADD && index->op != IR_SUB) return false;
  return has_product(index->operands[0], depth + 1) || has_product(index->operands[1], depth + 1);
}

static void check_products(Stencil *s, const EffectPlace *place) {
  if (!place->index) return;
  const IrField *field = &s->kernel->fields.items[place->inst->field];
  if (!field->node) return; /* an array's extents are known only at launch */
  for (int axis = 0; axis < place->inst->operand_count; axis++) {
    const IrInst *index = place->inst->operands[axis];
    int64_t extent = field->node->shape[axis];
    if (index->op == IR_CONVERT && type_is_integer(index->operands[0]->type))
      index = index->operands[0];
    if (extent <= INT32_MAX || type_is(index->type, TYPE_U32) || !has_product(index, 0)) continue;
    ir_warn(s->kernel, place->inst->line, place->inst->column,
            "an index of '%s' is a product of i32, which wraps past 2147483647, and the axis has "
            "%lld cells: begin it with an i64, as in rg.i64(i) * n + j",
            field->name, (long long)extent);
  }
}

/* ---------------------------------------------------------------------------------------------- */

static void check_places(Stencil *s, const Effects *effects) {
  for (int i = 0; i < effects->places.count; i++) check_products(s, effects->places.items[i]);
}

bool pass_stencil(PassContext *ctx, IrKernel *kernel, Error *err) {
  Stencil s = {.kernel = kernel};
  check_places(&s, effects_of(ctx, kernel, NULL));
  for (int i = 0; i < kernel->tasks.count; i++) {
    s.task = kernel->tasks.items[i];
    const Effects *effects = effects_of(ctx, kernel, s.task);
    check_places(&s, effects);
    if (s.task->independent || (s.task->kind == TASK_LEAVES && !s.task->cells)) continue;
    s.may_be_apart = false;
    ir_walk(s.task->body, look_at_condition, &s);
    if (s.may_be_apart) continue;
    find_extents(&s);
    note_reads(&s, ctx->scratch, effects);
    for (int a = 0; a < effects->accesses.count; a++)
      if (effects->accesses.items[a].verb == EFFECT_STORES)
        check_store(&s, &effects->accesses.items[a]);
  }
  return true;
}
