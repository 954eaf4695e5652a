/* lists.c - the lists of dynamic SNodes: append, length, pop, and the reads of
 * `for k, v in x:items(i)`. */
#include "lower/lower.h"

static IrInst *emit(Lower *l, const MethodCall *m, IrOp op, Type type, int count,
                    IrInst **operands) {
  const FieldRef *field = field_of(&m->object);
  int level = lower_level(l, field->node, m->object.name, field->source);
  IrInst *inst = ir_emit(&l->b, op, type, count, operands);
  inst->level = level;
  return inst;
}

/* Indices of an element: those of its list, with the slot in between. */
static void join_slot(const SNode *node, IrInst *const *indices, IrInst *slot, IrInst **all) {
  int own = snode_axis_position(node, node->axes[0]);
  for (int k = 0, given = 0; k < node->rank; k++) all[k] = k == own ? slot : indices[given++];
}

/* Checks the appended numbers of watched fields. */
static void check_appended(Lower *l, Expr *e, const MethodCall *m, IrInst *const *indices,
                           IrInst *slot, IrInst *const *numbers) {
  const FieldRef *field = field_of(&m->object);
  IrInst *all[SNODE_MAX_AXES];
  if (!field->is_watched) return;
  join_slot(field->node, indices, slot, all);
  for (int k = 0; k < type_parts(m->object.shape); k++)
    lower_check_finite(l, e, &m->object, all, numbers[field->component + k]);
}

static IrInst **lower_append(Lower *l, Expr *e, const MethodCall *m, IrInst **indices, int count) {
  const SNode *node = field_of(&m->object)->node;
  int component = 0, all = node->component_count;
  IrInst **operands = lower_array(l, count + all);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int i = m->taken; i < e->list.count; i++) {
    int own = type_parts(shape_of(e->list.items[i]));
    while (snode_is_derivative(node, component)) component++;
    const SNodeComponent *to = &node->components[component];
    Type base = type_is_struct(to->whole) ? to->whole : to->type;
    IrInst **values = lower_values_as(l, e->list.items[i], base, own);
    for (int k = 0; k < own; k++) operands[count + component++] = values[k];
  }
  lower_set_pos(l, e->pos);
  for (int k = 0; k < all; k++)
    if (snode_is_derivative(node, k))
      operands[count + k] = ir_zero(&l->b, node->components[k].type);
  IrInst **slot = lower_array(l, 1);
  slot[0] = emit(l, m, IR_APPEND, TYPE(I32), count + all, operands);
  lower_check_append(l, e, &m->object, count, indices, slot[0]);
  check_appended(l, e, m, indices, slot[0], operands + count);
  return slot;
}

/* Every component gets a variable, used or not. */
static IrInst **lower_pop(Lower *l, Expr *e, const MethodCall *m, IrInst **indices, int count) {
  const SNode *node = field_of(&m->object)->node;
  IrInst **operands = lower_array(l, count + node->component_count);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int k = 0; k < node->component_count; k++)
    operands[count + k] = ir_var(&l->b, node->components[k].type);
  emit(l, m, IR_POP, TYPE(NONE), count + node->component_count, operands);
  IrInst **values = lower_array(l, node->component_count);
  for (int k = 0; k < node->component_count; k++) values[k] = ir_get(&l->b, operands[count + k]);
  for (int i = 0; i < e->popped.count; i++) {
    const SNodeComponent *field = list_field(node, &m->object, i);
    lowered_of(l, e->popped.items[i])->values = values + (field - node->components);
  }
  return values + m->component;
}

IrInst **lower_list_call(Lower *l, Expr *e, IrInst **indices, int count) {
  const MethodCall *m = method_of(e);
  if (m->method->op == IR_APPEND) return lower_append(l, e, m, indices, count);
  if (m->method->op == IR_POP) return lower_pop(l, e, m, indices, count);
  IrInst **length = lower_array(l, 1);
  length[0] = emit(l, m, IR_LENGTH, TYPE(I32), count, indices);
  return length;
}

/* The number of elements; sets `indices` to those of the list. */
IrInst *lower_items_length(Lower *l, const LoopHead *head, IrInst **indices) {
  Expr *e = head->items;
  int count = lower_indices(l, e->left, indices);
  count = lower_index_list(l, &e->list, method_of(e)->taken, indices, count);
  lower_set_pos(l, e->pos);
  lower_check_index(l, e, &method_of(e)->object, true, count, indices);
  return emit(l, method_of(e), IR_LENGTH, TYPE(I32), count, indices);
}

void lower_bind_items(Lower *l, const LoopHead *head, const Stmt *stmt, IrInst *slot,
                      IrInst *const *indices) {
  const SNode *node = head->node;
  IrInst *all[SNODE_MAX_AXES];
  join_slot(node, indices, slot, all);
  if (stmt->locals.count) lower_bind(l, stmt->locals.items[0], &slot);
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(head, i - 1);
    Entity element = method_of(head->items)->object;
    IrInst *values[TYPE_MAX_NUMBERS];
    element.field.component = (int)(field - node->components);
    for (int k = 0; k < type_parts(field->whole); k++) {
      IrInst *place = lower_place_at(l, &element, k, all);
      lower_race_access(l, head->items, &element, RACE_READ, place, all, NULL);
      values[k] = ir_load(&l->b, place);
    }
    lower_bind(l, stmt->locals.items[i], values);
  }
}
