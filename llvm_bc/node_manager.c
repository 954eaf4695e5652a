/* node_manager.c - where the nodes of one pointer SNode come from.
 *
 *     arena --segments--> chunk --batches--> a worker's free list --take--> a live node
 *                                                 ^                             |
 *                            shared free list ----+<---- collect ---- recycled -+
 *
 * A worker takes from its own list without a lock; an empty one is refilled under the manager's lock by a batch of
 * freed nodes, else of untouched ones from the last chunk, else from a new chunk. Chunks grow geometrically from one
 * segment to LARGEST_CHUNK, and shrink again to what budget and arena still have.
 * Invariant: the memory of a FRESH node has never been written; a USED one is zeroed here, late, by the thread that
 * will write it next. Sizes: a node costs node_size + info_stride + 1 bytes of its chunk. */
#include "atomic.h"
#include "node.h"

enum { LARGEST_CHUNK = 4 << 20, BATCH_BYTES = 64 << 10, LARGEST_BATCH = 32, TINY_CHUNK_NODES = 3 };

void rt_tree_touch(RtTree *tree) {
  if (!rt_load(&tree->changed)) rt_store(&tree->changed, 1);
}

void rt_node_splice(RtTree *tree, RtManager *manager, uint32_t first, uint32_t last, uint32_t *list) {
  if (!first) return;
  node_get(tree, manager, last).info->next = *list;
  *list = first;
}

void rt_node_recycle(RtTree *tree, RtManager *manager, uint32_t handle, uint32_t *first, uint32_t *last) {
  RtNode node = node_get(tree, manager, handle);
  *node.state = RT_NODE_USED;
  node.info->next = *first;
  if (!*first) *last = handle;
  *first = handle;
}

/* -- budget and arena ------------------------------------------------------------------------------------------ */

static int budget_take(RtBudget *budget, uint64_t bytes) {
  uint64_t used;
  do {
    used = rt_load_long(&budget->used);
    if (used > budget->limit || bytes > budget->limit - used) return 0;
  } while (!rt_swap_long(&budget->used, used, used + bytes));
  uint64_t peak;
  do peak = rt_load_long(&budget->peak);
  while (peak < used + bytes && !rt_swap_long(&budget->peak, peak, used + bytes));
  return 1;
}

/* Segments behind the last ones, or NULL. */
static uint8_t *arena_take(RtTree *tree, uint64_t bytes) {
  uint64_t top;
  do {
    top = rt_load_long(&tree->top);
    if (top > tree->reserved || bytes > tree->reserved - top) return 0;
  } while (!rt_swap_long(&tree->top, top, top + bytes));
  return tree->base + top;
}

uint8_t *rt_segments_take(RtTree *tree, uint64_t bytes) {
  if (!budget_take(tree->budget, bytes)) return 0;
  uint8_t *memory = arena_take(tree, bytes);
  if (!memory) rt_subtract_long(&tree->budget->used, bytes);
  return memory;
}

/* -- chunks ------------------------------------------------------------------------------------------------------ */

static uint64_t node_cost(const RtManager *manager) { return manager->node_size + manager->info_stride + 1; }

static uint64_t segment_bytes(uint64_t bytes) { return (bytes + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT; }

static uint64_t least_chunk_bytes(const RtManager *manager) { return segment_bytes(node_cost(manager)); }

/* As much as the manager has already, within bounds. */
static uint64_t next_chunk_bytes(const RtTree *tree, const RtManager *manager) {
  uint64_t least = least_chunk_bytes(manager), bytes = manager->chunk_bytes;
  if (bytes > LARGEST_CHUNK) bytes = LARGEST_CHUNK;
  return bytes < least || tree->tiny_chunks ? least : bytes;
}

static uint32_t nodes_that_fit(const RtTree *tree, const RtManager *manager, uint64_t bytes) {
  uint64_t count = bytes / node_cost(manager);
  return (uint32_t)(tree->tiny_chunks && count > TINY_CHUNK_NODES ? TINY_CHUNK_NODES : count);
}

/* nodes | infos | states; each begins aligned, since node_size is a multiple of 64 and info_stride of 8. */
static void chunk_init(RtTree *tree, RtManager *manager, RtChunk *chunk, uint8_t *memory, uint64_t bytes) {
  uint32_t count = nodes_that_fit(tree, manager, bytes);
  chunk->nodes = memory;
  chunk->infos = memory + count * manager->node_size;
  chunk->states = chunk->infos + count * manager->info_stride;
  chunk->first_number = manager->node_count;
  chunk->node_count = count;
  chunk->manager = (int32_t)(manager - tree->managers);
}

static void chunk_link(RtTree *tree, RtManager *manager, uint32_t owner) {
  if (manager->last_chunk) tree->chunks[manager->last_chunk - 1].next = owner;
  else manager->first_chunk = owner;
  manager->last_chunk = owner;
  manager->chunk_count++;
  manager->node_count += tree->chunks[owner - 1].node_count;
}

/* Under the lock. Its owner entries are written before any of its nodes is published, so that whoever holds an
 * address in it finds them. A chunk is at least one segment, so the table of chunks cannot be full. */
static int chunk_add(RtTree *tree, RtManager *manager) {
  uint64_t least = least_chunk_bytes(manager), bytes = next_chunk_bytes(tree, manager);
  uint8_t *memory;
  while (!(memory = rt_segments_take(tree, bytes))) {
    if (bytes == least) return 0;
    bytes = segment_bytes(bytes / 2) > least ? segment_bytes(bytes / 2) : least;
  }
  uint32_t owner = rt_add(&tree->chunk_count, 1) + 1;
  chunk_init(tree, manager, &tree->chunks[owner - 1], memory, bytes);
  uint64_t first = (uint64_t)(memory - tree->base) / RT_SEGMENT;
  for (uint64_t s = 0; s < bytes / RT_SEGMENT; s++) tree->segment_owner[first + s] = owner;
  manager->chunk_bytes += bytes;
  chunk_link(tree, manager, owner);
  return 1;
}

/* -- free lists --------------------------------------------------------------------------------------------------- */

static uint32_t batch_size(const RtTree *tree, const RtManager *manager) {
  uint64_t count = BATCH_BYTES / manager->node_size;
  if (tree->tiny_chunks || count < 1) return 1;
  return count < LARGEST_BATCH ? (uint32_t)count : LARGEST_BATCH;
}

static void push(RtTree *tree, RtManager *manager, uint32_t handle, uint32_t *list) {
  node_get(tree, manager, handle).info->next = *list;
  *list = handle;
}

static uint32_t move_freed(RtTree *tree, RtManager *manager, uint32_t *list, uint32_t most) {
  uint32_t count = 0;
  for (; count < most && manager->free; count++) {
    uint32_t handle = manager->free;
    manager->free = node_get(tree, manager, handle).info->next;
    push(tree, manager, handle, list);
  }
  return count;
}

/* Untouched nodes of the last chunk; pushed backward, so that they are handed out by ascending address. */
static uint32_t move_fresh(RtTree *tree, RtManager *manager, uint32_t *list, uint32_t most) {
  if (!manager->last_chunk) return 0;
  RtChunk *chunk = &tree->chunks[manager->last_chunk - 1];
  uint32_t left = chunk->node_count - chunk->handed, count = left < most ? left : most;
  chunk->handed += count;
  for (uint32_t i = 1; i <= count; i++)
    push(tree, manager, node_handle(tree, node_in_chunk(manager, chunk, chunk->handed - i).memory), list);
  return count;
}

static int refill(RtTree *tree, RtManager *manager, RtLocal *local) {
  uint32_t batch = batch_size(tree, manager);
  rt_lock(&manager->lock);
  uint32_t count = move_freed(tree, manager, &local->free, batch);
  if (count < batch) count += move_fresh(tree, manager, &local->free, batch - count);
  if (!count && chunk_add(tree, manager)) count = move_fresh(tree, manager, &local->free, batch);
  if (!count) {
    manager->starved = 1;
    rt_tree_touch(tree);
  }
  rt_unlock(&manager->lock);
  return count > 0;
}

uint32_t rt_node_take(RtTree *tree, RtManager *manager, RtLocal *local) {
  if (!local->free && !refill(tree, manager, local)) return 0;
  uint32_t handle = local->free;
  RtNode node = node_get(tree, manager, handle);
  local->free = node.info->next;
  if (*node.state == RT_NODE_USED) rt_memory_zero(node.memory, manager->node_size);
  *node.state = RT_NODE_LIVE;
  return handle;
}

void rt_node_return(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle) {
  *node_get(tree, manager, handle).state = RT_NODE_FRESH;
  push(tree, manager, handle, &local->free);
}
