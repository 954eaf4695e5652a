/* list_gen.c - updates the list of a manager's active nodes after its version changed.
 *
 * Incrementally: workers note the nodes they take and recycle; each is visited once. A live one
 * without a position is appended; the last entry moves into the place of a freed one. So activating
 * one block among a million costs one entry.
 * From scratch: if more than a quarter changed since the last time, from the state bytes of the
 * chunks alone, on all workers. Eight states are read at a time, so that a level with few live
 * nodes costs little. Either way the cost depends on the number of nodes, not on the size of the
 * root. A GPU's threads rebuild a list together, in a launch of their own, unless few nodes
 * changed. Order: that of memory, except for changes since the list was last rebuilt. Size: 16
 * bytes per node. */
#include "atomic.h"
#include "node.h"

enum { LEAST_CAPACITY = 64, FEW_CHANGES = 64 };

_Static_assert(RT_NODE_LIVE == 1 && RT_NODE_USED == 2, "bit 0 of a state byte says LIVE");

/* If memory is refused, the old list stays. */
static int reserve(RtContext *context, const RtTree *tree, RtManager *manager, uint64_t count) {
  uint64_t capacity = manager->list_capacity ? manager->list_capacity : LEAST_CAPACITY;
  while (capacity < count) capacity *= 2;
  if (capacity == manager->list_capacity) return 1;
  uint64_t old_bytes = manager->list_capacity * sizeof(RtListEntry),
           new_bytes = capacity * sizeof(RtListEntry);
  RtListEntry *list = table_grow(context, manager->list, old_bytes, new_bytes);
  if (!list) {
    rt_error_set(context, RT_ERROR_MEMORY, tree->number, (int32_t)(manager - tree->managers));
    return 0;
  }
  manager->list = list;
  manager->list_capacity = capacity;
  return 1;
}

/* -- incrementally ----------------------------------------------------------------------------- */

static void append(const RtTree *tree, RtManager *manager, RtNode node) {
  manager->list[manager->list_count++] = (RtListEntry){.handle = node_handle(tree, node.memory),
                                                       .coordinates = node.info->coordinates};
  *node.position = (uint32_t)manager->list_count;
}

static void remove_entry(const RtTree *tree, RtManager *manager, RtNode node) {
  RtListEntry last = manager->list[--manager->list_count];
  manager->list[*node.position - 1] = last;
  *node_get(tree, manager, last.handle).position = *node.position;
  *node.position = 0;
}

static void apply_touched(const RtTree *tree, RtManager *manager, RtLocal *local) {
  uint32_t handle = local->touched;
  while (handle > RT_TOUCHED_END) {
    RtNode node = node_get(tree, manager, handle);
    int is_live = *node.state == RT_NODE_LIVE;
    handle = *node.touched;
    *node.touched = 0;
    if (is_live && !*node.position) append(tree, manager, node);
    else if (!is_live && *node.position) remove_entry(tree, manager, node);
  }
  local->touched = 0;
  local->touched_count = 0;
}

/* -- from scratch ------------------------------------------------------------------------------ */

static uint64_t live_bits(const uint8_t *states) {
  uint64_t word;
  __builtin_memcpy(&word, states, sizeof word);
  return word & 0x0101010101010101u;
}

static uint32_t count_live(const RtChunk *chunk) {
  uint32_t count = 0, index = 0;
  for (; index + 8 <= chunk->handed; index += 8)
    count += (uint32_t)__builtin_popcountll(live_bits(chunk->states + index));
  for (; index < chunk->handed; index++) count += chunk->states[index] == RT_NODE_LIVE;
  return count;
}

static void enter(const RtManager *manager, const RtTree *tree, const RtChunk *chunk,
                  uint32_t index, uint32_t position) {
  RtNode node = node_in_chunk(manager, chunk, index);
  manager->list[position] = (RtListEntry){.handle = node_handle(tree, node.memory),
                                          .coordinates = node.info->coordinates};
  *node.position = position + 1;
}

static void enter_chunk(const RtManager *manager, const RtTree *tree, const RtChunk *chunk) {
  uint32_t index = 0, position = chunk->first_position;
  for (; index + 8 <= chunk->handed; index += 8)
    for (uint64_t bits = live_bits(chunk->states + index); bits; bits &= bits - 1)
      enter(manager, tree, chunk, index + (uint32_t)__builtin_ctzll(bits) / 8, position++);
  for (; index < chunk->handed; index++)
    if (chunk->states[index] == RT_NODE_LIVE) enter(manager, tree, chunk, index, position++);
}

static void forget_chunk(RtChunk *chunk) {
  /* positions, touched */
  rt_memory_zero(chunk->positions, 2 * sizeof(uint32_t) * (uint64_t)chunk->node_count);
}

static void RT_CALL count_chunks(RtContext *context, RtWorker *worker, void *data, int64_t begin,
                                 int64_t end) {
  const RtChunkWork *work = data;
  for (int64_t c = begin; c < end; c++) {
    RtChunk *chunk = &work->tree->chunks[c];
    if (chunk->manager != work->manager) continue;
    chunk->first_position = count_live(chunk);
    forget_chunk(chunk);
  }
}

static void RT_CALL enter_chunks(RtContext *context, RtWorker *worker, void *data, int64_t begin,
                                 int64_t end) {
  const RtChunkWork *work = data;
  for (int64_t c = begin; c < end; c++) {
    const RtChunk *chunk = &work->tree->chunks[c];
    if (chunk->manager == work->manager)
      enter_chunk(&work->tree->managers[work->manager], work->tree, chunk);
  }
}

static void forget_touched(RtManager *manager, int32_t worker_count) {
  for (int32_t w = 0; w < worker_count; w++)
    manager->locals[w].touched = 0, manager->locals[w].touched_count = 0;
}

static void make_anew(RtContext *context, RtTree *tree, int32_t number) {
  RtManager *manager = &tree->managers[number];
  share_chunks(context, tree, number, count_chunks);
  uint32_t position = 0;
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk)) {
    uint32_t count = chunk->first_position;
    chunk->first_position = position;
    position += count;
  }
  share_chunks(context, tree, number, enter_chunks);
  forget_touched(manager, context->worker_count);
  manager->list_count = position;
  manager->list_drift = 0;
  manager->lists++;
}

/* -- choosing between the two ------------------------------------------------------------------ */

typedef void MakeList(RtContext *context, RtTree *tree, int32_t number);

static uint64_t count_touched(const RtManager *manager, int32_t worker_count) {
  uint64_t count = 0;
  for (int32_t w = 0; w < worker_count; w++) count += manager->locals[w].touched_count;
  return count;
}

/* 0 if out of memory. */
static int update(RtContext *context, RtTree *tree, int32_t number, MakeList *make) {
  RtManager *manager = &tree->managers[number];
  uint64_t changes = count_touched(manager, context->worker_count);
  uint64_t most = manager->list_count + changes;
  if (most > manager->node_count) most = manager->node_count; /* each is in it once */
  if (!reserve(context, tree, manager, most > manager->live_count ? most : manager->live_count))
    return 0;
  manager->list_drift += changes;
  if (manager->list_version && manager->list_drift <= manager->list_count / 4 + FEW_CHANGES)
    for (int32_t w = 0; w < context->worker_count; w++)
      apply_touched(tree, manager, &manager->locals[w]);
  else make(context, tree, number);
  manager->list_version = manager->version;
  return 1;
}

int rt_list_update(RtContext *context, RtTree *tree, int32_t number) {
  const RtManager *manager = &tree->managers[number];
  rt_tree_refresh(context, tree);
  if (manager->list_version == manager->version) return 1;
  if (!update(context, tree, number, make_anew)) return 0;
  expect_valid(context, tree);
  return 1;
}

#if RT_ALONE
enum { NOT_DUE, DUE, DUE_IN_ORDER }; /* RtManager.list_is_due */

static void make_later(RtContext *context, RtTree *tree, int32_t number) {
  RtManager *manager = &tree->managers[number];
  forget_touched(manager, context->worker_count);
  manager->list_count = 0;
  manager->list_drift = 0;
  manager->lists++;
  manager->list_is_due = DUE;
}

void rt_list_begin(RtContext *context, RtTree *tree, int32_t number, int in_order,
                   uint64_t nodes_per_change) {
  RtManager *manager = &tree->managers[number];
  manager->list_is_due = NOT_DUE;
  rt_tree_refresh(context, tree);
  if (manager->list_version == manager->version) return;
  uint64_t changes = count_touched(manager, context->worker_count);
  if (!in_order && changes * nodes_per_change > manager->node_count)
    manager->list_version = 0; /* rebuilding by many threads is faster than updating by one */
  update(context, tree, number, make_later);
  if (manager->list_is_due) manager->list_version = 0; /* the rebuild may fail to be launched */
  if (manager->list_is_due && in_order) manager->list_is_due = DUE_IN_ORDER;
}

static void enter_at(const RtTree *tree, const RtManager *manager, RtNode node, uint32_t position) {
  manager->list[position] = (RtListEntry){.handle = node_handle(tree, node.memory),
                                          .coordinates = node.info->coordinates};
  *node.position = position + 1;
}

/* Lanes with live nodes take their positions by one addition. */
static void enter_or_forget(const RtTree *tree, RtManager *manager, RtNode node) {
  *node.position = *node.touched = 0;
  if (*node.state != RT_NODE_LIVE) return;
  RtGroup group = rt_group_here();
  uint32_t first = 0;
  if (!group.rank) first = (uint32_t)rt_add_long(&manager->list_count, group.count);
  enter_at(tree, manager, node, rt_group_share(group, first) + group.rank);
}

/* -- in order, by warps: each has a share of the nodes, by their numbers ----------------------- */

enum { LANES = RT_GPU_LANES, LEAST_SHARE = 1024 };

typedef struct Share {
  const RtTree *tree;
  const RtManager *manager;
  const RtChunk *chunk; /* of the lane's last node */
  uint64_t begin, end, lane;
} Share;

static uint64_t share_size(const RtManager *manager, uint64_t warps) {
  uint64_t size = (manager->node_count + warps - 1) / warps;
  return (size < LEAST_SHARE ? LEAST_SHARE : size + LANES - 1) / LANES * LANES;
}

static Share share_of(const RtTree *tree, const RtManager *manager, uint64_t thread,
                      uint64_t threads) {
  uint64_t size = share_size(manager, threads / LANES), begin = thread / LANES * size;
  return (Share){tree, manager, chunk_first(tree, manager), begin, begin + size, thread % LANES};
}

/* Node number `number` + lane, or 0 past the end. Numbers must grow from call to call. */
static int share_node(Share *share, uint64_t number, RtNode *node) {
  number += share->lane;
  if (number >= share->end || number >= share->manager->node_count) return 0;
  while (number >= share->chunk->first_number + (uint64_t)share->chunk->node_count)
    share->chunk = chunk_next(share->tree, share->chunk);
  *node = node_in_chunk(share->manager, share->chunk, number - share->chunk->first_number);
  return 1;
}

/* One bit for each lane of the warp whose next node is live; all lanes must take part. */
static uint32_t live_lanes(Share *share, uint64_t number, RtNode *node, int *is_live) {
  int is_there = share_node(share, number, node);
  *is_live = is_there && *node->state == RT_NODE_LIVE;
  if (is_there) *node->position = *node->touched = 0;
  return (uint32_t)__nvvm_vote_ballot_sync(~0u, *is_live);
}

static uint32_t sum_of_lanes(uint32_t value) {
  for (int lanes = LANES / 2; lanes; lanes /= 2)
    value += (uint32_t)__nvvm_shfl_sync_bfly_i32(~0u, (int)value, lanes, LANES - 1);
  return value;
}

static void count_share(const RtTree *tree, const RtManager *manager, uint64_t thread,
                        uint64_t threads, uint64_t *counts) {
  Share share = share_of(tree, manager, thread, threads);
  uint64_t count = 0;
  RtNode node;
  int is_live;
  for (uint64_t n = share.begin; n < share.end && n < manager->node_count; n += LANES)
    count += (uint64_t)__builtin_popcount(live_lanes(&share, n, &node, &is_live));
  if (!share.lane) counts[thread / LANES] = count;
}

void rt_list_enter(RtTree *tree, int32_t number, uint64_t thread, uint64_t threads,
                   const uint64_t *counts) {
  RtManager *manager = &tree->managers[number];
  if (manager->list_is_due != DUE_IN_ORDER) return;
  if (!thread) manager->list_version = manager->version;
  Share share = share_of(tree, manager, thread, threads);
  if (share.begin >= manager->node_count) return;
  uint32_t position = 0;
  for (uint64_t k = share.lane; k < thread / LANES; k += LANES) position += (uint32_t)counts[k];
  position = sum_of_lanes(position);
  for (uint64_t n = share.begin; n < share.end && n < manager->node_count; n += LANES) {
    RtNode node;
    int is_live;
    uint32_t lanes = live_lanes(&share, n, &node, &is_live);
    uint32_t before = lanes & (uint32_t)__nvvm_read_ptx_sreg_lanemask_lt();
    if (is_live) enter_at(tree, manager, node, position + (uint32_t)__builtin_popcount(before));
    position += (uint32_t)__builtin_popcount(lanes);
  }
  if (share.end >= manager->node_count && !share.lane) manager->list_count = position;
}

/* Node n goes to thread n % threads. */
void rt_list_fill(RtTree *tree, int32_t number, uint64_t thread, uint64_t threads,
                  uint64_t *counts) {
  RtManager *manager = &tree->managers[number];
  if (manager->list_is_due == DUE_IN_ORDER) count_share(tree, manager, thread, threads, counts);
  if (manager->list_is_due != DUE) return;
  if (!thread) manager->list_version = manager->version;
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk)) {
    uint64_t first = (thread + threads - chunk->first_number % threads) % threads;
    for (uint64_t i = first; i < chunk->node_count; i += threads)
      enter_or_forget(tree, manager, node_in_chunk(manager, chunk, i));
  }
}
#endif

void rt_list_forget(RtManager *manager, int32_t worker_count) {
  forget_touched(manager, worker_count);
  manager->list_count = 0;
  manager->list_drift = 0;
  manager->list_version = 0;
}

void rt_list_empty(RtTree *tree, RtManager *manager, int32_t worker_count) {
  for (RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    forget_chunk(chunk);
  rt_list_forget(manager, worker_count);
}

int64_t rt_list_count(RtContext *context, int32_t tree, int32_t manager) {
  rt_tree_refresh(context, context->trees[tree]);
  return rt_manager_live(context->trees[tree], manager);
}
