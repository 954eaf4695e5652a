/* unroll.c - unrolls small nests of numeric `for` over elements, so that their indices become base
 * + constant.
 *
 *   for 0, 2, 1 (%a) { load place f0 %i + %a }   =>   load place f0 %i; load place f0 %i + 1; ..
 *
 * If the accesses' bases depend on data (floor of a particle's position), one check before the nest
 * selects one of two versions (loops.h): the one whose places are inside is unrolled, the
 * other stays a loop (`rolled`). Nests of bodies that rarely run stay loops, too: a checked body
 * that has an interior, and the body of a task that has a privatised version. A nest has at most
 * MOST_COPIES copies, and no body grows beyond LARGEST_BODY; the limit is LARGEST_CHOOSING_BODY if
 * the index alone selects an item of a table or a component of a vector, since most of those copies
 * fold away. The bounds may be one value plus constants (`for b = j - 1, j + 1`): a loop that might
 * not run, since the last sum wraps, is unrolled in an `if`. A `break` skips the copies after it.
 * Loops around one with an unknown trip count, such as that over a list, stay as they are; so do
 * loops whose places depend on the index by more than a sum (`x[floor(k * 31 / 8)]`), since copies
 * would gain nothing. A `while` that counts is a FOR, too, if copies would select numbers of a
 * short local array (decision D-pass-112). Keeps the order of insts, and leaves constants for
 * `fold`. */
#include "base/bits.h"
#include "pass/arrays/local_arrays.h"
#include "pass/simplify/simplify.h"
#include "pass/pass.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"
#include "pass/loops/loops.h"

/* Copies of the innermost body: a stencil of 3 x 3 x 3 cells needs 27. */
enum { MOST_COPIES = 64 };
/* Insts of a body with its copies, which LLVM takes about a second to compile; more if most of the
 * copies fold away. */
enum { LARGEST_BODY = 4000, LARGEST_CHOOSING_BODY = 12000 };
/* Operands between an expression and its parts. Expressions share branches, so a deeper walk could
 * be exponential. */
enum { DEEPEST_OF_INDEX = 6, DEEPEST_FOLLOWED = 12 };

typedef struct Unroll {
  IrKernel *kernel;
  BodyLimits at;
  bool is_rare;  /* the body rarely runs: its nests stay loops, in LLVM too */
  bool is_whole; /* nests have one version */
  int64_t insts; /* current size of the body */
} Unroll;

typedef struct Trips {
  int count; /* trip count; 0: not known, or too large */
  int64_t step;
  const IrInst *base; /* of its bounds; NULL: they are constants */
  int64_t low, high;  /* the bounds less the base, the lower one first */
} Trips;

/* -- what may be unrolled ---------------------------------------------------------------------- */

/* The trip count of a FOR between constants, or between sums of one value and constants. */
static Trips trips_of(const IrInst *loop) {
  Trips trips = {0}, none = {0};
  trips.step = facts_step(loop);
  if (!trips.step) return none;
  IndexRange begin = ranges_of(loop->operands[0]), last = ranges_of(loop->operands[1]);
  if (!begin.known || !last.known || begin.base != last.base || begin.low != begin.high ||
      last.low != last.high)
    return none;
  int64_t distance;
  if (__builtin_sub_overflow(last.low, begin.low, &distance) || distance == INT64_MIN ||
      (distance < 0) != (trips.step < 0 && distance != 0) || distance / trips.step >= MOST_COPIES)
    return none;
  trips.count = (int)(distance / trips.step) + 1;
  trips.base = begin.base;
  trips.low = min_i64(begin.low, last.low);
  trips.high = max_i64(begin.low, last.low);
  return trips;
}

/* Is it a loop between constants that runs at least once? */
static bool runs_always(const IrInst *loop) {
  int64_t trips = facts_trip_count(loop);
  return trips > 0 && trips <= MOST_COPIES;
}

/* The limits of a loop index of the body, inclusive; false: not known. */
static bool limits_of(const Unroll *u, int param, int64_t *low, int64_t *high) {
  const IrTask *task = u->at.task;
  const Limits *limits = &u->at.limits[param];
  *low = limits->low;
  *high = limits->high;
  if (limits->known || u->at.body != task->interior) return limits->known;
  *low = task->interior_begin[param];
  *high = task->interior_end[param] - 1;
  return *low > INT64_MIN && *high < INT64_MAX - 1;
}

/* Does neither bound wrap, so that the loop has the computed trip count? */
static bool runs_surely(const Unroll *u, const IrInst *loop, const Trips *trips) {
  int64_t low, high, most = INT64_MAX >> (64 - type_bits(loop->operands[0]->type));
  if (!trips->base) return true;
  int param = ranges_param(u->at.body, trips->base);
  return param >= 0 && type_is_signed(loop->operands[0]->type) &&
         limits_of(u, param, &low, &high) && low >= -most - 1 - min_i64(trips->low, 0) &&
         high <= most - max_i64(trips->high, 0);
}

/* Is the value computed only from constants and indices of loops between constants? */
static bool is_of_index(const IrInst *inst, int depth) {
  if (inst->op == IR_CONST) return true;
  if (inst->op == IR_PARAM) {
    const IrInst *loop = inst->region ? inst->region->owner : NULL;
    return loop && runs_always(loop);
  }
  if (!(ir_effects(inst) & IR_PURE) || !inst->operand_count || depth > DEEPEST_OF_INDEX)
    return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!is_of_index(inst->operands[i], depth + 1)) return false;
  return true;
}

/* How a value depends on a loop's index: not at all; as base + constant, perhaps inside a modulo or
 * a clamp; or in any other way. */
typedef enum Dependence { DEPENDS_NOT, DEPENDS_AS_SUM, DEPENDS_OTHERWISE } Dependence;

static Dependence dependence_on(const IrInst *inst, const IrInst *index, int depth) {
  if (inst == index || inst->op == IR_GET || depth > DEEPEST_FOLLOWED) return DEPENDS_AS_SUM;
  Dependence all = DEPENDS_NOT;
  for (int i = 0; i < inst->operand_count && ir_effects(inst) & IR_PURE; i++)
    all = (Dependence)max_i64(all, dependence_on(inst->operands[i], index, depth + 1));
  if (all != DEPENDS_AS_SUM || is_of_index(inst, 0)) return all;
  switch (inst->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_NEG:
  case IR_MUL:
  case IR_CONVERT:
  case IR_MOD:
  case IR_MIN:
  case IR_MAX:
  case IR_SELECT: return all;
  default: return DEPENDS_OTHERWISE;
  }
}

/* Does unrolling help the place? Not if it is in the visited node, which needs neither checks nor
 * look-ups, nor if its index depends on the loop's by more than a sum. */
static bool place_gains(const IrInst *place, const IrInst *index) {
  Dependence all = DEPENDS_NOT;
  for (int i = 0; i < place->operand_count; i++)
    all = (Dependence)max_i64(all, dependence_on(place->operands[i], index, 0));
  return !place->in_visited_node && all != DEPENDS_OTHERWISE;
}

/* Unrolling also helps `is_active` of cells at constant distances (leaf_active.c). */
static bool any_place_gains(const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_IS_ACTIVE || (inst->op == IR_PLACE && place_gains(inst, ir_index(loop))))
      return true;
  return false;
}

/* May the numbers of the local array become variables once loops are unrolled? */
static bool may_become_variables(const IrInst *array) {
  if (local_arrays_is_short(array)) return true;
  for (const IrUse *use = array->uses; use; use = use->next)
    if (!is_of_index(use->user->operands[1], 0)) return false;
  return array->imm <= MOST_COPIES;
}

/* Does the loop's index alone select numbers of such an array? Copies access variables. */
static bool selects_numbers(const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_access = inst->op == IR_LOCAL_GET || inst->op == IR_LOCAL_SET;
    if (is_access && is_of_index(inst->operands[1], 0) && may_become_variables(inst->operands[0]) &&
        dependence_on(inst->operands[1], ir_index(loop), 0) != DEPENDS_NOT)
      return true;
  }
  return false;
}

static bool are_of_index(const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (!is_of_index(inst->operands[i], 0)) return false;
  return true;
}

/* Do loop indices alone select an item of a table, a component of a vector, or a branch? */
static bool has_choice(const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = ir_following(inst, region)) {
    bool chooses = inst->op == IR_IF || inst->op == IR_SELECT || inst->op == IR_TABLE_GET ||
                   inst->op == IR_PICK;
    if (chooses && inst->operands[0]->op != IR_CONST && is_of_index(inst->operands[0], 0))
      return true;
  }
  return false;
}

/* Is there a loop whose trip count is unknown? */
static bool has_long_loop(const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = ir_following(inst, region)) {
    bool is_known = inst->op == IR_FOR && (trips_of(inst).count > 0 || are_of_index(inst));
    if (inst->op == IR_LOOP || (inst->op == IR_FOR && !is_known)) return true;
  }
  return false;
}

static bool can_unroll(const IrInst *loop) {
  return trips_of(loop).count > 0 && !exits_of(loop).continues && loop->regions[0]->last &&
         !(ir_effects(loop->regions[0]->last) & IR_EXIT) &&
         (any_place_gains(loop) || has_choice(loop->regions[0]) || selects_numbers(loop));
}

/* The number of insts of the region after unrolling all possible loops in it; raises *trips to the
 * number of copies of the innermost loop. */
static int64_t size_written_out(const IrRegion *region, int64_t *trips) {
  int64_t size = 0, most = 1;
  for (const IrInst *inst = region->first; inst && size <= LARGEST_CHOOSING_BODY;
       inst = inst->next) {
    int64_t inside = 0, deeper = 1;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      inside += size_written_out(inst->regions[i], &deeper);
    int own = can_unroll(inst) ? trips_of(inst).count : 1;
    size += own * inside + 1;
    most = max_i64(most, own * deeper);
  }
  *trips = max_i64(*trips, most);
  return size;
}

/* -- a `while` that counts --------------------------------------------------------------------- */

/* A `while` that counts from a constant, and certainly ends after a few iterations, becomes a FOR
 * if its count selects numbers of a short local array, as insertions into a sorted one do.
 *
 *   set %m, 6                               set %m, 6
 *   loop {                                  for 6, 0, -1 (%k) {
 *     %k = get %m                             if gt %k, 0 {} else { break 0 }
 *     if gt %k, 0 {} else { break 0 }   =>    local.set %a, %k, ..
 *     local.set %a, %k, ..                    set %m, %k - 1
 *     set %m, %k - 1                        }
 *   } */

enum { MOST_COUNTED = 20 /* iterations */ };

typedef struct Count {
  const IrKernel *kernel;
  const IrInst *loop;
  IrInst *value; /* a GET of the variable that counts, before its SET */
  int64_t begin, step, trips;
} Count;

static bool is_set_inside(const IrInst *variable, const IrInst *inst) {
  for (const IrUse *use = variable->uses; use; use = use->next)
    for (int i = 0; i < ir_region_count(inst->op); i++)
      if (use->user->op != IR_GET && ir_is_inside(use->user, inst->regions[i])) return true;
  return false;
}

/* Is the variable a constant before the inst? */
static bool is_constant_before(const IrInst *inst, const IrInst *variable, int64_t *value) {
  for (inst = inst->previous; inst; inst = inst->previous) {
    if (inst->op == IR_SET && inst->operands[0] == variable)
      return ir_is_const(inst->operands[1], value);
    if (is_set_inside(variable, inst)) return false;
  }
  return false;
}

/* Does the SET, the loop's only one of its variable, add a constant in each iteration? */
static bool counts(Count *c, const IrInst *set) {
  const IrInst *variable = set->operands[0], *loop = c->loop;
  if (!type_is_integer(variable->type) || ir_is_inside(variable, loop->regions[0])) return false;
  for (const IrUse *use = variable->uses; use; use = use->next)
    if (use->user != set && use->user->op != IR_GET && ir_is_inside(use->user, loop->regions[0]))
      return false;
  c->value = (IrInst *)facts_split_constant(set->operands[1], &c->step);
  return c->value->op == IR_GET && c->value->operands[0] == variable &&
         c->value->region == loop->regions[0] && c->step &&
         is_constant_before(loop, variable, &c->begin);
}

/* Evaluates a value of the iteration in which the count is `at`. A `bool` may be an `and`: a
 * variable that an IF changes only if its first condition holds. */
static bool value_at(const Count *c, const IrInst *value, int64_t at, int64_t *result) {
  if (fold_constant_at(c->kernel, value, c->value, at, result)) return true;
  if (value->op == IR_BAND)
    for (int i = 0; i < 2; i++)
      if (value_at(c, value->operands[i], at, result) && !*result) return true;
  const IrInst *variable = value->op == IR_GET ? value->operands[0] : NULL;
  if (!variable || variable->region != value->region) return false;
  bool is_known = false;
  for (const IrInst *inst = variable->next; inst != value; inst = inst->next) {
    int64_t holds;
    if (inst->op == IR_SET && inst->operands[0] == variable)
      is_known = fold_constant_at(c->kernel, inst->operands[1], c->value, at, result);
    else if (is_set_inside(variable, inst)) {
      bool is_skipped = inst->op == IR_IF &&
                        fold_constant_at(c->kernel, inst->operands[0], c->value, at, &holds) &&
                        !holds && !inst->regions[1]->first;
      is_known &= is_skipped;
    }
  }
  return is_known;
}

/* Does the iteration in which the count is `at` certainly leave the loop? */
static bool leaves_at(const Count *c, int64_t at) {
  int64_t holds;
  for (const IrInst *inst = c->loop->regions[0]->first; inst; inst = inst->next) {
    if (inst->op != IR_IF || !value_at(c, inst->operands[0], at, &holds)) continue;
    const IrInst *last = inst->regions[holds ? 0 : 1]->last;
    if (last && last->op == IR_BREAK && last->imm == 0) return true;
  }
  return false;
}

static bool selects_numbers_at(const Count *c) {
  int64_t index;
  const IrRegion *body = c->loop->regions[0];
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_access = inst->op == IR_LOCAL_GET || inst->op == IR_LOCAL_SET;
    if (is_access && local_arrays_is_short(inst->operands[0]) &&
        fold_constant_at(c->kernel, inst->operands[1], c->value, c->begin, &index))
      return true;
  }
  return false;
}

static bool find_count(Count *c) {
  if (exits_of(c->loop).continues) return false;
  for (const IrInst *inst = c->loop->regions[0]->first; inst; inst = inst->next) {
    if (inst->op != IR_SET || !counts(c, inst) || !selects_numbers_at(c)) continue;
    for (c->trips = 1; c->trips <= MOST_COUNTED; c->trips++)
      if (leaves_at(c, c->begin + (c->trips - 1) * c->step)) return true;
  }
  return false;
}

static bool count_loops(IrKernel *kernel, IrRegion *body) {
  bool has_changed = false;
  for (IrInst *inst = body->first, *next; inst; inst = next) {
    Count c = {.kernel = kernel, .loop = inst};
    next = ir_following(inst, body);
    if (inst->op != IR_LOOP || !find_count(&c)) continue;
    IrBuilder b = rewrite_before(kernel, inst);
    IrInst *begin = ir_const_int(&b, c.value->type, c.begin);
    IrInst *last = ir_const_int(&b, c.value->type, c.begin + (c.trips - 1) * c.step);
    IrInst *index = rewrite_open_for(&b, begin, last, c.step);
    ir_replace_uses(c.value, index);
    rewrite_move_all(inst->regions[0], index->region);
    ir_delete(inst);
    next = index->region->first;
    has_changed = true;
  }
  return has_changed;
}

/* -- reads that iterations repeat -------------------------------------------------------------- */

/* Hoists reads whose place is the same in all iterations of a nest.
 *
 *   for 0, 2, 1 (%a) {                        %v = load place f0 %p
 *     %v = load place f0 %p              =>   for 0, 2, 1 (%a) {
 *     update add (place f1 %q + %a), %v         update add (place f1 %q + %a), %v
 *   }                                         }
 *
 * LLVM does this in scalar code. Here it happens before a nest has several versions, each of which
 * would do the read, under a mask in lanes. Fields that the nest writes stay, and nothing
 * moves if the nest may contain a lock or deactivates cells. */

static void hoist_value(IrInst *nest, IrInst *inst) {
  DEBUG_ASSERT(ir_effects(inst) & (IR_PURE | IR_READ), "only values and reads move");
  if (inst->op == IR_PARAM || !ir_is_inside(inst, nest->regions[0])) return;
  for (int i = 0; i < inst->operand_count; i++) hoist_value(nest, inst->operands[i]);
  ir_move_before(nest, inst);
}

/* Does the inst preserve the field's elements? */
static bool keeps_elements(const IrInst *inst, int32_t field) {
  if (inst->op == IR_RMW || inst->op == IR_CAS) return false;
  if (rewrite_is_write(inst->op)) return inst->operands[0]->field != field;
  return !(ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT | IR_ACTIVATES | IR_DEACTIVATES));
}

static bool is_loop_invariant_read(const IrKernel *kernel, const IrRegion *nest,
                                   const IrInst *load) {
  int32_t field = load->operands[0]->field;
  if (ir_is_shared(kernel, field) || !facts_is_invariant(load->operands[0], nest)) return false;
  for (const IrInst *inst = nest->first; inst; inst = ir_following(inst, nest))
    if (!keeps_elements(inst, field)) return false;
  return true;
}

/* From the region of the nest, or of a loop in it that always runs. */
static void hoist_reads(IrKernel *kernel, IrInst *nest, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (ir_effects(inst) & IR_EXIT) return;
    if (inst->op == IR_FOR && runs_always(inst)) hoist_reads(kernel, nest, inst->regions[0]);
    if (inst->op == IR_LOAD && is_loop_invariant_read(kernel, nest->regions[0], inst))
      hoist_value(nest, inst);
  }
}

/* -- unrolling --------------------------------------------------------------------------------- */

static void unroll_loop(Unroll *u, IrInst *loop);

static void unroll_inside(Unroll *u, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) unroll_inside(u, inst->regions[i]);
    if (can_unroll(inst)) unroll_loop(u, inst);
    if (next && !next->region) return; /* all copies exit, so `next` was unreachable and is gone */
  }
}

/* A builder for the copies: inside an `if` if the loop may not run, and inside a loop that runs
 * once if the copies contain breaks. */
static IrBuilder open_copies(Unroll *u, IrInst *loop, const Trips *trips, IrInst **once) {
  IrBuilder b = rewrite_before(u->kernel, loop);
  if (!runs_surely(u, loop, trips)) {
    IrOp order = trips->step > 0 ? IR_LE : IR_GE;
    IrInst *runs = ir_binary(&b, order, loop->operands[0], loop->operands[1]);
    b = rewrite_inside(u->kernel, ir_if(&b, runs)->regions[0], loop);
  }
  if (!exits_of(loop).breaks) {
    exits_cross_less(loop->regions[0]);
    return b;
  }
  *once = ir_loop(&b);
  return rewrite_inside(u->kernel, (*once)->regions[0], loop);
}

static IrInst *index_of_copy(IrBuilder *b, const IrInst *loop, const Trips *trips, int trip) {
  DEBUG_ASSERT(trip >= 0 && trip < trips->count, "the loop has such an iteration");
  IrInst *begin = loop->operands[0];
  int64_t from, distance = trip * trips->step;
  if (ir_is_const(begin, &from)) return ir_const_int(b, begin->type, from + distance);
  return ir_plus(b, begin, distance);
}

/* Unrolls inner loops first, so that each is visited once. */
static void unroll_loop(Unroll *u, IrInst *loop) {
  Trips trips = trips_of(loop);
  IrRegion *region = loop->regions[0];
  DEBUG_ASSERT(trips.count > 0 && loop->region,
               "the loop has a known trip count and is in a region");
  unroll_inside(u, region);
  IrMap *map = ir_map(u->kernel->scratch, u->kernel);
  IrInst *once = NULL;
  bool is_for_numbers = selects_numbers(loop); /* mem2reg then turns the exits into SELECTs */
  const IrInst *param = region->params.items[0];
  IrBuilder b = open_copies(u, loop, &trips, &once);
  for (int t = 0; t < trips.count; t++) {
    ir_map_put(map, param, index_of_copy(&b, loop, &trips, t));
    ir_copy_to(&b, region->first, NULL, map);
  }
  ir_delete(loop);
  if (!once) return;
  ir_break(&b, 0);
  if (!is_for_numbers) exits_dissolve(once);
}

/* -- nests ------------------------------------------------------------------------------------- */

/* Does the loop contain one with an unknown trip count? That takes nearly all of the run time, and
 * its copies nearly all of the compile time; they save nothing unless an index selects
 * something. */
static bool is_around_long_loop(const IrInst *loop) {
  return has_long_loop(loop->regions[0]) && !has_choice(loop->regions[0]) && !selects_numbers(loop);
}

/* The outermost loop of a sufficiently small nest. */
static bool visit_nest(Unroll *u, IrInst *loop) {
  int64_t trips = 1;
  if (!can_unroll(loop)) return false;
  int own = trips_of(loop).count;
  int64_t size = own * size_written_out(loop->regions[0], &trips);
  int most = has_choice(loop->regions[0]) ? LARGEST_CHOOSING_BODY : LARGEST_BODY;
  if (own * trips > MOST_COPIES || u->insts + size > most || is_around_long_loop(loop))
    return false;
  if (runs_always(loop)) hoist_reads(u->kernel, loop, loop->regions[0]);
  if (u->is_rare) {
    loop->no_unroll = true;
    rewrite_mark_rolled(loop->regions[0]);
    return true;
  }
  u->insts += size;
  IrInst *inside = u->is_whole ? NULL : hoist_checks_version(&u->at, loop);
  if (inside) rewrite_mark_rolled(inside->region->owner->regions[1]);
  ir_note(u->kernel, loop->line, "the loop is unrolled: %d copies", (int)(own * trips));
  unroll_loop(u, inside ? inside : loop);
  return true;
}

static void visit_region(Unroll *u, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool is_done = visit_nest(u, inst);
    if (next && !next->region) return;
    if (is_done) continue;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) visit_region(u, inst->regions[i]);
  }
}

static void visit_body(IrKernel *kernel, IrTask *task, IrRegion *body, bool is_rare,
                       bool is_whole) {
  count_loops(kernel, body);
  Unroll u = {.kernel = kernel,
              .at = limits_of_body(kernel, task, body),
              .is_rare = is_rare,
              .is_whole = is_whole,
              .insts = rewrite_count(body)};
  visit_region(&u, body);
  /* counts that begin at the index of a loop around them, as in a sort, are constants now */
  if (count_loops(kernel, body)) visit_region(&u, body);
}

void unroll_whole(IrKernel *kernel, IrTask *task) {
  visit_body(kernel, task, task->body, false, true);
}

bool pass_unroll(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    visit_body(kernel, task, task->body, task->privatised || task->interior, false);
    if (task->interior) visit_body(kernel, task, task->interior, task->privatised, false);
  }
  return true;
}
