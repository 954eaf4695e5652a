/* lint.c - warns about code that looks correct but is not. Changes nothing.
 *
 *     for p in rg.range(n) do m[cell[p]] = 0.5 * (m[cell[p]] + 1) end
 *
 * Lost writes: a store whose value was computed from the same element is a read and a write, so
 * another iteration that reaches the element may write it in between. The lint assumes that another
 * one does if an index of the loop does not occur in the place, or only through an op that loses
 * information: a load, a division, a rounding, a mask. Through + and * an index is assumed to
 * number elements: `x[i * n + j]`. So the absence of a warning proves nothing (D-pass-19).
 *
 *     for i in rg.range({1, n}) do x[i] = 0.5 * (x[i-1] + x[i+1]) end
 *
 * Stencils in place: the value comes from another element of the same field, at a distance at which
 * another iteration stores to it. The lint is silent about updates, and about loops with a
 * condition that is more than an ordering of indices and numbers: it may separate readers from
 * writers, like `(i + j) % 2 == 0`, a mask, or `i == 0` (D-pass-20).
 *
 *     for i, j in rg.range(n, m) do x[i * m + j] = 1 end
 *
 * Products of i32 wrap after 2^31 - 1, so they cannot reach all cells of a longer axis.
 *
 * The first two search the operands of what is stored, not all reads, since a body may have
 * thousands of both. */
#include "pass/analysis/dependence.h"

/* Insts that all searches of a kernel visit together. Beyond that nothing is reported, since a lint
 * must not make compiling slow. */
enum { MOST_SEARCH_STEPS = 200000 };
/* Operands between an expression and its parts: expressions share branches, so a deeper walk could
 * be exponential. */
enum { DEEPEST_EXPRESSION = 12 };

typedef struct Lint {
  IrKernel *kernel;
  Scratch *scratch;
  const IrTask *task;
  LoopNest nest;      /* of its body */
  bool may_separate;  /* a condition may separate readers from writers */
  VEC(IrInst *) sets; /* of variables, in its body */
  int *seen;          /* by id: the last search that visited it */
  int search, steps;
  VEC(const IrInst *) todo;
} Lint;

static const char *name_of(const Lint *lint, const EffectAccess *store) {
  const char *name = lint->kernel->fields.items[store->field].name;
  return name && name[0] ? name : "a field";
}

/* -- what a value is computed from ------------------------------------------------------------- */

typedef bool IsWanted(const Lint *lint, const EffectAccess *store, const IrInst *load);

static void enqueue(Lint *lint, const IrInst *value) {
  if (lint->seen[value->id] == lint->search) return;
  lint->seen[value->id] = lint->search;
  vec_push(lint->scratch, &lint->todo, value);
}

static void enqueue_operands(Lint *lint, const IrInst *value, bool through_variables) {
  if (value->op != IR_GET) {
    for (int i = 0; i < value->operand_count; i++) enqueue(lint, value->operands[i]);
    lint->steps += value->operand_count;
    return;
  }
  if (!through_variables) return;
  lint->steps += lint->sets.count;
  for (int i = 0; i < lint->sets.count; i++)
    if (lint->sets.items[i]->operands[0] == value->operands[0])
      enqueue(lint, lint->sets.items[i]->operands[1]);
}

/* Was what is stored computed from a read of its field that is wanted? `through_variables`: also if
 * the value was once assigned to a variable that is read. */
static bool comes_from(Lint *lint, const EffectAccess *store, IsWanted *is_wanted,
                       bool through_variables) {
  lint->search++;
  lint->todo.count = 0;
  enqueue(lint, store->inst->operands[1]);
  while (lint->todo.count && lint->steps++ < MOST_SEARCH_STEPS) {
    const IrInst *at = lint->todo.items[--lint->todo.count];
    bool is_read = at->op == IR_LOAD && at->operands[0]->op == IR_PLACE &&
                   at->operands[0]->field == store->field;
    if (is_read && is_wanted(lint, store, at)) return true;
    if (at->op != IR_LOAD) enqueue_operands(lint, at, through_variables);
  }
  return false;
}

/* -- lost writes ------------------------------------------------------------------------------- */

/* Which indices of the loop reach `index` without loss of information: a bit for each. */
static unsigned preserved_indices(const Lint *lint, const IrInst *index, int depth) {
  int param = ranges_param(lint->nest.body, index);
  if (param >= 0) return 1u << param;
  if (depth > DEEPEST_EXPRESSION) return ~0u;
  switch (index->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
    return preserved_indices(lint, index->operands[0], depth + 1) |
           preserved_indices(lint, index->operands[1], depth + 1);
  case IR_NEG: return preserved_indices(lint, index->operands[0], depth + 1);
  case IR_CONVERT:
    return type_is_integer(index->operands[0]->type)
               ? preserved_indices(lint, index->operands[0], depth + 1)
               : 0;
  default: return 0;
  }
}

static bool may_be_shared(const Lint *lint, const IrInst *place) {
  unsigned found = 0, all = (1u << lint->nest.count) - 1;
  for (int axis = 0; axis < place->operand_count; axis++)
    found |= preserved_indices(lint, place->operands[axis], 0);
  return (found & all) != all;
}

static bool is_same_element(const Lint *lint, const EffectAccess *store, const IrInst *load) {
  return facts_same_text(load->operands[0], store->inst->operands[0]);
}

static void check_lost_write(Lint *lint, const EffectAccess *store) {
  if (!may_be_shared(lint, store->place->inst) || !comes_from(lint, store, is_same_element, true))
    return;
  ir_warn(
      lint->kernel, store->inst->line, store->inst->column,
      "an element of '%s' is read and then written here, and another iteration may do the same "
      "in between; only updates are atomic: x[e] = x[e] + v, with the same index on both "
      "sides, or x:add(e, v); if no other iteration reaches it, say so by :independent() on the "
      "loop's range",
      name_of(lint, store));
}

/* -- stencils in place ------------------------------------------------------------------------- */

/* Is the condition only an ordering of indices and numbers? */
static bool is_only_ordering(const IrInst *inst, int depth) {
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
  if (depth > DEEPEST_EXPRESSION) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!is_only_ordering(inst->operands[i], depth + 1)) return false;
  return true;
}

static void record_inst(Lint *lint, IrInst *inst) {
  if (inst->op == IR_SET) vec_push(lint->scratch, &lint->sets, inst);
  if (inst->op != IR_IF && inst->op != IR_SELECT && inst->op != IR_FOR) return;
  int conditions = inst->op == IR_FOR ? 3 : 1;
  for (int i = 0; i < conditions; i++)
    lint->may_separate |= !is_only_ordering(inst->operands[i], 0);
}

/* Does another iteration store to the element that is read? */
static bool is_of_neighbour(const Lint *lint, const EffectAccess *store, const IrInst *load) {
  const IrInst *stored = store->place->inst, *read = load->operands[0];
  PlaceSums a = dependence_sums(lint->scratch, &lint->nest, stored->operand_count,
                                stored->operands),
            b = dependence_sums(lint->scratch, &lint->nest, read->operand_count, read->operands);
  Distance distance = dependence_between(&a, &b);
  if (distance.never || !distance.is_exact) return false;
  for (int k = 0; k < lint->nest.count; k++)
    if (distance.known >> k & 1 && distance.by[k]) return true;
  return false;
}

static void check_stencil(Lint *lint, const EffectAccess *store) {
  if (lint->may_separate || !comes_from(lint, store, is_of_neighbour, false)) return;
  ir_warn(lint->kernel, store->inst->line, store->inst->column,
          "an element of '%s' is computed here from another one, which a concurrent iteration may "
          "or may not have written already: write to a second field, or run the loop in order, "
          "':serial()'",
          name_of(lint, store));
}

/* -- products ---------------------------------------------------------------------------------- */

static bool has_product(const IrInst *index, int depth) {
  if (type_bits(index->type) > 32 || depth > DEEPEST_EXPRESSION) return false;
  if (index->op == IR_MUL || index->op == IR_SHL) return true;
  if (index->op != IR_ADD && index->op != IR_SUB) return false;
  return has_product(index->operands[0], depth + 1) || has_product(index->operands[1], depth + 1);
}

static void check_products(const Lint *lint, const EffectPlace *place) {
  if (!place->index) return;
  const IrField *field = &lint->kernel->fields.items[place->inst->field];
  if (!field->node) return; /* an array's extents are known only at launch */
  for (int axis = 0; axis < place->inst->operand_count; axis++) {
    const IrInst *index = place->inst->operands[axis];
    int64_t extent = field->node->shape[axis];
    if (index->op == IR_CONVERT && type_is_integer(index->operands[0]->type))
      index = index->operands[0];
    if (extent <= INT32_MAX || type_is(index->type, TYPE_U32) || !has_product(index, 0)) continue;
    ir_warn(lint->kernel, place->inst->line, place->inst->column,
            "an index of '%s' is a product of i32, which wraps past 2147483647, and the axis has "
            "%lld cells: make one factor an i64, as in rg.i64(i) * n + j",
            field->name, (long long)extent);
  }
}

/* ---------------------------------------------------------------------------------------------- */

static void check_stores(Lint *lint, const Effects *effects) {
  lint->nest = dependence_nest_of_task(lint->kernel, lint->task, lint->task->body);
  lint->may_separate = false;
  lint->sets.count = 0;
  const IrRegion *body = lint->task->body;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) record_inst(lint, inst);
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *store = &effects->accesses.items[i];
    if (store->verb != EFFECT_STORES || !store->place->index || store->place->is_called) continue;
    check_lost_write(lint, store);
    check_stencil(lint, store);
  }
}

static void check_places(const Lint *lint, const Effects *effects) {
  for (int i = 0; i < effects->places.count; i++) check_products(lint, effects->places.items[i]);
}

bool pass_lint(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->derivative) return true; /* the kernel that it is of was looked at */
  Lint lint = {.kernel = kernel,
               .scratch = ctx->scratch,
               .seen = scratch_array(ctx->scratch, int, kernel->next_id + 1)};
  check_places(&lint, effects_of(ctx, kernel, NULL));
  for (int i = 0; i < kernel->tasks.count; i++) {
    lint.task = kernel->tasks.items[i];
    const Effects *effects = effects_of(ctx, kernel, lint.task);
    check_places(&lint, effects);
    bool is_of_leaves = lint.task->kind == TASK_LEAVES && !lint.task->cells;
    if (!lint.task->independent && !is_of_leaves) check_stores(&lint, effects);
  }
  return true;
}
