/* node_dynamic.c - the `dynamic` SNode: lists that grow at their end. The part inlined into
 * kernels; the rest is in node_dynamic_grow.c.
 *
 *     list:  length, lock, slot 0, slot 1, ..        a chunk is a node: element k is in the node of
 *            |  elements 0 .. chunk-1 | chunk .. |   slot k / chunk, as cell k % chunk
 *
 * Invariants: every chunk with an element below `length` is live, so `length` grows only after its
 * chunk exists; live chunks are the first ones, without a gap; cells at and past `length` are zero,
 * so a reader needs no length. Threads that append update `length` by compare-and-swap and take no
 * lock; so do threads that pop, and those that empty a list go from its last chunk to its first. If
 * a loop changes lists in several ways, every change of a list holds its lock until the element is
 * written (`locks`), so that no late write lands past the end. If no two iterations change the same
 * list, no atomic access is needed (RT_LIST_OWN). Sizes: 8 bytes, and 4 per chunk.
 *
 * Lanes that pop from one list claim their elements together: lanes of a vector by rt_dynamic_take
 * (pass/vector/lane_accesses.c), lanes of a GPU's warp as below. Which lane gets which element is
 * one of the orders that iterations may have. A worker claims no more elements than it pops now:
 * any left over would be a gap, and the list would keep elements other than its first ones.
 *
 * If a loop does nothing but append to a list, many appends to it in a row are staged: a worker
 * collects elements in rows of its own, and appends RT_STAGE_ROWS of them by one compare-and-swap
 * (lanes of a GPU's warp that append to one list do the same at once, without rows). The remaining
 * rows follow after the task (rt_tree_refresh), so a list is dense whenever it can be read, and the
 * elements of one worker keep their order. If successive appends are mostly to different lists,
 * several workers log them: node_dynamic_log.c. */
#include "atomic.h"
#include "node.h"

/* A single worker needs no lock; unlocking then changes nothing. */
static void lock_list(const RtContext *context, uint32_t *list) {
  if (!rt_is_alone(context)) rt_lock(&list[RT_LIST_LOCK]);
}

static int32_t give_up(uint32_t *list, int32_t locks) {
  if (locks) rt_unlock(&list[RT_LIST_LOCK]);
  return -1;
}

static int move_end(const RtContext *context, uint32_t *list, uint32_t from, uint32_t to,
                    int32_t owns) {
  if (!owns && !rt_is_alone(context)) return rt_swap(&list[RT_LIST_LENGTH], from, to);
  rt_store(&list[RT_LIST_LENGTH], to);
  return 1;
}

/* The lane of rank 0 locks the list for its group. */
static void lock_together(RtGroup group, uint32_t *list, int32_t locks) {
  if (locks && !group.rank) rt_lock_for(&list[RT_LIST_LOCK], group.count);
}

/* Passes the lock to the first `count` lanes, those that have got an element. */
static void hold_together(RtGroup group, uint32_t *list, uint32_t count, int32_t locks) {
  if (!locks) return;
  if (!group.rank && count < group.count) rt_unlock_for(&list[RT_LIST_LOCK], group.count - count);
  rt_group_wait(group);
}

/* One claim for all lanes of a warp that append to one list now. */
static int32_t append_together(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                               uint32_t *list, int32_t locks) {
  RtGroup group = rt_group_of(rt_group_key(list));
  uint32_t first = 0, count = 0;
  lock_together(group, list, locks);
  if (!group.rank)
    count = rt_dynamic_claim(context, worker, tree, manager, list, group.count, &first);
  count = rt_group_share(group, count);
  first = rt_group_share(group, first);
  hold_together(group, list, count, locks);
  return group.rank < count ? (int32_t)(first + group.rank) : -1;
}

/* The same for lanes that pop. */
static int32_t pop_together(RtContext *context, uint32_t *list, int32_t locks) {
  RtGroup group = rt_group_of(rt_group_key(list));
  uint32_t length = 0;
  lock_together(group, list, locks);
  if (!group.rank) length = (uint32_t)rt_dynamic_take(context, list, (int32_t)group.count);
  length = rt_group_share(group, length);
  uint32_t count = length < group.count ? length : group.count;
  hold_together(group, list, count, locks);
  return group.rank < count ? (int32_t)(length - 1 - group.rank) : -1;
}

int32_t rt_dynamic_append(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                          uint32_t *list, int32_t chunk, int32_t capacity, int32_t way) {
  int32_t locks = way == RT_LIST_LOCKED, owns = way == RT_LIST_OWN;
  if (RT_SHARED && !owns) return append_together(context, worker, tree, manager, list, locks);
  if (locks) lock_list(context, list);
  for (;;) {
    uint32_t length = rt_load(&list[RT_LIST_LENGTH]);
    if (length >= (uint32_t)capacity) {
      rt_dynamic_full(context, tree, manager);
      return give_up(list, locks);
    }
    uint32_t *slot = &list[RT_LIST_SLOTS + length / (uint32_t)chunk];
    if (!handle_is_live(rt_load_leading(slot)) &&
        !rt_dynamic_grow(context, worker, tree, manager, slot))
      return give_up(list, locks);
    if (move_end(context, list, length, length + 1, owns)) return (int32_t)length;
  }
}

uint8_t *rt_dynamic_stage(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                          uint32_t *list, int32_t width) {
  RtStage *stage = local_of(&context->trees[tree]->managers[manager], worker)->stage;
  if (__builtin_expect(stage->list != list || stage->count == RT_STAGE_ROWS, 0))
    rt_dynamic_unstage(context, worker, tree, manager, list);
  return stage->rows + stage->count++ * (uint64_t)width;
}

/* For a single worker whose caches hold the lists, a direct append is faster. This runs for each
 * element. */
int32_t rt_dynamic_is_logged(RtContext *context, int32_t tree) {
  return !rt_is_alone(context) || context->trees[tree]->root_size > RT_LARGE;
}

uint8_t *rt_dynamic_log(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                        uint32_t *list, int32_t width) {
  RtLog *log = &local_of(&context->trees[tree]->managers[manager], worker)->stage->log;
  RtLogPiece *piece = log_piece(log, list);
  uint8_t *row = piece->at;
  uint64_t from_base = (uint64_t)list - piece->base;
  if (__builtin_expect((row == piece->end) | !log_names(from_base), 0))
    return rt_dynamic_log_on(context, worker, tree, manager, list, width);
  *(uint32_t *)(void *)row = (uint32_t)(from_base / sizeof *list);
  piece->at = row + width;
  return row;
}

/* An empty list's container may be the ambient, which is read-only. */
int32_t rt_dynamic_take(RtContext *context, uint32_t *list, int32_t count) {
  for (;;) {
    uint32_t length = rt_load(&list[RT_LIST_LENGTH]);
    uint32_t left = length > (uint32_t)count ? length - (uint32_t)count : 0;
    if (!length || move_end(context, list, length, left, 0)) return (int32_t)length;
  }
}

int32_t rt_dynamic_pop(RtContext *context, uint32_t *list, int32_t locks) {
  if (!rt_load(&list[RT_LIST_LENGTH])) return -1;
  if (RT_SHARED) return pop_together(context, list, locks);
  if (locks) lock_list(context, list);
  int32_t length = rt_dynamic_take(context, list, 1);
  return length ? length - 1 : give_up(list, locks);
}

uint8_t *rt_dynamic_ensure(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                           uint32_t *list, int32_t chunk, int32_t index, int32_t locks) {
  if (locks) lock_list(context, list);
  uint32_t handle = rt_load_leading(&list[RT_LIST_SLOTS + (uint32_t)index / (uint32_t)chunk]);
  if (__builtin_expect((uint32_t)index < rt_load(&list[RT_LIST_LENGTH]) && handle_is_live(handle),
                       1))
    return node_address(context->trees[tree], handle);
  return rt_dynamic_extend(context, worker, tree, manager, list, chunk, index);
}

void rt_dynamic_unlock(uint32_t *list) {
  if (RT_SHARED) {
    RtGroup group = rt_group_of(rt_group_key(list));
    rt_group_wait(group);
    if (!group.rank) rt_unlock_for(&list[RT_LIST_LOCK], group.count);
    return;
  }
  rt_unlock(&list[RT_LIST_LOCK]);
}

int32_t rt_dynamic_cells(RtContext *context, int32_t tree_index, int32_t number,
                         const uint8_t *node) {
  const RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  return dynamic_cells(tree, manager, node_around(tree, manager, node).info);
}

int32_t rt_dynamic_was(RtContext *context, int32_t tree_index, int32_t number,
                       const uint8_t *node) {
  const RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  return (int32_t)node_around(tree, manager, node).info->coordinates[manager->axis_count];
}
