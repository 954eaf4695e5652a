/* tasks_nest.c - turns serial loops over ranges and active cells into FORs.
 *
 *   range a, b, c, d (%i, %j)         if a < b and c < d {
 *                                       for a, b - 1, 1 (%i) { for c, d - 1, 1 (%j) { .. } } }
 *
 * Bounds are half-open, those of FOR are inclusive: `end - 1` wraps at the smallest integer, but
 * the `if` then skips the loop.
 *
 * Active cells are visited in index order. Let P be the pointer SNode whose nodes hold them: along
 * the last of P's axes the loop goes node by node and tests once per node whether it exists; the
 * axes before it run over the whole shape.
 *
 *   active l0 (%i, %j)   for %i { for %block { if is_active P(%i // 8, %block) { for %local {
 *                            %j = %block * 8 + %local ..
 *
 * If the nearest sparse level is bitmasked, its words are tested instead: words.h. Unbounded
 * levels: order.h. */
#include "pass/tasks/tasks.h"

#include "pass/trees/kind.h"
#include "pass/analysis/nest.h"
#include "pass/analysis/order.h"

static void open_range(Nest *nest, const IrInst *loop, IrInst **indices) {
  DEBUG_ASSERT(loop->axis_count > 0 && loop->operand_count == 2 * loop->axis_count,
               "begin and end");
  IrInst *begin[SNODE_MAX_AXES], *last[SNODE_MAX_AXES], *runs = NULL;
  for (int i = 0; i < loop->axis_count; i++) {
    begin[i] = ir_convert(&nest->b, loop->operands[2 * i], nest->index);
    IrInst *end = ir_convert(&nest->b, loop->operands[2 * i + 1], nest->index);
    IrInst *some = ir_binary(&nest->b, IR_LT, begin[i], end);
    runs = runs ? ir_binary(&nest->b, IR_BAND, runs, some) : some;
    last[i] = ir_binary(&nest->b, IR_SUB, end, ir_const_int(&nest->b, nest->index, 1));
  }
  nest_if(nest, runs);
  for (int i = 0; i < loop->axis_count; i++) indices[i] = nest_for(nest, begin[i], last[i]);
}

static void open_active(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices) {
  if (order) order_nest(nest, cells, order, indices);
  else kind_of_active(cells)->nest(nest, snode_sparse_level(cells), cells, indices);
}

IrRegion *tasks_nest(IrKernel *kernel, IrInst *loop, IrInst *order, IrInst *indices[SNODE_MAX_AXES],
                     int *levels) {
  DEBUG_ASSERT(loop->op == IR_RANGE || loop->op == IR_ACTIVE, "a nest is made of such a loop");
  const IrRegion *body = loop->regions[0];
  Nest nest = {.index = body->params.count ? body->params.items[0]->type : TYPE(I32)};
  nest.b = (IrBuilder){.kernel = kernel,
                       .region = loop->region,
                       .before = loop,
                       .line = loop->line,
                       .column = loop->column};
  if (loop->op == IR_RANGE) open_range(&nest, loop, indices);
  else open_active(&nest, kernel->levels.items[loop->level].node, order, indices);
  if (!nest.levels) nest_count(&nest, 1); /* the one cell of a level without axes */
  *levels = nest.levels;
  return nest.b.region;
}
