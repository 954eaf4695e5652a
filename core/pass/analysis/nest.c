/* nest.c - see nest.h. */
#include "pass/analysis/nest.h"

static void go_inside(Nest *nest, IrRegion *region) {
  nest->b.region = region;
  nest->b.before = NULL;
}

IrInst *nest_number(Nest *nest, int64_t number) {
  return ir_const_int(&nest->b, nest->index, number);
}

IrInst *nest_for(Nest *nest, IrInst *begin, IrInst *last) {
  IrInst *loop = ir_for(&nest->b, begin, last, nest_number(nest, 1));
  go_inside(nest, loop->regions[0]);
  nest->levels++;
  return loop->regions[0]->params.items[0];
}

IrInst *nest_count(Nest *nest, int64_t count) {
  DEBUG_ASSERT(count > 0, "every extent of a shape is at least 1");
  IrInst *begin = nest_number(nest, 0);
  return nest_for(nest, begin, nest_number(nest, count - 1));
}

void nest_if(Nest *nest, IrInst *condition) {
  DEBUG_ASSERT(type_is_bool(condition->type), "an IF branches on a bool");
  go_inside(nest, ir_if(&nest->b, condition)->regions[0]);
}

IrInst *nest_is_active(Nest *nest, const SNode *node, IrInst *const *indices) {
  IrInst *active = ir_emit(&nest->b, IR_IS_ACTIVE, TYPE(BOOL), node->rank, indices);
  active->level = ir_add_level(nest->b.kernel, node, node->name);
  return active;
}

IrInst *nest_divide(Nest *nest, IrInst *index, int64_t by) {
  DEBUG_ASSERT(by > 0, "a cell has a size");
  return by == 1 ? index : ir_binary(&nest->b, IR_FLOORDIV, index, nest_number(nest, by));
}

IrInst *nest_times(Nest *nest, IrInst *index, int64_t factor) {
  return factor == 1 ? index : ir_binary(&nest->b, IR_MUL, index, nest_number(nest, factor));
}
