/* lists.c - types of what goes into the lists of dynamic SNodes, and of what comes out. */
#include "infer/infer.h"

void infer_items(Sema *s, const LoopHead *head, const AstStmt *stmt) {
  for (int i = 1; i < stmt->locals.count; i++)
    infer_give(s, stmt->locals.items[i], ty_of(type_element(list_item_field(s, head, i - 1)->whole)), NULL);
}

void infer_list_values(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  int component = 0;
  for (int i = entity->taken; i < e->list.count; i++) {
    AstExpr *value = e->list.items[i];
    if (type_is_integer(entity->node->components[component].type))
      infer_demand(s, value, "which goes into '%s'", entity->name);
    component += type_parts(shape_of(s, value));
  }
  const Inline *in = map_find_int(&s->pops, (uintptr_t)e);
  for (int i = 0; in && i < in->results.count; i++)
    infer_give(s, in->results.items[i], ty_of(local_of(s, in->results.items[i])->type), NULL);
}

bool check_list_values(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  int component = 0;
  for (int i = entity->taken; i < e->list.count; i++) {
    AstExpr *value = e->list.items[i];
    const SNodeComponent *to = &entity->node->components[component];
    int count = type_parts(shape_of(s, value));
    for (int k = 1; k < count; k++)
      if (!type_equal(to[k].type, to->type))
        return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "give a value for each field, in the order of place",
                         "this vector would fill fields of different types");
    if (!check_store(s, value, to->type, scratch_format(s->scratch, "an element of '%s'", entity->name))) return false;
    component += count;
  }
  return true;
}
