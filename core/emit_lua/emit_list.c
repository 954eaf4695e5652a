/* emit_list.c - the lists of dynamic levels. A list is identified by {0, i, j}, the indices of its
 * level without its own axis.
 *
 *     x:append(i, v, w)            _rg.append(LEVEL, {0, i}, v, w)      values in order
 *     local a, b = node:pop(i)     _rg.pop(LEVEL, {0, i}, _rg_r, 1, 2, 7)    field 1; field 2
 *                                                                            into _rg_r[7]
 *     for k, v in x:items(i) do    for k, v in _rg.items(LEVEL, {0, i}, 1) do */
#include "emit_lua/emit.h"

/* "_rg.name(LEVEL, {0, i, j}" */
static void emit_list_call_head(Emit *e, const char *name, Expr *call) {
  const MethodCall *m = method_of(call);
  const FieldRef *field = field_of(&m->object);
  emit_format(e, "_rg.%s(", name);
  emit_launch_field(e, field->source);
  emit_text(e, ".level, {0");
  bool is_checked = emit_index_check(e, call->pos, &m->object);
  emit_call_indices(e, call->left, &call->list, m->taken, field->node->rank - 1);
  emit_text(e, is_checked ? ")}" : "}");
}

/* The field, counted from 1 in the order placed, that begins with this component. */
static int field_ordinal(const SNode *node, const SNodeComponent *field) {
  int ordinal = 1;
  for (const SNodeComponent *at = node->components; at < field; at++)
    ordinal += !at->child && at->part == 0;
  return ordinal;
}

/* Derivatives of appended elements are zero. Returns the first component from `component` on that
 * is not a derivative. */
static int emit_derivatives(Emit *e, const SNode *node, int component) {
  while (component < node->component_count && snode_is_derivative(node, component)) {
    emit_text(e, ", 0");
    component++;
  }
  return component;
}

static void emit_append(Emit *e, Expr *call, const MethodCall *m) {
  const SNode *node = field_of(&m->object)->node;
  int component = 0;
  emit_list_call_head(e, "append", call);
  for (int i = m->taken; i < call->list.count; i++) {
    Expr *value = call->list.items[i];
    emit_text(e, ", ");
    const SNodeComponent *to = &node->components[component];
    emit_converted(e, value, type_is_struct(to->whole) ? to->whole : to->type);
    component = emit_derivatives(e, node, component + type_parts(emit_shape(e, value)));
  }
  emit_text(e, ")");
}

/* The results after the first are unnamed locals. */
static void emit_pop(Emit *e, Expr *call, const MethodCall *m) {
  const SNode *node = field_of(&m->object)->node;
  emit_list_call_head(e, "pop", call);
  emit_format(e, ", _rg_r, %d", field_ordinal(node, &node->components[m->component]));
  for (int i = 1; i < call->popped.count; i++) {
    int id = call->popped.items[i]->id;
    e->names[id] = scratch_format(e->scratch, "_rg_r[%d]", id);
    emit_format(e, ", %d, %d", field_ordinal(node, list_field(node, &m->object, i)), id);
  }
  emit_text(e, ")");
}

void emit_list_call(Emit *e, Expr *call, const MethodCall *m) {
  emit_conversion(e, shape_of(call), m->type, emit_type(e, call));
  if (m->method->op == IR_APPEND) {
    emit_append(e, call, m);
  } else if (m->method->op == IR_POP) {
    emit_pop(e, call, m);
  } else {
    emit_list_call_head(e, "length", call);
    emit_text(e, ")");
  }
  emit_text(e, ")");
}

void emit_items(Emit *e, const LoopHead *head, const Stmt *stmt) {
  emit_list_call_head(e, "items", head->items);
  for (int i = 1; i < stmt->locals.count; i++)
    emit_format(e, ", %d", field_ordinal(head->node, list_item_field(head, i - 1)));
  emit_text(e, ")");
}

Type emit_item_type(Emit *e, const LoopHead *head, int variable) {
  return variable ? type_base(list_item_field(head, variable - 1)->whole) : TYPE(I32);
}
