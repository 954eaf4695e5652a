/* trips.c - turns loops of unknown trip count into loops over numbered iterations, which can be
 * reversed:
 *
 *     loop { A; if %c { break }; B }
 *
 *  => %trips = var                        a copy of the slice that decides when the loop ends
 *     loop { set %trips, %trips + 1; A; if %c { break }; B }
 *     for 0, %trips - 1, 1 {
 *       %left = var; A; if %c { set %left, true }; if not %left { B }
 *     }
 *
 * The last iteration may be left early: a flag skips what follows the exit. A FOR that is left
 * early keeps its index. If the loop itself changes what decides when it ends, by writing elements
 * or summing, it counts its iterations while it runs, and the count is taped (tape.h):
 *
 *     for 0, most, 1 { set %trips, %trips + 1; .. if %left { break } }    %n = get %trips */
#include "pass/gradient/trips.h"

#include "pass/gradient/plan.h"
#include "pass/gradient/slice.h"
#include "pass/rewrite.h"
#include "pass/simplify/early_exits.h"

typedef struct Trips {
  IrKernel *kernel;
  Scratch *scratch;
  const bool *wanted;
  int count;
  LoopCounts *counts;
} Trips;

/* -- what decides when a loop ends ------------------------------------------------------------- */

/* The slice of the loop's exits. */
static Slice slice_exits(Trips *t, const IrInst *loop) {
  ASSERT(loop->op == IR_LOOP || loop->op == IR_FOR, "loops of other kinds have no exits");
  Slice ending = slice_of(t->scratch, t->kernel, loop->regions[0]);
  slice_add_exits(&ending, loop->regions[0]);
  return ending;
}

/* Does it depend on elements or sums that the loop changes, or on an RMW or CAS? */
static bool depends_on_loop(const Slice *ending) {
  return ending->unrepeatable || ending->is_overwritten || ending->is_reduced;
}

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

static void flag_exits(Trips *t, IrRegion *region, IrInst *left);

/* The insts after `inst` run unless the flag is set. */
static void guard_following(Trips *t, IrInst *inst, IrInst *left) {
  IrInst *rest = inst->next;
  if (!rest) return;
  IrBuilder b = rewrite_before(t->kernel, rest);
  IrInst *choice = ir_if(&b, ir_unary(&b, IR_BNOT, ir_get(&b, left)));
  rewrite_move_to(rest, &(IrBuilder){.region = choice->regions[0]});
  flag_exits(t, choice->regions[0], left);
}

static void flag_exits(Trips *t, IrRegion *region, IrInst *left) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (is_exit(inst)) {
      IrBuilder b = rewrite_before(t->kernel, inst);
      ir_set(&b, left, ir_const_int(&b, TYPE(BOOL), 1));
      ir_delete_from(inst);
      return;
    }
    if (inst->op != IR_IF) continue;
    bool exits = has_own_exit(inst->regions[0]) || has_own_exit(inst->regions[1]);
    for (int k = 0; exits && k < 2; k++) flag_exits(t, inst->regions[k], left);
    if (exits) return guard_following(t, inst, left);
  }
}

/* -- counting ---------------------------------------------------------------------------------- */

typedef struct Copying {
  Trips *trips;
  const IrInst *loop;
  IrInst *own;       /* the copy */
  IrBuilder *before; /* inserts before the copy */
  IrMap *shadows;    /* of a VAR: the copy's own */
} Copying;

static bool use_shadow(void *data, IrInst *inst) {
  Copying *c = data;
  for (int k = 0; k < inst->operand_count; k++) {
    IrInst *var = inst->operands[k];
    if (var->op != IR_VAR || ir_is_inside(var, c->own->regions[0])) continue;
    IrInst *shadow = ir_mapped(c->shadows, var);
    if (!shadow) {
      shadow = ir_var(c->before, var->type);
      ir_map_put(c->shadows, var, shadow);
      ir_set(c->before, shadow, ir_get(c->before, var));
    }
    ir_set_operand(inst, k, shadow);
  }
  return true;
}

/* Emits a loop that counts the iterations that the loop begins; returns the variable. */
static IrInst *count_trips(Trips *t, IrInst *loop, const Slice *ending) {
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *trips = ir_var(&b, TYPE(I32));
  ir_set(&b, trips, ir_i32(&b, 0));
  IrMap *map = ir_map(t->scratch, t->kernel);
  IrInst *own = rewrite_copy_kept(t->scratch, t->kernel, loop, ending->kept, map);
  ir_insert_before(loop, own);
  IrBuilder before = rewrite_before(t->kernel, own);
  Copying copying = {t, loop, own, &before, ir_map(t->scratch, t->kernel)};
  ir_walk(own->regions[0], use_shadow, &copying);
  IrBuilder in = rewrite_first(t->kernel, own->regions[0], loop);
  ir_set(&in, trips, ir_binary(&in, IR_ADD, ir_get(&in, trips), ir_i32(&in, 1)));
  return trips;
}

/* -- a loop ------------------------------------------------------------------------------------ */

/* Turns the exits in a loop's body into a flag, which is returned. */
static IrInst *flag_body(Trips *t, const IrInst *loop, IrRegion *body) {
  IrBuilder first = rewrite_first(t->kernel, body, loop);
  IrInst *left = ir_var(&first, TYPE(BOOL));
  ir_set(&first, left, ir_const_int(&first, TYPE(BOOL), 0));
  flag_exits(t, body, left);
  return left;
}

/* Moves the loop's body into the numbered loop, and turns exits into a flag, which is returned. */
static IrInst *move_body(Trips *t, IrInst *loop, IrInst *numbered) {
  IrRegion *body = numbered->regions[0];
  ASSERT(!body->first && numbered->op == IR_FOR, "the numbered loop has no body yet");
  rewrite_move_all(loop->regions[0], body);
  if (loop->op == IR_FOR) ir_replace_uses(ir_index(loop), body->params.items[0]);
  IrInst *left = flag_body(t, loop, body);
  ir_delete(loop);
  return left;
}

static void number_loop(Trips *t, IrInst *loop, const Slice *ending) {
  bool is_for = loop->op == IR_FOR;
  IrInst *trips = count_trips(t, loop, ending);
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *steps = ir_binary(&b, IR_SUB, ir_get(&b, trips), ir_i32(&b, 1));
  IrInst *begin = is_for ? loop->operands[0] : ir_i32(&b, 0);
  IrInst *step = is_for ? loop->operands[2] : ir_i32(&b, 1);
  IrInst *far = ir_binary(&b, IR_MUL, ir_convert(&b, steps, begin->type), step);
  move_body(t, loop, ir_for(&b, begin, ir_binary(&b, IR_ADD, begin, far), step));
}

/* Like number_loop, but the loop counts its iterations while it runs. */
static void count_while_running(Trips *t, IrInst *loop) {
  bool is_for = loop->op == IR_FOR;
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *trips = ir_var(&b, TYPE(I32)), *zero = ir_i32(&b, 0);
  IrInst *one = ir_i32(&b, 1), *most = ir_i32(&b, INT32_MAX - 1);
  ir_set(&b, trips, zero);
  IrInst *numbered = is_for ? ir_for(&b, loop->operands[0], loop->operands[1], loop->operands[2])
                            : ir_for(&b, zero, most, one);
  LoopCount count = {.loop = numbered, .trips = ir_get(&b, trips), .has_end = is_for};
  vec_push(t->scratch, t->counts, count);
  IrRegion *body = numbered->regions[0];
  IrInst *left = move_body(t, loop, numbered);
  IrBuilder first = {t->kernel, body, body->first, b.line, b.column};
  ir_set(&first, trips, ir_binary(&first, IR_ADD, ir_get(&first, trips), one));
  IrBuilder last = {t->kernel, body, NULL, b.line, b.column};
  IrInst *leaves = ir_if(&last, ir_get(&last, left));
  last.region = leaves->regions[0];
  ir_break(&last, 0);
}

static bool is_wanted(const Trips *t, const IrInst *inst) {
  bool is_loop =
      inst->op == IR_LOOP || inst->op == IR_FOR || inst->op == IR_RANGE || inst->op == IR_ACTIVE;
  if (!is_loop || inst->id >= t->count || !t->wanted[inst->id]) return false;
  LoopExits exits = exits_of(inst);
  return (exits.breaks || exits.continues || inst->op == IR_LOOP) && !exits.outer;
}

/* An iteration of a parallel loop may end early. This needs no number, only an arm or a flag. */
static void end_early(Trips *t, IrInst *loop) {
  if (!exits_sink(loop)) flag_body(t, loop, loop->regions[0]);
}

static void number_loops(Trips *t, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) number_loops(t, inst->regions[k]);
    if (!is_wanted(t, inst)) continue;
    if (inst->op == IR_RANGE || inst->op == IR_ACTIVE) {
      end_early(t, inst);
      continue;
    }
    Slice ending = slice_exits(t, inst);
    if (depends_on_loop(&ending)) count_while_running(t, inst);
    else number_loop(t, inst, &ending);
  }
}

void trips_number(Scratch *scratch, IrKernel *kernel, const bool *wanted, int count,
                  LoopCounts *counts) {
  Trips trips = {kernel, scratch, wanted, count, counts};
  number_loops(&trips, kernel->body);
}
