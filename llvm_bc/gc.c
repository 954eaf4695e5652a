/* gc.c - freed nodes come back, in three phases, each when it is safe and no sooner:
 *
 *     in the task    a node is unlinked and put on its worker's recycled list: others may still hold its address
 *     settle         after the task: what lay below it is freed too; counts and versions move
 *     collect        recycled nodes go to the free list, unzeroed (rt_node_take zeroes)
 *
 * Settle frees children by walking the dead node's slots, which costs no more than zeroing that node will. Clearing a
 * whole level needs no walk: all nodes of the levels below it go, by their side tables.
 * Invariant: outside a task and after settle, no worker has recycled nodes, and a node is LIVE exactly if a slot of a
 * LIVE node (or of the root's container) holds its handle. */
#include "atomic.h"
#include "node.h"

/* -- settle ------------------------------------------------------------------------------------------------------- */

static void drop_slot(RtTree *tree, RtManager *child, const uint32_t *slot) {
  uint32_t handle = *slot;
  if (handle <= RT_SLOT_BUSY || *node_get(tree, child, handle).state != RT_NODE_LIVE) return;
  rt_node_recycle(tree, child, handle, &child->locals[0].recycled, &child->locals[0].recycled_last);
  child->locals[0].deactivations++;
}

/* The run of slots number `run` below a dead parent: runs are numbered by the cells of the rows above the last. */
static const uint32_t *slot_run(const RtManager *child, const uint8_t *parent, uint64_t run) {
  const uint8_t *place = parent;
  int32_t last = child->level_count - 1;
  for (int32_t l = last - 1; l >= 0; l--) {
    const RtLevel *level = &child->levels[l];
    place += level->offset + run % level->cell_count * level->stride;
    run /= level->cell_count;
  }
  return (const uint32_t *)(place + child->levels[last].offset);
}

static void drop_below(RtTree *tree, RtManager *child, const uint8_t *parent) {
  int32_t last = child->level_count - 1;
  uint64_t runs = 1, slots = child->levels[last].cell_count;
  for (int32_t l = 0; l < last; l++) runs *= child->levels[l].cell_count;
  for (uint64_t run = 0; run < runs; run++) {
    const uint32_t *slot = slot_run(child, parent, run);
    for (uint64_t s = 0; s < slots; s++) drop_slot(tree, child, &slot[s]);
  }
}

static void drop_children(RtTree *tree, int32_t number, uint32_t handle) {
  RtManager *manager = &tree->managers[number];
  for (; handle; handle = node_get(tree, manager, handle).info->next)
    for (int32_t c = 0; c < tree->manager_count; c++)
      if (tree->managers[c].parent == number && !tree->managers[c].is_hash) drop_below(tree, &tree->managers[c], node_address(tree, handle));
}

/* What has no slots is found by the nodes' own parents. */
static void drop_orphans(RtTree *tree, int32_t number) {
  for (int32_t c = 0; c < tree->manager_count; c++)
    if (tree->managers[c].parent == number && tree->managers[c].is_hash) rt_hash_drop_orphans(tree, &tree->managers[c]);
}

static void settle_recycled(RtTree *tree, int32_t number, RtLocal *local) {
  RtManager *manager = &tree->managers[number];
  uint32_t first = local->recycled;
  if (!first) return;
  if (manager->child_count) drop_children(tree, number, first);
  if (!manager->recycled) manager->recycled_last = local->recycled_last;
  rt_node_splice(tree, manager, first, local->recycled_last, &manager->recycled);
  local->recycled = local->recycled_last = 0;
}

/* Workers' free nodes back to the shared list: someone went without while they had some. */
static void settle_starved(RtTree *tree, RtManager *manager, int32_t worker_count) {
  if (!manager->starved) return;
  manager->starved = 0;
  for (int32_t w = 0; w < worker_count; w++) {
    RtLocal *local = &manager->locals[w];
    uint32_t last = local->free;
    if (!last) continue;
    for (uint32_t next = last; next; next = node_get(tree, manager, next).info->next) last = next;
    rt_node_splice(tree, manager, local->free, last, &manager->free);
    local->free = 0;
  }
}

/* 1: something moved, which may have freed nodes of other managers. */
static int settle_manager(RtTree *tree, int32_t number, int32_t worker_count) {
  RtManager *manager = &tree->managers[number];
  uint64_t activations = 0, deactivations = 0;
  for (int32_t w = 0; w < worker_count; w++) {
    RtLocal *local = &manager->locals[w];
    activations += local->activations;
    deactivations += local->deactivations;
    local->activations = local->deactivations = 0;
    settle_recycled(tree, number, local);
  }
  settle_starved(tree, manager, worker_count);
  if (!activations && !deactivations) return 0;
  if (deactivations && manager->child_count) drop_orphans(tree, number);
  manager->live_count += activations - deactivations;
  manager->activations += activations;
  manager->deactivations += deactivations;
  manager->version++;
  return 1;
}

void rt_tree_settle(RtTree *tree, int32_t worker_count) {
  if (!rt_load(&tree->changed)) return;
  rt_store(&tree->changed, 0);
  int moved;
  do {
    moved = 0;
    for (int32_t m = 0; m < tree->manager_count; m++) moved |= settle_manager(tree, m, worker_count);
  } while (moved);
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (tree->managers[m].is_hash) rt_hash_settle(tree, &tree->managers[m]);
}

/* -- collect ------------------------------------------------------------------------------------------------------ */

int rt_tree_collect(RtTree *tree, int32_t worker_count) {
  int moved = 0;
  rt_tree_settle(tree, worker_count);
  for (int32_t m = 0; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!manager->recycled) continue;
    rt_node_splice(tree, manager, manager->recycled, manager->recycled_last, &manager->free);
    manager->recycled = manager->recycled_last = 0;
    moved = 1;
  }
  return moved;
}

/* -- clear -------------------------------------------------------------------------------------------------------- */

static int is_below(const RtTree *tree, int32_t manager, int32_t above) {
  for (int32_t m = manager; m >= 0; m = tree->managers[m].parent)
    if (m == above) return 1;
  return 0;
}

/* A list whose chunks go has no elements left. */
static void unlink_node(RtTree *tree, RtManager *manager, const RtNodeInfo *info) {
  int64_t chunk;
  rt_store((uint32_t *)(tree->base + info->slot), RT_SLOT_EMPTY);
  if (manager->chunk) rt_store(&rt_dynamic_list(tree, manager, info, &chunk)[RT_LIST_LENGTH], 0);
}

/* Slots of the cleared level itself lie in nodes that stay; those of deeper levels die with their nodes. */
static void retire_node(RtTree *tree, RtManager *manager, RtNode node, int unlink) {
  if (*node.state != RT_NODE_LIVE) return;
  if (unlink && !manager->is_hash) unlink_node(tree, manager, node.info);
  rt_node_recycle(tree, manager, node_handle(tree, node.memory), &manager->recycled, &manager->recycled_last);
  manager->deactivations++;
}

static void retire_all(RtTree *tree, RtManager *manager, int unlink) {
  if (!manager->live_count) return;
  if (manager->is_hash) rt_hash_empty(tree, manager);
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++)
      retire_node(tree, manager, node_in_chunk(manager, chunk, i), unlink);
  manager->live_count = 0;
  manager->version++;
}

void rt_tree_clear(RtContext *context, int32_t tree_index, int32_t manager_number) {
  RtTree *tree = context->trees[tree_index];
  rt_tree_settle(tree, context->worker_count);
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (is_below(tree, m, manager_number)) retire_all(tree, &tree->managers[m], m == manager_number);
}
