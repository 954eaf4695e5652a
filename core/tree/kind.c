/* kind.c - see kind.h. One section per kind. Decision D-snode-01. */
#include "tree/kind.h"

#include "base/bits.h"

static bool fetch(Tree *tree, const void *from, uint64_t size_bytes, Error *err) {
  return device_reach(tree->store->device, &tree->rt, from, size_bytes, DEVICE_READS, err);
}

uint64_t kind_cell_number(const SNodeStep *step, const int64_t *index) {
  uint64_t number = 0;
  for (int k = 0; k < step->digit_count; k++) {
    const SNodeDigit *digit = &step->digits[k];
    int64_t at = index[digit->position];
    if (digit->weight != 1) at = floor_div(at, digit->weight);
    if (digit->above >= 0) at = floor_mod(at, digit->size);
    DEBUG_ASSERT(at >= 0 && at < digit->size, "the index has been checked against the shape");
    number = number * (uint64_t)digit->size + (uint64_t)at;
  }
  return number;
}

static bool enter_node(CellReach *reach, uint8_t *node) {
  reach->node = node;
  reach->cell = (Cell){.base = node};
  return node != NULL;
}

/* -- root, dense: every cell exists ---------------------------------------------------------- */

static bool dense_take(RtContext *context, const SNodeStep *step, const int64_t *index,
                       CellAction way, CellReach *reach) {
  reach->cell.number = kind_cell_number(step, index);
  return true;
}

static bool dense_next_run(const SNodeStep *step, const uint8_t *container, uint64_t *first,
                           uint64_t *end) {
  *first = *end;
  *end = step->cell_count;
  return *first < *end;
}

/* -- pointer: a slot per cell ------------------------------------------------------------------ */

static uint8_t *take_slot(RtContext *context, const SNodeStep *step, uint32_t *slot,
                          CellAction way) {
  if (way == CELL_ENSURE) return rt_slot_ensure(context, context->workers, 0, step->manager, slot);
  if (!rt_slot_live(slot)) return NULL;
  if (way == CELL_CLEAR) rt_slot_clear(context, context->workers, 0, step->manager, slot);
  return way == CELL_CLEAR ? NULL : rt_slot_find(context, 0, slot);
}

static bool pointer_take(RtContext *context, const SNodeStep *step, const int64_t *index,
                         CellAction way, CellReach *reach) {
  uint32_t *slot = (uint32_t *)(void *)reach->cell.base + kind_cell_number(step, index);
  return enter_node(reach, take_slot(context, step, slot, way));
}

static bool pointer_fetch(Tree *tree, const SNodeStep *step, const int64_t *index,
                          const uint8_t *container, Error *err) {
  const uint32_t *slots = (const uint32_t *)(const void *)container;
  return fetch(tree, slots + kind_cell_number(step, index), sizeof *slots, err);
}

static int64_t nodes_count(RtContext *context, const SNode *level) {
  return rt_manager_live(context->trees[0], level->manager);
}

static void nodes_clear(RtContext *context, const SNode *level) {
  rt_tree_clear(context, 0, level->manager);
}

/* -- bitmasked: a bit per cell ----------------------------------------------------------------- */

static uint64_t *words_of(const SNodeStep *step, const uint8_t *container) {
  return (uint64_t *)(void *)(container + step->mask_offset);
}

static bool bitmasked_take(RtContext *context, const SNodeStep *step, const int64_t *index,
                           CellAction way, CellReach *reach) {
  uint64_t *words = words_of(step, reach->cell.base),
           cell = reach->cell.number = kind_cell_number(step, index);
  if (way == CELL_CLEAR) rt_mask_clear(context, context->workers, 0, step->mask, words, cell);
  if (way == CELL_ENSURE) rt_mask_set(context, words, cell);
  return way == CELL_ENSURE || rt_mask_active(words, cell);
}

static bool bitmasked_fetch(Tree *tree, const SNodeStep *step, const int64_t *index,
                            const uint8_t *container, Error *err) {
  const uint64_t *word = words_of(step, container) + kind_cell_number(step, index) / 64;
  return fetch(tree, word, sizeof *word, err);
}

static bool bitmasked_next_run(const SNodeStep *step, const uint8_t *container, uint64_t *first,
                               uint64_t *end) {
  const uint64_t *words = words_of(step, container);
  for (*first = *end; *first < step->cell_count && !rt_mask_active(words, *first);) ++*first;
  for (*end = *first; *end < step->cell_count && rt_mask_active(words, *end);) ++*end;
  return *first < *end;
}

static int64_t bitmasked_count(RtContext *context, const SNode *level) {
  return rt_mask_count(context, 0, level->mask);
}

static void bitmasked_clear(RtContext *context, const SNode *level) {
  rt_mask_clear_all(context, 0, level->mask);
}

/* -- dynamic: this step finds the chunk; a dense step then finds the element ------------------- */

static bool dynamic_take(RtContext *context, const SNodeStep *step, const int64_t *index,
                         CellAction way, CellReach *reach) {
  uint32_t *list = (uint32_t *)(void *)reach->cell.base;
  int64_t element = index[step->digits[0].position];
  DEBUG_ASSERT(step->digit_count == 1 && element >= 0, "a list has one axis, from 0 on");
  if (way == CELL_ENSURE)
    return enter_node(reach, rt_dynamic_ensure(context, context->workers, 0, step->manager, list,
                                               (int32_t)step->node->chunk, (int32_t)element, 0));
  if (element >= list[RT_LIST_LENGTH]) return enter_node(reach, NULL);
  return enter_node(reach,
                    rt_slot_find(context, 0, list + RT_LIST_SLOTS + kind_cell_number(step, index)));
}

static bool dynamic_fetch(Tree *tree, const SNodeStep *step, const int64_t *index,
                          const uint8_t *container, Error *err) {
  const uint32_t *list = (const uint32_t *)(const void *)container;
  return fetch(tree, list, RT_LIST_SLOTS * sizeof *list, err) &&
         fetch(tree, list + RT_LIST_SLOTS + kind_cell_number(step, index), sizeof *list, err);
}

static int64_t dynamic_cells(RtContext *context, int manager, const uint8_t *node) {
  return rt_dynamic_cells(context, 0, manager, node);
}

static int64_t dynamic_count(RtContext *context, const SNode *level) {
  return rt_dynamic_count(context, 0, level->manager);
}

/* -- hash: a table maps the coordinates and the parent node to the cell's node ------------ */

void kind_hash_key(const SNodeStep *step, const int64_t *index, int64_t key[SNODE_MAX_AXES]) {
  DEBUG_ASSERT(snode_kind_has(step->kind, SNODE_KEYED), "only tables have keys");
  for (int k = 0; k < step->digit_count; k++)
    key[k] = floor_div(index[step->digits[k].position], step->digits[k].weight);
}

static bool hash_take(RtContext *context, const SNodeStep *step, const int64_t *index,
                      CellAction way, CellReach *reach) {
  int64_t key[SNODE_MAX_AXES];
  kind_hash_key(step, index, key);
  if (way == CELL_ENSURE)
    return enter_node(
        reach, rt_hash_ensure(context, context->workers, 0, step->manager, reach->node, key));
  if (way == CELL_CLEAR)
    rt_hash_clear(context, context->workers, 0, step->manager, reach->node, key);
  uint8_t *node = rt_hash_find(context, 0, step->manager, reach->node, key);
  return enter_node(reach, node == context->ambient ? NULL : node);
}

/* Fetches the hash table, and the nodes' infos if keys may have to be compared. */
static bool hash_fetch(Tree *tree, const SNodeStep *step, const int64_t *index,
                       const uint8_t *container, Error *err) {
  RtTree *rt = &tree->rt;
  const RtManager *manager = &rt->managers[step->manager];
  if (!device_reach(tree->store->device, rt, NULL, 0, DEVICE_TABLES, err)) return false;
  uint64_t current = manager->table.current, log2 = current % RT_GRANULE;
  bool ok = !current || fetch(tree, rt->base + (current - log2), sizeof(uint64_t) << log2, err);
  for (uint32_t c = manager->first_chunk; ok && c; c = rt->chunks[c - 1].next) {
    const RtChunk *chunk = &rt->chunks[c - 1];
    ok = fetch(tree, chunk->infos, manager->info_stride * chunk->node_count, err);
  }
  return ok;
}

/* -- the table --------------------------------------------------------------------------------- */

const CellKind cell_kinds[SNODE_KIND_COUNT] = {
    [SNODE_ROOT] = {.take = dense_take, .next_run = dense_next_run},
    [SNODE_DENSE] = {.take = dense_take, .next_run = dense_next_run},
    [SNODE_POINTER] = {.take = pointer_take,
                       .fetch = pointer_fetch,
                       .count = nodes_count,
                       .has_count = true,
                       .clear = nodes_clear,
                       .visit = RT_VISIT_SLOTS},
    [SNODE_BITMASKED] = {.take = bitmasked_take,
                         .fetch = bitmasked_fetch,
                         .next_run = bitmasked_next_run,
                         .count = bitmasked_count,
                         .clear = bitmasked_clear,
                         .visit = RT_VISIT_BITS},
    [SNODE_DYNAMIC] = {.take = dynamic_take,
                       .fetch = dynamic_fetch,
                       .cells_in_node = dynamic_cells,
                       .count = dynamic_count,
                       .clear = nodes_clear,
                       .visit = RT_VISIT_CHUNKS},
    [SNODE_HASH] = {.take = hash_take,
                    .fetch = hash_fetch,
                    .count = nodes_count,
                    .has_count = true,
                    .clear = nodes_clear,
                    .visit = RT_VISIT_HASH},
};
