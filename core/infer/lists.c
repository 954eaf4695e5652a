/* lists.c - types of the values appended to and read from the lists of dynamic SNodes. */
#include "infer/infer.h"

void infer_items(Infer *f, const LoopHead *head, const Stmt *stmt) {
  for (int i = 1; i < stmt->locals.count; i++)
    infer_assigned(f, stmt->locals.items[i], ty_of(type_base(list_item_field(head, i - 1)->whole)),
                   NULL);
}

void infer_list_values(Infer *f, Expr *e) {
  const MethodCall *m = method_of(e);
  int component = 0;
  for (int i = m->taken; i < e->list.count; i++) {
    Expr *value = e->list.items[i];
    if (type_is_integer(m->object.field.node->components[component].type))
      infer_demand(f, value, "which is stored in '%s'", m->object.name);
    component += type_parts(shape_of(value));
  }
  for (int i = 0; i < e->popped.count; i++)
    infer_assigned(f, e->popped.items[i], ty_of(e->popped.items[i]->type), NULL);
}

bool check_list_values(Sema *s, Expr *e) {
  const MethodCall *m = method_of(e);
  int component = 0;
  for (int i = m->taken; i < e->list.count; i++) {
    Expr *value = e->list.items[i];
    const SNodeComponent *to = &m->object.field.node->components[component];
    int count = type_parts(shape_of(value));
    bool is_struct = type_is_struct(to->whole) || type_is_struct(shape_of(value));
    if (is_struct && (!type_equal(to->whole, shape_of(value)) || to->part))
      return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH,
                       "pass a value for each field, in the order of :place(..)",
                       "an element of '%s' has %s here, but this is %s", m->object.name,
                       shape_text(s, type_shape(to->whole)), shape_text(s, shape_of(value)));
    for (int k = 1; k < count && !is_struct; k++)
      if (!type_equal(to[k].type, to->type))
        return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH,
                         "pass a value for each field, in the order of :place(..)",
                         "this vector would fill fields of different types");
    if (!check_store(s, value, is_struct ? to->whole : to->type, NULL,
                     scratch_format(s->scratch, "an element of '%s'", m->object.name)))
      return false;
    component += count;
  }
  return true;
}
