/* order.c - see order.h.
 *
 *     %order = call rt_list_order                     the host region, once
 *     loop { %row = next group along i; %ci = call rt_order_at %order, %row
 *       for %local { %i = %ci * 8 + %local
 *         loop { .. along j, among the rows of that group
 *           if is_active node(%ci, %cj) { for %local { the body } } } } }
 * For each axis of the nodes, a loop goes from one group of equal coordinates to the next, and
 * another over a node's cells along the axis; an axis that nodes do not have is a plain loop. So
 * space without nodes costs nothing, and the order is that of the cells' indices, whatever the
 * nodes' sizes are. Nodes that were deactivated since the walk began are skipped; bits and ends of
 * lists are tested cell by cell. Decision D-pass-15. */
#include "pass/analysis/order.h"

#include "pass/trees/kind.h"

bool order_is_needed(const SNode *cells) {
  for (int k = 0; k < cells->rank; k++)
    if (snode_is_unbounded(cells, k)) return true;
  return false;
}

IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth) {
  DEBUG_ASSERT(order_is_needed(level->node), "only nodes of unbounded levels have to be sorted");
  IrInst *around = ir_const_int(host, TYPE(I32), depth);
  return ir_call(host, RT_LIST_ORDER, level->tree, snode_node_level(level->node)->manager, 1,
                 &around);
}

/* Opens the loop over the groups of rows *begin to *end along an axis; sets both to the bounds of
 * the current group. Returns the group's coordinate. */
static IrInst *open_groups(Nest *nest, IrInst *order, int axis, IrInst **begin, IrInst **end) {
  IrInst *next = ir_var(&nest->b, TYPE(I64));
  ir_set(&nest->b, next, *begin);
  IrRegion *body = ir_loop(&nest->b)->regions[0];
  nest->b.region = body;
  nest->b.before = NULL;
  nest->levels++;
  IrInst *row = ir_get(&nest->b, next);
  IrBuilder out = nest->b;
  out.region = ir_if(&nest->b, ir_binary(&nest->b, IR_GE, row, *end))->regions[0];
  ir_break(&out, 0);
  IrInst *along = ir_const_int(&nest->b, TYPE(I32), axis);
  *end = ir_call(&nest->b, RT_ORDER_END, 0, 0, 4, (IrInst *[]){order, row, *end, along});
  ir_set(&nest->b, next, *end);
  *begin = row;
  return ir_call(&nest->b, RT_ORDER_AT, 0, 0, 3, (IrInst *[]){order, row, along});
}

static void open_if_active(Nest *nest, const SNode *node, IrInst **indices) {
  nest_if(nest, nest_is_active(nest, node, indices));
}

/* Tests each cell, for bitmasked levels and lists. */
static void ask_each_cell(Nest *nest, const SNode *cells, IrInst *const *indices) {
  const SNode *sparse = snode_sparse_level(cells);
  IrInst *at[SNODE_MAX_AXES];
  if (!kind_of(sparse)->asks_each_cell) return;
  for (int k = 0; k < sparse->rank; k++) {
    int axis = sparse->level_axes[k];
    int64_t size = sparse == cells ? 1 : snode_divisor(sparse, cells, axis);
    at[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)], size);
  }
  open_if_active(nest, sparse, at);
}

void order_nest(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices) {
  const SNode *node_level = snode_node_level(cells);
  DEBUG_ASSERT(order && type_is(order->type, TYPE_I64), "the walk has a snapshot of the nodes");
  IrInst *begin = ir_const_int(&nest->b, TYPE(I64), 0), *at[SNODE_MAX_AXES];
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
      open_if_active(nest, node_level, at);
    int64_t size = snode_divisor(node_level, cells, axis);
    if (size == 1) continue;
    IrInst *first = nest_times(nest, indices[k], size);
    indices[k] = ir_binary(&nest->b, IR_ADD, first, nest_count(nest, size));
  }
  ask_each_cell(nest, cells, indices);
}
