/* node_shared.c - nodes for threads that share worker 0: a GPU's. In place of the free lists of
 * node_manager.c; chunks are added there.
 *
 *     taken:      from manager->free by compare-and-swap, else from the open chunk, whose `handed`
 *                 is raised by compare-and-swap, else from a new chunk, made under the lock
 *     returned:   to local->free, which refresh adds to manager->free
 *
 * While tasks run, nodes only leave manager->free: so a handle that is its head twice never left,
 * and `next` read before the swap is still right. */
#include "atomic.h"
#include "node.h"

#if RT_SHARED

static uint32_t take_freed(const RtTree *tree, RtManager *manager) {
  for (;;) {
    uint32_t handle = rt_load_acquire(&manager->free);
    if (!handle) return 0;
    if (rt_swap(&manager->free, handle, node_get(tree, manager, handle).info->next)) return handle;
  }
}

/* 0: every chunk has handed out its nodes. */
static uint32_t take_fresh(const RtTree *tree, RtManager *manager) {
  for (;;) {
    uint32_t open = rt_load_acquire(&manager->open_chunk);
    if (!open) return 0;
    RtChunk *chunk = &tree->chunks[open - 1];
    uint32_t index = rt_load(&chunk->handed);
    if (index >= chunk->node_count) rt_swap(&manager->open_chunk, open, rt_load(&chunk->next));
    else if (rt_swap(&chunk->handed, index, index + 1))
      return node_handle(tree, node_in_chunk(manager, chunk, index).memory);
  }
}

/* 0: there is no memory, of which no more comes before the task ends. */
static int add_chunk(RtTree *tree, RtManager *manager) {
  if (rt_load(&manager->starved)) return 0;
  rt_lock(&manager->lock);
  int ok = rt_load(&manager->open_chunk) || rt_chunk_add(tree, manager);
  if (!ok) {
    rt_store(&manager->starved, 1);
    rt_tree_touch(tree);
  }
  rt_unlock(&manager->lock);
  return ok;
}

uint32_t rt_node_take(RtTree *tree, RtManager *manager, RtLocal *local) {
  uint32_t handle;
  while (!(handle = take_freed(tree, manager)) && !(handle = take_fresh(tree, manager)))
    if (!add_chunk(tree, manager)) return 0;
  RtNode node = node_get(tree, manager, handle);
  if (*node.state == RT_NODE_USED) rt_node_zero(node.memory, manager->node_size);
  *node.state = RT_NODE_LIVE;
  node_note(local, node, handle);
  return handle;
}

void rt_node_return(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle) {
  RtNode node = node_get(tree, manager, handle);
  *node.state = RT_NODE_FRESH;
  uint32_t head;
  do node.info->next = head = rt_load(&local->free);
  while (!rt_swap(&local->free, head, handle));
}

#endif
