/* lists.c - the fields of a list: those of its SNode, in the order they were placed. */
#include "typed/typed.h"

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
