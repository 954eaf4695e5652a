/* clear.c - frees many nodes at once: a whole level, or chunks without live nodes. No task runs.
 *
 * clear     frees every node of the level and below it. Slots of the level itself are in nodes that
 *           stay, and are emptied; those of deeper levels go with their nodes. Free lists are
 *           dropped: a chunk whose `handed` is 0 hands its nodes out again. Cost: a byte per node,
 *           and a slot per node of the cleared level.
 * compact   returns the segments of chunks without a live node.
 * order     rebuilds the manager's free list, in the order of addresses, from the state bytes of
 *           its chunks; after its last live node a chunk hands out again. */
#include "atomic.h"
#include "node.h"

/* -- clear ------------------------------------------------------------------------------------- */

static int is_below(const RtTree *tree, int32_t manager, int32_t above) {
  for (int32_t m = manager; m >= 0; m = tree->managers[m].parent)
    if (m == above) return 1;
  return 0;
}

/* Empties the slot; a list whose chunks are freed also gets length 0. */
static void empty_slot(RtTree *tree, const RtManager *manager, const RtNodeInfo *info) {
  int64_t chunk;
  rt_store((uint32_t *)(tree->base + info->slot), RT_SLOT_EMPTY);
  if (manager->chunk) rt_store(&dynamic_list(tree, manager, info, &chunk)[RT_LIST_LENGTH], 0);
}

static void RT_CALL empty_slots(RtContext *context, RtWorker *worker, void *data, int64_t begin,
                                int64_t end) {
  const RtChunkWork *work = data;
  RtTree *tree = work->tree;
  RtManager *manager = &tree->managers[work->manager];
  for (int64_t c = begin; c < end; c++) {
    const RtChunk *chunk = &tree->chunks[c];
    if (chunk->manager != work->manager) continue;
    for (uint32_t i = 0; i < chunk->handed; i++) {
      RtNode node = node_in_chunk(manager, chunk, i);
      if (*node.state == RT_NODE_LIVE) empty_slot(tree, manager, node.info);
    }
  }
}

static void forget_free(RtManager *manager, int32_t worker_count) {
  manager->free = manager->recycled = manager->recycled_last = manager->recycled_count = 0;
  for (int32_t w = 0; w < worker_count; w++) manager->locals[w].free = 0;
}

void rt_nodes_reopen(RtTree *tree, RtManager *manager, int32_t worker_count) {
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    chunk->handed = 0;
  forget_free(manager, worker_count);
  manager->open_chunk = manager->first_chunk;
}

/* Resets the manager: all its nodes are USED, and its list is empty. */
static void forget_all(const RtContext *context, RtTree *tree, RtManager *manager) {
  rt_nodes_reopen(tree, manager, context->worker_count);
  tree->was_dropped = 1;
  if (RT_ALONE) manager->cleared = 1;
  manager->deactivations += manager->live_count;
  manager->live_count = 0;
  manager->version++;
  manager->list_version = manager->version;
}

static void retire_all(RtContext *context, RtTree *tree, RtManager *manager) {
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++) chunk->states[i] = RT_NODE_USED;
  rt_list_empty(tree, manager, context->worker_count);
  forget_all(context, tree, manager);
}

void rt_tree_clear(RtContext *context, int32_t tree_index, int32_t number) {
  RtTree *tree = context->trees[tree_index];
  rt_tree_refresh(context, tree);
  for (int32_t m = number; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!is_below(tree, m, number) || !manager->live_count) continue;
    if (manager->is_hash) rt_hash_empty(tree, manager, context->worker_count);
    else if (m == number) share_chunks(context, tree, m, empty_slots);
    retire_all(context, tree, manager);
  }
  expect_valid(context, tree);
}

/* -- clear, by many threads -------------------------------------------------------------------- */

static int is_cleared(const RtTree *tree, int32_t manager, int32_t above) {
  return is_below(tree, manager, above) && tree->managers[manager].live_count;
}

static void clear_nodes(RtTree *tree, RtManager *manager, int has_slots, uint64_t first,
                        uint64_t step) {
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint64_t i = first; i < chunk->node_count; i += step) {
      RtNode node = node_in_chunk(manager, chunk, (uint32_t)i);
      *node.position = *node.touched = 0;
      if (i >= chunk->handed) continue;
      if (has_slots && *node.state == RT_NODE_LIVE) empty_slot(tree, manager, node.info);
      *node.state = RT_NODE_USED;
    }
}

void rt_clear_nodes(RtTree *tree, int32_t number, uint64_t thread, uint64_t threads) {
  for (int32_t m = number; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!is_cleared(tree, m, number)) continue;
    clear_nodes(tree, manager, m == number && !manager->is_hash, thread, threads);
    if (manager->is_hash) rt_hash_zero(tree, manager, thread, threads);
  }
}

void rt_clear_end(RtContext *context, RtTree *tree, int32_t number) {
  for (int32_t m = number; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!is_cleared(tree, m, number)) continue;
    if (manager->is_hash) rt_hash_forget(manager, context->worker_count);
    rt_list_forget(manager, context->worker_count);
    forget_all(context, tree, manager);
  }
  expect_valid(context, tree);
}

/* -- order ------------------------------------------------------------------------------------- */

static void lower_handed(RtChunk *chunk) {
  while (chunk->handed && chunk->states[chunk->handed - 1] != RT_NODE_LIVE) chunk->handed--;
}

/* Appends the chunk's idle nodes to the list that ends at `end`; returns its new end. */
static uint32_t *link_idle(const RtTree *tree, const RtManager *manager, const RtChunk *chunk,
                           uint32_t *end) {
  for (uint32_t i = 0; i < chunk->handed; i++) {
    if (chunk->states[i] == RT_NODE_LIVE) continue;
    RtNode node = node_in_chunk(manager, chunk, i);
    *end = node_handle(tree, node.memory);
    end = &node.info->next;
  }
  return end;
}

void rt_free_order(RtTree *tree, RtManager *manager, int32_t worker_count) {
  uint32_t *end = &manager->free;
  forget_free(manager, worker_count);
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk)) {
    lower_handed(chunk);
    end = link_idle(tree, manager, chunk, end);
  }
  *end = 0;
  manager->open_chunk = manager->first_chunk;
}

/* -- compact ----------------------------------------------------------------------------------- */

static int is_vacant(const RtChunk *chunk) {
  for (uint32_t i = 0; i < chunk->handed; i++)
    if (chunk->states[i] == RT_NODE_LIVE) return 0;
  return 1;
}

static int has_vacant(const RtTree *tree, const RtManager *manager) {
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    if (is_vacant(chunk)) return 1;
  return 0;
}

static uint64_t give_chunk(RtContext *context, RtTree *tree, RtManager *manager, uint32_t record) {
  const RtChunk *chunk = &tree->chunks[record - 1];
  uint64_t bytes = (uint64_t)chunk->segments * RT_SEGMENT;
  uint8_t *memory = chunk->nodes;
  manager->chunk_bytes -= bytes;
  manager->chunk_count--;
  context->discard(context, memory, bytes);
  rt_record_give(tree, record);
  rt_segments_give(tree, memory, bytes);
  return bytes;
}

static uint64_t compact_manager(RtContext *context, RtTree *tree, RtManager *manager) {
  uint64_t given = 0;
  uint32_t record = manager->first_chunk;
  rt_list_empty(tree, manager, context->worker_count); /* its nodes are found by their chunks */
  manager->first_chunk = manager->last_chunk = manager->node_count = 0;
  while (record) {
    RtChunk *chunk = &tree->chunks[record - 1];
    uint32_t next = chunk->next;
    chunk->next = 0;
    if (is_vacant(chunk)) {
      given += give_chunk(context, tree, manager, record);
    } else {
      if (manager->last_chunk) tree->chunks[manager->last_chunk - 1].next = record;
      else manager->first_chunk = record;
      manager->last_chunk = record;
      chunk->first_number = manager->node_count;
      manager->node_count += chunk->node_count;
    }
    record = next;
  }
  rt_free_order(tree, manager, context->worker_count);
  return given;
}

uint64_t rt_tree_compact(RtContext *context, RtTree *tree) {
  uint64_t given = 0;
  rt_tree_collect(context, tree);
  for (int32_t m = 0; !RT_ALONE && m < tree->manager_count && context->discard; m++) {
    RtManager *manager = &tree->managers[m];
    if (has_vacant(tree, manager)) given += compact_manager(context, tree, manager);
  }
  if (given) expect_valid(context, tree);
  return given;
}
