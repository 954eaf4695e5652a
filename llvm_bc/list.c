/* list.c - the active nodes of a manager, as a task over nodes reads them: a position maps to a
 * node's address and coordinates. The list does not change while a task runs; list_gen.c
 * updates it. */
#include "node.h"

static const RtManager *manager_of(RtContext *context, int32_t tree, int32_t manager) {
  const RtTree *of = RT_GLOBAL(RT_GLOBAL(context->trees)[tree]);
  return &RT_GLOBAL(of->managers)[manager];
}

static const RtListEntry *entry_get(RtContext *context, int32_t tree, int32_t manager,
                                    int64_t position) {
  return &manager_of(context, tree, manager)->list[position];
}

const RtListEntry *rt_list_entries(RtContext *context, int32_t tree, int32_t manager) {
  return entry_get(context, tree, manager, 0);
}

int64_t rt_list_size(RtContext *context, int32_t tree, int32_t manager) {
  return (int64_t)manager_of(context, tree, manager)->list_count;
}

uint8_t *rt_list_entry_node(uint8_t *base, const RtListEntry *entries, int64_t position) {
  return base + (uint64_t)entries[position].handle * RT_GRANULE;
}

const int64_t *rt_list_entry_coordinates(const RtListEntry *entries, int64_t position) {
  return entries[position].coordinates;
}

uint8_t *rt_list_node(RtContext *context, int32_t tree, int32_t manager, int64_t position) {
  return node_address(context->trees[tree], entry_get(context, tree, manager, position)->handle);
}

const int64_t *rt_list_coordinates(RtContext *context, int32_t tree, int32_t manager,
                                   int64_t position) {
  return entry_get(context, tree, manager, position)->coordinates;
}
