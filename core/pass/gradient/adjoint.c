/* adjoint.c - turns a kernel into its adjoint: reverse-mode differentiation of structured IR.
 *
 *     y = f(x)              the adjoint adds the gradient of y, times the derivative of f, to the
 *     x.grad += f'(x) ..    gradient of x, and clears that of y, which the kernel overwrote
 *
 * It runs after the elements were computed: gradients are elements of further fields of the same
 * nodes, which the launch reads and writes as any other. What is written to an element clears its
 * gradient; what is read adds to it, as an UPDATE, so that the passes for atomics and private
 * copies see what they know. Parallel loops stay parallel; serial ones are run backwards where
 * their iterations hang together.
 *
 * Regions are reversed as units (plan.h): first the values that derivatives need are computed
 * again, then the insts are reversed from the last to the first. The adjoint of a value is
 * collected while its uses are reversed: as a value where all are in its own region, otherwise in a
 * variable. The adjoint of a variable is a variable: a SET takes it and leaves 0, a GET adds to it.
 * Decision D-pass-80. */
#include "pass/gradient/derivative.h"
#include "pass/gradient/gather.h"
#include "pass/gradient/plan.h"
#include "pass/gradient/split_updates.h"
#include "pass/gradient/stored_values.h"
#include "pass/gradient/tangent.h"
#include "pass/gradient/trips.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Adjoint {
  IrKernel *kernel;
  Scratch *scratch;
  Plans plans;
  IrInst **primal;    /* by id: the value computed again, here */
  IrInst **sums;      /* by id: the adjoint so far, of uses in the value's own region; NULL: 0 */
  IrInst **variables; /* by id: a VAR with the adjoint of uses elsewhere, or of a variable */
  const IrRegion *iteration; /* the body of the parallel loop that is being reversed; NULL: none */
} Adjoint;

static void reverse_region(Adjoint *a, IrBuilder *b, Plan *plan);

static IrBuilder inside(Adjoint *a, IrRegion *region, const IrBuilder *b) {
  return (IrBuilder){a->kernel, region, NULL, b->line, b->column};
}

/* -- primal values ----------------------------------------------------------------------------- */

static IrInst *primal_of(Adjoint *a, IrBuilder *b, const IrInst *value) {
  if (value->op == IR_CONST || value->op == IR_ARG) {
    IrInst *again = ir_emit(b, value->op, value->type, 0, NULL);
    again->imm = value->imm;
    return again;
  }
  ASSERT(a->primal[value->id], "a needed value is computed before it is used");
  return a->primal[value->id];
}

static void copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed);

static IrInst *append_copy(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *copy = ir_copy_alone(a->kernel, inst);
  for (int k = 0; k < inst->operand_count; k++)
    ir_set_operand(copy, k, primal_of(a, b, inst->operands[k]));
  ir_region_append(b->region, copy);
  return copy;
}

static void copy_params(Adjoint *a, const IrRegion *from, IrRegion *to) {
  for (int i = 0; i < from->params.count; i++)
    a->primal[from->params.items[i]->id] =
        ir_region_param(a->kernel, to, from->params.items[i]->type);
}

static void copy_inst(Adjoint *a, IrBuilder *b, IrInst *inst, const bool *needed) {
  IrInst *copy = append_copy(a, b, inst);
  a->primal[inst->id] = copy;
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    copy->regions[k] = ir_region_create(a->kernel, copy);
    copy_params(a, inst->regions[k], copy->regions[k]);
    IrBuilder in = inside(a, copy->regions[k], b);
    copy_needed(a, &in, inst->regions[k], needed);
  }
}

static void copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed) {
  for (IrInst *inst = region->first; inst; inst = inst->next)
    if (needed[inst->id]) copy_inst(a, b, inst, needed);
}

/* -- variables that a region takes over -------------------------------------------------------- */

/* A copy of a variable's value; of a local array another one. */
static IrInst *save(Adjoint *a, IrBuilder *b, IrInst *storage) {
  if (storage->op == IR_VAR) return ir_get(b, storage);
  IrInst *copy = ir_local_array(b, storage->type, (int)storage->imm);
  IrInst *loop =
      ir_for(b, ir_const_int(b, TYPE(I32), 0), ir_const_int(b, TYPE(I32), storage->imm - 1),
             ir_const_int(b, TYPE(I32), 1));
  IrBuilder in = inside(a, loop->regions[0], b);
  IrInst *index = loop->regions[0]->params.items[0];
  ir_local_set(&in, copy, index, ir_local_get(&in, storage, index));
  return copy;
}

/* A variable, or a local array, with a saved value. */
static IrInst *restore(Adjoint *a, IrBuilder *b, IrInst *saved) {
  if (saved->op == IR_LOCAL_ARRAY) return save(a, b, saved);
  IrInst *var = ir_var(b, saved->type);
  ir_set(b, var, saved);
  return var;
}

/* Keeps what the variables are where the op begins, for when it is reversed. */
static void keep_entries(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    const Plan *plan = plan_of(&a->plans, inst, k);
    for (int i = 0; plan && i < plan->entered.count; i++)
      plan->entry_values[i] = save(a, b, primal_of(a, b, plan->entered.items[i]));
  }
}

/* Variables of its own for those that the region takes over; returns the previous ones. */
static IrInst **enter(Adjoint *a, IrBuilder *b, const Plan *plan) {
  IrInst **outer = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  for (int i = 0; i < plan->entered.count; i++) {
    const IrInst *var = plan->entered.items[i];
    outer[i] = a->primal[var->id];
    a->primal[var->id] = restore(a, b, plan->entry_values[i]);
  }
  return outer;
}

static void leave(Adjoint *a, const Plan *plan, IrInst *const *outer) {
  for (int i = 0; i < plan->entered.count; i++) a->primal[plan->entered.items[i]->id] = outer[i];
}

/* -- adjoints ---------------------------------------------------------------------------------- */

/* Does the current iteration of a parallel loop add to something outside of the loop? */
static bool is_shared(const Adjoint *a, const IrInst *value) {
  return a->iteration && !ir_is_inside(value, a->iteration);
}

static void add_to_variable(const Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint) {
  IrInst *var = a->variables[value->id];
  ASSERT(var, "the adjoint of a value with uses elsewhere has a variable");
  if (is_shared(a, value)) {
    IrInst *reduce = ir_emit(b, IR_REDUCE, TYPE(NONE), 2, (IrInst *[]){var, adjoint});
    reduce->imm = IR_UPDATE_ADD;
  } else {
    ir_set(b, var, ir_binary(b, IR_ADD, ir_get(b, var), adjoint));
  }
}

static void add_adjoint(Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint) {
  if (!adjoint || !plan_is_active(&a->plans, value)) return;
  if (a->variables[value->id]) return add_to_variable(a, b, value, adjoint);
  IrInst *sum = a->sums[value->id];
  a->sums[value->id] = sum ? ir_binary(b, IR_ADD, sum, adjoint) : adjoint;
}

/* The adjoint of a value when all its uses are reversed. NULL: 0. */
static IrInst *adjoint_of(const Adjoint *a, IrBuilder *b, const IrInst *value) {
  if (a->variables[value->id]) return ir_get(b, a->variables[value->id]);
  return a->sums[value->id];
}

static bool is_used_elsewhere(const IrInst *value) {
  for (const IrUse *use = value->uses; use; use = use->next)
    if (use->user->region != value->region) return true;
  return false;
}

/* "Initially" is where the function begins, so each iteration clears it. */
static IrInst *zeros(Adjoint *a, IrBuilder *b, const IrInst *like) {
  IrInst *array = ir_local_array(b, like->type, (int)like->imm);
  IrInst *loop = ir_for(b, ir_const_int(b, TYPE(I32), 0), ir_const_int(b, TYPE(I32), like->imm - 1),
                        ir_const_int(b, TYPE(I32), 1));
  IrBuilder in = inside(a, loop->regions[0], b);
  ir_local_set(&in, array, loop->regions[0]->params.items[0], ir_zero(&in, like->type));
  return array;
}

static void declare(Adjoint *a, IrBuilder *b, const IrInst *value) {
  a->sums[value->id] = a->variables[value->id] = NULL;
  if (!plan_is_active(&a->plans, value)) return;
  if (value->op == IR_LOCAL_ARRAY) a->variables[value->id] = zeros(a, b, value);
  if (value->op == IR_LOCAL_ARRAY || (value->op != IR_VAR && !is_used_elsewhere(value))) return;
  a->variables[value->id] = ir_var(b, value->type);
  ir_set(b, a->variables[value->id], ir_zero(b, value->type));
}

/* -- elements ---------------------------------------------------------------------------------- */

/* The indices of an access, and the place of its element's gradient. */
typedef struct Element {
  IrInst *indices[SNODE_MAX_AXES];
  IrInst *gradient;
  const IrField *field;
} Element;

static Element element_of(Adjoint *a, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  int gradient = plan_gradient(a->kernel, place->field);
  ASSERT(gradient >= 0, "an element that is reversed has a gradient");
  Element element = {.field = &a->kernel->fields.items[place->field]};
  for (int k = 0; k < place->operand_count; k++)
    element.indices[k] = primal_of(a, b, place->operands[k]);
  element.gradient = ir_place(b, gradient, element.indices);
  element.gradient->inside = place->inside;
  return element;
}

/* Is the element one of the cell that a loop over active cells of its own level visits? */
static bool is_visited(const Adjoint *a, const IrInst *access) {
  const IrInst *place = access->operands[0];
  const IrInst *loop = place->operand_count ? place->operands[0]->region->owner : NULL;
  if (!loop || loop->op != IR_ACTIVE) return false;
  const IrRegion *body = loop->regions[0];
  const SNode *node = a->kernel->fields.items[place->field].node;
  bool is_one = a->kernel->levels.items[loop->level].node == node &&
                body->params.count == place->operand_count;
  for (int k = 0; is_one && k < body->params.count; k++)
    is_one = place->operands[k] == body->params.items[k];
  return is_one;
}

static IrInst *is_within(IrBuilder *b, IrInst *index, int64_t extent) {
  IrInst *from = ir_binary(b, IR_GE, index, ir_const_int(b, index->type, 0));
  if (type_most(index->type) < extent) return from;
  IrInst *to = ir_binary(b, IR_LT, index, ir_const_int(b, index->type, extent));
  return ir_binary(b, IR_BAND, from, to);
}

/* Whether the element exists: what is read outside the shape, or in an inactive cell, is 0 and has
 * no gradient, and the adjoint activates nothing. NULL: it does. */
static IrInst *exists(Adjoint *a, IrBuilder *b, const IrInst *access, const Element *element) {
  const SNode *node = element->field->node;
  IrInst *condition = NULL;
  if (is_visited(a, access)) return NULL;
  for (int k = 0; k < node->rank && !access->operands[0]->inside; k++)
    if (!snode_is_unbounded(node, k))
      condition = rewrite_both(b, condition, is_within(b, element->indices[k], node->shape[k]));
  if (!snode_sparse_level(node)) return condition;
  IrInst *active = ir_emit(b, IR_IS_ACTIVE, TYPE(BOOL), node->rank, element->indices);
  active->level = ir_add_level(a->kernel, node, node->name);
  return rewrite_both(b, condition, active);
}

static void reverse_load(Adjoint *a, IrBuilder *b, const IrInst *load) {
  IrInst *adjoint = adjoint_of(a, b, load);
  if (!adjoint) return;
  Element element = element_of(a, b, load);
  IrInst *condition = exists(a, b, load, &element);
  if (!condition) {
    ir_update(b, IR_UPDATE_ADD, element.gradient, adjoint);
    return;
  }
  IrInst *choice = ir_if(b, condition);
  IrBuilder in = inside(a, choice->regions[0], b);
  ir_update(&in, IR_UPDATE_ADD, ir_place(&in, element.gradient->field, element.indices), adjoint);
}

static void reverse_store(Adjoint *a, IrBuilder *b, const IrInst *store) {
  Element element = element_of(a, b, store);
  IrInst *condition = exists(a, b, store, &element);
  IrInst *adjoint = ir_load(b, element.gradient);
  IrBuilder in = *b;
  if (condition) in = inside(a, ir_if(b, condition)->regions[0], b);
  IrInst *place = ir_place(&in, element.gradient->field, element.indices);
  place->inside = store->operands[0]->inside;
  ir_store(&in, place, ir_zero(&in, adjoint->type));
  add_adjoint(a, b, store->operands[1], ir_convert(b, adjoint, store->operands[1]->type));
}

static void reverse_update(Adjoint *a, IrBuilder *b, const IrInst *update) {
  if (!plan_is_active(&a->plans, update->operands[1])) return;
  Element element = element_of(a, b, update);
  IrInst *adjoint = ir_load(b, element.gradient);
  if (update->imm == IR_UPDATE_SUB) adjoint = ir_unary(b, IR_NEG, adjoint);
  add_adjoint(a, b, update->operands[1], ir_convert(b, adjoint, update->operands[1]->type));
}

/* -- values and variables ---------------------------------------------------------------------- */

static void reverse_smooth(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *adjoint = adjoint_of(a, b, inst);
  if (!adjoint) return;
  for (int k = 0; k < inst->operand_count; k++) {
    if (!plan_is_active(&a->plans, inst->operands[k])) continue;
    unsigned needs = derivative_needs(inst->op, k);
    DerivativeOf of = {.op = inst->op, .type = inst->operands[k]->type};
    for (int i = 0; i < inst->operand_count; i++)
      if (needs >> i & 1) of.operands[i] = primal_of(a, b, inst->operands[i]);
    if (needs & DERIVATIVE_NEEDS_RESULT) of.result = primal_of(a, b, inst);
    add_adjoint(a, b, inst->operands[k], derivative_pull(b, &of, k, adjoint));
  }
}

static void reverse_pick(Adjoint *a, IrBuilder *b, const IrInst *pick) {
  IrInst *adjoint = adjoint_of(a, b, pick);
  for (int k = 1; adjoint && k < pick->operand_count; k++) {
    if (!plan_is_active(&a->plans, pick->operands[k])) continue;
    IrInst *index = primal_of(a, b, pick->operands[0]);
    IrInst *is_it = ir_binary(b, IR_EQ, index, ir_const_int(b, index->type, k - 1));
    add_adjoint(a, b, pick->operands[k], ir_select(b, is_it, adjoint, ir_zero(b, adjoint->type)));
  }
}

static void reverse_get(const Adjoint *a, IrBuilder *b, const IrInst *get) {
  IrInst *adjoint = adjoint_of(a, b, get);
  if (adjoint && !a->plans.is_sum[get->id]) add_to_variable(a, b, get->operands[0], adjoint);
}

static void reverse_set(Adjoint *a, IrBuilder *b, const IrInst *set) {
  IrInst *var = a->variables[set->operands[0]->id];
  ASSERT(var && !is_shared(a, set->operands[0]), "only an iteration's own variables are set");
  IrInst *adjoint = ir_get(b, var);
  if (!a->plans.is_sum[set->id]) ir_set(b, var, ir_zero(b, var->type));
  add_adjoint(a, b, set->operands[1], adjoint);
}

static void reverse_local_get(Adjoint *a, IrBuilder *b, const IrInst *get) {
  IrInst *adjoint = adjoint_of(a, b, get), *array = a->variables[get->operands[0]->id];
  ASSERT(array, "the adjoint of a local array is one");
  if (!adjoint) return;
  IrInst *index = primal_of(a, b, get->operands[1]);
  ir_local_set(b, array, index, ir_binary(b, IR_ADD, ir_local_get(b, array, index), adjoint));
}

static void reverse_local_set(Adjoint *a, IrBuilder *b, const IrInst *set) {
  IrInst *array = a->variables[set->operands[0]->id];
  ASSERT(array, "the adjoint of a local array is one");
  IrInst *index = primal_of(a, b, set->operands[1]), *adjoint = ir_local_get(b, array, index);
  ir_local_set(b, array, index, ir_zero(b, array->type));
  add_adjoint(a, b, set->operands[2], adjoint);
}

static void reverse_reduce(Adjoint *a, IrBuilder *b, const IrInst *reduce) {
  IrInst *adjoint = ir_get(b, a->variables[reduce->operands[0]->id]);
  if (reduce->imm == IR_UPDATE_SUB) adjoint = ir_unary(b, IR_NEG, adjoint);
  add_adjoint(a, b, reduce->operands[1], adjoint);
}

/* -- control ----------------------------------------------------------------------------------- */

static void reverse_inside(Adjoint *a, const IrBuilder *b, IrRegion *region, const IrInst *inst,
                           int number) {
  Plan *plan = plan_of(&a->plans, inst, number);
  IrBuilder in = inside(a, region, b);
  IrInst **outer = enter(a, &in, plan);
  reverse_region(a, &in, plan);
  leave(a, plan, outer);
}

static void reverse_if(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *choice = ir_if(b, primal_of(a, b, inst->operands[0]));
  for (int k = 0; k < 2; k++) reverse_inside(a, b, choice->regions[k], inst, k);
}

static void reverse_parallel(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  const IrRegion *outer = a->iteration;
  IrInst *again = append_copy(a, b, loop);
  again->regions[0] = ir_region_create(a->kernel, again);
  copy_params(a, loop->regions[0], again->regions[0]);
  if (!loop->serial) a->iteration = loop->regions[0];
  reverse_inside(a, b, again->regions[0], loop, 0);
  a->iteration = outer;
}

/* -- loops whose iterations hang together --------------------------------------------------------
 *
 *     for k { v = f(v, k) }    the variables that it carries are kept at every `interval`-th
 *                              iteration, in at most MOST_KEPT places of the function's frame;
 *  => for k                      backwards: v is what was kept last before iteration k, and
 *       { v = kept[k // interval]; for j = .., k - 1 { v = f(v, j) }; reverse iteration k }
 *                              the iterations in between are run again.
 *
 * Loops of up to MOST_KEPT iterations run each twice; one of n runs it n / (2 * MOST_KEPT) times
 * more. Local arrays are kept once, at the begin, and all iterations are run again. */

enum { MOST_KEPT = 64 };

typedef struct Carried {
  const IrInst *loop;
  Plan *plan;
  IrInst *begin, *step; /* of the loop's index */
  IrInst *trips;        /* i32 */
  IrInst *interval;     /* i32; NULL: 1 */
  IrInst **kept;        /* by position in plan->entered: local arrays; NULL: nothing is kept */
} Carried;

static IrInst *number(IrBuilder *b, int64_t value) { return ir_const_int(b, TYPE(I32), value); }

static IrInst *index_of(const Carried *c, IrBuilder *b, IrInst *iteration) {
  IrInst *steps = ir_convert(b, iteration, c->begin->type);
  return ir_binary(b, IR_ADD, c->begin, ir_binary(b, IR_MUL, steps, c->step));
}

/* One iteration, as far as the variables that it carries need it. */
static void run_again(Adjoint *a, IrBuilder *b, const Carried *c, IrInst *iteration) {
  a->primal[c->loop->regions[0]->params.items[0]->id] = index_of(c, b, iteration);
  copy_needed(a, b, c->loop->regions[0], c->plan->carried);
}

static Carried find_trips(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  Carried c = {.loop = loop, .plan = plan};
  int64_t begin, last, step, trips = INT64_MAX;
  c.begin = primal_of(a, b, loop->operands[0]);
  c.step = primal_of(a, b, loop->operands[2]);
  IrInst *far = ir_binary(b, IR_SUB, primal_of(a, b, loop->operands[1]), c.begin);
  IrInst *steps = ir_convert(b, ir_binary(b, IR_FLOORDIV, far, c.step), TYPE(I32));
  c.trips = ir_binary(b, IR_ADD, steps, number(b, 1));
  bool is_known = ir_is_const(loop->operands[0], &begin) && ir_is_const(loop->operands[1], &last) &&
                  ir_is_const(loop->operands[2], &step) && step;
  if (is_known) trips = (last - begin) / step + 1;
  if (trips > MOST_KEPT) {
    IrInst *up = ir_binary(b, IR_ADD, c.trips, number(b, MOST_KEPT - 1));
    c.interval =
        ir_binary(b, IR_MAX, ir_binary(b, IR_FLOORDIV, up, number(b, MOST_KEPT)), number(b, 1));
  }
  bool has_arrays = false;
  for (int i = 0; i < plan->entered.count; i++)
    has_arrays |= plan->entered.items[i]->op == IR_LOCAL_ARRAY;
  if (has_arrays) return c;
  c.kept = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  int64_t count = trips < 1 ? 1 : trips < MOST_KEPT ? trips : MOST_KEPT;
  for (int i = 0; i < plan->entered.count; i++)
    c.kept[i] = ir_local_array(b, plan->entered.items[i]->type, (int)count);
  return c;
}

/* The number of the last iteration that was kept before this one, or is it. */
static IrInst *place_of(const Carried *c, IrBuilder *b, IrInst *iteration) {
  return c->interval ? ir_binary(b, IR_FLOORDIV, iteration, c->interval) : iteration;
}

/* Runs the loop once, and keeps what it carries. */
static void keep_carried(Adjoint *a, IrBuilder *b, const Carried *c) {
  if (!c->kept) return;
  IrInst **outer = enter(a, b, c->plan);
  IrInst *loop =
      ir_for(b, number(b, 0), ir_binary(b, IR_SUB, c->trips, number(b, 1)), number(b, 1));
  IrInst *iteration = loop->regions[0]->params.items[0];
  IrBuilder in = inside(a, loop->regions[0], b), at = in;
  IrInst *place = place_of(c, &in, iteration);
  if (c->interval) {
    IrInst *first = ir_binary(&in, IR_MUL, place, c->interval);
    at = inside(a, ir_if(&in, ir_binary(&in, IR_EQ, iteration, first))->regions[0], b);
  }
  for (int i = 0; i < c->plan->entered.count; i++)
    ir_local_set(&at, c->kept[i], place, ir_get(&at, a->primal[c->plan->entered.items[i]->id]));
  run_again(a, &in, c, iteration);
  leave(a, c->plan, outer);
}

/* The plan's entry values become those at the begin of this iteration. */
static void find_carried(Adjoint *a, IrBuilder *b, const Carried *c, IrInst *iteration) {
  IrInst *first = number(b, 0);
  if (c->kept) {
    IrInst *place = place_of(c, b, iteration);
    for (int i = 0; i < c->plan->entered.count; i++)
      c->plan->entry_values[i] = ir_local_get(b, c->kept[i], place);
    if (!c->interval) return;
    first = ir_binary(b, IR_MUL, place, c->interval);
  }
  IrInst **outer = enter(a, b, c->plan);
  IrInst *loop = ir_for(b, first, ir_binary(b, IR_SUB, iteration, number(b, 1)), number(b, 1));
  IrBuilder in = inside(a, loop->regions[0], b);
  run_again(a, &in, c, loop->regions[0]->params.items[0]);
  for (int i = 0; i < c->plan->entered.count; i++)
    c->plan->entry_values[i] = save(a, b, a->primal[c->plan->entered.items[i]->id]);
  leave(a, c->plan, outer);
}

static void reverse_carried(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  IrInst **entries = plan->entry_values;
  Carried c = find_trips(a, b, loop, plan);
  keep_carried(a, b, &c);
  IrInst *again =
      ir_for(b, ir_binary(b, IR_SUB, c.trips, number(b, 1)), number(b, 0), number(b, -1));
  IrInst *iteration = again->regions[0]->params.items[0];
  IrBuilder in = inside(a, again->regions[0], b);
  plan->entry_values = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  memcpy(plan->entry_values, entries, sizeof *entries * (size_t)plan->entered.count);
  find_carried(a, &in, &c, iteration);
  a->primal[loop->regions[0]->params.items[0]->id] = index_of(&c, &in, iteration);
  reverse_inside(a, &in, again->regions[0], loop, 0);
  plan->entry_values = entries;
}

/* The same loop from its last iteration to its first. */
static IrInst *emit_backwards(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  IrInst *begin = primal_of(a, b, loop->operands[0]), *last = primal_of(a, b, loop->operands[1]);
  IrInst *step = primal_of(a, b, loop->operands[2]);
  IrInst *steps = ir_binary(b, IR_FLOORDIV, ir_binary(b, IR_SUB, last, begin), step);
  IrInst *from = ir_binary(b, IR_ADD, begin, ir_binary(b, IR_MUL, steps, step));
  return ir_for(b, from, begin, ir_unary(b, IR_NEG, step));
}

static void reverse_for(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  Plan *plan = plan_of(&a->plans, loop, 0);
  if (plan->carried) return reverse_carried(a, b, loop, plan);
  IrInst *again = NULL;
  if (plan_is_ordered(&a->plans, loop)) {
    again = emit_backwards(a, b, loop);
    a->primal[loop->regions[0]->params.items[0]->id] = again->regions[0]->params.items[0];
  } else {
    again = append_copy(a, b, loop);
    again->regions[0] = ir_region_create(a->kernel, again);
    copy_params(a, loop->regions[0], again->regions[0]);
  }
  reverse_inside(a, b, again->regions[0], loop, 0);
}

/* -- a region ---------------------------------------------------------------------------------- */

static void reverse_inst(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  const Plans *plans = &a->plans;
  b->line = inst->line;
  b->column = inst->column;
  if (inst->regions[0]) {
    if (!plans->reversed[inst->id]) return;
    if (inst->op == IR_IF) reverse_if(a, b, inst);
    else if (inst->op == IR_FOR) reverse_for(a, b, inst);
    else reverse_parallel(a, b, inst);
    return;
  }
  switch (inst->op) {
  case IR_STORE:
    if (plan_has_gradient(plans, inst)) reverse_store(a, b, inst);
    return;
  case IR_UPDATE:
    if (plan_has_gradient(plans, inst)) reverse_update(a, b, inst);
    return;
  case IR_SET:
    if (plan_is_active(plans, inst->operands[0])) reverse_set(a, b, inst);
    return;
  case IR_REDUCE:
    if (plan_is_active(plans, inst->operands[0])) reverse_reduce(a, b, inst);
    return;
  case IR_LOCAL_SET:
    if (plan_is_active(plans, inst->operands[0])) reverse_local_set(a, b, inst);
    return;
  case IR_VAR:
  case IR_LOCAL_ARRAY: return;
  default: break;
  }
  if (!plan_is_active(plans, inst)) return;
  switch (inst->op) {
  case IR_LOAD: reverse_load(a, b, inst); return;
  case IR_GET: reverse_get(a, b, inst); return;
  case IR_LOCAL_GET: reverse_local_get(a, b, inst); return;
  case IR_PICK: reverse_pick(a, b, inst); return;
  default: reverse_smooth(a, b, inst);
  }
}

static void reverse_region(Adjoint *a, IrBuilder *b, Plan *plan) {
  for (const IrInst *inst = plan->region->first; inst; inst = inst->next) declare(a, b, inst);
  for (IrInst *inst = plan->region->first; inst; inst = inst->next) {
    if (inst->regions[0] && a->plans.reversed[inst->id]) keep_entries(a, b, inst);
    if (plan->needed[inst->id]) copy_inst(a, b, inst, plan->needed);
  }
  for (const IrInst *inst = plan->region->last; inst; inst = inst->previous)
    reverse_inst(a, b, inst);
}

static bool attach(void *data, IrInst *inst) {
  if (inst->op != IR_DETACH) return true;
  ir_replace_uses(inst, inst->operands[0]);
  ir_delete(inst);
  return true;
}

/* rg.stop: derivatives have been computed, and what remains is the number. */
static void attach_all(IrKernel *kernel) { ir_walk_kernel(kernel, attach, NULL); }

bool pass_adjoint(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->derivative == DERIVATIVE_NONE) return attach_all(kernel), true;
  ASSERT(!kernel->tasks.count, "loops are still in the host region");
  updates_split(kernel);
  if (ctx->derivative == DERIVATIVE_FORWARD)
    return tangent_make(ctx->scratch, kernel, err) && (attach_all(kernel), true) &&
           pass_fold(ctx, kernel, err) && pass_mem2reg(ctx, kernel, err);
  Adjoint a = {.kernel = kernel, .scratch = ctx->scratch};
  stored_values_forward(ctx->scratch, kernel);
  int before = kernel->next_id;
  trips_number(ctx->scratch, kernel, plans_reversed(kernel, ctx->scratch), before);
  if (!plans_make(&a.plans, kernel, ctx->scratch, err)) return false;
  int count = kernel->next_id;
  a.primal = scratch_array(ctx->scratch, IrInst *, count);
  a.sums = scratch_array(ctx->scratch, IrInst *, count);
  a.variables = scratch_array(ctx->scratch, IrInst *, count);
  IrRegion *body = ir_region_create(kernel, NULL);
  IrBuilder b = {.kernel = kernel, .region = body};
  reverse_region(&a, &b, a.plans.host);
  ir_delete_all(kernel->body);
  kernel->body = body;
  kernel->results.count = 0;
  attach_all(kernel);
  if (!pass_fold(ctx, kernel, err) || !pass_mem2reg(ctx, kernel, err)) return false;
  return !gather_scatters(ctx->scratch, kernel) ||
         (pass_fold(ctx, kernel, err) && pass_mem2reg(ctx, kernel, err));
}
