/* node_dynamic.c - the `dynamic` SNode: lists that grow at their end. The part inlined into
 * kernels; the rest is in node_dynamic_grow.c.
 *
 *     list:  length, lock, slot 0, slot 1, ..        a chunk is a node: element k is in the node of
 *            |  elements 0 .. chunk-1 | chunk .. |   slot k / chunk, as cell k % chunk
 *
 * Invariants: every chunk with an element below `length` is live, so `length` grows only after its
 * chunk exists; live chunks are the first ones, without a gap; cells at and past `length` are zero,
 * so a reader needs no length. Appending threads update `length` by compare-and-swap and take no
 * lock. If a loop also removes elements, every change of a list holds its lock until the element is
 * written (`locks`), so that no late write lands past the end. Sizes: 8 bytes, and 4 per chunk.
 *
 * Many appends to one list in a row are staged if the loop looks at the list in no other way: a
 * worker collects elements in rows of its own, and appends them together, which is one
 * compare-and-swap for RT_STAGE_ROWS of them (lanes of a GPU's warp that append to one list do the
 * same at once, without rows). The rest follows after the task (rt_tree_refresh), so
 * a list is dense whenever somebody looks, and the elements of one worker keep their order. Where
 * the list is mostly another one, several workers log what they append: node_dynamic_log.c. */
#include "atomic.h"
#include "node.h"

/* With one worker nobody else wants it; unlocking then changes nothing. */
static void lock_list(const RtContext *context, uint32_t *list) {
  if (!rt_is_alone(context)) rt_lock(&list[RT_LIST_LOCK]);
}

static int32_t give_up(uint32_t *list, int32_t locks) {
  if (locks) rt_unlock(&list[RT_LIST_LOCK]);
  return -1;
}

static int move_end(const RtContext *context, uint32_t *list, uint32_t from, uint32_t to) {
  if (!rt_is_alone(context)) return rt_swap(&list[RT_LIST_LENGTH], from, to);
  rt_store(&list[RT_LIST_LENGTH], to);
  return 1;
}

/* One claim for all lanes of a warp that append to one list now. */
static int32_t append_together(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                               uint32_t *list) {
  RtGroup group = rt_group_of(rt_group_key(list));
  uint32_t first = 0, count = 0;
  if (!group.rank)
    count = rt_dynamic_claim(context, worker, tree, manager, list, group.count, &first);
  count = rt_group_share(group, count);
  first = rt_group_share(group, first);
  return group.rank < count ? (int32_t)(first + group.rank) : -1;
}

int32_t rt_dynamic_append(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                          uint32_t *list, int32_t chunk, int32_t capacity, int32_t locks) {
  if (RT_SHARED && !locks) return append_together(context, worker, tree, manager, list);
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
    if (move_end(context, list, length, length + 1)) return (int32_t)length;
  }
}

uint8_t *rt_dynamic_stage(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                          uint32_t *list, int32_t width) {
  RtStage *stage = local_of(&context->trees[tree]->managers[manager], worker)->stage;
  if (__builtin_expect(stage->list != list || stage->count == RT_STAGE_ROWS, 0))
    rt_dynamic_unstage(context, worker, tree, manager, list);
  return stage->rows + stage->count++ * (uint64_t)width;
}

/* One worker appends faster at once, if its caches hold the lists. Asked for each element. */
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

/* -1: the list is empty. Its container may be the ambient, which is read-only. */
int32_t rt_dynamic_pop(RtContext *context, uint32_t *list, int32_t locks) {
  if (!rt_load(&list[RT_LIST_LENGTH])) return -1;
  if (locks) lock_list(context, list);
  for (;;) {
    uint32_t length = rt_load(&list[RT_LIST_LENGTH]);
    if (!length) return give_up(list, locks);
    if (move_end(context, list, length, length - 1)) return (int32_t)length - 1;
  }
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

void rt_dynamic_unlock(uint32_t *list) { rt_unlock(&list[RT_LIST_LOCK]); }

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
