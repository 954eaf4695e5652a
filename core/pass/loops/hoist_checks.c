/* hoist_checks.c - removes bounds checks from serial loops by one check before the loop.
 *
 *   for 0, %n (%k) { load place f0 %i, %k }   =>   if %i and 0 and %n are inside {
 *                                                    for 0, %n (%k) { load place f0 inside .. }
 *                                                  } else { the loop as it was }
 *
 * The bounds of a numeric `for` are known before it runs, so one check there, or a loop split into
 * three, serves all its iterations. Nests with a loop-carried dependence are skewed (skew.c). Inner
 * loops come first; a loop around one that was copied stays as it is. In a task that has an
 * interior, only the interior changes, since the checked body rarely runs. Short loops have been
 * unrolled by now. */
#include "pass/loops/loops.h"

#include "base/bits.h"
#include "pass/address/address.h"
#include "pass/analysis/ranges.h"
#include "pass/loops/guards.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

/* Conditions of one check, each a comparison before the loop; places that need more keep their own
 * checks. */
enum { MOST_WINDOWS = 12 };
/* Insts of a loop's body. A loop split in three is compiled three times, one with two versions
 * twice; longer bodies gain little from removing a check. */
enum { LARGEST_CUT_BODY = 120, LARGEST_SPLIT_BODY = 600 };

/* The condition that base + low .. base + high is in 0 .. size - 1; in an array, below its extent,
 * which is known only at launch. */
typedef struct Window {
  IrInst *base;
  IndexLine *line; /* the base as a line along the nest's index, or NULL */
  int64_t low, high, size;
  const IrArray *array;
  int axis;
} Window;

typedef struct Windows {
  IrKernel *kernel;
  const BodyLimits *at;
  const IrInst *nest, *own; /* own: the nest's index */
  bool cells, saves;        /* saves: removes a check that is not next to a costly look-up */
  int count;
  Window items[MOST_WINDOWS];
  VEC(IrInst *) places; /* proven inside by the windows */
} Windows;

/* -- finding windows --------------------------------------------------------------------------- */

/* Is it the nest's own index, or a value that the nest uses but does not define? */
static bool is_from_outside(const Windows *w, const IrInst *base) {
  return base == w->own || !ir_is_inside(base, w->nest->regions[0]);
}

static bool fits_window(const Windows *w, const IndexRange *range, int64_t size) {
  return range->known && range->base && is_from_outside(w, range->base) && ranges_is_near(range) &&
         range->high - range->low < size && ranges_hold_below(range, size);
}

/* Is the range a line along the nest's index, shifted by values from outside? If so, sets the
 * window's line, and the range to the line's constants. */
static bool fits_line(const Windows *w, IndexRange *range, Window *bound) {
  IrInst *own = (IrInst *)w->own;
  IndexLine line;
  if (!ranges_line(range, 1, &own, &line) || !ranges_line_holds_below(&line, bound->size) ||
      line.high - line.low >= bound->size)
    return false;
  for (int i = 0; i < line.rest.count; i++)
    if (!is_from_outside(w, line.rest.values[i])) return false;
  bound->line = scratch_new(w->kernel->scratch, IndexLine);
  *bound->line = line;
  range->low = line.low;
  range->high = line.high;
  return true;
}

static bool is_same_base(const Window *a, const Window *b) {
  int64_t distance;
  if (!a->line || !b->line) return a->base == b->base && !a->line && !b->line;
  return a->line->factor == b->line->factor &&
         facts_affine_distance(&a->line->rest, &b->line->rest, &distance);
}

/* Does the window depend on the nest's index, so that both ends of the loop are checked? */
static bool is_along(const Windows *w, const Window *window) {
  return window->line || window->base == w->own;
}

/* Windows of one base and size are merged into their union. */
static bool add_window(Windows *w, const IndexRange *range, const Window *bound) {
  int64_t size = bound->size;
  Window base = {.base = (IrInst *)range->base, .line = bound->line};
  for (int i = 0; i < w->count; i++) {
    Window *known = &w->items[i];
    if (!is_same_base(known, &base) || known->size != size || known->array != bound->array ||
        known->axis != bound->axis)
      continue;
    int64_t low = min_i64(known->low, range->low), high = max_i64(known->high, range->high);
    DEBUG_ASSERT(low <= high, "a window has a lower and an upper end");
    if (high - low >= size) return false;
    known->low = low;
    known->high = high;
    return true;
  }
  if (w->count == MOST_WINDOWS) return false;
  Window *added = &w->items[w->count++];
  *added = *bound;
  added->base = base.base;
  added->low = range->low;
  added->high = range->high;
  return true;
}

static void add_place(Windows *w, IrInst *place) {
  IndexRange ranges[SNODE_MAX_AXES];
  Window bounds[SNODE_MAX_AXES];
  bool is_proven[SNODE_MAX_AXES];
  bool depends_on_data = false;
  for (int k = 0; k < place->operand_count; k++) {
    ranges[k] = ranges_of(place->operands[k]);
    bounds[k] = (Window){.axis = k};
    bounds[k].array = limits_array(w->kernel, place, k, &bounds[k].size);
    if ((is_proven[k] = limits_prove(w->at, place, k, &ranges[k]))) continue;
    if (!bounds[k].array) bounds[k].axis = 0; /* its size is all that matters */
    if (!fits_window(w, &ranges[k], bounds[k].size) && !fits_line(w, &ranges[k], &bounds[k]))
      return;
    depends_on_data |= !w->at->body || ranges_param(w->at->body, ranges[k].base) < 0;
  }
  if (w->cells && !depends_on_data) return;
  Windows before = *w;
  for (int k = 0; k < place->operand_count; k++) {
    if (is_proven[k] || add_window(w, &ranges[k], &bounds[k])) continue;
    w->count = before.count;
    memcpy(w->items, before.items, sizeof w->items);
    return;
  }
  const SNode *node = w->kernel->fields.items[place->field].node;
  w->saves |= !node || !snode_node_level(node);
  vec_push(w->kernel->scratch, &w->places, place);
}

static Windows find_windows(const BodyLimits *at, const IrInst *nest) {
  Windows w = {.kernel = at->kernel,
               .at = at,
               .nest = nest,
               .own = ir_index(nest),
               .cells = at->task && at->task->kind == TASK_LEAVES && at->task->cells};
  const IrRegion *body = nest->regions[0];
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_PLACE && !inst->in_bounds) add_place(&w, inst);
  return w;
}

/* -- the check --------------------------------------------------------------------------------- */

/* Arguments are slots of the frame in tasks and functions. */
static IrInst *extent_of(const Windows *w, IrBuilder *b, const Window *window) {
  return address_extent(b, w->at->task || !w->at->body, window->array, window->axis);
}

/* The number of valid bases; none if the extent is smaller than the window. */
static IrInst *valid_bases(const Windows *w, IrBuilder *b, const Window *window, Type type) {
  int64_t span = window->high - window->low;
  if (!window->array) return ir_const_int(b, type, window->size - span);
  Type wide = type_bits(type) > 32 ? TYPE(I64) : TYPE(I32);
  IrInst *extent = ir_convert(b, extent_of(w, b, window), wide);
  IrInst *left = ir_binary_const(b, IR_SUB, extent, span), *none = ir_const_int(b, wide, 0);
  return ir_convert(b, ir_binary(b, IR_MAX, left, none), type);
}

/* Do both windows need the same comparison, with the smaller count? So a row of a sparse matrix,
 * whose columns and values are two arrays, needs one check. */
static bool have_same_check(const Window *a, const Window *b) {
  return a->array && b->array && is_same_base(a, b) && a->low == b->low && a->size == b->size;
}

static bool is_checked_before(const Windows *w, int window) {
  for (int i = 0; i < window; i++)
    if (have_same_check(&w->items[i], &w->items[window])) return true;
  return false;
}

/* The smallest count of this window and of those that share its check. */
static IrInst *least_count(const Windows *w, IrBuilder *b, const Window *window, Type type) {
  IrInst *least = valid_bases(w, b, window, type);
  for (int i = 0; i < w->count; i++)
    if (&w->items[i] > window && have_same_check(window, &w->items[i]))
      least = ir_binary(b, IR_MIN, least, valid_bases(w, b, &w->items[i], type));
  return least;
}

/* 0 <= base + low and base + high < size, as one unsigned comparison: if the base is so low that
 * the sum wraps, the result is above every size. A u32 could wrap into the window, so it is
 * widened. */
static IrInst *is_in_window(const Windows *w, IrBuilder *b, const Window *window, IrInst *base) {
  bool is_wide =
      type_bits(base->type) > 32 || type_is(base->type, TYPE_U32) || window->size > 1 << 30;
  if (is_wide || type_bits(base->type) < 32)
    base = ir_convert(b, base, is_wide ? TYPE(I64) : TYPE(I32));
  if (window->low) base = ir_binary_const(b, IR_ADD, base, window->low);
  Type bare = is_wide ? TYPE(U64) : TYPE(U32);
  IrInst *end = least_count(w, b, window, bare);
  return ir_binary(b, IR_LT, ir_convert(b, base, bare), end);
}

/* The base of the window for index `at` of the nest. */
static IrInst *base_at(IrBuilder *b, const Window *window, IrInst *at) {
  if (!window->line) return at;
  DEBUG_ASSERT(window->line->index != at, "an end of the loop replaces its index");
  at = ir_convert(b, at, TYPE(I64));
  if (window->line->factor > 0) return ranges_add_rest(b, at, window->line, false, NULL);
  IrInst *rest = ranges_add_rest(b, NULL, window->line, false, NULL);
  return rest ? ir_binary(b, IR_SUB, rest, at) : ir_unary(b, IR_NEG, at);
}

/* Emits the check of all windows; without `with_own`, except those of the nest's index. NULL: there
 * are none. */
static IrInst *emit_check(const Windows *w, IrBuilder *b, bool with_own) {
  IrInst *inside = NULL;
  for (int i = 0; i < w->count; i++) {
    const Window *window = &w->items[i];
    bool is_own = is_along(w, window);
    if ((is_own && !with_own) || is_checked_before(w, i)) continue;
    if (!is_own) inside = rewrite_both(b, inside, is_in_window(w, b, window, window->base));
    for (int end = 0; is_own && end < 2; end++)
      inside = rewrite_both(b, inside,
                            is_in_window(w, b, window, base_at(b, window, w->nest->operands[end])));
  }
  return inside;
}

/* Folds comparisons that the windows decide, such as those of an adjoint, which tests whether an
 * element exists before it adds to its gradient. */
static void decide_comparisons(const Windows *w, IrRegion *body) {
  KnownValue known[MOST_WINDOWS];
  int count = 0;
  for (int i = 0; i < w->count; i++) {
    const Window *window = &w->items[i];
    if (window->array || is_along(w, window)) continue;
    known[count++] = (KnownValue){window->base, -window->low, window->size - 1 - window->high};
  }
  guards_decide(body, known, count);
}

static IrInst *copy_inside(const Windows *w) {
  IrMap *copies = ir_map(w->kernel->scratch, w->kernel);
  IrInst *copy = ir_copy_inst(w->kernel, w->nest, copies);
  decide_comparisons(w, copy->regions[0]);
  for (int i = 0; i < w->places.count; i++) ir_mapped(copies, w->places.items[i])->in_bounds = true;
  return copy;
}

/* Makes two versions of the nest. `edge`: the one for a failed check; NULL: the nest itself. */
static IrInst *make_two_versions(const Windows *w, IrInst *nest, IrInst *edge) {
  IrBuilder b = rewrite_before(w->kernel, nest);
  IrInst *branch = ir_if(&b, emit_check(w, &b, true)), *copy = copy_inside(w);
  ir_remove(nest);
  ir_region_append(branch->regions[0], copy);
  ir_region_append(branch->regions[1], edge ? edge : nest);
  if (edge) ir_delete(nest);
  ir_note(w->kernel, nest->line, "one check of %d indices covers every access of the loop",
          w->count);
  return copy;
}

IrInst *hoist_checks_version(const BodyLimits *at, IrInst *nest) {
  Windows w = find_windows(at, nest);
  return w.count ? make_two_versions(&w, nest, NULL) : NULL;
}

/* -- splitting a loop into three --------------------------------------------------------------- */

/* Narrows *low .. *high to the indices at which every place is inside. */
static void find_middle(const Windows *w, IrBuilder *b, IrInst **low, IrInst **high) {
  for (int i = 0; i < w->count; i++) {
    const Window *window = &w->items[i];
    if (window->base != w->own) continue;
    IrInst *end = ir_i64(b, window->size - 1 - window->high);
    if (window->array)
      end = ir_binary(b, IR_SUB, ir_convert(b, extent_of(w, b, window), TYPE(I64)),
                      ir_i64(b, window->high + 1));
    *low = ir_binary_const(b, IR_MAX, *low, -window->low);
    *high = ir_binary(b, IR_MIN, *high, end);
  }
}

/* Inserts `loop` before the nest, over the indices from `low` to `high`. */
static void put_loop(const Windows *w, IrBuilder *b, IrInst *loop, IrInst *low, IrInst *high) {
  bool is_down = w->nest->operands[2]->imm < 0;
  Type type = w->own->type;
  DEBUG_ASSERT(!loop->region && loop->op == IR_FOR, "the loop is a copy that is in no region yet");
  ir_set_operand(loop, 0, ir_convert(b, is_down ? high : low, type));
  ir_set_operand(loop, 1, ir_convert(b, is_down ? low : high, type));
  ir_insert_before((IrInst *)w->nest, loop);
}

static void put_edge(const Windows *w, IrBuilder *b, const IrInst *edge, IrInst *low,
                     IrInst *high) {
  IrInst *copy = ir_copy_inst(w->kernel, edge ? edge : w->nest, NULL);
  copy->no_unroll = true;
  put_loop(w, b, copy, low, high);
}

/* Splits the loop into three. If a window of another base fails, the middle part is empty, and the
 * upper part covers it. No sum overflows: each is within one of a valid index or an extent. */
static void split_in_three(const Windows *w, IrInst *nest, const IrInst *edge) {
  DEBUG_ASSERT(nest->operands[2]->imm == 1 || nest->operands[2]->imm == -1,
               "the loop visits every index between its bounds");
  IrBuilder b = rewrite_before(w->kernel, nest);
  bool is_down = nest->operands[2]->imm < 0;
  IrInst *lowest = ir_convert(&b, nest->operands[is_down ? 1 : 0], TYPE(I64)), *low = lowest,
         *highest = ir_convert(&b, nest->operands[is_down ? 0 : 1], TYPE(I64)), *high = highest,
         *one = ir_i64(&b, 1), *inside = emit_check(w, &b, false);
  find_middle(w, &b, &low, &high);
  IrInst *below = ir_binary(&b, IR_SUB, low, one);
  if (inside) high = ir_select(&b, inside, high, below);
  IrInst *above = ir_binary(&b, IR_MAX, low, ir_binary(&b, IR_ADD, high, one));
  below = ir_binary(&b, IR_MIN, highest, below);
  if (is_down) put_edge(w, &b, edge, above, highest);
  else put_edge(w, &b, edge, lowest, below);
  put_loop(w, &b, copy_inside(w), low, high);
  if (is_down) put_edge(w, &b, edge, lowest, below);
  else put_edge(w, &b, edge, above, highest);
  ir_delete(nest);
  ir_note(w->kernel, nest->line, "split in three: checked at its edges only");
}

/* Do places reach beyond the index, and does the index after the middle part fit in its type? */
static bool can_split_in_three(const Windows *w) {
  Type type = w->own->type;
  int64_t most = type_bits(type) == 64 ? INT64_MAX : INT32_MAX;
  bool reaches = false;
  if (!type_is(type, TYPE_I32) && !type_is(type, TYPE_I64)) return false;
  for (int i = 0; i < w->count; i++) {
    const Window *window = &w->items[i];
    if (window->line) return false; /* the middle would have to be solved for the index */
    if (window->base != w->own) continue;
    if (window->size >= most + min_i64(window->high, 0)) return false;
    reaches |= window->low < 0 || window->high > 0;
  }
  return reaches;
}

bool hoist_checks_loop(const BodyLimits *at, IrInst *loop, IrInst *edge) {
  int64_t step;
  if (!ir_is_const(loop->operands[2], &step)) return false;
  Windows w = find_windows(at, loop);
  int size = rewrite_count(loop->regions[0]);
  if (!w.saves || !w.places.count || size > LARGEST_SPLIT_BODY) return false;
  for (int i = 0; i < w.places.count && !w.count; i++) w.places.items[i]->in_bounds = true;
  if (!w.count) return true;
  LoopExits exits = exits_of(loop);
  bool is_simple = (step == 1 || step == -1) && (edge || size <= LARGEST_CUT_BODY) &&
                   !exits.breaks && !exits.outer;
  if (is_simple && can_split_in_three(&w)) split_in_three(&w, loop, edge);
  else make_two_versions(&w, loop, edge);
  return true;
}

/* -- the pass ---------------------------------------------------------------------------------- */

/* May the loop be copied? Each task is run from one place. */
static bool may_copy(const IrInst *loop) {
  return !ir_has_op(loop->regions[0], IR_RUN) && !ir_has_op(loop->regions[0], IR_SAVE_MASKS);
}

/* Do the iterations around the loop run one by one? In lanes they hide each other's latency. */
static bool may_skew(const BodyLimits *at) { return !at->task || at->task->scalar; }

/* Did it change a loop in the region? */
static bool visit_region(const BodyLimits *at, IrRegion *region) {
  bool has_changed = false;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool inner = false;
    if (inst->op == IR_FOR && inst->no_unroll) continue; /* a cold copy */
    if (inst->op == IR_FOR && may_skew(at) && skew_nest(at, inst)) {
      has_changed = true;
      continue;
    }
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      inner |= visit_region(at, inst->regions[i]);
    has_changed |= inner;
    if (inner || inst->op != IR_FOR || !type_is_integer(inst->operands[0]->type)) continue;
    if (may_copy(inst)) has_changed |= hoist_checks_loop(at, inst, NULL);
  }
  return has_changed;
}

bool pass_hoist_checks(PassContext *ctx, IrKernel *kernel, Error *err) {
  BodyLimits at = limits_of_body(kernel, NULL, kernel->body);
  visit_region(&at, kernel->body);
  at.body = NULL;
  for (int i = 0; i < kernel->functions.count; i++)
    visit_region(&at, kernel->functions.items[i]->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    IrRegion *body = task->interior ? task->interior : task->body;
    at = limits_of_body(kernel, task, body);
    visit_region(&at, body);
  }
  return true;
}
