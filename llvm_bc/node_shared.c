/* node_shared.c - nodes for threads that share worker 0: a GPU's. In place of the free lists of
 * node_manager.c; chunks are added there.
 *
 *     taken:      from manager->free by compare-and-swap, else from the open chunk, whose `handed`
 *                 a group of lanes raises at once, else from a new chunk, made under the lock
 *     returned:   to local->free, which refresh adds to manager->free
 *
 * While tasks run, nodes only leave manager->free, so there is no ABA problem: a handle that is the
 * head twice never left, and the `next` read before the swap is still correct. */
#include "atomic.h"
#include "node.h"

#if RT_SHARED

static uint32_t take_freed(const RtTree *tree, RtManager *manager) {
  for (;;) {
    uint32_t handle = rt_load_acquire(&manager->free);
    if (!handle) return 0;
    const RtNodeInfo *info = node_get(tree, manager, handle).info;
    if (rt_swap(&manager->free, handle, rt_load(&info->next))) return handle;
  }
}

/* 0 if every chunk has handed out its nodes. `handed` may exceed the count for a moment. */
static uint32_t take_fresh(const RtTree *tree, RtManager *manager) {
  for (;;) {
    uint32_t open = rt_load_acquire(&manager->open_chunk), first = 0;
    if (!open) return 0;
    RtChunk *chunk = &tree->chunks[open - 1];
    RtGroup group = rt_group_of(rt_group_key(chunk));
    if (!group.rank) first = rt_add(&chunk->handed, group.count);
    uint32_t index = rt_group_share(group, first) + group.rank;
    if (index < chunk->node_count)
      return node_handle(tree, node_in_chunk(manager, chunk, index).memory);
    rt_least(&chunk->handed, chunk->node_count);
    rt_swap(&manager->open_chunk, open, rt_load(&chunk->next));
  }
}

/* 0 if out of memory; a GPU gets no more before the task ends. */
static int add_one(RtTree *tree, RtManager *manager) {
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

static int add_chunk(RtTree *tree, RtManager *manager) {
  RtGroup group = rt_group_of(rt_group_key(manager));
  uint32_t ok = 0;
  if (!group.rank) ok = (uint32_t)add_one(tree, manager);
  return (int)rt_group_share(group, ok);
}

uint32_t rt_node_take(RtTree *tree, RtManager *manager, RtLocal *local, RtNodeInfo **info) {
  uint32_t handle;
  while (!(handle = take_freed(tree, manager)) && !(handle = take_fresh(tree, manager)))
    if (!add_chunk(tree, manager)) return 0;
  RtNode node = node_get(tree, manager, handle);
  if (*node.state == RT_NODE_USED) rt_node_zero(node.memory, manager->node_size);
  *node.state = RT_NODE_LIVE;
  node_note(local, node, handle);
  *info = node.info;
  return handle;
}

void rt_node_return(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle) {
  RtNode node = node_get(tree, manager, handle);
  *node.state = RT_NODE_FRESH;
  rt_store(&node.info->next, shared_push(&local->free, handle)); /* reused after the task */
}

#endif
