/* emit_array.c - counted arrays: each value is a table {a} of one item, like the numbers of a
 * struct; {0} is no array. Lua's collector replaces reference counting:
 * lua/regolith/oracle/counted.lua keeps the elements.
 *
 *     a[i]              _rg.array_get({a}, zero, i)
 *     a[i].x = v        _rg.array_set_parts({a}, v, {1}, i)
 *     a:append(v)       _rg.array_append({a}, v) */
#include "emit_lua/emit.h"

static TypeRow array_row(const Emit *e, Type array) { return type_row(e->s->input->types, array); }

static void emit_element_zero(Emit *e, Type element) {
  emit_zero(e, type_base(element), type_shape(element));
}

/* -- elements ---------------------------------------------------------------------------------- */

void emit_item_array(Emit *e, Expr *root) { emit_expr(e, array_of_item(root)); }

/* ", i, j": the indices of all levels of `m[i][j]` */
void emit_item_indices(Emit *e, Expr *root) {
  Exprs list = {0};
  Expr *array = array_of_item(root), *levels[TYPE_MAX_AXES];
  int count = 0;
  for (Expr *at = sema_strip(root); at != array; at = sema_strip(at->left)) levels[count++] = at;
  while (count--)
    for (int i = 0; i < levels[count]->list.count; i++)
      vec_push(e->scratch, &list, levels[count]->list.items[i]);
  Expr nothing = {.kind = AST_NIL};
  emit_call_indices(e, &nothing, &list, list.count, TYPE_MAX_AXES);
}

void emit_item(Emit *e, Expr *expr) {
  Type element = array_row(e, expr->entity.item.array).element;
  emit_conversion(e, type_shape(element), type_base(element), emit_type(e, expr));
  emit_text(e, "_rg.array_get(");
  emit_item_array(e, expr);
  emit_text(e, ", ");
  emit_element_zero(e, element);
  emit_item_indices(e, expr);
  emit_text(e, "))");
}

/* -- calls ------------------------------------------------------------------------------------- */

static void emit_new(Emit *e, Expr *call) {
  Type element = array_row(e, call->call.cast).element;
  emit_format(e, "_rg.array_new(%d, ", (int)type_row(e->s->input->types, element).size);
  emit_element_zero(e, element);
  for (int i = 1; i < call->list.count; i++) {
    emit_text(e, ", ");
    emit_expr(e, call->list.items[i]);
  }
  emit_text(e, ")");
}

static void emit_array_arguments(Emit *e, const Exprs *list) {
  for (int i = 0; i < list->count; i++) {
    emit_text(e, ", ");
    emit_expr(e, list->items[i]);
  }
}

void emit_array_call(Emit *e, Expr *call, const Builtin *builtin) {
  if (builtin->algebra == ARRAY_ZEROS || builtin->algebra == ARRAY_LIST) {
    emit_new(e, call);
    return;
  }
  Type array = shape_of(call->left), element = array_row(e, array).element;
  bool is_pop = builtin->algebra == ARRAY_POP, returns_i32 = builtin->algebra <= ARRAY_APPEND;
  if (returns_i32) emit_conversion(e, (Shape){0}, TYPE(I32), emit_type(e, call));
  if (is_pop) emit_conversion(e, type_shape(element), type_base(element), emit_type(e, call));
  emit_format(e, "_rg.array_%s(", builtin->name + strlen("array."));
  emit_expr(e, call->left);
  if (builtin->algebra == ARRAY_APPEND) {
    emit_text(e, ", ");
    emit_broadcast(e, call->list.items[0], type_base(element), type_shape(element));
  } else {
    emit_array_arguments(e, &call->list);
  }
  if (is_pop) emit_text(e, ", ");
  if (is_pop) emit_element_zero(e, element);
  emit_text(e, is_pop || returns_i32 ? "))" : ")");
}
