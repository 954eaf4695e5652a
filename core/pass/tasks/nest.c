/* nest.c - nested serial loops, see tasks.h. */
#include "pass/tasks/tasks.h"

#include "pass/rewrite.h"
#include "pass/trees/kind.h"

static void go_inside(Nest *nest, IrRegion *region) {
  nest->b.region = region;
  nest->b.before = NULL;
}

IrInst *nest_number(Nest *nest, int64_t number) {
  return ir_const_int(&nest->b, nest->index, number);
}

IrInst *nest_for(Nest *nest, IrInst *begin, IrInst *last) {
  nest->levels++;
  return rewrite_open_for(&nest->b, begin, last, 1);
}

IrInst *nest_count(Nest *nest, int64_t count) {
  DEBUG_ASSERT(count > 0, "every extent of a shape is at least 1");
  IrInst *begin = nest_number(nest, 0);
  return nest_for(nest, begin, nest_number(nest, count - 1));
}

void nest_if(Nest *nest, IrInst *condition) {
  go_inside(nest, ir_if(&nest->b, condition)->regions[0]);
}

IrInst *nest_divide(Nest *nest, IrInst *index, int64_t by) {
  DEBUG_ASSERT(by > 0, "a cell has a size");
  return by == 1 ? index : ir_binary_const(&nest->b, IR_FLOORDIV, index, by);
}

/* -- unbounded levels -------------------------------------------------------------------------- */

/* See llvm_bc/order.c.
 *
 *     %order = call rt_list_order                     the host region, once
 *     loop { %row = next group along i; %ci = call rt_order_at %order, %row
 *       for %local { %i = %ci * 8 + %local
 *         loop { .. along j, among the rows of that group
 *           if is_active node(%ci, %cj) { for %local { the body } } } } }
 * For each axis of the nodes, a loop goes from one group of equal coordinates to the next, and
 * another over a node's cells along the axis; an axis that nodes do not have is a plain loop. So
 * space without nodes costs nothing, and cells are visited in the order of their indices, whatever
 * the sizes of nodes. Nodes that were deactivated since the walk began are skipped; bits and ends
 * of lists are tested cell by cell. Decision D-pass-15. */

bool order_is_needed(const SNode *cells) {
  for (int k = 0; k < cells->rank; k++)
    if (snode_is_unbounded(cells, k)) return true;
  return false;
}

IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth) {
  DEBUG_ASSERT(order_is_needed(level->node), "only nodes of unbounded levels have to be sorted");
  IrInst *around = ir_i32(host, depth);
  return ir_call(host, RT_LIST_ORDER, level->tree, snode_node_level(level->node)->manager, 1,
                 &around);
}

/* Opens the loop over the groups of rows *begin to *end along an axis; sets both to the bounds of
 * the current group. Returns the group's coordinate. */
static IrInst *open_groups(Nest *nest, IrInst *order, int axis, IrInst **begin, IrInst **end) {
  IrInst *next = ir_var(&nest->b, TYPE(I64));
  ir_set(&nest->b, next, *begin);
  IrRegion *body = ir_loop(&nest->b)->regions[0];
  go_inside(nest, body);
  nest->levels++;
  IrInst *row = ir_get(&nest->b, next);
  IrBuilder out = nest->b;
  out.region = ir_if(&nest->b, ir_binary(&nest->b, IR_GE, row, *end))->regions[0];
  ir_break(&out, 0);
  IrInst *along = ir_i32(&nest->b, axis);
  *end = ir_call(&nest->b, RT_ORDER_END, 0, 0, 4, (IrInst *[]){order, row, *end, along});
  ir_set(&nest->b, next, *end);
  *begin = row;
  return ir_call(&nest->b, RT_ORDER_AT, 0, 0, 3, (IrInst *[]){order, row, along});
}

void nest_test_cell(Nest *nest, const SNode *cells, IrInst *const *indices) {
  const SNode *sparse = snode_sparse_level(cells);
  IrInst *at[SNODE_MAX_AXES];
  ASSERT(sparse, "cells of a dense level need no test");
  for (int k = 0; k < sparse->rank; k++) {
    int axis = sparse->level_axes[k];
    int64_t size = sparse == cells ? 1 : snode_divisor(sparse, cells, axis);
    at[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)], size);
  }
  nest_if(nest, ir_is_active(&nest->b, sparse, at));
}

/* Opens the loops in the order of keys, in the body or the host region, where `order` must be
 * visible. Sets `indices` to those of the cells. */
static void open_ordered(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices) {
  const SNode *node_level = snode_node_level(cells);
  IrInst *begin = ir_i64(&nest->b, 0), *at[SNODE_MAX_AXES];
  IrInst *end = ir_call(&nest->b, RT_ORDER_COUNT, 0, 0, 1, &order);
  for (int k = 0, found = 0; k < cells->rank; k++) {
    int axis = cells->level_axes[k];
    if (found == node_level->rank || node_level->level_axes[found] != axis) {
      indices[k] = nest_count(nest, cells->shape[k]);
      continue;
    }
    indices[k] = at[found] =
        ir_convert(&nest->b, open_groups(nest, order, found, &begin, &end), nest->index);
    found++;
    if (found == node_level->rank && !snode_has_lists(node_level))
      nest_if(nest, ir_is_active(&nest->b, node_level, at));
    int64_t size = snode_divisor(node_level, cells, axis);
    if (size == 1) continue;
    IrInst *first = ir_times(&nest->b, indices[k], size);
    indices[k] = ir_binary(&nest->b, IR_ADD, first, nest_count(nest, size));
  }
  if (kind_of(snode_sparse_level(cells))->tests_each_cell) nest_test_cell(nest, cells, indices);
}

/* -- serial loops ------------------------------------------------------------------------------ */

/* Turns serial loops over ranges and active cells into FORs.
 *
 *   range a, b, c, d (%i, %j)         if a < b and c < d {
 *                                       for a, b - 1, 1 (%i) { for c, d - 1, 1 (%j) { .. } } }
 *
 * Bounds are half-open, those of FOR are inclusive: `end - 1` wraps at the smallest integer, but
 * the `if` then skips the loop.
 *
 * Active cells are visited in index order. Let P be the pointer SNode whose nodes hold them: along
 * the last of P's axes the loop goes node by node and tests once per node whether it exists; the
 * axes before it cover the whole shape.
 *
 *   active l0 (%i, %j)   for %i { for %block { if is_active P(%i // 8, %block) { for %local {
 *                            %j = %block * 8 + %local ..
 *
 * If the nearest sparse level is bitmasked, its words are tested instead: kind_bitmasked.c.
 * Unbounded levels: see above. */

static void open_range(Nest *nest, const IrInst *loop, IrInst **indices) {
  IrInst *begin[SNODE_MAX_AXES], *last[SNODE_MAX_AXES], *runs = NULL;
  for (int i = 0; i < loop->axis_count; i++) {
    begin[i] = ir_convert(&nest->b, loop->operands[2 * i], nest->index);
    IrInst *end = ir_convert(&nest->b, loop->operands[2 * i + 1], nest->index);
    IrInst *some = ir_binary(&nest->b, IR_LT, begin[i], end);
    runs = rewrite_both(&nest->b, runs, some);
    last[i] = ir_binary_const(&nest->b, IR_SUB, end, 1);
  }
  nest_if(nest, runs);
  for (int i = 0; i < loop->axis_count; i++) indices[i] = nest_for(nest, begin[i], last[i]);
}

static void open_active(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices) {
  if (order) open_ordered(nest, cells, order, indices);
  else kind_of_active(cells)->nest(nest, snode_sparse_level(cells), cells, indices);
}

IrRegion *nest_of_loop(IrKernel *kernel, IrInst *loop, IrInst *order,
                       IrInst *indices[SNODE_MAX_AXES], int *levels) {
  DEBUG_ASSERT(loop->op == IR_RANGE || loop->op == IR_ACTIVE, "a nest is made of such a loop");
  const IrRegion *body = loop->regions[0];
  Nest nest = {.index = body->params.count ? body->params.items[0]->type : TYPE(I32)};
  nest.b = rewrite_before(kernel, loop);
  if (loop->op == IR_RANGE) open_range(&nest, loop, indices);
  else open_active(&nest, kernel->levels.items[loop->level].node, order, indices);
  if (!nest.levels) nest_count(&nest, 1); /* the one cell of a level without axes */
  *levels = nest.levels;
  return nest.b.region;
}

void nest_renumber_exit(IrInst *exit, const int *levels, int count) {
  int64_t crossed = exit->op == IR_BREAK ? exit->imm + 1 : exit->imm, sum = 0;
  for (int64_t k = 0; k < crossed && k < count; k++) sum += levels[count - 1 - k];
  exit->imm = exit->op == IR_BREAK ? sum - 1 : sum;
}
