/* list.c - the active nodes of a manager, as a task over nodes reads them: a position maps to a
 * node's address and coordinates. The list does not change while a task runs; list_gen.c makes
 * it. */
#include "node.h"

static const RtListEntry *entry_get(RtContext *context, int32_t tree, int32_t manager,
                                    int64_t position) {
  return &context->trees[tree]->managers[manager].list[position];
}

uint8_t *rt_list_node(RtContext *context, int32_t tree, int32_t manager, int64_t position) {
  return node_address(context->trees[tree], entry_get(context, tree, manager, position)->handle);
}

const int64_t *rt_list_coordinates(RtContext *context, int32_t tree, int32_t manager,
                                   int64_t position) {
  return entry_get(context, tree, manager, position)->coordinates;
}
