/* lists.c - the lists of dynamic SNodes: append, length, pop, and what `for k, v in x:items(i)` reads. */
#include "lower/lower.h"

static IrInst *emit(Sema *s, const Entity *entity, IrOp op, Type type, int count, IrInst **operands) {
  int level = lower_level(s, entity->node, entity->name, entity->source);
  IrInst *inst = ir_emit(&s->b, op, type, count, operands);
  inst->level = level;
  return inst;
}

static IrInst **lower_append(Sema *s, Expr *e, const Entity *entity, IrInst **indices, int count) {
  int component = 0;
  IrInst **operands = scratch_array(s->scratch, IrInst *, count + entity->node->component_count);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int i = entity->taken; i < e->list.count; i++) {
    int own = type_parts(shape_of(e->list.items[i]));
    IrInst **values = lower_values_as(s, e->list.items[i], entity->node->components[component].type, own);
    for (int k = 0; k < own; k++) operands[count + component++] = values[k];
  }
  lower_at(s, e->pos);
  IrInst **slot = scratch_array(s->scratch, IrInst *, 1);
  slot[0] = emit(s, entity, IR_APPEND, TYPE(I32), count + component, operands);
  return slot;
}

/* Every component has a variable, whether it is asked for or not. */
static IrInst **lower_pop(Sema *s, Expr *e, const Entity *entity, IrInst **indices, int count) {
  const SNode *node = entity->node;
  IrInst **operands = scratch_array(s->scratch, IrInst *, count + node->component_count);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int k = 0; k < node->component_count; k++) operands[count + k] = ir_var(&s->b, node->components[k].type);
  emit(s, entity, IR_POP, TYPE(NONE), count + node->component_count, operands);
  IrInst **values = scratch_array(s->scratch, IrInst *, node->component_count);
  for (int k = 0; k < node->component_count; k++) values[k] = ir_get(&s->b, operands[count + k]);
  for (int i = 0, component = entity->component; i < e->popped.count; i++) {
    Local *local = e->popped.items[i];
    local->values = values + component;
    component += type_parts(local->shape);
  }
  return values + entity->component;
}

IrInst **lower_list_call(Sema *s, Expr *e, IrInst **indices, int count) {
  const Entity *entity = &e->entity;
  if (entity->method->op == IR_APPEND) return lower_append(s, e, entity, indices, count);
  if (entity->method->op == IR_POP) return lower_pop(s, e, entity, indices, count);
  IrInst **length = scratch_array(s->scratch, IrInst *, 1);
  length[0] = emit(s, entity, IR_LENGTH, TYPE(I32), count, indices);
  return length;
}

/* The number of elements; `indices` become those of the list. */
IrInst *lower_items_length(Sema *s, const LoopHead *head, IrInst **indices) {
  Expr *e = head->items;
  int count = lower_indices(s, e->left, indices);
  count = lower_index_list(s, &e->list, e->entity.taken, indices, count);
  lower_at(s, e->pos);
  return emit(s, &e->entity, IR_LENGTH, TYPE(I32), count, indices);
}

void lower_bind_items(Sema *s, const LoopHead *head, const Stmt *stmt, IrInst *slot, IrInst *const *indices) {
  const SNode *node = head->node;
  int own = snode_axis_position(node, node->axes[0]);
  IrInst *all[SNODE_MAX_AXES];
  for (int k = 0, given = 0; k < node->rank; k++) all[k] = k == own ? slot : indices[given++];
  if (stmt->locals.count) lower_bind(s, stmt->locals.items[0], &slot);
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(s, head, i - 1);
    Entity element = head->items->entity;
    IrInst *values[TYPE_MAX_PARTS];
    element.component = (int)(field - node->components);
    for (int k = 0; k < type_parts(field->whole); k++) values[k] = ir_load(&s->b, lower_place_at(s, &element, k, all));
    lower_bind(s, stmt->locals.items[i], values);
  }
}
