/* lists.c - the fields of a list: those of its SNode, in the order of place. */
#include "typed/typed.h"

/* The fields of the SNode, or the one the call names: `number` of them; NULL behind the last. */
const SNodeComponent *list_field(const SNode *node, const Entity *object, int number) {
  if (object->kind == ENTITY_FIELD) return number ? NULL : &node->components[object->component];
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].part == 0 && number-- == 0) return &node->components[k];
  return NULL;
}

const SNodeComponent *list_item_field(Sema *s, const LoopHead *head, int number) {
  Entity object = head->items->entity;
  object.kind = head->items->left->entity.kind;
  return list_field(head->node, &object, number);
}
