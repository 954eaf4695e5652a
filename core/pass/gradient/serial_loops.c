/* serial_loops.c - turns serial loops over ranges and cells into numeric ones, which can be
 * reversed from the last iteration to the first:
 *
 *     range %a, %b serial (%i) { .. }   =>   if %a < %b { for %a, %b - 1, 1 (%i) { .. } }
 *
 * Serial are loops marked as such, and all loops inside a parallel one. Exits are renumbered as by
 * the pass `tasks` (nest.h). A loop over active cells becomes one over all cells that tests whether
 * each is active, which may be much slower, so only if the order of its iterations matters. In an
 * unbounded tree that is impossible. Decision D-pass-106. */
#include "pass/gradient/serial_loops.h"

#include "ir/facts.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"
#include "pass/tasks/nest.h"
#include "pass/trees/kind.h"

typedef struct Numbering {
  Plans plans;     /* what is active, before any loop is rewritten */
  VEC(int) levels; /* of the enclosing loops, innermost last: how many FORs each became */
} Numbering;

static bool visit_region(Numbering *n, IrRegion *region, bool is_parallel);

/* -- does the order matter? ------------------------------------------------------------------- */

/* The accesses of a loop to elements that have gradients. */
typedef struct Accesses {
  const Plans *plans;
  const IrRegion *body;
  const IrInst *write;
  bool are_independent; /* no two iterations access one element */
} Accesses;

static bool check_access(void *data, IrInst *inst) { /* a visit: false ends it */
  Accesses *a = data;
  const IrInst *place = a->write->operands[0];
  if (!rewrite_is_access(inst->op) || inst->operands[0]->op != IR_PLACE) return true;
  if (inst->operands[0]->field != place->field) return true;
  bool are_sums = inst->op == IR_UPDATE && a->write->op == IR_UPDATE;
  bool has_value = inst->op == IR_LOAD && !plan_is_active(a->plans, inst);
  if (are_sums || has_value) return true;
  a->are_independent =
      facts_same_place(inst->operands[0], place) && facts_distinguishes_iterations(place, a->body);
  return a->are_independent;
}

static bool check_write(void *data, IrInst *inst) { /* a visit: false ends it */
  Accesses *a = data;
  if (!rewrite_is_write(inst->op) || !plan_has_gradient(a->plans, inst)) return true;
  a->write = inst;
  return ir_walk((IrRegion *)a->body, check_access, a);
}

/* Does a variable, or an element, carry a derivative from one iteration to the next? */
static bool is_ordered(const Plans *plans, const IrInst *loop) {
  Accesses accesses = {.plans = plans, .body = loop->regions[0], .are_independent = true};
  ir_walk(loop->regions[0], check_write, &accesses);
  return !accesses.are_independent || plan_carries_variable(plans, loop);
}

/* -- loops ------------------------------------------------------------------------------------- */

/* Opens loops over all cells, and a branch for the active ones. */
static IrRegion *nest_of_cells(IrKernel *kernel, IrInst *loop, IrInst **indices, int *levels) {
  const SNode *cells = kernel->levels.items[loop->level].node, *sparse = snode_sparse_level(cells);
  IrInst *at[SNODE_MAX_AXES];
  ASSERT(sparse, "cells of a dense level need no test");
  Nest nest = {.b = rewrite_before(kernel, loop), .index = loop->regions[0]->params.items[0]->type};
  for (int k = 0; k < cells->rank; k++) indices[k] = nest_count(&nest, cells->shape[k]);
  for (int k = 0; k < sparse->rank; k++) {
    int axis = sparse->level_axes[k];
    int64_t size = sparse == cells ? 1 : snode_divisor(sparse, cells, axis);
    at[k] = nest_divide(&nest, indices[snode_axis_position(cells, axis)], size);
  }
  nest_if(&nest, nest_is_active(&nest, sparse, at));
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
  vec_push(n->plans.scratch, &n->levels, levels);
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
  vec_push(n->plans.scratch, &n->levels, 1);
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

bool serial_loops_number(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err) {
  Numbering n = {0};
  plans_find_active(&n.plans, kernel, companion, scratch, err);
  return visit_region(&n, kernel->body, false);
}
