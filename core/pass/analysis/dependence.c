/* dependence.c - see dependence.h.
 *
 *   a at (i + 1, 3 * j, n)     1 * di           = 1
 *   b at (i,     3 * j, n)     3 * dj           = 0     =>    b meets a at (1, ?) or nowhere
 *                              0                = 0
 *
 * Each axis gives one equation, modulo the width of its sums: the sum of factor * distance over all
 * indices of the nest is the constant of `a` minus that of `b`, if everything else in both is
 * equal. An equation with one unknown distance has one solution if its factor is odd. An even one
 * holds modulo less: 2 * di = 0 modulo 2^32 also where the sum has wrapped, 2^31 iterations later,
 * which a loop whose index is never negative does not reach. A known distance goes into the other
 * equations, until nothing changes; one that cannot hold proves that the two never meet.
 *
 * An equation with several unknown distances has a solution for one of them if the others, and what
 * else may differ, are too small to make up for a step of that one: in 64 * di + dj = 0 with dj
 * from -63 to 63, di can only be 0. This needs the extents of the loops, which also prove that the
 * sum has not wrapped.
 *
 * Branches give one more equation: if both places are reached only where (i + j) % 2 == colour,
 * di + dj = 0 modulo 2, which the distance (1, 0) of their indices contradicts. */
#include "pass/analysis/dependence.h"

#include "base/bits.h"
#include "pass/analysis/limits.h"
#include "pass/rewrite.h"

/* Different places of one field that are compared pair by pair; with more, nothing is proven. */
enum { MOST_PLACES_COMPARED = 256 };
enum { MOST_GUARD_BITS = 5 }; /* of a remainder, so that every type holds it */
/* Sums below are bounded by this, so that sums and differences of two of them do not overflow. */
static const int64_t largest_sum = (int64_t)1 << 61;

/* -- the nest ---------------------------------------------------------------------------------- */

/* Does the loop count up from a constant that is not negative? */
static bool counts_up_from_constant(const IrInst *loop) {
  int64_t begin;
  return loop && facts_step(loop) > 0 && ir_is_const(loop->operands[0], &begin) && begin >= 0 &&
         type_is_signed(loop->operands[0]->type);
}

/* The number of integers from the first index of a FOR between constants to its last; else 0. */
static int64_t extent_of(const IrInst *loop) {
  int64_t begin, last, distance;
  if (!loop || !facts_bounds(loop, &begin, &last) || __builtin_sub_overflow(last, begin, &distance))
    return 0;
  distance = distance < 0 ? -distance : distance;
  return distance < largest_sum ? distance + 1 : 0;
}

LoopNest dependence_nest(const IrRegion *body) {
  LoopNest nest = {.body = body,
                   .count = body->params.count,
                   .nonnegative = counts_up_from_constant(body->owner)};
  ASSERT(nest.count <= SNODE_MAX_AXES, "a loop has at most as many indices as a field has axes");
  for (int k = 0; k < nest.count; k++) nest.indices[k] = body->params.items[k];
  nest.extents[0] = extent_of(body->owner);
  return nest;
}

LoopNest dependence_nest_of_task(const IrKernel *kernel, const IrTask *task, const IrRegion *body) {
  Limits limits[SNODE_MAX_AXES];
  LoopNest nest = dependence_nest(body);
  DEBUG_ASSERT(body == task->body || body == task->interior, "the loop is the task's");
  limits_find(kernel, task, limits);
  for (int k = 0; k < nest.count; k++) {
    nest.nonnegative |= (unsigned)(limits[k].low >= 0) << k;
    int64_t extent;
    if (limits[k].known && !__builtin_sub_overflow(limits[k].high, limits[k].low, &extent) &&
        extent >= 0 && extent < largest_sum)
      nest.extents[k] = extent + 1;
  }
  return nest;
}

LoopNest dependence_nest_of_two(const IrRegion *body, const IrInst *inner) {
  LoopNest nest = dependence_nest(body);
  ASSERT(nest.count < SNODE_MAX_AXES, "there is room for one more index");
  DEBUG_ASSERT(inner->op == IR_FOR && ir_is_inside(inner, body), "the inner loop is in the body");
  nest.nonnegative |= (unsigned)counts_up_from_constant(inner) << nest.count;
  nest.extents[nest.count] = extent_of(inner);
  nest.indices[nest.count++] = ir_index(inner);
  return nest;
}

static unsigned all_indices(const LoopNest *nest) { return (1u << nest->count) - 1; }

/* -- indices as sums --------------------------------------------------------------------------- */

static int index_number(const LoopNest *nest, const IrInst *value) {
  for (int k = 0; k < nest->count; k++)
    if (nest->indices[k] == value) return k;
  return -1;
}

/* Adds a term that is not the same in all iterations to the sum's range, if its own is constant. */
static bool add_varying(IndexSum *sum, const IrInst *value, int64_t factor) {
  IndexRange range = ranges_of(value);
  int64_t low, high;
  if (!range.known || range.base || __builtin_mul_overflow(factor, range.low, &low) ||
      __builtin_mul_overflow(factor, range.high, &high))
    return false;
  if (__builtin_add_overflow(sum->low, min_i64(low, high), &sum->low) ||
      __builtin_add_overflow(sum->high, max_i64(low, high), &sum->high))
    return false;
  return sum->low > -largest_sum && sum->high < largest_sum;
}

/* Splits the terms: indices of the nest go into `factors`, other terms that vary into low .. high,
 * and invariant ones into `rest`. */
static IndexSum split_terms(const LoopNest *nest, const IrInst *index, const IrRegion *scope) {
  IndexSum sum = {0};
  Affine all;
  if (!facts_affine(index, scope, &all)) return sum;
  sum.rest = (Affine){.bits = all.bits, .constant = all.constant};
  for (int i = 0; i < all.count; i++) {
    int k = index_number(nest, all.values[i]);
    if (k >= 0) {
      sum.factors[k] = all.factors[i];
      continue;
    }
    if (!facts_is_invariant(all.values[i], nest->body)) {
      if (!add_varying(&sum, all.values[i], all.factors[i])) return sum;
      continue;
    }
    sum.rest.values[sum.rest.count] = all.values[i];
    sum.rest.factors[sum.rest.count++] = all.factors[i];
  }
  sum.is_known = true;
  return sum;
}

static void fill_sums(IndexSums *axes, const LoopNest *nest, int count, IrInst *const *indices) {
  for (int axis = 0; axis < count; axis++)
    axes[axis] = (IndexSums){.index = indices[axis],
                             .opened = split_terms(nest, indices[axis], NULL),
                             .inside = split_terms(nest, indices[axis], nest->body)};
}

PlaceSums dependence_sums(Scratch *scratch, const LoopNest *nest, int count,
                          IrInst *const *indices) {
  IndexSums *axes = scratch_array(scratch, IndexSums, count);
  fill_sums(axes, nest, count, indices);
  return (PlaceSums){.nest = nest, .axes = axes, .axis_count = count};
}

/* -- guards ------------------------------------------------------------------------------------ */

/* The number whose lowest *bits bits the value is, perhaps converted; otherwise NULL. */
static const IrInst *number_of_remainder(const IrInst *value, int *bits) {
  while (value->op == IR_CONVERT && !type_is_bool(value->type)) value = value->operands[0];
  if (!type_is_integer(value->type)) return NULL;
  const IrInst *number = facts_without_remainder(value, bits);
  return *bits >= 1 && *bits <= MOST_GUARD_BITS ? number : NULL;
}

/* Reads the guard from a condition that holds where the place is reached, or from a part of it. */
static bool read_guard(const LoopNest *nest, const IrInst *condition, PlaceGuard *out) {
  while (condition && condition->op == IR_GET) condition = facts_implied_by(condition->operands[0]);
  if (!condition) return false;
  if (condition->op == IR_BAND && type_is_bool(condition->type))
    return read_guard(nest, condition->operands[0], out) ||
           read_guard(nest, condition->operands[1], out);
  for (int k = 0; k < 2 && condition->op == IR_EQ; k++) {
    int bits;
    const IrInst *number = number_of_remainder(condition->operands[k], &bits),
                 *remainder = condition->operands[1 - k];
    if (!number || !facts_is_invariant(remainder, nest->body)) continue;
    *out = (PlaceGuard){condition, remainder, split_terms(nest, number, NULL)};
    out->sum.rest.bits = (int)min_i64(out->sum.rest.bits, bits);
    return out->sum.is_known;
  }
  return false;
}

/* The guard of the innermost branch around the inst that gives one; NULL: none does. */
static const PlaceGuard *guard_of(Scratch *scratch, const LoopNest *nest, const IrInst *inst) {
  PlaceGuard guard;
  for (const IrRegion *in = inst->region; in != nest->body && in->owner; in = in->owner->region) {
    if (in->owner->op != IR_IF || in != in->owner->regions[0] ||
        !read_guard(nest, in->owner->operands[0], &guard))
      continue;
    PlaceGuard *found = scratch_array(scratch, PlaceGuard, 1);
    *found = guard;
    return found;
  }
  return NULL;
}

/* -- equations --------------------------------------------------------------------------------- */

/* The sum of factors[k] * distance k + constant + a number in low .. high = 0, modulo 2^bits. */
typedef struct Equation {
  const int64_t *factors;
  int64_t constant, low, high;
  int bits;
  unsigned unknown; /* a bit per distance in it that is unknown */
} Equation;

static bool make_equation(const LoopNest *nest, const IndexSum *a, const IndexSum *b,
                          Equation *out) {
  if (!a->is_known || !b->is_known) return false;
  for (int k = 0; k < nest->count; k++)
    if (a->factors[k] != b->factors[k]) return false;
  *out = (Equation){.factors = a->factors,
                    .low = b->low - a->high,
                    .high = b->high - a->low,
                    .bits = (int)min_i64(a->rest.bits, b->rest.bits)};
  return facts_affine_distance(&a->rest, &b->rest, &out->constant);
}

static bool find_equation(const PlaceSums *a, const PlaceSums *b, int axis, Equation *out) {
  return make_equation(a->nest, &a->axes[axis].opened, &b->axes[axis].opened, out) ||
         make_equation(a->nest, &a->axes[axis].inside, &b->axes[axis].inside, out);
}

/* Substitutes the known distances into the equation, which then holds modulo their widths, and
 * records which distances are unknown. False: a number overflows. */
static bool substitute(const Distance *d, const LoopNest *nest, Equation *e) {
  for (int k = 0; k < nest->count; k++) {
    int64_t product;
    if (!e->factors[k]) continue;
    if (!(d->known >> k & 1)) {
      e->unknown |= 1u << k;
      continue;
    }
    if (__builtin_mul_overflow(e->factors[k], d->by[k], &product) ||
        __builtin_add_overflow(e->constant, product, &e->constant))
      return false;
    if (d->by[k]) e->bits = (int)min_i64(e->bits, d->bits[k]);
  }
  return true;
}

static bool cannot_wrap(int64_t constant, int bits) {
  int64_t half = bits >= 64 ? INT64_MAX : (int64_t)1 << (bits - 1);
  return constant < half && constant > -half;
}

/* The largest difference between two values of an index. */
static int64_t span_of(const LoopNest *nest, int k) {
  int bits = type_bits(nest->indices[k]->type) - (nest->nonnegative >> k & 1);
  if (nest->extents[k]) return nest->extents[k] - 1;
  return bits <= 32 ? ((int64_t)1 << bits) - 1 : largest_sum;
}

static void set_distance(Distance *d, const LoopNest *nest, int k, int64_t by, int bits) {
  if (nest->extents[k] && (by >= nest->extents[k] || by <= -nest->extents[k])) {
    d->never = true;
    return;
  }
  d->known |= 1u << k;
  d->by[k] = by;
  d->bits[k] = bits;
}

/* Solves factor * distance + constant = 0. Powers of two in the factor leave fewer bits of the
 * distance known; they suffice if the index has no more bits than that. */
static bool solve_for(Distance *d, const LoopNest *nest, int open, const Equation *e) {
  int64_t factor = e->factors[open];
  int twos = __builtin_ctzll((uint64_t)factor), bits = e->bits - twos;
  int index_bits = type_bits(nest->indices[open]->type) - (nest->nonnegative >> open & 1);
  if (bits <= 0) return false;
  if (e->constant % ((int64_t)1 << twos)) {
    d->never = true;
    return false;
  }
  if (index_bits > bits || e->constant % factor) return false;
  set_distance(d, nest, open, -e->constant / factor, bits);
  return !d->never;
}

static int64_t magnitude(int64_t number) {
  if (number <= -largest_sum) return largest_sum;
  return number < 0 ? -number : number;
}

/* *bound: the largest magnitude of the sum of all unknown terms. False: the whole sum may wrap. */
static bool bound_terms(const LoopNest *nest, const Equation *e, int64_t *bound) {
  int64_t size, whole = magnitude(e->constant);
  *bound = 0;
  for (int k = 0; k < nest->count; k++) {
    if (!(e->unknown >> k & 1)) continue;
    if (__builtin_mul_overflow(magnitude(e->factors[k]), span_of(nest, k), &size) ||
        __builtin_add_overflow(*bound, size, bound) || *bound >= largest_sum)
      return false;
  }
  if (whole >= largest_sum || e->low <= -largest_sum || e->high >= largest_sum) return false;
  whole += *bound + max_i64(magnitude(e->low), magnitude(e->high));
  return e->bits > 62 || whole < (int64_t)1 << e->bits;
}

/* Solves an equation whose terms are all bounded, for the first distance that has only one possible
 * value. */
static bool solve_bounded(Distance *d, const LoopNest *nest, const Equation *e) {
  int64_t bound;
  if (!bound_terms(nest, e, &bound)) return false;
  if (!e->unknown) d->never |= e->constant + e->low > 0 || e->constant + e->high < 0;
  for (int k = 0; k < nest->count && !d->never; k++) {
    if (!(e->unknown >> k & 1)) continue;
    int64_t factor = magnitude(e->factors[k]), span = span_of(nest, k);
    int64_t others = bound - factor * span;
    int64_t first = -floor_div(e->constant + e->high + others, factor),
            last = floor_div(others - e->constant - e->low, factor);
    first = max_i64(first, -span);
    last = min_i64(last, span);
    d->never |= first > last;
    if (first != last) continue;
    set_distance(d, nest, k, e->factors[k] < 0 ? -first : first, 64);
    return !d->never;
  }
  return false;
}

/* Returns whether the equation determines a distance that was unknown. */
static bool solve(Distance *d, const LoopNest *nest, Equation e) {
  if (!substitute(d, nest, &e)) return false;
  bool is_exact = !e.low && !e.high, has_one = e.unknown && !(e.unknown & (e.unknown - 1));
  if (is_exact && !e.unknown && cannot_wrap(e.constant, e.bits)) d->never |= e.constant != 0;
  if (is_exact && has_one && cannot_wrap(e.constant, e.bits) &&
      solve_for(d, nest, __builtin_ctz(e.unknown), &e))
    return true;
  return !d->never && solve_bounded(d, nest, &e);
}

/* Does the axis agree that the places meet at this distance? */
static bool axis_agrees(const Distance *d, const PlaceSums *a, const PlaceSums *b, int axis) {
  Equation e;
  return a->axes[axis].index == b->axes[axis].index ||
         (find_equation(a, b, axis, &e) && substitute(d, a->nest, &e) && !e.unknown &&
          !e.constant && !e.low && !e.high);
}

/* Is the index the same in all iterations, also as the value of a variable that none sets? */
static bool is_steady(const IrInst *index, const IrRegion *body) {
  if (facts_is_invariant(index, body)) return true;
  if (index->op != IR_GET || ir_is_inside(index->operands[0], body)) return false;
  for (const IrUse *use = index->operands[0]->uses; use; use = use->next)
    if (use->user->op != IR_GET && ir_is_inside(use->user, body)) return false;
  return true;
}

/* Do the places have different indices on this axis in all iterations? */
static bool is_apart(const PlaceSums *a, const PlaceSums *b, int axis) {
  const IrInst *index = a->axes[axis].index, *other = b->axes[axis].index;
  return index != other && is_steady(index, a->nest->body) && is_steady(other, b->nest->body) &&
         (facts_differ(index, other) || facts_are_exchanged(index, other));
}

/* Can no two iterations at this distance reach the one place and the other? */
static bool guards_exclude(const Distance *d, const PlaceSums *a, const PlaceSums *b) {
  Equation e;
  if (!a->guard || !b->guard || !facts_same_value(a->guard->remainder, b->guard->remainder) ||
      !make_equation(a->nest, &a->guard->sum, &b->guard->sum, &e) || !substitute(d, a->nest, &e))
    return false;
  return !e.unknown && !e.low && !e.high && e.constant % ((int64_t)1 << e.bits);
}

Distance dependence_between(const PlaceSums *a, const PlaceSums *b) {
  Distance d = {0};
  DEBUG_ASSERT(a->nest->count == b->nest->count, "both are in loops with the same indices");
  if (a->axis_count < 0 || b->axis_count < 0) return d;
  DEBUG_ASSERT(a->axis_count == b->axis_count, "both are places of one field");
  for (bool more = true; more && !d.never;) {
    more = false;
    for (int axis = 0; axis < a->axis_count && !d.never; axis++) {
      Equation e;
      if (find_equation(a, b, axis, &e)) more |= solve(&d, a->nest, e);
      else d.never = is_apart(a, b, axis);
    }
  }
  d.never |= guards_exclude(&d, a, b);
  d.is_exact = true;
  for (int axis = 0; axis < a->axis_count; axis++) d.is_exact &= axis_agrees(&d, a, b, axis);
  return d;
}

bool dependence_crosses(const LoopNest *nest, const Distance *distance) {
  if (distance->never) return false;
  for (int k = 0; k < nest->count; k++)
    if (distance->known >> k & 1 && distance->by[k]) return true;
  return distance->known != all_indices(nest);
}

/* -- all places of a field --------------------------------------------------------------------- */

typedef struct ReachedPlace { /* a place, and what is done there */
  PlaceSums sums;
  unsigned verbs;
} ReachedPlace;

typedef struct ReachedSet {
  const IrKernel *kernel;
  int bodies;
  LoopNest nests[2]; /* of the task's body and of its interior */
  VEC(ReachedPlace) places;
} ReachedSet;

static LoopNest nest_of_function(const IrKernel *kernel, const IrRegion *function) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->body == function || task->interior == function)
      return dependence_nest_of_task(kernel, task, function);
  }
  return dependence_nest(function);
}

static const LoopNest *nest_of(ReachedSet *set, const IrRegion *function) {
  for (int i = 0; i < set->bodies; i++)
    if (set->nests[i].body == function) return &set->nests[i];
  ASSERT(set->bodies < 2, "a task has a body and an interior");
  LoopNest *nest = &set->nests[set->bodies++];
  *nest = nest_of_function(set->kernel, function);
  return nest;
}

static bool has_indices(const PlaceSums *a, IrInst *const *indices) {
  for (int axis = 0; axis < a->axis_count; axis++)
    if (!facts_same_value(a->axes[axis].index, indices[axis])) return false;
  return true;
}

static bool has_guard(const PlaceSums *a, const PlaceGuard *guard) {
  return a->guard && guard ? a->guard->condition == guard->condition : a->guard == guard;
}

/* `inst` reaches the place. False: there are too many different ones. */
static bool add_place(ReachedSet *set, const IrRegion *function, const IrInst *inst, int count,
                      IrInst *const *indices, unsigned verbs) {
  const LoopNest *nest = nest_of(set, function);
  const PlaceGuard *guard = guard_of(set->kernel->scratch, nest, inst);
  for (int i = 0; i < set->places.count; i++) {
    ReachedPlace *known = &set->places.items[i];
    if (known->sums.nest != nest || !has_indices(&known->sums, indices) ||
        !has_guard(&known->sums, guard))
      continue;
    known->verbs |= verbs;
    return true;
  }
  ReachedPlace added = {dependence_sums(set->kernel->scratch, nest, count, indices), verbs};
  added.sums.guard = guard;
  vec_push(set->kernel->scratch, &set->places, added);
  return set->places.count <= MOST_PLACES_COMPARED;
}

static bool may_cross(const ReachedSet *set, unsigned first, unsigned second) {
  for (int i = 0; i < set->places.count; i++)
    for (int k = i; k < set->places.count; k++) {
      const ReachedPlace *a = &set->places.items[i], *b = &set->places.items[k];
      bool matters =
          (a->verbs & first && b->verbs & second) || (a->verbs & second && b->verbs & first);
      if (!matters) continue;
      Distance distance = dependence_between(&a->sums, &b->sums);
      if (dependence_crosses(a->sums.nest, &distance)) return true;
    }
  return false;
}

bool dependence_may_carry(const Effects *effects, int field, unsigned first, unsigned second) {
  DEBUG_ASSERT(field < effects->field_count, "the field was there when effects were collected");
  ReachedSet set = {.kernel = effects->kernel};
  if (ir_is_shared(effects->kernel, field)) return true;
  for (int i = effects->fields[field].first; i >= 0; i = effects->accesses.items[i].next) {
    const EffectAccess *access = &effects->accesses.items[i];
    const EffectPlace *place = access->place;
    if (!(access->verb & (first | second))) continue;
    if (!place->index || place->is_called ||
        !add_place(&set, place->function, place->inst, place->inst->operand_count,
                   place->inst->operands, access->verb))
      return true;
  }
  return may_cross(&set, first, second);
}

bool dependence_is_own(const IrKernel *kernel, const EffectPlace *place) {
  if (!place->index || place->is_called) return false;
  LoopNest nest = nest_of_function(kernel, place->function);
  PlaceSums sums =
      dependence_sums(kernel->scratch, &nest, place->inst->operand_count, place->inst->operands);
  Distance distance = dependence_between(&sums, &sums);
  return !dependence_crosses(&nest, &distance);
}

/* -- lists ------------------------------------------------------------------------------------- */

/* All indices except the one along the list identify it; only some ops have that one. */
static bool add_list(ReachedSet *set, const SNode *dynamic, const IrRegion *function,
                     const IrInst *inst, bool has_slot) {
  IrInst *indices[SNODE_MAX_AXES];
  int own = snode_axis_position(dynamic, dynamic->axes[0]);
  for (int axis = 0; axis < dynamic->rank - 1; axis++)
    indices[axis] = inst->operands[has_slot && axis >= own ? axis + 1 : axis];
  return add_place(set, function, inst, dynamic->rank - 1, indices, EFFECT_WRITES);
}

static bool writes_list(const Effects *effects, const EffectAccess *access, const SNode *dynamic) {
  return access->verb & EFFECT_WRITES &&
         effects->kernel->fields.items[access->field].node == dynamic;
}

/* False: they may change any list. */
static bool add_calls(ReachedSet *set, const Effects *effects, const SNode *dynamic) {
  for (int i = 0; i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    bool is_above = call->node && call->node != dynamic && call->node->tree == dynamic->tree;
    if (is_above && call->changes & EFFECT_DEACTIVATES) return false;
    if (call->node != dynamic || !call->changes) continue;
    if (call->is_called ||
        !add_list(set, dynamic, call->function, call->inst, call->op == IR_ACTIVATE))
      return false;
  }
  return true;
}

bool dependence_may_share_list(const Effects *effects, const SNode *dynamic) {
  ReachedSet set = {.kernel = effects->kernel};
  if (!add_calls(&set, effects, dynamic)) return true;
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    const EffectPlace *place = access->place;
    if (!writes_list(effects, access, dynamic)) continue;
    if (!place->index || place->is_called ||
        !add_list(&set, dynamic, place->function, place->inst, true))
      return true;
  }
  return may_cross(&set, EFFECT_WRITES, EFFECT_WRITES);
}

/* -- nests of two loops ------------------------------------------------------------------------ */

/* Are the field's elements always active, and disjoint from those of all other fields? */
static bool is_plain_field(const IrKernel *kernel, int field) {
  const SNode *node = kernel->fields.items[field].node;
  return node ? !snode_sparse_level(node) : !ir_is_shared(kernel, field);
}

/* Does the inst of a body neither exit, nor have an effect except on its own variables, and on
 * elements? */
static bool is_plain_inst(const IrKernel *kernel, const IrRegion *body, const IrInst *inst) {
  switch (inst->op) {
  case IR_VAR:
  case IR_IF:
  case IR_LOAD: return true;
  case IR_GET:
  case IR_SET: return ir_is_inside(inst->operands[0], body);
  case IR_STORE:
  case IR_UPDATE: return !inst->private_copy;
  case IR_PLACE: return is_plain_field(kernel, inst->field);
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

bool dependence_collect(IrKernel *kernel, const LoopNest *nest, const IrRegion *body,
                        NestAccesses *out) {
  bool *written = scratch_array(kernel->scratch, bool, kernel->fields.count);
  DEBUG_ASSERT(nest->count == 2, "two loops run the body");
  out->count = 0;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (!is_plain_inst(kernel, body, inst)) return false;
    if (rewrite_is_write(inst->op)) written[inst->operands[0]->field] = true;
  }
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (!rewrite_is_access(inst->op) || !written[inst->operands[0]->field]) continue;
    const IrInst *place = inst->operands[0];
    if (place->op != IR_PLACE || out->count == DEPENDENCE_MOST_ACCESSES) return false;
    out->items[out->count++] = (NestAccess){
        .inst = inst,
        .field = place->field,
        .writes = rewrite_is_write(inst->op),
        .sums = dependence_sums(kernel->scratch, nest, place->operand_count, place->operands)};
  }
  return true;
}

bool dependence_visit(const NestAccesses *accesses, DistanceVisit *visit, void *data) {
  for (int i = 0; i < accesses->count; i++)
    for (int k = 0; k < accesses->count; k++) {
      const NestAccess *write = &accesses->items[i], *other = &accesses->items[k];
      if (!write->writes || write->field != other->field) continue;
      Distance distance = dependence_between(&write->sums, &other->sums);
      if (!distance.never && !visit(data, &distance, write, other)) return false;
    }
  return true;
}
