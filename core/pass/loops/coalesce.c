/* coalesce.c - loop coalescing: turns a loop over neighbouring cells, with an inner loop over the
 * list of each, into one loop if the lists follow each other in memory.
 *
 *     for %lo, %hi (%c) {                  %bad = 0, %at = begin(%lo)
 *       for begin(%c), last(%c) (%s) {     for %lo, %hi (%c) {
 *         ..                                 %end = last(%c) + 1
 *       }                           =>       %bad += begin(%c) != %at or %end < begin(%c)
 *     }                                      %at = %end
 *                                          }
 *                                          if %bad == 0 and begin(%lo) >= 0 and %lo <= %hi {
 *                                            for begin(%lo), last(%hi) (%s) { .. }
 *                                          } else { the nest as it was }
 *
 * The iterations and their order are the same. A nest of short lists leaves its inner loop once per
 * cell, at an unpredictable iteration: the misprediction costs more than the few elements of a
 * list; and lanes wait for the longest list of each cell. If begin(c + 1) and last(c) + 1 are one
 * element, as in `for s = first[c], first[c + 1] - 1`, they need not be compared. The body of the
 * inner loop must not use %c, nor write elements that begin and last read. If a begin is below 0,
 * the nest runs instead, since its last index may wrap.
 *
 * needs: tasks     keeps: all else
 * Decision D-pass-77. */
#include "base/bits.h"
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/analysis/effects.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

enum { MOST_INSTS = 300 /* of a nest, which is copied */, MOST_READS = 8, DEEPEST = 12 };

typedef struct Nest {
  IrKernel *kernel;
  IrInst *outer, *inner;
  IrInst *begin, *last; /* of a cell's list */
  IrInst *end;          /* last + 1, if that is a load; otherwise NULL */
  bool is_adjacent;     /* end is the element that begin is for the next cell */
  const IrInst *reads[MOST_READS];
  int read_count;
} Nest;

/* -- the loops --------------------------------------------------------------------------------- */

static bool counts_up(const IrInst *loop) {
  return facts_step(loop) == 1 && !loop->no_unroll && type_is_signed(loop->operands[0]->type) &&
         type_bits(loop->operands[0]->type) >= 32;
}

/* The only loop in the body, if all other insts are values and reads; otherwise NULL. */
static IrInst *find_inner(const IrInst *outer) {
  IrInst *inner = NULL;
  for (IrInst *inst = outer->regions[0]->first; inst; inst = inst->next) {
    if (inst->op == IR_LOAD || (ir_effects(inst) & IR_PURE)) continue;
    if (inner || !counts_up(inst)) return NULL;
    inner = inst;
  }
  return inner;
}

/* -- the lists --------------------------------------------------------------------------------- */

/* Is `a` the loop's index plus an invariant, and `b` one more? */
static bool are_consecutive(const Nest *nest, const IrInst *a, const IrInst *b) {
  const IrRegion *body = nest->outer->regions[0];
  Affine first, second;
  int64_t distance;
  if (!type_equal(a->type, b->type) || !facts_affine(a, body, &first) ||
      !facts_affine(b, body, &second) || !facts_affine_distance(&first, &second, &distance))
    return false;
  for (int i = 0; i < first.count; i++)
    if (first.values[i] != ir_index(nest->outer) && ir_is_inside(first.values[i], body))
      return false;
  return distance == 1 && facts_factor(&first, ir_index(nest->outer)) == 1;
}

static bool are_adjacent(const Nest *nest) {
  if (nest->begin->op != IR_LOAD || !nest->end) return false;
  const IrInst *a = nest->begin->operands[0], *b = nest->end->operands[0];
  if (a->op != IR_PLACE || b->op != IR_PLACE || a->field != b->field) return false;
  int last = a->operand_count - 1;
  for (int i = 0; i < last; i++)
    if (!facts_is_invariant(a->operands[i], nest->outer->regions[0])) return false;
  return last >= 0 && facts_same_values(last, a->operands, b->operands) &&
         are_consecutive(nest, a->operands[last], b->operands[last]);
}

/* Records the elements that the value is computed from; false: there are too many, or it depends on
 * anything else. */
static bool find_reads(Nest *nest, const IrInst *value, int depth) {
  if (!ir_is_inside(value, nest->outer->regions[0])) return true;
  if (value->op == IR_PARAM) return value == ir_index(nest->outer);
  if (depth == DEEPEST) return false;
  if (value->op == IR_LOAD) {
    if (value->operands[0]->op != IR_PLACE || nest->read_count == MOST_READS) return false;
    nest->reads[nest->read_count++] = value;
  } else if (!(ir_effects(value) & IR_PURE)) {
    return false;
  }
  for (int i = 0; i < value->operand_count; i++)
    if (!find_reads(nest, value->operands[i], depth + 1)) return false;
  return true;
}

static bool find_lists(Nest *nest) {
  int64_t before;
  nest->begin = nest->inner->operands[0];
  nest->last = nest->inner->operands[1];
  IrInst *end = (IrInst *)facts_split_constant(nest->last, &before);
  if (before == -1 && end->op == IR_LOAD && ir_is_inside(end, nest->outer->regions[0]))
    nest->end = end;
  nest->is_adjacent = are_adjacent(nest);
  return find_reads(nest, nest->begin, 0) && find_reads(nest, nest->last, 0) && nest->read_count;
}

/* -- the body ---------------------------------------------------------------------------------- */

static bool is_invariant_value(const Nest *nest, const IrInst *value) {
  return (ir_effects(value) & IR_PURE) && facts_is_invariant(value, nest->outer->regions[0]);
}

static bool is_independent_of_cell(const Nest *nest, const IrInst *inst) {
  if (inst->op == IR_INVOKE || inst->op == IR_RMW || inst->op == IR_CAS || inst->op == IR_CALL)
    return false;
  for (int i = 0; i < inst->operand_count; i++) {
    const IrInst *value = inst->operands[i];
    if (value == ir_index(nest->outer)) return false;
    if (value->region == nest->outer->regions[0] && !is_invariant_value(nest, value)) return false;
  }
  return true;
}

static bool writes_no_bounds(const Nest *nest) {
  const IrKernel *kernel = nest->kernel;
  const Effects *effects = effects_collect(kernel->scratch, kernel, nest->inner->regions[0], NULL);
  if (effects->changes) return false;
  for (int i = 0; i < nest->read_count; i++) {
    int field = nest->reads[i]->operands[0]->field;
    for (int f = 0; f < effects->field_count; f++)
      if ((f == field || ir_is_shared(kernel, field)) && effects->fields[f].verbs & EFFECT_WRITES)
        return false;
  }
  return true;
}

static bool may_coalesce(Nest *nest) {
  int64_t cells = facts_trip_count(nest->outer);
  if (cells == 0 || cells == 1 || rewrite_count(nest->outer->regions[0]) > MOST_INSTS ||
      !find_lists(nest))
    return false;
  LoopExits exits = exits_of(nest->inner);
  const IrRegion *body = nest->inner->regions[0];
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (!is_independent_of_cell(nest, inst)) return false;
  return !exits.breaks && !exits.outer && writes_no_bounds(nest);
}

/* -- rewriting --------------------------------------------------------------------------------- */

/* Recomputes `value` for index `at` of the outer loop; NULL: it does not depend on the index. */
static IrInst *emit_at(IrBuilder *b, const Nest *nest, IrInst *value, IrInst *at) {
  IrMap *map = ir_map(b->kernel->scratch, b->kernel);
  ir_map_put(map, ir_index(nest->outer), at);
  return rewrite_recompute(b, value, nest->outer->regions[0], map);
}

/* Emits a variable that counts the lists that have a negative length, or do not follow the previous
 * one. */
static IrInst *count_gaps(IrBuilder *b, const Nest *nest, IrInst *begin) {
  IrInst *const *bounds = nest->outer->operands;
  IrInst *bad = ir_var(b, TYPE(I32)), *at = nest->is_adjacent ? NULL : ir_var(b, begin->type);
  if (at) ir_set(b, at, begin);
  IrInst *loop = ir_for(b, bounds[0], bounds[1], bounds[2]);
  IrBuilder in = rewrite_into(b, loop->regions[0]);
  IrInst *own = emit_at(&in, nest, nest->begin, ir_index(loop)), *end;
  if (nest->end) end = emit_at(&in, nest, nest->end, ir_index(loop));
  else end = ir_plus(&in, emit_at(&in, nest, nest->last, ir_index(loop)), 1);
  IrInst *is_bad = ir_binary(&in, IR_LT, end, own);
  if (at) {
    is_bad = ir_binary(&in, IR_BOR, is_bad, ir_binary(&in, IR_NE, own, ir_get(&in, at)));
    ir_set(&in, at, end);
  }
  IrInst *sum = ir_binary(&in, IR_ADD, ir_get(&in, bad), ir_convert(&in, is_bad, TYPE(I32)));
  ir_set(&in, bad, sum);
  return bad;
}

enum { FEW_EACH = 2, FEW_CELLS = 9, MOST_EXPECTED = 64 };

/* A guess: a few elements of each cell, and a few cells if their number is not known. */
static int32_t expected_trips(const Nest *nest) {
  int64_t known = facts_trip_count(nest->outer), cells = known < 0 ? FEW_CELLS : known;
  return (int32_t)min_i64(FEW_EACH * min_i64(cells, MOST_EXPECTED), MOST_EXPECTED);
}

static void copy_inner(IrBuilder *b, const Nest *nest, IrInst *begin, IrInst *last) {
  IrKernel *kernel = nest->kernel;
  IrMap *map = ir_map(kernel->scratch, kernel);
  for (IrInst *inst = nest->outer->regions[0]->first; inst; inst = inst->next)
    if (ir_is_used(inst) && is_invariant_value(nest, inst))
      ir_map_put(map, inst, emit_at(b, nest, inst, NULL));
  IrInst *copy = ir_copy_inst(kernel, nest->inner, map);
  copy->trips = expected_trips(nest);
  ir_set_operand(copy, 0, begin);
  ir_set_operand(copy, 1, last);
  ir_region_append(b->region, copy);
}

static void coalesce_nest(const Nest *nest) {
  ASSERT(nest->inner && nest->begin && nest->last, "an inner loop whose bounds are elements");
  IrInst *outer = nest->outer;
  IrBuilder b = rewrite_before(nest->kernel, outer);
  IrInst *begin = emit_at(&b, nest, nest->begin, outer->operands[0]),
         *last = emit_at(&b, nest, nest->last, outer->operands[1]);
  IrInst *bad = count_gaps(&b, nest, begin);
  IrInst *good = ir_binary(&b, IR_EQ, ir_get(&b, bad), ir_i32(&b, 0));
  good = rewrite_both(&b, good, ir_binary_const(&b, IR_GE, begin, 0));
  good = rewrite_both(&b, good, ir_binary(&b, IR_LE, outer->operands[0], outer->operands[1]));
  IrInst *branch = ir_if(&b, good);
  IrBuilder in = rewrite_inside(nest->kernel, branch->regions[0], nest->inner);
  copy_inner(&in, nest, begin, last);
  ir_note(nest->kernel, nest->inner->line, "lists that follow each other are walked as one");
  ir_move_into(branch->regions[1], outer);
  rewrite_mark_rolled(branch->regions[1]);
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void visit_region(IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    Nest nest = {.kernel = kernel, .outer = inst};
    if (counts_up(inst) && (nest.inner = find_inner(inst)) && may_coalesce(&nest)) {
      coalesce_nest(&nest);
      continue;
    }
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      visit_region(kernel, inst->regions[i]);
  }
}

bool pass_coalesce(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) visit_region(kernel, kernel->tasks.items[i]->body);
  for (int i = 0; i < kernel->functions.count; i++)
    visit_region(kernel, kernel->functions.items[i]->body);
  return true;
}
