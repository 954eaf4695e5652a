/* node_dynamic_grow.c - how lists allocate and free chunks, and how a chunk finds its list. The
 * invariants are in node_dynamic.c. */
#include "atomic.h"
#include "node.h"

int32_t rt_dynamic_grow(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                        uint32_t *slot) {
  const uint8_t *node = rt_slot_activate(context, worker, tree, manager, slot);
  return node != local_of(&context->trees[tree]->managers[manager], worker)->sink;
}

void rt_dynamic_full(RtContext *context, int32_t tree, int32_t manager) {
  rt_error_set(context, RT_ERROR_FULL, context->trees[tree]->number, manager);
}

/* Makes the chunks up to that of `index`, in order, then sets the length. Elements in between are
 * zero. If out of memory, the list keeps its length, and the write goes to the sink. */
uint8_t *rt_dynamic_extend(RtContext *context, RtWorker *worker, int32_t tree_index,
                           int32_t manager, uint32_t *list, int32_t chunk, int32_t index) {
  uint32_t last = (uint32_t)index / (uint32_t)chunk, length = rt_load(&list[RT_LIST_LENGTH]);
  for (uint32_t c = length / (uint32_t)chunk; c < last; c++)
    if (!rt_dynamic_grow(context, worker, tree_index, manager, &list[RT_LIST_SLOTS + c]))
      return local_of(&context->trees[tree_index]->managers[manager], worker)->sink;
  uint8_t *node =
      rt_slot_activate(context, worker, tree_index, manager, &list[RT_LIST_SLOTS + last]);
  if (node == local_of(&context->trees[tree_index]->managers[manager], worker)->sink) return node;
  do length = rt_load(&list[RT_LIST_LENGTH]);
  while (length <= (uint32_t)index && !rt_swap(&list[RT_LIST_LENGTH], length, (uint32_t)index + 1));
  return node;
}

/* -- staged elements --------------------------------------------------------------------------- */

/* Makes the chunks of elements first .. first + count, in order; returns the number of elements for
 * which there is memory. */
static uint32_t make_chunks(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                            uint32_t *list, uint32_t first, uint32_t count) {
  uint32_t chunk = (uint32_t)context->trees[tree]->managers[manager].chunk;
  for (uint32_t at = first / chunk; count && at <= (first + count - 1) / chunk; at++) {
    uint32_t *slot = &list[RT_LIST_SLOTS + at];
    if (handle_is_live(rt_load_leading(slot)) ||
        rt_dynamic_grow(context, worker, tree, manager, slot))
      continue;
    return at * chunk > first ? at * chunk - first : 0;
  }
  return count;
}

/* Elements below `made` have chunks already, so a thread that loses the race can retry at once. */
uint32_t rt_dynamic_claim(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                          uint32_t *list, uint32_t wanted, uint32_t *first) {
  const RtManager *manager = &context->trees[tree]->managers[number];
  uint32_t capacity = (uint32_t)manager->capacity, chunk = (uint32_t)manager->chunk;
  uint32_t length = rt_load(&list[RT_LIST_LENGTH]), made = 0;
  for (;;) {
    uint32_t left = length < capacity ? capacity - length : 0;
    uint32_t count = left < wanted ? left : wanted;
    if (left < wanted) rt_dynamic_full(context, tree, number);
    if (length + count > made) {
      count = make_chunks(context, worker, tree, number, list, length, count);
      made = (length / chunk + 1) * chunk;
    }
    *first = length;
    if (!count || rt_swap_from(&list[RT_LIST_LENGTH], &length, length + count)) return count;
  }
}

#define WRITE_RUN(TYPE) \
  for (uint32_t k = 0; k < count; k++) \
  *(TYPE *)(void *)(to + k * number->stride) = *(const TYPE *)(const void *)(from + k * width)

/* Writes one number of `count` elements of one chunk. */
static void write_run(const RtNumber *number, uint8_t *to, const uint8_t *from, uint64_t width,
                      uint32_t count) {
  switch (number->size) {
  case 1: WRITE_RUN(uint8_t); return;
  case 2: WRITE_RUN(uint16_t); return;
  case 4: WRITE_RUN(uint32_t); return;
  default: WRITE_RUN(uint64_t);
  }
}

void rt_dynamic_write(const RtTree *tree, const RtManager *manager, const uint32_t *list,
                      uint32_t first, uint32_t count, const uint8_t *rows) {
  uint64_t width = (uint64_t)manager->row_bytes;
  uint32_t chunk = (uint32_t)manager->chunk;
  while (count) {
    uint32_t cell = first % chunk, run = chunk - cell < count ? chunk - cell : count;
    uint8_t *node = node_address(tree, rt_load_acquire(&list[RT_LIST_SLOTS + first / chunk]));
    for (int32_t k = 0; k < manager->number_count; k++) {
      const RtNumber *number = &manager->numbers[k];
      write_run(number, node + number->offset + cell * number->stride, rows + number->row, width,
                run);
    }
    first += run;
    count -= run;
    rows += run * width;
  }
}

void rt_dynamic_unstage(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t number,
                        uint32_t *next) {
  RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  RtStage *stage = local_of(manager, worker)->stage;
  uint32_t first, count = 0;
  if (stage->count)
    count = rt_dynamic_claim(context, worker, tree_index, number, stage->list,
                             (uint32_t)stage->count, &first);
  if (count) rt_dynamic_write(tree, manager, stage->list, first, count, stage->rows);
  stage->list = next;
  stage->count = 0;
  rt_tree_touch(tree);
}

/* -- emptying and counting --------------------------------------------------------------------- */

/* Frees chunks from the last to the first, so that a thread that sees an empty list, while another
 * empties it, knows that all of it is empty. */
static void clear_chunks(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t number,
                         uint32_t *list, int32_t capacity, uint32_t kept) {
  const RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  uint32_t chunk = (uint32_t)manager->chunk, live = 0;
  uint32_t chunks = ((uint32_t)capacity + chunk - 1) / chunk;
  rt_store(&list[RT_LIST_LENGTH], 0);
  while (live < chunks && rt_slot_live(&list[RT_LIST_SLOTS + live])) live++;
  while (live > kept)
    rt_slot_clear(context, worker, tree_index, number, &list[RT_LIST_SLOTS + --live]);
  if (live) rt_memory_zero(node_address(tree, rt_load(&list[RT_LIST_SLOTS])), manager->node_size);
}

void rt_dynamic_clear(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                      uint32_t *list, int32_t capacity, int32_t locks, int32_t keeps) {
  if (!node_is_in_arena(context->trees[tree], list)) return;
  if (!rt_slot_live(&list[RT_LIST_SLOTS])) return;
  RtGroup group = rt_group_of(rt_group_key(list));
  if (!group.rank) {
    locks = locks && !rt_is_alone(context);
    if (locks) rt_lock(&list[RT_LIST_LOCK]);
    clear_chunks(context, worker, tree, manager, list, capacity,
                 keeps && rt_load(&list[RT_LIST_LENGTH]));
    if (locks) rt_unlock(&list[RT_LIST_LOCK]);
  }
  rt_group_wait(group);
}

/* Records the elements of each chunk; returns their sum. */
static int64_t remember(RtContext *context, int32_t tree_index, int32_t number) {
  RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  int64_t count = 0;
  rt_tree_refresh(context, tree);
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++) {
      if (chunk->states[i] != RT_NODE_LIVE) continue;
      RtNodeInfo *info = node_in_chunk(manager, chunk, i).info;
      count += info->coordinates[manager->axis_count] = dynamic_cells(tree, manager, info);
    }
  return count;
}

int64_t rt_dynamic_count(RtContext *context, int32_t tree, int32_t manager) {
  return remember(context, tree, manager);
}

void rt_dynamic_remember(RtContext *context, int32_t tree, int32_t manager) {
  remember(context, tree, manager);
}
