/* node_manager.c - the allocator of one SNode's nodes.
 *
 *     arena --segments--> chunk --batches--> a worker's free list --take--> a live node
 *                                                 ^                             |
 *                            shared free list ----+<---- collect ---- recycled -+
 *
 * A worker takes from its own list without a lock; an empty one is refilled under the manager's
 * lock by a batch of freed nodes, else of those past `handed` in a chunk (never used, or cleared
 * with their whole level), else from a new chunk. A batch is as many nodes as a cache line has
 * states, so that workers who take neighbouring batches do not write to one line. Chunks grow
 * geometrically from one segment to LARGEST_CHUNK, and are smaller if budget or arena run short.
 * Invariant: the memory of a FRESH node reads zero; a USED one is zeroed here, late, by the thread
 * that will write it next: alone, as it is taken, while caches hold it; else with its batch.
 * Sizes: a node costs node_size + info_stride + 9 bytes of its chunk.
 * Repeating the same work may reserve more memory, but not without bound: a chunk is added when the
 * shared list is empty and no chunk has fresh nodes, while every other worker keeps at most a
 * batch. So none is added once there are nodes for the largest live set plus a batch per worker.
 * Taking or recycling a node notes it once (RtLocal.touched), so that lists can be updated without
 * visiting the others. */
#include "atomic.h"
#include "node.h"

enum {
  LARGEST_CHUNK = 4 << 20,
  BATCH_BYTES = 128 << 10,
  WORTH_PAST = 32 << 20, /* bytes */
  LINE = 64,
  LARGEST_BATCH = LINE,
  TINY_CHUNK_NODES = 3
};

void rt_tree_touch(RtTree *tree) {
  if (!rt_load(&tree->changed)) rt_store(&tree->changed, 1);
}

void rt_node_splice(RtTree *tree, RtManager *manager, uint32_t first, uint32_t last,
                    uint32_t *list) {
  if (!first) return;
  node_get(tree, manager, last).info->next = *list;
  *list = first;
}

void rt_node_recycle(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle) {
  node_retire(local, node_get(tree, manager, handle), handle);
}

/* -- chunks ------------------------------------------------------------------------------------ */

static uint64_t node_cost(const RtManager *manager) {
  return manager->node_size + manager->info_stride + 9;
}

static uint64_t segment_bytes(uint64_t bytes) {
  return (bytes + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT;
}

static uint64_t least_chunk_bytes(const RtManager *manager) {
  return segment_bytes(node_cost(manager));
}

/* As much as the manager already has, within bounds. */
static uint64_t next_chunk_bytes(const RtTree *tree, const RtManager *manager) {
  uint64_t least = least_chunk_bytes(manager), bytes = manager->chunk_bytes;
  if (bytes > LARGEST_CHUNK) bytes = LARGEST_CHUNK;
  return bytes < least || tree->tiny_chunks ? least : bytes;
}

static uint32_t nodes_that_fit(const RtTree *tree, const RtManager *manager, uint64_t bytes) {
  uint64_t count = bytes / node_cost(manager);
  return (uint32_t)(tree->tiny_chunks && count > TINY_CHUNK_NODES ? TINY_CHUNK_NODES : count);
}

/* nodes | infos | positions | touched | states; each is aligned, since node_size is a multiple of
 * 64, info_stride of 8, and the two tables of 4-byte words have equal length. States begin with a
 * line if there is room. */
static void chunk_init(RtTree *tree, RtManager *manager, RtChunk *chunk, uint8_t *memory,
                       uint64_t bytes) {
  uint32_t count = nodes_that_fit(tree, manager, bytes);
  chunk->nodes = memory;
  chunk->infos = memory + count * manager->node_size;
  chunk->positions = (uint32_t *)(void *)(chunk->infos + count * manager->info_stride);
  chunk->touched = chunk->positions + count;
  chunk->states = (uint8_t *)(chunk->touched + count);
  uint64_t past_line = (uint64_t)(chunk->states - memory) % LINE;
  if (past_line && bytes - count * node_cost(manager) >= LINE - past_line)
    chunk->states += LINE - past_line;
  chunk->first_number = manager->node_count;
  chunk->node_count = count;
  chunk->manager = (int32_t)(manager - tree->managers);
}

static void chunk_link(RtTree *tree, RtManager *manager, uint32_t record) {
  uint32_t *last = &manager->first_chunk;
  if (manager->last_chunk) last = &tree->chunks[manager->last_chunk - 1].next;
  rt_store(last, record);
  manager->last_chunk = record;
  manager->chunk_count++;
  manager->node_count += tree->chunks[record - 1].node_count;
  rt_store_release(&manager->open_chunk, record);
}

static void chunk_enter(RtTree *tree, RtManager *manager, uint8_t *memory, uint64_t bytes) {
  uint32_t record = rt_record_take(tree, memory, bytes);
  chunk_init(tree, manager, &tree->chunks[record - 1], memory, bytes);
  manager->chunk_bytes += bytes;
  chunk_link(tree, manager, record);
}

int rt_chunk_add(RtTree *tree, RtManager *manager) {
  uint64_t least = least_chunk_bytes(manager), bytes = next_chunk_bytes(tree, manager);
  uint8_t *memory;
  while (!(memory = rt_segments_take(tree, bytes))) {
    if (bytes == least) return 0;
    bytes = segment_bytes(bytes / 2) > least ? segment_bytes(bytes / 2) : least;
  }
  chunk_enter(tree, manager, memory, bytes);
  return 1;
}

int rt_chunk_make(RtTree *tree, int32_t number, uint64_t segments) {
  RtManager *manager = &tree->managers[number];
  uint64_t bytes = segments * RT_SEGMENT;
  if (bytes < least_chunk_bytes(manager) || bytes > tree->reserved) return 0;
  uint8_t *memory = rt_segments_take(tree, bytes);
  if (memory) chunk_enter(tree, manager, memory, bytes);
  return memory != 0;
}

#if !RT_SHARED /* else node_shared.c */
/* -- free lists -------------------------------------------------------------------------------- */

static uint32_t batch_size(const RtTree *tree, const RtManager *manager) {
  uint64_t count = BATCH_BYTES / manager->node_size;
  if (tree->tiny_chunks || count < 1) return 1;
  return count < LARGEST_BATCH ? (uint32_t)count : LARGEST_BATCH;
}

static void push(RtTree *tree, RtManager *manager, uint32_t handle, uint32_t *list) {
  node_get(tree, manager, handle).info->next = *list;
  *list = handle;
}

/* Moves nodes in order to the worker's empty list; returns its end, and decrements *most. */
static uint32_t *move_freed(RtTree *tree, RtManager *manager, uint32_t *list, uint32_t *most) {
  *list = manager->free;
  for (uint32_t *end = list;; --*most) {
    manager->free = *end;
    if (!*most || !*end) {
      *end = 0;
      return end;
    }
    end = &node_get(tree, manager, *end).info->next;
  }
}

typedef struct Run { /* consecutive nodes of a chunk that were never handed out */
  const RtChunk *chunk;
  uint32_t begin, end;
} Run;

static Run hand_out(RtChunk *chunk, uint32_t most) {
  uint32_t begin = chunk->handed, left = chunk->node_count - begin;
  chunk->handed += left < most ? left : most;
  return (Run){chunk, begin, chunk->handed};
}

static Run next_run(RtTree *tree, RtManager *manager, uint32_t most) {
  while (manager->open_chunk) {
    RtChunk *chunk = &tree->chunks[manager->open_chunk - 1];
    Run run = hand_out(chunk, most);
    if (run.begin < run.end) return run;
    manager->open_chunk = chunk->next;
  }
  return (Run){0};
}

/* To the end of a list. */
static void link_run(const RtTree *tree, const RtManager *manager, Run run, uint32_t *end) {
  for (uint32_t i = run.begin; i < run.end; i++) {
    RtNode node = node_in_chunk(manager, run.chunk, i);
    *end = node_handle(tree, node.memory);
    end = &node.info->next;
  }
  *end = 0;
}

/* Does no cache hold the level's nodes? Never for nodes with slots, which are read at once. */
static int is_past_caches(const RtTree *tree, const RtManager *manager) {
  return (manager->chunk_bytes >= WORTH_PAST || tree->tiny_chunks) && !manager->child_count;
}

/* If no cache holds the level, a batch is zeroed by non-temporal stores when the worker gets it, so
 * that publishing a node later need not wait for them. */
static void zero_batch(const RtTree *tree, const RtManager *manager, const RtLocal *local) {
  for (uint32_t handle = local->free; handle;) {
    RtNode node = node_get(tree, manager, handle);
    if (*node.state == RT_NODE_USED) rt_node_zero_past(node.memory, manager->node_size);
    *node.state = RT_NODE_FRESH;
    handle = node.info->next;
  }
  rt_node_zero_end();
}

/* A run's table entries are cold, so they are written after the lock is released. */
static int refill(RtTree *tree, RtManager *manager, RtLocal *local) {
  uint32_t left = batch_size(tree, manager);
  Run run = {0};
  rt_lock(&manager->lock);
  uint32_t *end = move_freed(tree, manager, &local->free, &left);
  if (left) run = next_run(tree, manager, left);
  if (end == &local->free && !run.chunk && rt_chunk_add(tree, manager))
    run = next_run(tree, manager, left);
  int ok = end != &local->free || run.chunk, is_large = is_past_caches(tree, manager);
  if (!ok) {
    manager->starved = 1;
    rt_tree_touch(tree);
  }
  rt_unlock(&manager->lock);
  link_run(tree, manager, run, end);
  if (is_large) zero_batch(tree, manager, local);
  return ok;
}

uint32_t rt_node_take(RtTree *tree, RtManager *manager, RtLocal *local, RtNodeInfo **info) {
  if (!local->free && !refill(tree, manager, local)) return 0;
  uint32_t handle = local->free;
  RtNode node = node_get(tree, manager, handle);
  local->free = node.info->next;
  if (*node.state == RT_NODE_USED) rt_node_zero(node.memory, manager->node_size);
  *node.state = RT_NODE_LIVE;
  node_note(local, node, handle);
  *info = node.info;
  return handle;
}

void rt_node_return(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle) {
  *node_get(tree, manager, handle).state = RT_NODE_FRESH;
  push(tree, manager, handle, &local->free);
}
#endif
