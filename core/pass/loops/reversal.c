/* reversal.c - loop reversal, and the loop unswitching that it needs: a serial loop that only uses
 * its mirrored index, as sweeps in either direction do, counts down instead.
 *
 *     for 0, %last, 1 (%i) {                 if %c {
 *       %m = sub %last, %i                     for %last, 0, -1 (%i) { store (place f0 %i), .. }
 *       %k = select %c, %m, %i          =>   } else {
 *       store (place f0 %k), ..                for 0, %last, 1 (%i) { store (place f0 %i), .. }
 *     }                                      }
 *
 * A mirrored index is begin + last - i: a loop that counts down visits the same indices in the same
 * order, even if sums wrap. Its indices are i plus constants, so later passes can find dependences
 * (skew.c, dependence.h); the order of iterations stays. A nest of loops is copied for each
 * condition that chooses an index, as long as its copies stay below MOST_INSTS. */
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

enum { MOST_INSTS = 1600, DEEPEST_CONDITION = 8 };

/* -- mirrored indices -------------------------------------------------------------------------- */

static bool has_unit_step(const IrInst *loop) {
  int64_t step = facts_step(loop);
  return step == 1 || step == -1;
}

/* Is it begin + last of the loop, even if sums wrap in its type? */
static bool is_sum_of_ends(const IrInst *value, const IrInst *loop) {
  Affine sum, begin, last;
  return facts_affine(value, NULL, &sum) && facts_affine(loop->operands[0], NULL, &begin) &&
         facts_affine(loop->operands[1], NULL, &last) && facts_affine_add(&sum, &begin, -1) &&
         facts_affine_add(&sum, &last, -1) && !sum.count && !sum.constant &&
         sum.bits >= type_bits(value->type);
}

/* The loop of which the value is the index, or NULL. */
static IrInst *loop_of_index(const IrInst *value) {
  IrInst *loop = value->op == IR_PARAM && value->region ? value->region->owner : NULL;
  return loop && has_unit_step(loop) ? loop : NULL;
}

/* The loop of which the value is the mirrored index, or NULL. */
static IrInst *loop_of_mirrored(const IrInst *value) {
  if (value->op != IR_SUB) return NULL;
  IrInst *loop = loop_of_index(value->operands[1]);
  bool is_mirrored = loop && facts_is_invariant(value->operands[0], loop->regions[0]) &&
                     is_sum_of_ends(value->operands[0], loop);
  return is_mirrored ? loop : NULL;
}

/* -- reversal ---------------------------------------------------------------------------------- */

static bool is_only_mirrored(const IrInst *index, const IrInst *loop) {
  if (!index->uses) return false;
  for (const IrUse *use = index->uses; use; use = use->next)
    if (loop_of_mirrored(use->user) != loop) return false;
  return true;
}

static void reverse_loop(IrKernel *kernel, IrInst *loop) {
  IrInst *index = ir_index(loop);
  IrBuilder b = rewrite_before(kernel, loop);
  IrInst *begin = loop->operands[0], *last = loop->operands[1];
  ASSERT(has_unit_step(loop), "the loop visits every index between its ends");
  ir_set_operand(loop, 0, last);
  ir_set_operand(loop, 1, begin);
  ir_set_operand(loop, 2, ir_const_int(&b, begin->type, -facts_step(loop)));
  for (IrUse *use = index->uses, *next; use; use = next) {
    IrInst *mirrored = use->user;
    next = use->next;
    ir_replace_uses(mirrored, index);
    ir_delete(mirrored);
  }
}

/* -- unswitching ------------------------------------------------------------------------------- */

/* Can it be computed before the nest? */
static bool can_move_out(const IrInst *value, const IrRegion *nest, int depth) {
  if (!ir_is_inside(value, nest)) return value->op != IR_PARAM || value->region != nest;
  if (depth == DEEPEST_CONDITION || !facts_is_invariant(value, nest)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (!can_move_out(value->operands[i], nest, depth + 1)) return false;
  return true;
}

static bool is_mirror_choice(const IrInst *select) {
  const IrInst *a = select->operands[1], *b = select->operands[2];
  IrInst *loop = loop_of_index(a), *other = loop_of_index(b);
  return (loop && loop_of_mirrored(b) == loop) || (other && loop_of_mirrored(a) == other);
}

/* The first SELECT between an index and the mirrored one; NULL if there is none, or if the nest
 * runs tasks. */
static IrInst *find_choice(const IrRegion *nest) {
  IrInst *found = NULL;
  for (IrInst *inst = nest->first; inst; inst = ir_following(inst, nest)) {
    if (inst->op == IR_RUN) return NULL;
    if (found || inst->op != IR_SELECT || !type_is_integer(inst->type)) continue;
    if (is_mirror_choice(inst) && can_move_out(inst->operands[0], nest, 0)) found = inst;
  }
  return found;
}

/* Replaces each SELECT on the condition by its operand number `chosen`. */
static void decide_selects(IrRegion *nest, const IrInst *condition, int chosen) {
  for (IrInst *inst = nest->first; inst; inst = ir_following(inst, nest))
    if (inst->op == IR_SELECT && !type_is_vector(inst->operands[0]->type) &&
        facts_same_value(inst->operands[0], condition))
      ir_replace_uses(inst, inst->operands[chosen]);
}

/* Copies the nest for both values of the condition; returns the copy. */
static IrInst *unswitch(IrKernel *kernel, IrInst *nest, IrInst *condition) {
  IrBuilder b = rewrite_before(kernel, nest);
  IrInst *outside =
      rewrite_recompute(&b, condition, nest->regions[0], ir_map(kernel->scratch, kernel));
  IrInst *branch = ir_if(&b, outside);
  IrMap *map = ir_map(kernel->scratch, kernel);
  IrInst *copy = ir_copy_inst(kernel, nest, map);
  IrInst *copied = ir_mapped(map, condition) ? ir_mapped(map, condition) : condition;
  ir_move_into(branch->regions[0], nest);
  ir_region_append(branch->regions[1], copy);
  decide_selects(nest->regions[0], condition, 1);
  decide_selects(copy->regions[0], copied, 2);
  rewrite_drop_dead(branch->regions[0]); /* mirrored indices that are unused now */
  rewrite_drop_dead(branch->regions[1]);
  ir_note(kernel, nest->line, "the direction of the loop is chosen once, before it");
  return copy;
}

/* `insts`: the largest size of the nest with its copies. */
static void unswitch_nest(IrKernel *kernel, IrInst *nest, int insts) {
  const IrInst *choice = find_choice(nest->regions[0]);
  if (!choice || rewrite_count(nest->regions[0]) > insts / 2) return;
  IrInst *copy = unswitch(kernel, nest, choice->operands[0]);
  unswitch_nest(kernel, nest, insts / 2);
  unswitch_nest(kernel, copy, insts / 2);
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void unswitch_inside(IrKernel *kernel, const IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (has_unit_step(inst)) unswitch_nest(kernel, inst, MOST_INSTS);
    else
      for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
        unswitch_inside(kernel, inst->regions[i]);
  }
}

static void rewrite_region(IrKernel *kernel, IrRegion *region) {
  unswitch_inside(kernel, region);
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region))
    if (has_unit_step(inst) && is_only_mirrored(ir_index(inst), inst)) reverse_loop(kernel, inst);
}

bool pass_reversal(PassContext *ctx, IrKernel *kernel, Error *err) {
  rewrite_region(kernel, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++)
    rewrite_region(kernel, kernel->tasks.items[i]->body);
  return true;
}
