/* call.c - the arguments of a call, and the fields of a list, as every stage reads them. */
#include "typed/typed.h"

Exprs call_arguments(Sema *s, Expr *e) {
  Exprs arguments = {0};
  if (e->kind != AST_METHOD) return e->list;
  vec_push(s->scratch, &arguments, e->left);
  for (int i = 0; i < e->list.count; i++) vec_push(s->scratch, &arguments, e->list.items[i]);
  return arguments;
}

/* Collects the numbers of a vector or matrix from its, perhaps nested, tables. */
static void add_items(Sema *s, const Exprs *list, Exprs *items) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i]->kind == AST_TABLE) add_items(s, &list->items[i]->list, items);
    else vec_push(s->scratch, items, list->items[i]);
  }
}

Exprs call_items(Sema *s, const Expr *e) {
  Exprs items = {0};
  add_items(s, &e->list, &items);
  return items;
}

/* -- the fields of a list: those of its SNode, in the order they were placed ------------------- */

const SNodeComponent *list_field(const SNode *node, const Entity *object, int number) {
  if (object->kind == ENTITY_FIELD)
    return number ? NULL : &node->components[object->field.component];
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].part == 0 && !snode_is_derivative(node, k) && number-- == 0)
      return &node->components[k];
  return NULL;
}

const SNodeComponent *list_item_field(const LoopHead *head, int number) {
  return list_field(head->node, &method_of(head->items)->object, number);
}
