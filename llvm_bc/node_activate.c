/* node_activate.c - activates and deactivates pointer cells.
 *
 *     activate:    claim the slot (CAS 0 -> 1), take a node, set parent, slot and coordinates,
 *                  publish (release)
 *     deactivate:  unlink (CAS handle -> 0); the winner puts the node on its worker's recycled list
 *
 * Many threads may do either to one slot at once: only one claims it, and only one unlinks it. A
 * thread that finds a claimed slot waits if it activates, and goes on if it deactivates (the
 * activation then counts as later). The descendants of a deactivated node become unreachable at
 * once, and are freed by rt_tree_refresh: other iterations may still activate cells in a node whose
 * address they hold, and refresh finds those, too.
 *
 * Coordinates are decoded from the slot's address: its digits by the manager's levels, and the
 * parent's coordinates (rt.h, RtLevel). */
#include "atomic.h"
#include "node.h"

static void enter_node(const RtTree *tree, const RtManager *manager, const uint32_t *slot,
                       RtNodeInfo *info) {
  const uint8_t *place = (const uint8_t *)slot;
  info->slot = (uint64_t)(place - tree->base);
  if (manager->parent < 0) {
    info->parent = 0;
    coordinates_of(manager, manager->levels, manager->level_count, 0,
                   (uint64_t)(place - tree->root), info->coordinates);
    return;
  }
  RtNode parent = node_around(tree, &tree->managers[manager->parent], place);
  info->parent = node_handle(tree, parent.memory);
  coordinates_of(manager, manager->levels, manager->level_count, parent.info,
                 (uint64_t)(place - parent.memory), info->coordinates);
}

/* 1 if this thread has claimed the slot; 0 if the slot is live, with *handle. */
static int claim(const RtContext *context, uint32_t *slot, uint32_t *handle) {
  for (uint32_t round = 0;; round++) {
    *handle = rt_load_acquire(slot);
    if (*handle > RT_SLOT_BUSY) return 0;
    if (rt_is_alone(context)) return 1;
    if (*handle == RT_SLOT_EMPTY && rt_swap(slot, RT_SLOT_EMPTY, RT_SLOT_BUSY)) return 1;
    rt_target_wait(round);
  }
}

/* The slot's handle; 0 if out of memory. */
static uint32_t activate(RtContext *context, RtTree *tree, RtManager *manager, RtLocal *local,
                         uint32_t *slot) {
  uint32_t handle;
  if (!claim(context, slot, &handle)) return handle;
  RtNodeInfo *info;
  handle = rt_node_take(tree, manager, local, &info);
  if (!handle) {
    rt_store_release(slot, RT_SLOT_EMPTY);
    rt_error_set(context, RT_ERROR_BUDGET, tree->number, (int32_t)(manager - tree->managers));
    return 0;
  }
  enter_node(tree, manager, slot, info);
  local_count(&local->activations);
  rt_tree_touch(tree);
  rt_store_release(slot, handle);
  return handle;
}

/* One lane activates the slot for all lanes that want it. */
uint8_t *rt_slot_activate(RtContext *context, RtWorker *worker, int32_t tree_index,
                          int32_t manager_number, uint32_t *slot) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = local_of(manager, worker);
  uint32_t handle = 0;
  if (!node_is_in_arena(tree, slot)) return local->sink;
  RtGroup group = rt_group_of(rt_group_key(slot));
  if (!group.rank) handle = activate(context, tree, manager, local, slot);
  handle = rt_group_share(group, handle);
  return handle ? node_address(tree, handle) : local->sink;
}

/* 1 if this thread has emptied the slot, which held the handle. */
static int unlink_slot(const RtContext *context, uint32_t *slot, uint32_t handle) {
  if (!rt_is_alone(context)) return rt_swap(slot, handle, RT_SLOT_EMPTY);
  rt_store(slot, RT_SLOT_EMPTY);
  return 1;
}

void rt_slot_clear(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t manager_number,
                   uint32_t *slot) {
  uint32_t handle = rt_load(slot);
  if (!handle_is_live(handle) || !unlink_slot(context, slot, handle)) return;
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = local_of(manager, worker);
  rt_node_recycle(tree, manager, local, handle);
  rt_tree_touch(tree);
}
