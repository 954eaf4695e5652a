/* bounds.c - bounds check elimination: marks places that are proven inside their shape.
 *
 * A body's index has known limits if the loop's bounds are constants, or if the loop visits cells
 * of a level; then index + range is compared with the shape at compile time. If the bounds are
 * known only at run time, a task over a range gets a second body instead: in the *interior* box
 * every place of the form index + constant is inside, so code generation runs checked | interior |
 * checked pieces.
 *
 *     begin ...... interior_begin ============ interior_end ...... end
 *        body              interior                    body
 *
 * An axis of the box without a limit reaches from INT64_MIN to INT64_MAX. Extents of arrays are
 * known only at launch: an end that depends on one is a limit of the task, in a slot of the frame.
 * A loop that ends at the extent itself needs no limit. An index that all iterations share, as in
 * `x[t + 1][i]`, is compared by the launch: the interior is empty unless it is inside. Comparisons
 * of indices that the interior decides become constants there, and clamped indices are no longer
 * clamped (guards.h). Sets PLACE.in_bounds, task->interior, task->limits. */
#include "base/bits.h"
#include "pass/address/address.h"
#include "pass/analysis/effects.h"
#include "pass/loops/guards.h"
#include "pass/analysis/limits.h"
#include "pass/rewrite.h"

enum {
  LARGEST_COPY = 2000, /* insts of a body, since it is compiled twice */
  MOST_LIMITS = 16,    /* ends of the box that a launch computes; each is a minimum per piece */
  MOST_SHIFTED = 64,   /* different shifted indices, each a few ops of the host region */
  MOST_SHARED = 8,     /* indices that all iterations share */
  MOST_VECTORS = 4     /* of a row of words, which then has no interior */
};

/* An index that all iterations share: a value of the launch plus low .. high. */
typedef struct Shared {
  IndexRange range;
  int64_t size;
} Shared;

typedef struct Box {
  int64_t begin[SNODE_MAX_AXES], end[SNODE_MAX_AXES];
  bool reaches_above[SNODE_MAX_AXES]; /* some index is larger than the loop's */
  int limit_count;
  IrLimit limits[MOST_LIMITS];
  int shifted_count;
  ShiftedIndex shifted[MOST_SHIFTED];
  int shared_count;
  Shared shared[MOST_SHARED];
} Box;

typedef struct Bounds {
  IrKernel *kernel;
  IrTask *task;  /* NULL: the host region, or a function */
  BodyLimits at; /* of the task's body */
  const Effects *effects;
  Box box;
  VEC(IrInst *) provable; /* places that are inside in the box */
  VEC(IndexGuard) guards; /* comparisons that the box decides */
  VEC(int) guard_slots;   /* slots of the values that they compare with */
  int number;             /* of the task */
  bool saves;             /* some place's check is a relevant part of its cost */
  bool chooses;           /* a comparison selects some index */
} Bounds;

/* -- one index, one place ---------------------------------------------------------------------- */

static bool is_inside(const BodyLimits *at, const EffectPlace *place) {
  for (int axis = 0; axis < place->inst->operand_count; axis++)
    if (!limits_prove(at, place->inst, axis, &place->index[axis])) return false;
  return true;
}

static void mark_inside(const BodyLimits *at, const Effects *effects) {
  for (int i = 0; i < effects->places.count; i++) {
    const EffectPlace *place = effects->places.items[i];
    if (!place->index || place->function != at->body || place->is_called || place->inst->in_bounds)
      continue;
    place->inst->in_bounds = at->kernel->unchecked || is_inside(at, place);
  }
}

/* -- the interior ------------------------------------------------------------------------------ */

/* Ends the box where the index reaches the extent; param -1: the index is a constant. False: there
 * are too many limits. */
static bool add_limit(int param, int64_t high, int slot, Type type, Box *box) {
  DEBUG_ASSERT(slot >= 0 && param >= -1, "a limit compares an index, or a constant, with a slot");
  if (high < INT32_MIN || high > INT32_MAX) return false;
  for (int i = 0; i < box->limit_count; i++) {
    IrLimit *known = &box->limits[i];
    if (known->axis != param || known->slot != slot) continue;
    known->less = (int32_t)max_i64(known->less, high);
    return true;
  }
  if (box->limit_count == MOST_LIMITS) return false;
  box->limits[box->limit_count++] =
      (IrLimit){.axis = param, .slot = slot, .less = (int32_t)high, .type = type};
  return true;
}

static bool limit_by_extent(int param, int64_t high, const IrArray *array, int axis, Box *box) {
  return add_limit(param, high, array->extents + axis, address_extent_type(array), box);
}

/* Lets the launch limit the box (guards.h). False: it is no shifted index, or there are too many.
 * */
static bool add_shifted(const Bounds *b, const IndexRange *range, int64_t size,
                        const IrArray *array, int axis, Box *box) {
  ShiftedIndex shifted;
  if (!type_is(b->task->index, TYPE_I32) || !guards_read_shifted(b->at.body, range, size, &shifted))
    return false;
  shifted.array = array;
  shifted.axis = array ? axis : 0;
  for (int i = 0; i < box->shifted_count; i++)
    if (guards_is_same_shift(&box->shifted[i], &shifted)) return true;
  if (box->shifted_count == MOST_SHIFTED) return false;
  box->shifted[box->shifted_count++] = shifted;
  return true;
}

static bool is_shared_index(const IndexRange *range) {
  return range->known && range->base && ranges_is_near(range) &&
         facts_is_launch_invariant(range->base) && type_bits(range->base->type) <= 32 &&
         !type_is(range->base->type, TYPE_U32);
}

/* Lets the launch empty the box unless the shared index is inside. */
static bool add_shared(const IndexRange *range, int64_t size, Box *box) {
  for (int i = 0; i < box->shared_count; i++) {
    Shared *known = &box->shared[i];
    if (known->size != size || !facts_same_value(known->range.base, range->base)) continue;
    known->range.low = min_i64(known->range.low, range->low);
    known->range.high = max_i64(known->range.high, range->high);
    return true;
  }
  if (box->shared_count == MOST_SHARED) return false;
  box->shared[box->shared_count++] = (Shared){*range, size};
  return true;
}

/* Narrows the box so that the index is inside; false if no box does that. */
static bool narrow_axis(const Bounds *b, const EffectPlace *place, int axis,
                        const IndexRange *range, Box *box) {
  int64_t size;
  const IrArray *array = limits_array(b->kernel, place->inst, axis, &size);
  int param = range->known ? ranges_param(b->at.body, range->base) : -1;
  if (array && range->known && !range->base)
    return range->low >= 0 && limit_by_extent(-1, range->high, array, axis, box);
  if (!array && is_shared_index(range) && ranges_hold_below(range, size))
    return add_shared(range, size, box);
  if (param < 0) return add_shifted(b, range, size, array, axis, box);
  if (!ranges_hold_below(range, size)) return false;
  box->begin[param] = max_i64(box->begin[param], -range->low);
  box->reaches_above[param] |= range->high > 0;
  if (array) return limit_by_extent(param, range->high, array, axis, box);
  box->end[param] = min_i64(box->end[param], size - range->high);
  return box->begin[param] < box->end[param];
}

/* Is it the index of a serial loop in the body? Those are left to `hoist_checks`. */
static bool is_inner_index(const Bounds *b, const IndexRange *range) {
  return range->known && range->base && range->base->op == IR_PARAM &&
         ranges_param(b->at.body, range->base) < 0;
}

static bool is_same_box(const Box *a, const Box *b) {
  if (memcmp(a->begin, b->begin, sizeof a->begin) || memcmp(a->end, b->end, sizeof a->end) ||
      a->limit_count != b->limit_count || a->shifted_count != b->shifted_count ||
      a->shared_count != b->shared_count)
    return false;
  for (int i = 0; i < a->limit_count; i++)
    if (a->limits[i].less != b->limits[i].less) return false;
  for (int i = 0; i < a->shared_count; i++)
    if (a->shared[i].range.low != b->shared[i].range.low ||
        a->shared[i].range.high != b->shared[i].range.high)
      return false;
  return true;
}

/* Finds the index's value in most iterations: `i + 1 >= n ? i + 1 - n : i + 1` and
 * `min(i + 1, n - 1)` usually are i + 1; selects may be nested. */
static bool find_usual_range(const Bounds *b, const EffectPlace *place, int axis,
                             IndexRange *range) {
  const IrInst *index = place->inst->operands[axis];
  if (clamps_index(b->at.body, index, range) >= 0) return true;
  *range = place->index[axis];
  const IrInst *usual = index, *next;
  while (usual->op == IR_SELECT && (next = guards_usual(b->at.body, usual, b->at.limits)))
    usual = next;
  if (usual == index) return false;
  *range = ranges_of(usual);
  return true;
}

/* Narrows the box for the place. A place that depends on comparisons is proven in prove_chosen,
 * after the guards have decided them. */
static void narrow_for_place(Bounds *b, const EffectPlace *place) {
  DEBUG_ASSERT(place->index && place->function == b->at.body, "the place is seen from the body");
  Box box = b->box;
  bool is_proven = true;
  for (int axis = 0; axis < place->inst->operand_count; axis++) {
    IndexRange range;
    if (limits_prove(&b->at, place->inst, axis, &place->index[axis])) continue;
    bool is_chosen = find_usual_range(b, place, axis, &range);
    b->chooses |= is_chosen;
    is_proven &= !is_chosen;
    if (narrow_axis(b, place, axis, &range, &box)) continue;
    if (!is_inner_index(b, &range)) return;
    is_proven = false;
  }
  bool is_narrower = !is_same_box(&box, &b->box);
  b->box = box;
  if (is_proven) vec_push(b->kernel->scratch, &b->provable, place->inst);
  else if (!is_narrower) return;
  /* next to a look-up of slots, the cost of a check is negligible */
  const SNode *node = b->kernel->fields.items[place->inst->field].node;
  b->saves |= !node || snode_node_level(node) == NULL;
}

/* Does the comparison only matter near an end of the loop? Any other one would make the interior
 * much smaller. */
static bool is_at_end(const Bounds *b, const IndexGuard *guard) {
  bool is_own_end =
      guard->with->op == IR_FRAME_GET && b->at.limits[guard->param].end == (int)guard->with->imm;
  IrOp op = guard->decided->op;
  bool is_order = op != IR_EQ && op != IR_NE && op != IR_MIN;
  return is_own_end || (is_order && (guard->less > 0 || b->box.reaches_above[guard->param]));
}

static void record_guard(Bounds *b, IrInst *inst) {
  IndexGuard guard;
  if (!guards_read(b->at.body, inst, &guard) || !is_at_end(b, &guard)) return;
  int slot = -1;
  for (int i = 0; i < b->guards.count; i++)
    if (b->guards.items[i].with == guard.with) slot = b->guard_slots.items[i];
  if (slot < 0 && b->box.limit_count == MOST_LIMITS) return;
  if (slot < 0) slot = guards_slot(b->kernel, b->number, guard.with);
  if (!add_limit(guard.param, guard.less, slot, TYPE(I64), &b->box)) return;
  b->box.begin[guard.param] = max_i64(b->box.begin[guard.param], -((int64_t)1 << 30));
  vec_push(b->kernel->scratch, &b->guards, guard);
  vec_push(b->kernel->scratch, &b->guard_slots, slot);
}

static void record_clamp(Bounds *b, const IrInst *inst) {
  IndexClamp clamp;
  if (!clamps_read(b->at.body, inst, b->at.limits, &clamp)) return;
  int64_t begin = max_i64(b->box.begin[clamp.param], clamp.begin),
          end = min_i64(b->box.end[clamp.param], clamp.end);
  if (begin >= end) return;
  b->saves |= begin != b->box.begin[clamp.param] || end != b->box.end[clamp.param];
  b->box.begin[clamp.param] = begin;
  b->box.end[clamp.param] = end;
}

/* Proves places whose indices were selected by comparisons, or clamped, which the interior has
 * decided now. */
static void prove_chosen(const BodyLimits *at, IrInst *place) {
  bool is_all = place->op == IR_PLACE && !place->in_bounds;
  for (int axis = 0; axis < place->operand_count && is_all; axis++) {
    int64_t which;
    IrInst *index = place->operands[axis];
    while (index->op == IR_SELECT && ir_is_const(index->operands[0], &which))
      index = index->operands[which ? 1 : 2];
    ir_set_operand(place, axis, index);
    IndexRange range = ranges_of(index);
    is_all = limits_prove(at, place, axis, &range);
  }
  if (is_all) place->in_bounds = true;
}

/* Makes the launch check the smallest and the largest value of a shared index. */
static void limit_shared(Bounds *b, const Shared *shared) {
  IrBuilder host = guards_host(b->kernel, b->number);
  IrInst *value = guards_value(&host, shared->range.base);
  int64_t least = shared->range.low + 1, most = shared->size - shared->range.high;
  IrInst *above = ir_binary_const(&host, IR_ADD, value, least);
  IrInst *below = ir_binary(&host, IR_SUB, ir_i64(&host, most), value);
  int slot = guards_set(&host, ir_binary(&host, IR_MIN, above, below));
  IrLimit limit = {.axis = -1, .slot = slot, .type = TYPE(I64)};
  vec_push(b->kernel->scratch, &b->task->limits, limit);
}

/* Folds comparisons of indices that the box, or the launch, has decided. */
static void decide_comparisons(const Bounds *b, IrRegion *interior) {
  KnownValue known[SNODE_MAX_AXES + MOST_SHARED];
  int count = 0;
  for (int axis = 0; axis < b->task->axis_count; axis++)
    known[count++] = (KnownValue){.base = interior->params.items[axis],
                                  .low = max_i64(b->box.begin[axis], INT32_MIN),
                                  .high = min_i64(b->box.end[axis] - 1, INT32_MAX)};
  for (int i = 0; i < b->box.shared_count; i++) {
    const Shared *shared = &b->box.shared[i];
    known[count++] = (KnownValue){.base = shared->range.base,
                                  .low = -shared->range.low,
                                  .high = shared->size - 1 - shared->range.high};
  }
  guards_decide(interior, known, count);
}

static void set_interior(Bounds *b, const IrMap *copies) {
  IrTask *task = b->task;
  DEBUG_ASSERT(task->interior && !task->limits.count, "the interior is new");
  for (int i = 0; i < b->provable.count; i++) {
    IrInst *place = ir_mapped(copies, b->provable.items[i]);
    place->in_bounds = true;
    guards_widen(b->kernel, task->interior, place);
  }
  for (int i = 0; i < b->guards.count; i++)
    guards_become(ir_mapped(copies, b->guards.items[i].decided), b->guards.items[i].holds);
  task->has_interior = true;
  for (int axis = 0; axis < task->axis_count; axis++) {
    task->interior_begin[axis] = b->box.begin[axis];
    task->interior_end[axis] = b->box.end[axis];
  }
  for (int i = 0; i < b->box.limit_count; i++)
    vec_push(b->kernel->scratch, &task->limits, b->box.limits[i]);
  for (int i = 0; i < b->box.shared_count; i++) limit_shared(b, &b->box.shared[i]);
  for (int axis = 0; axis < task->axis_count; axis++)
    guards_limit(b->kernel, b->number, axis, b->box.shifted, b->box.shifted_count);
  decide_comparisons(b, task->interior);
  BodyLimits inside = b->at;
  inside.body = task->interior;
  if (!b->chooses) return;
  for (IrInst *inst = task->interior->first; inst; inst = ir_following(inst, task->interior))
    prove_chosen(&inside, inst);
}

static void make_interior(Bounds *b) {
  IrTask *task = b->task;
  for (int axis = 0; axis < SNODE_MAX_AXES; axis++)
    b->box.begin[axis] = INT64_MIN, b->box.end[axis] = INT64_MAX;
  for (int i = 0; i < b->effects->places.count; i++)
    if (!b->effects->places.items[i]->inst->in_bounds && !b->effects->places.items[i]->is_called)
      narrow_for_place(b, b->effects->places.items[i]);
  IrInst *first = type_is(task->index, TYPE_I32) ? task->body->first : NULL;
  for (IrInst *inst = first; inst; inst = ir_following(inst, task->body)) record_clamp(b, inst);
  if (!b->saves || rewrite_count(task->body) > LARGEST_COPY) return;
  for (IrInst *inst = first; inst; inst = ir_following(inst, task->body)) record_guard(b, inst);
  IrMap *copies = ir_map(b->kernel->scratch, b->kernel);
  task->interior = ir_copy_region(b->kernel, task->body, NULL, copies);
  set_interior(b, copies);
}

/* Does a row of words have only a few vectors? Then a mask costs less than an interior. */
static bool has_short_rows(const PassContext *ctx, const Bounds *b) {
  const Limits *along = &b->at.limits[b->task->axis_count - 1];
  int64_t most = MOST_VECTORS * (ctx->vector_bytes / 4);
  return b->task->has_words && along->known && along->high - along->low < most;
}

bool pass_bounds(PassContext *ctx, IrKernel *kernel, Error *err) {
  BodyLimits host = limits_of_body(kernel, NULL, kernel->body);
  mark_inside(&host, effects_of(ctx, kernel, NULL));
  for (int i = 0; i < kernel->functions.count; i++) {
    host.body = kernel->functions.items[i]->body;
    mark_inside(&host,
                effects_collect(ctx->scratch, kernel, kernel->functions.items[i]->body, NULL));
  }
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    Bounds b = {.kernel = kernel, .task = task, .number = i};
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    b.at = limits_of_body(kernel, task, task->body);
    b.effects = effects_of(ctx, kernel, task);
    mark_inside(&b.at, b.effects);
    bool may_split = task->kind == TASK_RANGE && !task->interior && !has_short_rows(ctx, &b);
    if (may_split && guards_is_run(kernel, i)) make_interior(&b);
  }
  return true;
}
