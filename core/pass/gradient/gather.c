/* gather.c - scatter to gather: turns additions to neighbouring elements into sums over neighbours.
 *
 *     for i { x[i - 1] += a(i); x[i + 1] += b(i); C }
 *
 *  => for j { x[j] += (a(j + 1) where j + 1 is an iteration) + (b(j - 1) where j - 1 is one) }
 *     for i { C }
 *
 * The adjoint of a stencil scatters where the stencil gathers. As a gather it needs no atomics,
 * writes each element once, and is vectorised like the stencil. The price: each addend is computed
 * once per neighbour, so addends must be small, and depend only on the indices and on elements that
 * the first loop does not write. C may clear elements that the addends read, so it comes second.
 * Loops over active cells are treated alike, with an iteration per active cell. */
#include "pass/gradient/gradient.h"

#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/rewrite.h"

enum { MOST_COMPUTED = 256, MOST_ADDENDS = 32 };

/* One addition, and the condition under which it is made. */
typedef struct Addend {
  IrInst *update;
  IrInst *condition;              /* NULL: always */
  int64_t offset[SNODE_MAX_AXES]; /* by parameter of the loop: from the iteration to the element */
} Addend;

typedef struct Gather {
  IrKernel *kernel;
  IrInst *loop;
  IrRegion *body;
  int field;
  VEC(Addend) addends;
  /* by axis of the field: the number of the parameter in its index; -1: the index is uniform */
  int axes[SNODE_MAX_AXES];
  int computed;
} Gather;

/* -- what can be moved ------------------------------------------------------------------------- */

/* The number of the parameter that the index is, plus *offset; -1: it is no such sum. */
static int parameter_of(const Gather *g, const IrInst *index, int64_t *offset) {
  Affine sum;
  if (!facts_affine(index, g->body, &sum) || sum.count != 1 || sum.factors[0] != 1) return -1;
  *offset = sum.constant;
  for (int k = 0; k < g->body->params.count; k++)
    if (g->body->params.items[k] == sum.values[0]) return k;
  return -1;
}

static bool read_indices(Gather *g, Addend *addend, bool is_first) {
  const IrInst *place = addend->update->operands[0];
  unsigned seen = 0;
  ASSERT(g->body->params.count < 32, "a bit per parameter");
  for (int axis = 0; axis < place->operand_count; axis++) {
    int64_t offset = 0;
    const IrInst *index = place->operands[axis];
    int parameter = parameter_of(g, index, &offset);
    if (parameter < 0 && !facts_is_invariant(index, g->body)) return false;
    if (is_first) g->axes[axis] = parameter;
    if (g->axes[axis] != parameter) return false;
    if (parameter < 0) {
      const IrInst *first = g->addends.count ? g->addends.items[0].update->operands[0] : place;
      if (!facts_same_value(first->operands[axis], index)) return false;
      continue;
    }
    if (seen >> parameter & 1) return false;
    seen |= 1u << parameter;
    addend->offset[parameter] = offset;
  }
  return seen == (1u << g->body->params.count) - 1;
}

/* May the place be an element that the additions write? */
static bool may_be_added_to(const Gather *g, const IrInst *place) {
  if (place->field != g->field) return false;
  const IrInst *sum = g->addends.items[0].update->operands[0];
  for (int axis = 0; axis < place->operand_count; axis++) {
    bool is_uniform = g->axes[axis] < 0 && facts_is_invariant(place->operands[axis], g->body);
    if (is_uniform && facts_differ(place->operands[axis], sum->operands[axis])) return false;
  }
  return true;
}

static bool can_recompute(Gather *g, const IrInst *value) {
  if (!ir_is_inside(value, g->body) || value->op == IR_PARAM) return true;
  if (++g->computed > MOST_COMPUTED) return false;
  if (value->region != g->body) return false;
  bool reads = value->op == IR_LOAD || value->op == IR_IS_ACTIVE;
  if (value->op == IR_LOAD &&
      (value->operands[0]->op != IR_PLACE || may_be_added_to(g, value->operands[0])))
    return false;
  if (value->regions[0] || (!reads && !(ir_effects(value) & IR_PURE))) return false;
  for (int k = 0; k < value->operand_count; k++)
    if (!can_recompute(g, value->operands[k])) return false;
  return true;
}

/* -- finding them ------------------------------------------------------------------------------ */

static bool is_addition(const IrInst *inst, int field) {
  return inst->op == IR_UPDATE && inst->operands[0]->op == IR_PLACE &&
         inst->operands[0]->field == field;
}

/* Does the condition only test that the element exists? The gathering loop visits no others. */
static bool tests_existence(const Gather *g, const IrInst *condition, const IrInst *place) {
  const SNode *node = g->kernel->fields.items[g->field].node;
  IrInst **of = condition->operands;
  int64_t const_like;
  if (condition->op == IR_BAND)
    return tests_existence(g, of[0], place) && tests_existence(g, of[1], place);
  if (condition->op == IR_IS_ACTIVE)
    return g->kernel->levels.items[condition->level].node == node &&
           facts_same_values(place->operand_count, of, place->operands);
  if ((condition->op != IR_GE && condition->op != IR_LT) || !ir_is_const(of[1], &const_like))
    return false;
  for (int axis = 0; axis < place->operand_count; axis++) {
    bool is_bound = condition->op == IR_GE ? const_like == 0 : const_like == node->shape[axis];
    if (is_bound && facts_same_value(of[0], place->operands[axis])) return true;
  }
  return false;
}

static bool add_addend(Gather *g, IrInst *update, IrInst *condition) {
  bool is_needed = condition && !tests_existence(g, condition, update->operands[0]);
  Addend addend = {.update = update, .condition = is_needed ? condition : NULL};
  bool is_first = !g->addends.count;
  if (update->imm != IR_UPDATE_ADD || !read_indices(g, &addend, is_first)) return false;
  vec_push(g->kernel->scratch, &g->addends, addend);
  return g->addends.count <= MOST_ADDENDS;
}

/* Collects the additions to the field in the body and in its `if`s. */
static bool find_addends(Gather *g) {
  for (IrInst *inst = g->body->first; inst; inst = inst->next) {
    if (is_addition(inst, g->field) && !add_addend(g, inst, NULL)) return false;
    if (inst->op != IR_IF || inst->regions[1]->first) continue;
    for (IrInst *at = inst->regions[0]->first; at; at = at->next)
      if (is_addition(at, g->field) && !add_addend(g, at, inst->operands[0])) return false;
  }
  int additions = 0;
  for (IrInst *inst = g->body->first; inst; inst = ir_following(inst, g->body))
    additions += is_addition(inst, g->field);
  return g->addends.count && g->addends.count == additions;
}

static bool has_offsets(const Gather *g) {
  for (int i = 0; i < g->addends.count; i++)
    for (int k = 0; k < g->body->params.count; k++)
      if (g->addends.items[i].offset[k]) return true;
  return false;
}

static bool can_gather(Gather *g) {
  const SNode *node = g->kernel->fields.items[g->field].node;
  bool is_bounded = node && node->rank;
  for (int k = 0; is_bounded && g->loop->op == IR_RANGE && k < node->rank; k++)
    is_bounded = !snode_is_unbounded(node, k);
  if (!is_bounded || !find_addends(g) || !has_offsets(g)) return false;
  if (g->loop->op == IR_ACTIVE && g->kernel->levels.items[g->loop->level].node != node)
    return false;
  for (int i = 0; i < g->addends.count; i++) {
    const Addend *addend = &g->addends.items[i];
    if (!can_recompute(g, addend->update->operands[1])) return false;
    if (addend->condition && !can_recompute(g, addend->condition)) return false;
  }
  return true;
}

/* -- the loop that gathers --------------------------------------------------------------------- */

static IrInst *is_between(IrBuilder *b, IrInst *index, IrInst *begin, IrInst *end) {
  IrInst *from = ir_binary(b, IR_GE, index, ir_convert(b, begin, index->type));
  return ir_binary(b, IR_BAND, from, ir_binary(b, IR_LT, index, ir_convert(b, end, index->type)));
}

/* Emits the test whether these indices are an iteration of the loop; NULL: they always are. */
static IrInst *is_iteration(const Gather *g, IrBuilder *b, const Addend *addend,
                            IrInst *const *indices) {
  IrInst *condition = NULL;
  bool is_moved = false;
  for (int k = 0; k < g->body->params.count; k++) {
    is_moved |= addend->offset[k] != 0;
    if (g->loop->op == IR_RANGE)
      condition = rewrite_both(
          b, condition,
          is_between(b, indices[k], g->loop->operands[2 * k], g->loop->operands[2 * k + 1]));
  }
  if (g->loop->op == IR_RANGE || !is_moved) return condition;
  const SNode *node = g->kernel->levels.items[g->loop->level].node;
  condition = address_inside(b, node, indices);
  return rewrite_both(b, condition, ir_is_active(b, node, indices));
}

static void emit_addend(Gather *g, IrBuilder *b, const Addend *addend, IrInst *sum,
                        const IrRegion *body) {
  IrInst *indices[SNODE_MAX_AXES];
  IrMap *map = ir_map(g->kernel->scratch, g->kernel);
  for (int k = 0; k < g->body->params.count; k++) {
    IrInst *index = body->params.items[k];
    indices[k] = addend->offset[k]
                     ? ir_binary(b, IR_SUB, index, ir_const_like(b, index, addend->offset[k]))
                     : index;
    ir_map_put(map, g->body->params.items[k], indices[k]);
  }
  IrBuilder in = *b;
  IrInst *condition = is_iteration(g, b, addend, indices);
  if (condition) in.region = ir_if(b, condition)->regions[0];
  if (addend->condition) {
    IrInst *choice = ir_if(&in, rewrite_recompute(&in, addend->condition, g->body, map));
    in.region = choice->regions[0];
  }
  IrInst *value = rewrite_recompute(&in, addend->update->operands[1], g->body, map);
  ir_set(&in, sum, ir_binary(&in, IR_ADD, ir_get(&in, sum), value));
}

/* The extent of the field along the axis whose index is this parameter of the loop. */
static int64_t extent_along(const Gather *g, int parameter) {
  const SNode *node = g->kernel->fields.items[g->field].node;
  int axis = 0;
  while (axis < node->rank && g->axes[axis] != parameter) axis++;
  ASSERT(axis < node->rank, "each parameter of the loop is in one index (read_indices)");
  return node->shape[axis];
}

/* Emits a range over all elements that some iteration adds to. */
static IrInst *emit_range(const Gather *g, IrBuilder *b) {
  IrInst *bounds[2 * SNODE_MAX_AXES];
  int count = g->body->params.count;
  for (int k = 0; k < count; k++) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int i = 0; i < g->addends.count; i++) {
      int64_t offset = g->addends.items[i].offset[k];
      if (offset < low) low = offset;
      if (offset > high) high = offset;
    }
    IrInst *begin = g->loop->operands[2 * k], *end = g->loop->operands[2 * k + 1];
    IrInst *first = ir_binary(b, IR_ADD, begin, ir_const_like(b, begin, low));
    IrInst *last = ir_binary(b, IR_ADD, end, ir_const_like(b, end, high));
    bounds[2 * k] = ir_binary(b, IR_MAX, first, ir_const_like(b, first, 0));
    bounds[2 * k + 1] = ir_binary(b, IR_MIN, last, ir_const_like(b, last, extent_along(g, k)));
  }
  return ir_range(b, count, bounds, g->body->params.items[0]->type);
}

static IrInst *emit_sum(Gather *g, IrBuilder *b, const IrRegion *body) {
  Type type = g->addends.items[0].update->operands[1]->type;
  IrInst *sum = ir_var(b, type);
  ir_set(b, sum, ir_zero(b, type));
  for (int i = 0; i < g->addends.count; i++) {
    b->line = g->addends.items[i].update->line;
    b->column = g->addends.items[i].update->column;
    emit_addend(g, b, &g->addends.items[i], sum, body);
  }
  return ir_get(b, sum);
}

/* Adds the sum to the iteration's element, unless a uniform index is outside the shape. */
static void emit_update(const Gather *g, IrBuilder *b, IrInst *value, const IrRegion *body) {
  const IrInst *place = g->addends.items[0].update->operands[0];
  const SNode *node = g->kernel->fields.items[g->field].node;
  IrInst *indices[SNODE_MAX_AXES], *condition = NULL;
  for (int axis = 0; axis < place->operand_count; axis++) {
    bool is_uniform = g->axes[axis] < 0;
    indices[axis] = is_uniform ? place->operands[axis] : body->params.items[g->axes[axis]];
    if (is_uniform && !snode_is_unbounded(node, axis))
      condition = rewrite_both(b, condition,
                               is_between(b, indices[axis], ir_const_like(b, indices[axis], 0),
                                          ir_const_like(b, indices[axis], node->shape[axis])));
  }
  IrBuilder in = *b;
  if (condition) in.region = ir_if(b, condition)->regions[0];
  ir_update(&in, IR_UPDATE_ADD, ir_place(&in, g->field, indices), value);
}

/* Moves the computation of uniform indices before the loop. */
static void hoist_uniform_indices(Gather *g) {
  const IrInst *place = g->addends.items[0].update->operands[0];
  IrMap *copies = ir_map(g->kernel->scratch, g->kernel);
  for (int axis = 0; axis < place->operand_count; axis++) {
    if (g->axes[axis] >= 0 || !ir_is_inside(place->operands[axis], g->body)) continue;
    IrRegion *outside = ir_region_create(g->kernel, NULL);
    IrBuilder b = rewrite_inside(g->kernel, outside, g->loop);
    IrInst *index = rewrite_recompute(&b, place->operands[axis], g->body, copies);
    rewrite_move_to(outside->first, &(IrBuilder){.before = g->loop});
    ir_set_operand((IrInst *)place, axis, index);
  }
}

static void gather_field(Gather *g) {
  hoist_uniform_indices(g);
  IrBuilder b = rewrite_before(g->kernel, g->loop);
  IrInst *loop = g->loop->op == IR_ACTIVE ? ir_active(&b, g->loop->level) : emit_range(g, &b);
  loop->block = g->loop->block;
  IrRegion *body = loop->regions[0];
  IrBuilder in = rewrite_inside(g->kernel, body, g->loop);
  emit_update(g, &in, emit_sum(g, &in, body), body);
  for (int i = 0; i < g->addends.count; i++) ir_delete(g->addends.items[i].update);
}

/* -- all loops --------------------------------------------------------------------------------- */

static bool gather_loop(IrKernel *kernel, IrInst *loop) {
  bool has_changed = false;
  for (int field = 0; field < kernel->fields.count; field++) {
    Gather g = {.kernel = kernel, .loop = loop, .body = loop->regions[0], .field = field};
    if (!can_gather(&g)) continue;
    gather_field(&g);
    has_changed = true;
  }
  return has_changed;
}

static bool gather_region(IrKernel *kernel, IrRegion *region) {
  bool has_changed = false;
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_parallel = ir_is_unordered(inst);
    if (is_parallel) has_changed |= gather_loop(kernel, inst);
    for (int k = 0; !is_parallel && k < IR_MAX_REGIONS && inst->regions[k]; k++)
      has_changed |= gather_region(kernel, inst->regions[k]);
  }
  return has_changed;
}

bool gather_scatters(IrKernel *kernel) { return gather_region(kernel, kernel->body); }
