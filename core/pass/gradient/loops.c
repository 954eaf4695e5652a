/* loops.c - numbers the iterations of loops, so that they can be reversed from the last one to the
 * first. First, serial loops over ranges and cells become numeric ones:
 *
 *     range %a, %b serial (%i) { .. }   =>   if %a < %b { for %a, %b - 1, 1 (%i) { .. } }
 *
 * Serial are loops marked as such, and all loops inside a parallel one. Exits are renumbered as by
 * the pass `tasks` (pass/tasks/tasks.h). A loop over active cells becomes one over all cells that
 * tests whether each is active, which may be much slower, so only if the order of its iterations
 * matters. In an unbounded tree that is impossible. Decision D-pass-106. */
#include "ir/facts.h"
#include "pass/gradient/plan.h"
#include "pass/gradient/slice.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"
#include "pass/tasks/tasks.h"
#include "pass/trees/kind.h"

typedef struct Numbering {
  Plans plans;     /* what is active, before any loop is rewritten */
  VEC(int) levels; /* of the enclosing loops, innermost last: how many FORs each became */
} Numbering;

static bool visit_region(Numbering *n, IrRegion *region, bool is_parallel);

/* -- does the order matter? -------------------------------------------------------------------- */

/* May one iteration write an element whose derivative another one accesses by `inst`? */
static bool may_meet(const Plans *plans, const IrRegion *body, const IrInst *write,
                     const IrInst *inst) {
  const IrInst *place = write->operands[0];
  if (!rewrite_is_access(inst->op) || inst->operands[0]->op != IR_PLACE ||
      inst->operands[0]->field != place->field)
    return false;
  bool are_sums = inst->op == IR_UPDATE && write->op == IR_UPDATE;
  bool has_value = inst->op == IR_LOAD && !plan_is_active(plans, inst);
  if (are_sums || has_value) return false;
  return !facts_same_place(inst->operands[0], place) ||
         !facts_distinguishes_iterations(place, body);
}

/* Does a variable, or an element, carry a derivative from one iteration to the next? */
static bool is_ordered(const Plans *plans, const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  for (const IrInst *write = body->first; write; write = ir_following(write, body)) {
    if (!rewrite_is_write(write->op) || !plan_has_gradient(plans, write)) continue;
    for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
      if (may_meet(plans, body, write, inst)) return true;
  }
  return plan_carries_variable(plans, loop);
}

/* -- loops ------------------------------------------------------------------------------------- */

/* Opens loops over all cells, and a branch for the active ones. */
static IrRegion *nest_of_cells(IrKernel *kernel, IrInst *loop, IrInst **indices, int *levels) {
  const SNode *cells = kernel->levels.items[loop->level].node;
  Nest nest = {.b = rewrite_before(kernel, loop), .index = loop->regions[0]->params.items[0]->type};
  for (int k = 0; k < cells->rank; k++) indices[k] = nest_count(&nest, cells->shape[k]);
  nest_test_cell(&nest, cells, indices);
  *levels = nest.levels;
  return nest.b.region;
}

static bool nest_loop(Numbering *n, IrInst *loop) {
  IrKernel *kernel = n->plans.kernel;
  IrRegion *body = loop->regions[0], *inner;
  IrInst *indices[SNODE_MAX_AXES];
  int levels;
  const SNode *cells = loop->op == IR_ACTIVE ? kernel->levels.items[loop->level].node : NULL;
  if (cells && kind_of_active(cells)->tests_each_cell)
    inner = nest_of_cells(kernel, loop, indices, &levels);
  else inner = nest_of_loop(kernel, loop, NULL, indices, &levels);
  for (int k = 0; k < body->params.count; k++) ir_replace_uses(body->params.items[k], indices[k]);
  rewrite_move_all(body, inner);
  ir_delete(loop);
  vec_push(n->plans.kernel->scratch, &n->levels, levels);
  bool ok = visit_region(n, inner, true);
  n->levels.count--;
  return ok;
}

static bool visit_loop(Numbering *n, IrInst *inst, bool is_parallel) {
  bool is_walk = inst->op == IR_RANGE || inst->op == IR_ACTIVE;
  if (is_walk && (is_parallel || inst->serial) && inst->regions[0]->first) {
    bool is_needed = inst->op == IR_RANGE || is_ordered(&n->plans, inst);
    if (is_needed && inst->op == IR_ACTIVE &&
        order_is_needed(n->plans.kernel->levels.items[inst->level].node))
      return plans_refuse(
          &n->plans, inst,
          "the iterations of this serial loop depend on each other: over cells of a "
          "tree without bounds it has no derivative",
          "a loop over rg.range(..):serial() that asks x:is_active(..)");
    if (is_needed) return nest_loop(n, inst);
  }
  vec_push(n->plans.kernel->scratch, &n->levels, 1);
  bool ok = visit_region(n, inst->regions[0], is_parallel || is_walk);
  n->levels.count--;
  return ok;
}

static bool visit_region(Numbering *n, IrRegion *region, bool is_parallel) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_BREAK || inst->op == IR_CONTINUE)
      nest_renumber_exit(inst, n->levels.items, n->levels.count);
    if (!inst->regions[0]) continue;
    bool ok = inst->op == IR_IF ? visit_region(n, inst->regions[0], is_parallel) &&
                                      visit_region(n, inst->regions[1], is_parallel)
                                : visit_loop(n, inst, is_parallel);
    if (!ok) return false;
  }
  return true;
}

bool loops_number_serial(IrKernel *kernel, Companion companion, Error *err) {
  Numbering n = {0};
  plans_find_active(&n.plans, kernel, companion, err);
  return visit_region(&n, kernel->body, false);
}

/* -- loops of unknown trip count --------------------------------------------------------------- */

/* They become loops over numbered iterations:
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

typedef struct Trips {
  IrKernel *kernel;
  const bool *wanted;
  int count;
  LoopCounts *counts;
} Trips;

/* -- what decides when a loop ends ------------------------------------------------------------- */

/* The slice of the loop's exits. */
static Slice slice_exits(Trips *t, const IrInst *loop) {
  ASSERT(loop->op == IR_LOOP || loop->op == IR_FOR, "loops of other kinds have no exits");
  Slice ending = slice_of(t->kernel, loop->regions[0]);
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

/* Gives the loop, which is a copy, variables of its own for those that it uses from outside. */
static void use_shadows(Trips *t, IrInst *own) {
  const IrRegion *body = own->regions[0];
  IrBuilder before = rewrite_before(t->kernel, own);
  IrMap *shadows = ir_map(t->kernel->scratch, t->kernel); /* of a VAR: the copy's own */
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    for (int k = 0; k < inst->operand_count; k++) {
      IrInst *var = inst->operands[k];
      if (var->op != IR_VAR || ir_is_inside(var, body)) continue;
      IrInst *shadow = ir_mapped(shadows, var);
      if (!shadow) {
        shadow = ir_var(&before, var->type);
        ir_map_put(shadows, var, shadow);
        ir_set(&before, shadow, ir_get(&before, var));
      }
      ir_set_operand(inst, k, shadow);
    }
}

/* Emits a loop that counts the iterations that the loop begins; returns the variable. */
static IrInst *count_trips(Trips *t, IrInst *loop, const Slice *ending) {
  IrBuilder b = rewrite_before(t->kernel, loop);
  IrInst *trips = ir_var(&b, TYPE(I32));
  ir_set(&b, trips, ir_i32(&b, 0));
  IrMap *map = ir_map(t->kernel->scratch, t->kernel);
  IrInst *own = rewrite_copy_kept(t->kernel, loop, ending->kept, map);
  ir_insert_before(loop, own);
  use_shadows(t, own);
  IrBuilder in = rewrite_first(t->kernel, own->regions[0], loop);
  ir_set(&in, trips, ir_plus(&in, ir_get(&in, trips), 1));
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
  IrInst *steps = ir_binary_const(&b, IR_SUB, ir_get(&b, trips), 1);
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
  vec_push(t->kernel->scratch, t->counts, count);
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

void loops_number_trips(IrKernel *kernel, const bool *wanted, int count, LoopCounts *counts) {
  Trips trips = {kernel, wanted, count, counts};
  number_loops(&trips, kernel->body);
}
