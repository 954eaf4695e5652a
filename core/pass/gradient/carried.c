/* carried.c - reversal of loops whose iterations hang together.
 *
 *     for k { v = f(v, k) }    the variables that it carries are kept at every `interval`-th
 *                              iteration, in at most MOST_KEPT places of the function's frame;
 *  => for k                      backwards: v is what was kept last before iteration k, and
 *       { v = kept[k // interval]; for j = .., k - 1 { v = f(v, j) }; reverse iteration k }
 *                              the iterations in between are run again.
 *
 * Loops of up to MOST_KEPT iterations run each twice; one of n runs it n / (2 * MOST_KEPT) times
 * more. Local arrays are kept once, at the begin, and all iterations are run again. */
#include "ir/facts.h"
#include "pass/gradient/adjoint.h"

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

/* What a variable that is carried is here. */
static IrInst *carried(const Adjoint *a, const Carried *c, int i) {
  IrInst *var = ir_mapped(a->primal, c->plan->entered.items[i]);
  ASSERT(var && plan_is_storage(var), "a region that was entered has variables of its own");
  return var;
}

/* One iteration, as far as the variables that it carries need it. */
static void run_again(Adjoint *a, IrBuilder *b, const Carried *c, IrInst *iteration) {
  ir_map_put(a->primal, ir_index(c->loop), index_of(c, b, iteration));
  adjoint_copy_needed(a, b, c->loop->regions[0], c->plan->carried);
}

static Carried find_trips(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  Carried c = {.loop = loop, .plan = plan};
  int64_t trips = plan_trips(&a->plans, loop) ? -1 : facts_trips(loop);
  c.begin = adjoint_primal(a, b, loop->operands[0]);
  c.step = adjoint_primal(a, b, loop->operands[2]);
  IrInst *far = ir_binary(b, IR_SUB, adjoint_last(a, b, loop), c.begin);
  IrInst *steps = ir_convert(b, ir_binary(b, IR_FLOORDIV, far, c.step), TYPE(I32));
  c.trips = ir_binary(b, IR_ADD, steps, number(b, 1));
  if (trips < 0 || trips > MOST_KEPT) {
    IrInst *up = ir_binary(b, IR_ADD, c.trips, number(b, MOST_KEPT - 1));
    c.interval =
        ir_binary(b, IR_MAX, ir_binary(b, IR_FLOORDIV, up, number(b, MOST_KEPT)), number(b, 1));
  }
  bool has_arrays = false;
  for (int i = 0; i < plan->entered.count; i++)
    has_arrays |= plan->entered.items[i]->op == IR_LOCAL_ARRAY;
  if (has_arrays) return c;
  c.kept = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  int64_t count = trips < 0 || trips > MOST_KEPT ? MOST_KEPT : trips ? trips : 1;
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
  IrInst **outer = adjoint_enter(a, b, c->plan);
  IrInst *loop =
      ir_for(b, number(b, 0), ir_binary(b, IR_SUB, c->trips, number(b, 1)), number(b, 1));
  IrInst *iteration = ir_index(loop);
  IrBuilder in = adjoint_inside(a, loop->regions[0], b), at = in;
  IrInst *place = place_of(c, &in, iteration);
  if (c->interval) {
    IrInst *first = ir_binary(&in, IR_MUL, place, c->interval);
    at = adjoint_inside(a, ir_if(&in, ir_binary(&in, IR_EQ, iteration, first))->regions[0], b);
  }
  for (int i = 0; i < c->plan->entered.count; i++)
    ir_local_set(&at, c->kept[i], place, ir_get(&at, carried(a, c, i)));
  run_again(a, &in, c, iteration);
  adjoint_leave(a, c->plan, outer);
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
  IrInst **outer = adjoint_enter(a, b, c->plan);
  IrInst *loop = ir_for(b, first, ir_binary(b, IR_SUB, iteration, number(b, 1)), number(b, 1));
  IrBuilder in = adjoint_inside(a, loop->regions[0], b);
  run_again(a, &in, c, ir_index(loop));
  for (int i = 0; i < c->plan->entered.count; i++)
    c->plan->entry_values[i] = adjoint_save(a, b, carried(a, c, i));
  adjoint_leave(a, c->plan, outer);
}

void adjoint_reverse_carried(Adjoint *a, IrBuilder *b, const IrInst *loop, Plan *plan) {
  ASSERT(loop->op == IR_FOR && plan->carried, "plan.c refuses other loops that carry variables");
  ASSERT(plan->entered.count, "what an iteration carries comes from outside of the loop");
  IrInst **entries = plan->entry_values;
  Carried c = find_trips(a, b, loop, plan);
  keep_carried(a, b, &c);
  IrInst *again =
      ir_for(b, ir_binary(b, IR_SUB, c.trips, number(b, 1)), number(b, 0), number(b, -1));
  IrInst *iteration = ir_index(again);
  IrBuilder in = adjoint_inside(a, again->regions[0], b);
  plan->entry_values = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  memcpy(plan->entry_values, entries, sizeof *entries * (size_t)plan->entered.count);
  find_carried(a, &in, &c, iteration);
  ir_map_put(a->primal, ir_index(loop), index_of(&c, &in, iteration));
  adjoint_reverse_inside(a, &in, again->regions[0], loop, 0);
  plan->entry_values = entries;
}
