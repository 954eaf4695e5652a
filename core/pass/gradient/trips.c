/* trips.c - loops of unknown length as loops over numbered iterations, which can be run backwards:
 *
 *     loop { A; if %c { break }; B }
 *
 *  => %trips = var                        a copy without effects on anything but its own variables
 *     loop { set %trips, %trips + 1; A; if %c { break }; B }
 *     for 0, %trips - 1, 1 {
 *       %left = var; A; if %c { set %left, true }; if not %left { B }
 *     }
 *
 * The last iteration may be left early: what follows the exit is skipped by the flag. Of a FOR that
 * is left early, the index stays what it was. */
#include "pass/gradient/trips.h"

#include "pass/rewrite.h"
#include "pass/simplify/early_exits.h"

typedef struct Trips {
  IrKernel *kernel;
  Scratch *scratch;
  const bool *wanted;
  int count;
} Trips;

/* -- exits as flags ---------------------------------------------------------------------------- */

static bool is_exit(const IrInst *inst) {
  return (inst->op == IR_BREAK || inst->op == IR_CONTINUE) && inst->imm == 0;
}

static bool has_own_exit(const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (is_exit(inst)) return true;
    for (int k = 0; inst->op == IR_IF && k < 2; k++)
      if (has_own_exit(inst->regions[k])) return true;
  }
  return false;
}

static void delete_from(IrInst *inst) {
  while (inst) { /* from the last on: values go after their uses */
    IrInst *last = inst;
    while (last->next) last = last->next;
    bool was_first = last == inst;
    ir_delete(last);
    if (was_first) return;
  }
}

static void flag_exits(Trips *t, IrRegion *region, IrInst *left);

/* The insts after `inst` run unless the flag is set. */
static void guard_rest(Trips *t, IrInst *inst, IrInst *left) {
  IrInst *rest = inst->next;
  if (!rest) return;
  IrBuilder b = rewrite_before(t->kernel, rest);
  IrInst *choice = ir_if(&b, ir_unary(&b, IR_BNOT, ir_get(&b, left)));
  for (IrInst *next; rest; rest = next) {
    next = rest->next;
    ir_remove(rest);
    ir_region_append(choice->regions[0], rest);
  }
  flag_exits(t, choice->regions[0], left);
}

static void flag_exits(Trips *t, IrRegion *region, IrInst *left) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (is_exit(inst)) {
      IrBuilder b = rewrite_before(t->kernel, inst);
      ir_set(&b, left, ir_const_int(&b, TYPE(BOOL), 1));
      delete_from(inst);
      return;
    }
    if (inst->op != IR_IF) continue;
    bool exits = has_own_exit(inst->regions[0]) || has_own_exit(inst->regions[1]);
    for (int k = 0; exits && k < 2; k++) flag_exits(t, inst->regions[k], left);
    if (exits) return guard_rest(t, inst, left);
  }
}

/* -- counting ---------------------------------------------------------------------------------- */

typedef struct Copying {
  Trips *trips;
  const IrInst *loop;
  IrInst *own;       /* the copy */
  IrBuilder *before; /* the copy */
  IrInst **shadows;  /* by id of a VAR: the copy's own */
} Copying;

static bool give_shadow(void *data, IrInst *inst) {
  Copying *c = data;
  for (int k = 0; k < inst->operand_count; k++) {
    IrInst *var = inst->operands[k];
    if (var->op != IR_VAR || ir_is_inside(var, c->own->regions[0])) continue;
    if (!c->shadows[var->id]) {
      c->shadows[var->id] = ir_var(c->before, var->type);
      ir_set(c->before, c->shadows[var->id], ir_get(c->before, var));
    }
    ir_set_operand(inst, k, c->shadows[var->id]);
  }
  return true;
}

static void drop_effects(IrRegion *region) {
  for (IrInst *inst = region->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) drop_effects(inst->regions[k]);
    bool has_effect = inst->op == IR_STORE || inst->op == IR_UPDATE || inst->op == IR_REDUCE ||
                      inst->op == IR_PRINT || inst->op == IR_FAULT;
    if (has_effect) ir_delete(inst);
  }
}

/* The variable that holds how many iterations the loop begins. */
static IrInst *count_trips(Trips *t, IrInst *loop) {
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *trips = ir_var(&b, TYPE(I32));
  ir_set(&b, trips, ir_const_int(&b, TYPE(I32), 0));
  IrInst **map = scratch_array(t->scratch, IrInst *, t->kernel->next_id);
  IrInst *own = ir_copy_inst(t->kernel, loop, map);
  ir_insert_before(loop, own);
  drop_effects(own->regions[0]);
  IrBuilder before = rewrite_before(t->kernel, own);
  Copying copying = {t, loop, own, &before,
                     scratch_array(t->scratch, IrInst *, t->kernel->next_id)};
  ir_walk(own->regions[0], give_shadow, &copying);
  IrBuilder in = {t->kernel, own->regions[0], own->regions[0]->first, loop->line, loop->column};
  ir_set(&in, trips, ir_binary(&in, IR_ADD, ir_get(&in, trips), ir_const_int(&in, TYPE(I32), 1)));
  return trips;
}

/* -- a loop ------------------------------------------------------------------------------------ */

static void number_loop(Trips *t, IrInst *loop) {
  bool is_for = loop->op == IR_FOR;
  IrInst *trips = count_trips(t, loop);
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *steps = ir_binary(&b, IR_SUB, ir_get(&b, trips), ir_const_int(&b, TYPE(I32), 1));
  IrInst *begin = is_for ? loop->operands[0] : ir_const_int(&b, TYPE(I32), 0);
  IrInst *step = is_for ? loop->operands[2] : ir_const_int(&b, TYPE(I32), 1);
  IrInst *far = ir_binary(&b, IR_MUL, ir_convert(&b, steps, begin->type), step);
  IrInst *numbered = ir_for(&b, begin, ir_binary(&b, IR_ADD, begin, far), step);
  IrRegion *body = numbered->regions[0];
  rewrite_move_all(loop->regions[0], body);
  if (is_for) ir_replace_uses(loop->regions[0]->params.items[0], body->params.items[0]);
  IrBuilder first = {t->kernel, body, body->first, loop->line, loop->column};
  IrInst *left = ir_var(&first, TYPE(BOOL));
  ir_set(&first, left, ir_const_int(&first, TYPE(BOOL), 0));
  flag_exits(t, body, left);
  ir_delete(loop);
}

static bool is_wanted(const Trips *t, const IrInst *inst) {
  bool is_loop = inst->op == IR_LOOP || inst->op == IR_FOR;
  if (!is_loop || inst->id >= t->count || !t->wanted[inst->id]) return false;
  LoopExits exits = exits_of(inst);
  return (exits.breaks || exits.continues || inst->op == IR_LOOP) && !exits.outer;
}

static void number_inside(Trips *t, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) number_inside(t, inst->regions[k]);
    if (is_wanted(t, inst)) number_loop(t, inst);
  }
}

void trips_number(Scratch *scratch, IrKernel *kernel, const bool *wanted, int count) {
  Trips trips = {kernel, scratch, wanted, count};
  number_inside(&trips, kernel->body);
}
