/* tasks_nest.c - serial loops over ranges and active cells become FORs.
 *
 *   range a, b, c, d (%i, %j)         if a < b and c < d {
 *                                       for a, b - 1, 1 (%i) { for c, d - 1, 1 (%j) { .. } } }
 *
 * Bounds are half-open, FOR's are not: `end - 1` wraps at the smallest integer, where the `if` keeps it from use.
 *
 * Active cells are met in index order. Let P be the pointer SNode whose nodes hold them: along the last of P's axes the
 * loop goes node by node and asks once per node whether it is there; the axes before it run over the whole shape.
 *
 *   active l0 (%i, %j)   for %i { for %block { if is_active P(%i // 8, %block) { for %local {
 *                            %j = %block * 8 + %local ..
 *
 * Where a bitmasked SNode decides, its words are asked instead: words.h. Levels without ends: order.h. */
#include "pass/tasks.h"

#include "pass/nest.h"
#include "pass/order.h"
#include "pass/words.h"

static void open_range(Nest *nest, const IrInst *loop, IrInst **indices) {
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

/* `block`: coordinate of the listed node along its last axis; the others follow from the indices so far. */
static void open_if_active(Nest *nest, const SNode *listed, const SNode *cells, IrInst *const *indices, IrInst *block) {
  IrInst *coordinates[SNODE_MAX_AXES];
  for (int k = 0; k < listed->rank - 1; k++) {
    int axis = listed->level_axes[k];
    coordinates[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)], snode_divisor(listed, cells, axis));
  }
  coordinates[listed->rank - 1] = block;
  IrInst *active = ir_emit(&nest->b, IR_IS_ACTIVE, TYPE(BOOL), listed->rank, coordinates);
  active->level = ir_add_level(nest->b.kernel, listed, listed->name);
  nest_if(nest, active);
}

/* Elements of lists: where the list's axis is the last one, up to its length, else each is asked for. */
static void open_elements(Nest *nest, const SNode *lists, IrInst **indices) {
  int own = snode_axis_position(lists, lists->axes[0]), count = lists->rank - 1;
  IrInst *list[SNODE_MAX_AXES];
  for (int k = 0, given = 0; k < lists->rank; k++)
    if (k != own || own < count) {
      indices[k] = nest_count(nest, lists->shape[k]);
      if (k != own) list[given++] = indices[k];
    }
  bool is_last = own == count;
  IrInst *asked = is_last ? ir_emit(&nest->b, IR_LENGTH, TYPE(I32), count, list)
                          : ir_emit(&nest->b, IR_IS_ACTIVE, TYPE(BOOL), lists->rank, indices);
  asked->level = ir_add_level(nest->b.kernel, lists, lists->name);
  if (!is_last) {
    nest_if(nest, asked);
    return;
  }
  IrInst *begin = ir_const_int(&nest->b, nest->index, 0), *one = ir_const_int(&nest->b, nest->index, 1);
  indices[own] = nest_for(nest, begin, ir_binary(&nest->b, IR_SUB, ir_convert(&nest->b, asked, nest->index), one));
}

static void open_active(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices) {
  if (order) {
    order_nest(nest, cells, order, indices);
    return;
  }
  if (words_masked(cells)) {
    words_nest(nest, words_masked(cells), cells, indices);
    return;
  }
  if (cells->kind == SNODE_DYNAMIC) {
    open_elements(nest, cells, indices);
    return;
  }
  const SNode *listed = snode_listed(cells);
  int split_axis = listed ? listed->level_axes[listed->rank - 1] : -1;
  for (int i = 0; i < cells->rank; i++) {
    if (cells->level_axes[i] != split_axis) {
      indices[i] = nest_count(nest, cells->shape[i]);
      continue;
    }
    int64_t size = snode_divisor(listed, cells, split_axis);
    IrInst *block = nest_count(nest, cells->shape[i] / size);
    open_if_active(nest, listed, cells, indices, block);
    indices[i] = block;
    if (size == 1) continue;
    IrInst *local = nest_count(nest, size);
    IrInst *first = ir_binary(&nest->b, IR_MUL, block, ir_const_int(&nest->b, nest->index, size));
    indices[i] = ir_binary(&nest->b, IR_ADD, first, local);
  }
}

IrRegion *tasks_nest(IrKernel *kernel, IrInst *loop, IrInst *order, IrInst *indices[SNODE_MAX_AXES], int *levels) {
  const IrRegion *body = loop->regions[0];
  Nest nest = {.index = body->params.count ? body->params.items[0]->type : TYPE(I32)};
  nest.b =
      (IrBuilder){.kernel = kernel, .region = loop->region, .before = loop, .line = loop->line, .column = loop->column};
  if (loop->op == IR_RANGE)
    open_range(&nest, loop, indices);
  else
    open_active(&nest, kernel->levels.items[loop->level].node, order, indices);
  if (!nest.levels) nest_count(&nest, 1); /* the one cell of a level without axes */
  *levels = nest.levels;
  return nest.b.region;
}
