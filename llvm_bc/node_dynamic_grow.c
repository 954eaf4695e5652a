/* node_dynamic_grow.c - lists allocate and free chunks; and how a chunk finds its list. The
 * invariants are in node_dynamic.c. */
#include "atomic.h"
#include "node.h"

int32_t rt_dynamic_grow(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                        uint32_t *slot) {
  const uint8_t *node = rt_slot_activate(context, worker, tree, manager, slot);
  return node != context->trees[tree]->managers[manager].locals[worker->index].sink;
}

void rt_dynamic_full(RtContext *context, int32_t tree, int32_t manager) {
  rt_error_set(context, RT_ERROR_FULL, context->trees[tree]->number, manager);
}

/* Makes the chunks up to that of `index`, in order, then sets the length. Elements between are
 * zero. Out of memory, the list keeps its length, and the write goes to the sink. */
uint8_t *rt_dynamic_extend(RtContext *context, RtWorker *worker, int32_t tree_index,
                           int32_t manager, uint32_t *list, int32_t chunk, int32_t index) {
  uint32_t last = (uint32_t)index / (uint32_t)chunk, length = rt_load(&list[RT_LIST_LENGTH]);
  for (uint32_t c = length / (uint32_t)chunk; c < last; c++)
    if (!rt_dynamic_grow(context, worker, tree_index, manager, &list[RT_LIST_SLOTS + c]))
      return context->trees[tree_index]->managers[manager].locals[worker->index].sink;
  uint8_t *node =
      rt_slot_activate(context, worker, tree_index, manager, &list[RT_LIST_SLOTS + last]);
  if (node == context->trees[tree_index]->managers[manager].locals[worker->index].sink) return node;
  do length = rt_load(&list[RT_LIST_LENGTH]);
  while (length <= (uint32_t)index && !rt_swap(&list[RT_LIST_LENGTH], length, (uint32_t)index + 1));
  return node;
}

/* Live chunks are the first ones. */
void rt_dynamic_clear(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                      uint32_t *list, int32_t capacity) {
  if (!node_is_in_arena(context->trees[tree], list)) return;
  uint32_t chunk = (uint32_t)context->trees[tree]->managers[manager].chunk;
  uint32_t chunks = ((uint32_t)capacity + chunk - 1) / chunk;
  rt_lock(&list[RT_LIST_LOCK]);
  rt_store(&list[RT_LIST_LENGTH], 0);
  for (uint32_t c = 0; c < chunks && rt_slot_live(&list[RT_LIST_SLOTS + c]); c++)
    rt_slot_clear(context, worker, tree, manager, &list[RT_LIST_SLOTS + c]);
  rt_unlock(&list[RT_LIST_LOCK]);
}

/* Records the elements of each chunk; returns their sum. */
static int64_t remember(RtContext *context, int32_t tree_index, int32_t number) {
  RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  int64_t count = 0;
  rt_tree_refresh(context, tree);
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++) {
      if (chunk->states[i] != RT_NODE_LIVE) continue;
      RtNodeInfo *info = node_in_chunk(manager, chunk, i).info;
      count += info->coordinates[manager->axis_count] = dynamic_cells(tree, manager, info);
    }
  return count;
}

int64_t rt_dynamic_count(RtContext *context, int32_t tree, int32_t manager) {
  return remember(context, tree, manager);
}

void rt_dynamic_remember(RtContext *context, int32_t tree, int32_t manager) {
  remember(context, tree, manager);
}
