/* independent.c - finds serial loops whose iterations are independent (have no loop-carried
 * dependence), so that they can be vectorised.
 *
 *   for %a, %b, %one (%k) {              =>    for independent ..
 *     %p = place f0 %i, %k                     (f0 is accessed at %k only)
 *     store %p, ..  }
 *
 * No element that one iteration writes may be accessed by another (dependence.h). Nor may the body
 * assign an outside variable, exit, operate on cells or lists, or print. Atomic updates of a single
 * place may run in any order, as they do between the task's iterations. If only assignments of
 * outside variables remain, FOR.reduces is set (sums_only checks whether they are sums). Sets
 * FOR.independent, in tasks. */
#include "ir/lanes.h"
#include "pass/analysis/dependence.h"
#include "pass/loops/loops.h"
#include "pass/rewrite.h"

/* Marked loops of a kernel: each is compiled a second time, as vectors. */
enum { MOST_MARKED_LOOPS = 64 };

typedef struct Independence {
  const IrKernel *kernel;
  const IrInst *loop;
  bool sets; /* assigns variables from outside */
} Independence;

/* -- the elements ------------------------------------------------------------------------------ */

static const IrRegion *body_of(const Independence *a) { return a->loop->regions[0]; }

/* The number of loops around the inst, inside this one. */
static int64_t depth_of(const Independence *a, const IrInst *inst) {
  int64_t depth = 0;
  for (const IrInst *at = inst->region->owner; at != a->loop; at = at->region->owner)
    depth += rewrite_is_loop(at->op);
  return depth;
}

/* Is the only access one atomic update? Lanes run it in the order of iterations, unless a loop
 * repeats it. */
static bool is_one_update(const Independence *a, const Effects *effects, int field) {
  DEBUG_ASSERT(effects->fields[field].first >= 0, "the field is written");
  const EffectField *of = &effects->fields[field];
  const IrInst *inst = effects->accesses.items[of->first].inst;
  return of->verbs == EFFECT_UPDATES && of->first == of->last && !inst->nonatomic &&
         !depth_of(a, inst);
}

static bool field_is_independent(const Independence *a, const Effects *effects, int field) {
  const IrField *of = &a->kernel->fields.items[field];
  DEBUG_ASSERT(field < effects->field_count, "effects know all fields of the kernel");
  if (!(effects->fields[field].verbs & EFFECT_WRITES)) return true;
  if (ir_is_shared(a->kernel, field) || (of->node && snode_has_lists(of->node))) return false;
  return is_one_update(a, effects, field) ||
         !dependence_may_carry(effects, field, EFFECT_WRITES, EFFECT_READS | EFFECT_WRITES);
}

/* -- the rest of the body ---------------------------------------------------------------------- */

/* A sum of floats keeps its order unless `fast_math` is on. Then the body adds to the variable at
 * one place, once in an iteration at most, so that lanes can do that one by one. */
static bool adds_once(const IrRegion *body, const IrInst *set) {
  const IrInst *var = set->operands[0], *sum = set->operands[1];
  if (!type_is_scalar(var->type) || type_bits(var->type) < 32) return false;
  int at = ir_lanes_sum_so_far(set);
  if (at < 0) return false;
  const IrInst *get = sum->operands[at];
  for (const IrRegion *in = set->region; in != body; in = in->owner->region)
    if (in->owner->op != IR_IF) return false;
  int sets = 0, gets = 0;
  for (const IrUse *use = var->uses; use; use = use->next)
    if (ir_is_inside(use->user, body))
      sets += use->user->op == IR_SET, gets += use->user->op == IR_GET;
  return sets == 1 && gets == 1 && get->region == set->region && sum->region == set->region &&
         !get->uses->next && !sum->uses->next;
}

static bool may_sum(const IrKernel *kernel, const IrRegion *body, const IrInst *set) {
  Type type = set->operands[0]->type;
  if (ir_lanes_add_in_order(kernel, body, set)) return adds_once(body, set);
  return type_is_integer(type) || type_is_float(type);
}

static bool is_allowed(Independence *a, const IrInst *inst) {
  switch (inst->op) {
  case IR_VAR:
  case IR_GET:
  case IR_LOAD:
  case IR_STORE:
  case IR_UPDATE:
  case IR_IF:
  case IR_LOOP:
  case IR_FOR: return true;
  case IR_SET:
    if (ir_is_inside(inst->operands[0], body_of(a))) return true;
    return a->sets = may_sum(a->kernel, body_of(a), inst);
  case IR_REDUCE: return !type_is_float(inst->operands[1]->type);
  case IR_BREAK: return inst->imm < depth_of(a, inst);
  case IR_CONTINUE: return inst->imm <= depth_of(a, inst);
  case IR_CELL: return !inst->offset[inst->axis_count - 1];
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

/* Marks the loop if its iterations are independent, except perhaps for sums. */
static bool mark_loop(const IrKernel *kernel, IrInst *loop) {
  Independence a = {.kernel = kernel, .loop = loop};
  IrRegion *body = loop->regions[0];
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (!is_allowed(&a, inst)) return false;
  const Effects *effects = effects_collect(kernel->scratch, kernel, body, NULL);
  for (int f = 0; f < effects->field_count; f++)
    if (!field_is_independent(&a, effects, f)) return false;
  loop->independent = !a.sets;
  loop->reduces = a.sets;
  return true;
}

static void visit_body(const IrKernel *kernel, const IrRegion *body, int *marked) {
  for (IrInst *inst = body ? body->first : NULL; inst && *marked < MOST_MARKED_LOOPS;
       inst = ir_following(inst, body)) {
    bool counts = facts_step(inst) == 1 && type_bits(inst->operands[0]->type) >= 32;
    if (counts && !inst->no_unroll) *marked += mark_loop(kernel, inst);
  }
}

bool pass_independent(PassContext *ctx, IrKernel *kernel, Error *err) {
  int marked = 0;
  for (int i = 0; i < kernel->tasks.count; i++) {
    visit_body(kernel, kernel->tasks.items[i]->body, &marked);
    visit_body(kernel, kernel->tasks.items[i]->interior, &marked);
  }
  return true;
}

/* -- sums -------------------------------------------------------------------------------------- */

/* A value is partial if it is a variable's value, or that plus other numbers.
 * It may only be stored in the variable, or be added to again. Decision D-pass-07. */
typedef struct Sums {
  bool *is_set;           /* by id: variables from outside */
  const IrInst **partial; /* by id: the variable of which the value is a partial sum; NULL: none */
} Sums;

static const IrInst *partial_of(const Sums *s, const IrInst *inst, int operand) {
  return operand < inst->operand_count ? s->partial[inst->operands[operand]->id] : NULL;
}

static bool is_addition(const Sums *s, const IrInst *inst) {
  const IrInst *a = partial_of(s, inst, 0), *b = partial_of(s, inst, 1);
  return (inst->op == IR_ADD && !(a && b)) || (inst->op == IR_SUB && !b);
}

static bool adds(Sums *s, const IrInst *inst) {
  if (inst->op == IR_SET && s->is_set[inst->operands[0]->id])
    return partial_of(s, inst, 1) == inst->operands[0];
  if (inst->op == IR_GET && s->is_set[inst->operands[0]->id])
    return s->partial[inst->id] = inst->operands[0], true;
  for (int k = 0; k < inst->operand_count; k++) {
    if (s->is_set[inst->operands[k]->id]) return false;
    if (!partial_of(s, inst, k)) continue;
    if (!is_addition(s, inst)) return false;
    s->partial[inst->id] = partial_of(s, inst, k);
  }
  return true;
}

bool sums_only(Scratch *scratch, const IrKernel *kernel, const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  Sums s = {.is_set = scratch_array(scratch, bool, kernel->next_id),
            .partial = scratch_array(scratch, const IrInst *, kernel->next_id)};
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (inst->op != IR_SET || ir_is_inside(inst->operands[0], body)) continue;
    if (!may_sum(kernel, body, inst)) return false;
    s.is_set[inst->operands[0]->id] = true;
  }
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (!adds(&s, inst)) return false;
  return true;
}
