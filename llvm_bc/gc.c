/* gc.c - recycles freed nodes in three phases, each as soon as it is safe:
 *
 *     in the task    a node is unlinked and put on its worker's recycled list, since other threads
 *                    may still hold its address
 *     refresh        after the task: its descendants are freed; counts and versions are updated
 *     collect        recycled nodes go to the free list, unzeroed (rt_node_take zeroes). If they
 *                    are many, the list is sorted by address, which helps hardware prefetching
 *
 * The first and the last cost a few stores per node and per worker. The second frees children in
 * the cheaper of two ways: by the slots of the freed nodes, or, if many were freed, by checking the
 * parent of every node of the level below, on all workers. Managers are numbered top-down, so one
 * pass reaches the lowest level. Invariant: outside a task and after refresh, no worker has
 * recycled nodes, and a node is LIVE exactly if a slot of a LIVE node (or of the root's container,
 * or an entry of a table) holds its handle. */
#include "atomic.h"
#include "node.h"

enum {
  NODES_PER_SLOT = 4, /* following the handle in a slot takes as long as checking so many nodes */
  MANY = 4            /* a collection of every MANYth node orders the free list */
};

/* -- by slots ---------------------------------------------------------------------------------- */

static void drop_slot(RtTree *tree, RtManager *child, const uint32_t *slot) {
  uint32_t handle = *slot;
  if (handle <= RT_SLOT_BUSY || *node_get(tree, child, handle).state != RT_NODE_LIVE) return;
  rt_node_recycle(tree, child, &child->locals[0], handle);
}

const uint32_t *rt_slot_run(const RtManager *child, const uint8_t *parent, uint64_t run) {
  const uint8_t *place = parent;
  int32_t last = child->level_count - 1;
  for (int32_t l = last - 1; l >= 0; l--) {
    const RtLevel *level = &child->levels[l];
    place += level->offset + run % level->cell_count * level->stride;
    run /= level->cell_count;
  }
  return (const uint32_t *)(place + child->levels[last].offset);
}

uint64_t rt_run_count(const RtManager *child) {
  uint64_t runs = 1;
  for (int32_t l = 0; l < child->level_count - 1; l++) runs *= child->levels[l].cell_count;
  return runs;
}

uint64_t rt_run_length(const RtManager *child) {
  return child->levels[child->level_count - 1].cell_count;
}

static void drop_below(RtTree *tree, RtManager *child, const uint8_t *parent) {
  uint64_t runs = rt_run_count(child), slots = rt_run_length(child);
  for (uint64_t run = 0; run < runs; run++) {
    const uint32_t *slot = rt_slot_run(child, parent, run);
    for (uint64_t s = 0; s < slots; s++) drop_slot(tree, child, &slot[s]);
  }
}

static void drop_by_slots(RtTree *tree, int32_t number, RtManager *child, int32_t worker_count) {
  const RtManager *manager = &tree->managers[number];
  for (int32_t w = 0; w < worker_count; w++)
    for (uint32_t handle = manager->locals[w].recycled; handle;
         handle = node_get(tree, manager, handle).info->next)
      drop_below(tree, child, node_address(tree, handle));
}

/* -- by nodes ---------------------------------------------------------------------------------- */

/* The parent found last, since neighbours in memory mostly share one. A freed parent stays USED
 * until it is handed out again, after collect. */
typedef struct Parent {
  uint32_t handle;
  int is_live;
} Parent;

static int has_live_parent(const RtTree *tree, const RtManager *above, RtNode node, Parent *last) {
  if (node.info->parent != last->handle) {
    last->handle = node.info->parent;
    last->is_live = *node_get(tree, above, last->handle).state == RT_NODE_LIVE;
  }
  return last->is_live;
}

/* Frees every `step`th node from `first` on whose parent is freed. */
static void drop_in_chunk(const RtTree *tree, RtManager *child, RtLocal *local,
                          const RtChunk *chunk, uint64_t first, uint64_t step) {
  const RtManager *above = &tree->managers[child->parent];
  Parent parent = {0};
  for (uint64_t i = first; i < chunk->handed; i += step) {
    RtNode node = node_in_chunk(child, chunk, i);
    if (*node.state != RT_NODE_LIVE || has_live_parent(tree, above, node, &parent)) continue;
    node_retire(local, node, node_handle(tree, node.memory));
  }
}

static void RT_CALL drop_orphans(RtContext *context, RtWorker *worker, void *data, int64_t begin,
                                 int64_t end) {
  const RtChunkWork *work = data;
  RtTree *tree = work->tree;
  RtManager *child = &tree->managers[work->manager];
  for (int64_t c = begin; c < end; c++)
    if (tree->chunks[c].manager == work->manager)
      drop_in_chunk(tree, child, local_of(child, worker), &tree->chunks[c], 0, 1);
}

/* -- refresh ----------------------------------------------------------------------------------- */

static int goes_by_slots(const RtManager *child, uint64_t dead) {
  return NODES_PER_SLOT * dead * rt_run_count(child) * rt_run_length(child) <= child->node_count;
}

static void drop_children(RtContext *context, RtTree *tree, int32_t number, uint64_t dead) {
  for (int32_t c = number + 1; c < tree->manager_count; c++) {
    RtManager *child = &tree->managers[c];
    if (child->parent != number || !child->node_count) continue;
    if (child->is_hash) {
      rt_hash_drop_orphans(tree, child, 0, 1);
    } else if (goes_by_slots(child, dead)) {
      drop_by_slots(tree, number, child, context->worker_count);
    } else {
      share_chunks(context, tree, c, drop_orphans);
    }
  }
}

static void refresh_recycled(RtTree *tree, RtManager *manager, RtLocal *local) {
  uint32_t first = local->recycled;
  if (!first) return;
  if (!manager->recycled) manager->recycled_last = local->recycled_last;
  rt_node_splice(tree, manager, first, local->recycled_last, &manager->recycled);
  local->recycled = local->recycled_last = 0;
}

/* If a worker found no node while others had free ones, returns the workers' free nodes to the
 * shared list. */
static void refresh_starved(RtTree *tree, RtManager *manager, int32_t worker_count) {
  if (!manager->starved && !RT_SHARED) return; /* tasks never take from a shared worker's list */
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

/* Refreshes one manager, without the descendants of its freed nodes and without hash tables. */
static void refresh_counts(const RtContext *context, RtTree *tree, RtManager *manager) {
  uint64_t activations = 0, deactivations = 0;
  for (int32_t w = 0; w < context->worker_count; w++) {
    RtLocal *local = &manager->locals[w];
    activations += local->activations;
    deactivations += local->deactivations;
    local->activations = local->deactivations = 0;
    refresh_recycled(tree, manager, local);
  }
  manager->recycled_count += (uint32_t)deactivations;
  refresh_starved(tree, manager, context->worker_count);
  if (!activations && !deactivations) return;
  manager->live_count += activations - deactivations;
  manager->activations += activations;
  manager->deactivations += deactivations;
  manager->version++;
}

static uint64_t count_dead(const RtContext *context, const RtManager *manager) {
  uint64_t dead = 0;
  for (int32_t w = 0; w < context->worker_count; w++) dead += manager->locals[w].deactivations;
  return dead;
}

static void refresh_manager(RtContext *context, RtTree *tree, int32_t number) {
  RtManager *manager = &tree->managers[number];
  uint64_t dead = count_dead(context, manager);
  if (dead && manager->child_count) drop_children(context, tree, number, dead);
  refresh_counts(context, tree, manager);
  if (manager->is_hash) rt_hash_refresh(context, tree, manager);
}

static int32_t index_of(const RtContext *context, const RtTree *tree) {
  int32_t index = 0;
  while (index < context->tree_count && context->trees[index] != tree) index++;
  return index;
}

/* Appends the elements that workers have staged or logged. */
static void append_staged(RtContext *context, const RtTree *tree) {
  int32_t index = index_of(context, tree);
  for (int32_t m = 0; m < tree->manager_count && index < context->tree_count; m++)
    for (int32_t w = 0; w < context->worker_count; w++) {
      const RtStage *stage = tree->managers[m].locals[w].stage;
      if (stage && stage->list) rt_dynamic_unstage(context, &context->workers[w], index, m, 0);
    }
  for (int32_t m = 0; m < tree->manager_count && index < context->tree_count; m++)
    if (tree->managers[m].chunk) rt_dynamic_unlog(context, index, m);
}

void rt_tree_refresh(RtContext *context, RtTree *tree) {
  if (!rt_load(&tree->changed)) return;
  append_staged(context, tree);
  rt_store(&tree->changed, 0);
  for (int32_t m = 0; m < tree->manager_count; m++) refresh_manager(context, tree, m);
  expect_valid(context, tree);
}

#if RT_ALONE
/* -- refresh, by the threads of a block -------------------------------------------------------- */

/* A barrier for the block: writes before it are visible to all threads after it. All threads must
 * reach it, so the conditions on the way to it read only values that change after another
 * barrier. */
static void meet(void) { __syncthreads(); }

/* Every thread walks the list. As many threads as a node has slots share that node; the others take
 * the next one. */
static void drop_by_slots_together(RtTree *tree, int32_t number, RtManager *child, uint64_t thread,
                                   uint64_t threads) {
  const RtManager *manager = &tree->managers[number];
  uint64_t length = rt_run_length(child), slots = rt_run_count(child) * length;
  uint64_t width = slots < threads ? slots : threads, teams = threads / width, node = 0;
  if (thread >= teams * width) return;
  for (uint32_t handle = manager->locals[0].recycled; handle; node++) {
    const uint8_t *parent = node_address(tree, handle);
    for (uint64_t k = thread % width; node % teams == thread / width && k < slots; k += width)
      drop_slot(tree, child, rt_slot_run(child, parent, k / length) + k % length);
    handle = node_get(tree, manager, handle).info->next;
  }
}

static void drop_orphans_together(RtTree *tree, RtManager *child, uint64_t thread,
                                  uint64_t threads) {
  RtLocal *local = &child->locals[0];
  for (const RtChunk *chunk = chunk_first(tree, child); chunk; chunk = chunk_next(tree, chunk))
    drop_in_chunk(tree, child, local, chunk, thread, threads);
}

static void drop_together(RtTree *tree, int32_t number, uint64_t dead, uint64_t thread,
                          uint64_t threads) {
  for (int32_t c = number + 1; c < tree->manager_count; c++) {
    RtManager *child = &tree->managers[c];
    if (child->parent != number || !child->node_count) continue;
    if (child->is_hash) rt_hash_drop_orphans(tree, child, thread, threads);
    else if (goes_by_slots(child, dead))
      drop_by_slots_together(tree, number, child, thread, threads);
    else drop_orphans_together(tree, child, thread, threads);
  }
}

/* No other thread adds to `dead` any more: a manager's nodes are freed along with their parents. */
static void refresh_together(RtContext *context, RtTree *tree, int32_t number, uint64_t thread,
                             uint64_t threads) {
  RtManager *manager = &tree->managers[number];
  uint64_t dead = count_dead(context, manager);
  if (dead && manager->child_count) drop_together(tree, number, dead, thread, threads);
  meet();
  if (!thread) refresh_counts(context, tree, manager);
  if (manager->is_hash && rt_hash_wants_purge(tree, manager)) {
    RtPurge purge = rt_hash_purge_begin(tree, manager, thread, threads);
    meet();
    rt_hash_purge(tree, manager, purge);
    meet();
    if (!thread) rt_hash_purge_end(manager);
  }
  meet();
}

void rt_tree_refresh_together(RtContext *context, RtTree *tree, uint64_t thread, uint64_t threads) {
  uint32_t changed = rt_load(&tree->changed);
  meet();
  if (!changed) return;
  if (!thread) rt_store(&tree->changed, 0);
  for (int32_t m = 0; m < tree->manager_count; m++)
    refresh_together(context, tree, m, thread, threads);
}
#endif

/* -- collect ----------------------------------------------------------------------------------- */

static void collect_manager(RtTree *tree, RtManager *manager, int32_t worker_count) {
  if (!RT_SHARED && manager->recycled_count >= manager->node_count / MANY) {
    rt_free_order(tree, manager, worker_count);
    return;
  }
  rt_node_splice(tree, manager, manager->recycled, manager->recycled_last, &manager->free);
  manager->recycled = manager->recycled_last = manager->recycled_count = 0;
}

int rt_tree_collect(RtContext *context, RtTree *tree) {
  int moved = tree->was_dropped != 0; /* those nodes can be handed out already */
  tree->was_dropped = 0;
  rt_tree_refresh(context, tree);
  for (int32_t m = 0; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!manager->recycled) continue;
    collect_manager(tree, manager, context->worker_count);
    moved = 1;
  }
  if (moved) expect_valid(context, tree);
  return moved;
}
