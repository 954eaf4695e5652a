/* recompute.c - recomputes values of the primal where its adjoint needs them: copies insts and the
 * loops and branches around them, reads the tape, and restores the values that variables had where
 * a region was entered. */
#include "ir/facts.h"
#include "pass/gradient/adjoint.h"

/* -- primal values ----------------------------------------------------------------------------- */

IrInst *adjoint_primal(Adjoint *a, IrBuilder *b, const IrInst *value) {
  if (value->op == IR_CONST || value->op == IR_ARG) {
    IrInst *constant = ir_emit(b, value->op, value->type, 0, NULL);
    constant->imm = value->imm;
    return constant;
  }
  IrInst *again = ir_mapped(a->primal, value);
  ASSERT(again, "a needed value is computed before it is used");
  return again;
}

static IrInst *append_copy(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *copy = ir_copy_alone(a->kernel, inst);
  for (int k = 0; k < inst->operand_count; k++)
    ir_set_operand(copy, k, adjoint_primal(a, b, inst->operands[k]));
  ir_region_append(b->region, copy);
  return copy;
}

/* Gives a copied op region `number`, without insts. */
static IrRegion *copy_region_head(Adjoint *a, const IrInst *inst, IrInst *copy, int number) {
  const IrRegion *from = inst->regions[number];
  IrRegion *to = copy->regions[number] = ir_region_create(a->kernel, copy);
  for (int i = 0; i < from->params.count; i++)
    ir_map_put(a->primal, from->params.items[i],
               ir_region_param(a->kernel, to, from->params.items[i]->type));
  return to;
}

static IrInst *primal_of(void *data, IrBuilder *b, const IrInst *value) {
  return adjoint_primal(data, b, value);
}

void adjoint_read_tape(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  TapePlace at = {&a->plans.tape, b, primal_of, a};
  const IrInst *trips = plan_trips(&a->plans, inst);
  if (trips) ir_map_put(a->primal, trips, tape_read(&at, trips));
  if (!tape_has(&a->plans.tape, inst)) return;
  if (inst->regions[0]) tape_enter(&at, inst);
  else ir_map_put(a->primal, inst, tape_read(&at, inst));
}

IrInst *adjoint_last(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  const IrInst *trips = plan_trips(&a->plans, loop);
  if (!trips) return adjoint_primal(a, b, loop->operands[1]);
  IrInst *begin = adjoint_primal(a, b, loop->operands[0]),
         *step = adjoint_primal(a, b, loop->operands[2]);
  IrInst *steps =
      ir_binary(b, IR_SUB, adjoint_primal(a, b, trips), ir_const_int(b, trips->type, 1));
  return ir_binary(b, IR_ADD, begin, ir_binary(b, IR_MUL, ir_convert(b, steps, begin->type), step));
}

static IrInst *copy_head(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *last = inst->op == IR_FOR ? adjoint_last(a, b, inst) : NULL,
         *copy = append_copy(a, b, inst);
  if (last) ir_set_operand(copy, 1, last);
  return copy;
}

IrInst *adjoint_copy_loop(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  IrInst *copy = copy_head(a, b, loop);
  copy_region_head(a, loop, copy, 0);
  return copy;
}

void adjoint_copy_inst(Adjoint *a, IrBuilder *b, IrInst *inst, const bool *needed) {
  adjoint_read_tape(a, b, inst);
  if (tape_has(&a->plans.tape, inst) && !inst->regions[0]) return;
  IrInst *copy = copy_head(a, b, inst);
  ir_map_put(a->primal, inst, copy);
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    IrBuilder in = rewrite_into(b, copy_region_head(a, inst, copy, k));
    adjoint_copy_needed(a, &in, inst->regions[k], needed);
  }
}

void adjoint_copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed) {
  for (IrInst *inst = region->first; inst; inst = inst->next)
    if (needed[inst->id]) adjoint_copy_inst(a, b, inst, needed);
}

/* -- variables that a region needs from outside ------------------------------------------------ */

IrInst *adjoint_save(Adjoint *a, IrBuilder *b, IrInst *storage) {
  ASSERT(plan_is_storage(storage), "variables and local arrays alone are saved");
  if (storage->op == IR_VAR) return ir_get(b, storage);
  IrInst *copy = ir_local_array(b, storage->type, (int)storage->imm);
  IrInst *loop = ir_for(b, ir_i32(b, 0), ir_i32(b, storage->imm - 1), ir_i32(b, 1));
  IrBuilder in = rewrite_into(b, loop->regions[0]);
  IrInst *index = ir_index(loop);
  ir_local_set(&in, copy, index, ir_local_get(&in, storage, index));
  return copy;
}

/* A new variable, or local array, with a saved value. */
static IrInst *restore_saved(Adjoint *a, IrBuilder *b, IrInst *saved) {
  return saved->op == IR_LOCAL_ARRAY ? adjoint_save(a, b, saved) : ir_variable(b, saved);
}

void adjoint_keep_entries(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    const Plan *plan = plan_of(&a->plans, inst, k);
    for (int i = 0; plan && i < plan->entered.count; i++)
      plan->entry_values[i] = adjoint_save(a, b, adjoint_primal(a, b, plan->entered.items[i]));
  }
}

IrInst **adjoint_enter(Adjoint *a, IrBuilder *b, const Plan *plan) {
  IrInst **outer = scratch_array(a->kernel->scratch, IrInst *, plan->entered.count + 1);
  for (int i = 0; i < plan->entered.count; i++) {
    const IrInst *var = plan->entered.items[i];
    outer[i] = ir_mapped(a->primal, var);
    ir_map_put(a->primal, var, restore_saved(a, b, plan->entry_values[i]));
  }
  return outer;
}

void adjoint_leave(Adjoint *a, const Plan *plan, IrInst *const *outer) {
  for (int i = 0; i < plan->entered.count; i++)
    ir_map_put(a->primal, plan->entered.items[i], outer[i]);
}

/* -- loops with loop-carried variables --------------------------------------------------------- */

/* Reversal by checkpoints:
 *
 *     for k { v = f(v, k) }    the carried variables are saved at every `interval`-th iteration, in
 *                              at most MOST_CHECKPOINTS numbers of the function's frame;
 *  => for k                      backwards: v is the last checkpoint before iteration k, and
 *       { v = checkpoints[k // interval]; for j = .., k - 1 { v = f(v, j) }; reverse iteration k }
 *                              the iterations in between are run again.
 *
 * A loop of up to MOST_CHECKPOINTS iterations runs each one twice; with n iterations, each one runs
 * n / (2 * MOST_CHECKPOINTS) times more on average. Local arrays are saved only at the beginning of
 * the loop, so all iterations are run again. */

enum { MOST_CHECKPOINTS = 64 };

typedef struct Carried {
  const IrInst *loop;
  Plan *plan;
  IrInst *begin, *step; /* of the loop's index */
  IrInst *trips;        /* i32 */
  IrInst *interval;     /* i32; NULL: 1 */
  IrInst **checkpoints; /* by position in plan->entered: local arrays; NULL: there are none */
} Carried;

static IrInst *index_at(const Carried *c, IrBuilder *b, IrInst *iteration) {
  IrInst *steps = ir_convert(b, iteration, c->begin->type);
  return ir_binary(b, IR_ADD, c->begin, ir_binary(b, IR_MUL, steps, c->step));
}

/* The current copy of a carried variable. */
static IrInst *carried_variable(const Adjoint *a, const Carried *c, int i) {
  IrInst *var = ir_mapped(a->primal, c->plan->entered.items[i]);
  ASSERT(var && plan_is_storage(var), "a region that was entered has variables of its own");
  return var;
}

/* Emits what one iteration does to the carried variables. */
static void repeat_iteration(Adjoint *a, IrBuilder *b, const Carried *c, IrInst *iteration) {
  ir_map_put(a->primal, ir_index(c->loop), index_at(c, b, iteration));
  adjoint_copy_needed(a, b, c->loop->regions[0], c->plan->carried);
}

static Carried find_trips(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  Carried c = {.loop = loop, .plan = plan};
  int64_t trips = plan_trips(&a->plans, loop) ? -1 : facts_trip_count(loop);
  c.begin = adjoint_primal(a, b, loop->operands[0]);
  c.step = adjoint_primal(a, b, loop->operands[2]);
  IrInst *far = ir_binary(b, IR_SUB, adjoint_last(a, b, loop), c.begin);
  IrInst *steps = ir_convert(b, ir_binary(b, IR_FLOORDIV, far, c.step), TYPE(I32));
  c.trips = ir_binary_const(b, IR_ADD, steps, 1);
  if (trips < 0 || trips > MOST_CHECKPOINTS) {
    IrInst *up = ir_binary_const(b, IR_ADD, c.trips, MOST_CHECKPOINTS - 1);
    c.interval =
        ir_binary(b, IR_MAX, ir_binary_const(b, IR_FLOORDIV, up, MOST_CHECKPOINTS), ir_i32(b, 1));
  }
  bool has_arrays = false;
  for (int i = 0; i < plan->entered.count; i++)
    has_arrays |= plan->entered.items[i]->op == IR_LOCAL_ARRAY;
  if (has_arrays) return c;
  c.checkpoints = scratch_array(a->kernel->scratch, IrInst *, plan->entered.count + 1);
  int64_t count = trips < 0 || trips > MOST_CHECKPOINTS ? MOST_CHECKPOINTS : trips ? trips : 1;
  for (int i = 0; i < plan->entered.count; i++)
    c.checkpoints[i] = ir_local_array(b, plan->entered.items[i]->type, (int)count);
  return c;
}

/* The number of the last checkpoint at or before this iteration. */
static IrInst *checkpoint_of(const Carried *c, IrBuilder *b, IrInst *iteration) {
  return c->interval ? ir_binary(b, IR_FLOORDIV, iteration, c->interval) : iteration;
}

/* Runs the loop once, and saves the checkpoints. */
static void save_checkpoints(Adjoint *a, IrBuilder *b, const Carried *c) {
  if (!c->checkpoints) return;
  IrInst **outer = adjoint_enter(a, b, c->plan);
  IrInst *loop = ir_for(b, ir_i32(b, 0), ir_binary_const(b, IR_SUB, c->trips, 1), ir_i32(b, 1));
  IrInst *iteration = ir_index(loop);
  IrBuilder in = rewrite_into(b, loop->regions[0]), at = in;
  IrInst *place = checkpoint_of(c, &in, iteration);
  if (c->interval) {
    IrInst *first = ir_binary(&in, IR_MUL, place, c->interval);
    at = rewrite_into(b, ir_if(&in, ir_binary(&in, IR_EQ, iteration, first))->regions[0]);
  }
  for (int i = 0; i < c->plan->entered.count; i++)
    ir_local_set(&at, c->checkpoints[i], place, ir_get(&at, carried_variable(a, c, i)));
  repeat_iteration(a, &in, c, iteration);
  adjoint_leave(a, c->plan, outer);
}

/* Sets the plan's entry values to those at the beginning of this iteration. */
static void restore_carried(Adjoint *a, IrBuilder *b, const Carried *c, IrInst *iteration) {
  IrInst *first = ir_i32(b, 0);
  if (c->checkpoints) {
    IrInst *place = checkpoint_of(c, b, iteration);
    for (int i = 0; i < c->plan->entered.count; i++)
      c->plan->entry_values[i] = ir_local_get(b, c->checkpoints[i], place);
    if (!c->interval) return;
    first = ir_binary(b, IR_MUL, place, c->interval);
  }
  IrInst **outer = adjoint_enter(a, b, c->plan);
  IrInst *loop = ir_for(b, first, ir_binary_const(b, IR_SUB, iteration, 1), ir_i32(b, 1));
  IrBuilder in = rewrite_into(b, loop->regions[0]);
  repeat_iteration(a, &in, c, ir_index(loop));
  for (int i = 0; i < c->plan->entered.count; i++)
    c->plan->entry_values[i] = adjoint_save(a, b, carried_variable(a, c, i));
  adjoint_leave(a, c->plan, outer);
}

void adjoint_reverse_carried(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  ASSERT(loop->op == IR_FOR && plan->carried, "plan.c refuses other loops that carry variables");
  ASSERT(plan->entered.count, "carried variables come from outside the loop");
  IrInst **entries = plan->entry_values;
  Carried c = find_trips(a, b, loop, plan);
  save_checkpoints(a, b, &c);
  IrInst *again = ir_for(b, ir_binary_const(b, IR_SUB, c.trips, 1), ir_i32(b, 0), ir_i32(b, -1));
  IrInst *iteration = ir_index(again);
  IrBuilder in = rewrite_into(b, again->regions[0]);
  plan->entry_values = scratch_array(a->kernel->scratch, IrInst *, plan->entered.count + 1);
  memcpy(plan->entry_values, entries, sizeof *entries * (size_t)plan->entered.count);
  restore_carried(a, &in, &c, iteration);
  ir_map_put(a->primal, ir_index(loop), index_at(&c, &in, iteration));
  adjoint_reverse_inside(a, &in, again->regions[0], loop, 0);
  plan->entry_values = entries;
}
