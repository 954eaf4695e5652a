/* arrange.c - gives a tree's nodes a saved arrangement.
 *
 *     begin    makes chunks of the saved sizes; worker 0's free list gets the active nodes, sorted
 *              by coordinates, so that ordinary activations put each node in its place. All other
 *              nodes wait on the shared list
 *     end      restores the free lists, the list, and the records of changes since
 *
 * The file is not trusted: every number is checked before a tree is touched. */
#include "snapshot/arrangement.h"

typedef struct ArrangedState {
  const ArrangedManager *from;
  Tree *tree;
  RtManager *manager;
} ArrangedState;

typedef struct NodeRecord {
  uint32_t handle;
  RtNodeInfo *info;
  uint8_t *state;
  uint32_t *position, *touched;
} NodeRecord;

static NodeRecord record_of(const ArrangedState *a, uint32_t number) {
  RtTree *tree = &a->tree->rt;
  RtChunk *chunk = &tree->chunks[a->manager->first_chunk - 1];
  while (number - chunk->first_number >= chunk->node_count) chunk = &tree->chunks[chunk->next - 1];
  uint32_t index = number - chunk->first_number;
  uint64_t at = (uint64_t)(chunk->nodes - tree->base) + index * a->manager->node_size;
  return (NodeRecord){(uint32_t)(at / RT_GRANULE),
                      (RtNodeInfo *)(void *)(chunk->infos + index * a->manager->info_stride),
                      chunk->states + index, chunk->positions + index, chunk->touched + index};
}

/* -- validation -------------------------------------------------------------------------------- */

enum { IS_HANDED_OUT = 1, IS_TAKEN = 2, IS_LISTED = 4, IS_TOUCHED = 8, IS_LIVE = 16 };

/* Checks that each number is a node that was handed out, and in no other set. */
static bool mark(uint8_t *marks, uint32_t total, Words numbers, uint8_t as) {
  for (uint32_t k = 0; k < numbers.count; k++) {
    uint32_t number = numbers.at[k];
    if (number >= total || !(marks[number] & IS_HANDED_OUT) || marks[number] & as) return false;
    marks[number] |= as;
  }
  return true;
}

/* Checks that every node that was handed out is active or free, and that the list has the active
 * ones, except for recorded changes. */
static bool is_consistent(const ArrangedManager *from, uint8_t mark) {
  if (!mark) return true;
  bool is_live = mark & IS_LIVE, is_listed = mark & IS_LISTED, is_touched = mark & IS_TOUCHED;
  if (!(mark & IS_TAKEN)) return false;
  if (!(from->head.flags & ARRANGED_HAS_LIST)) return true;
  if (from->head.flags & ARRANGED_IS_CURRENT) return is_listed == is_live;
  return is_touched || is_listed == is_live;
}

static bool mark_all(const ArrangedManager *from, uint8_t *marks, uint32_t total) {
  bool ok = mark(marks, total, from->live, IS_TAKEN);
  for (uint32_t k = 0; ok && k < from->live.count; k++) marks[from->live.at[k]] |= IS_LIVE;
  ok = ok && mark(marks, total, from->free, IS_TAKEN) &&
       mark(marks, total, from->recycled, IS_TAKEN) && mark(marks, total, from->list, IS_LISTED);
  for (uint32_t w = 0; ok && w < from->head.workers; w++)
    ok = mark(marks, total, from->own_free[w], IS_TAKEN) &&
         mark(marks, total, from->touched[w], IS_TOUCHED);
  for (uint32_t k = 0; ok && k < total; k++) ok = is_consistent(from, marks[k]);
  return ok;
}

static const ArrangedChunk *chunks_of(const ArrangedManager *from, uint32_t *count) {
  *count = from->chunks.count / 3;
  return (const ArrangedChunk *)(const void *)from->chunks.at;
}

static bool is_valid(const ArrangedState *a) {
  uint32_t count, total = 0;
  const ArrangedChunk *chunks = chunks_of(a->from, &count);
  if (a->from->head.node_granules * (uint64_t)RT_GRANULE != a->manager->node_size) return false;
  for (uint32_t k = 0; k < count; k++)
    if (chunks[k].handed_out > chunks[k].node_count ||
        __builtin_add_overflow(total, chunks[k].node_count, &total))
      return false;
  if (total > a->tree->rt.reserved / RT_GRANULE) return false;
  Heap *heap = a->tree->store->heap;
  uint8_t *marks = heap_alloc(heap, total), *at = marks;
  if (!marks) return false;
  for (uint32_t k = 0; k < count; at += chunks[k++].node_count)
    memset(at, IS_HANDED_OUT, chunks[k].handed_out);
  bool ok = mark_all(a->from, marks, total);
  heap_free(heap, marks);
  return ok;
}

/* -- begin ------------------------------------------------------------------------------------- */

static bool make_chunks(const ArrangedState *a, int32_t number) {
  uint32_t count;
  const ArrangedChunk *chunks = chunks_of(a->from, &count);
  for (uint32_t k = 0; k < count; k++) {
    if (!rt_chunk_make(&a->tree->rt, number, chunks[k].segments)) return false;
    RtChunk *chunk = &a->tree->rt.chunks[a->manager->last_chunk - 1];
    if (chunk->node_count != chunks[k].node_count) return false;
    chunk->handed = chunks[k].handed_out;
  }
  return true;
}

static void find_open_chunk(const ArrangedState *a) {
  const RtChunk *chunks = a->tree->rt.chunks;
  uint32_t at = a->manager->first_chunk;
  while (at && chunks[at - 1].handed == chunks[at - 1].node_count && chunks[at - 1].next)
    at = chunks[at - 1].next;
  a->manager->open_chunk = at;
}

/* Prepends the nodes to the list; returns the last of them, or 0 if there are none. */
static uint32_t prepend_nodes(const ArrangedState *a, Words numbers, uint32_t *first) {
  uint32_t last = 0, rest_of_list = *first;
  for (uint32_t k = 0; k < numbers.count; k++) {
    NodeRecord record = record_of(a, numbers.at[k]);
    *first = last = record.handle;
    first = &record.info->next;
  }
  *first = rest_of_list;
  return last;
}

static ArrangedState state_of(const Arrangement *arrangement, Tree *tree, int32_t number) {
  return (ArrangedState){&arrangement->managers[number], tree, &tree->rt.managers[number]};
}

bool arrangement_begin(const Arrangement *arrangement, Tree *tree) {
  bool ok = arrangement_is_known(tree) && arrangement->count == tree->rt.manager_count;
  for (int32_t m = 0; ok && m < arrangement->count; m++) {
    ArrangedState a = state_of(arrangement, tree, m);
    ok = !a.manager->first_chunk && is_valid(&a);
  }
  for (int32_t m = 0; ok && m < arrangement->count; m++) {
    ArrangedState a = state_of(arrangement, tree, m);
    ok = make_chunks(&a, m);
    if (!ok) break;
    find_open_chunk(&a);
    prepend_nodes(&a, a.from->live, &a.manager->locals[0].free);
    prepend_nodes(&a, a.from->free, &a.manager->free);
    prepend_nodes(&a, a.from->recycled, &a.manager->free);
    for (uint32_t w = 0; w < a.from->head.workers; w++)
      prepend_nodes(&a, a.from->own_free[w], &a.manager->free);
  }
  if (ok) return true;
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    RtManager *manager = &tree->rt.managers[m];
    manager->locals[0].free = manager->free = 0;
    for (uint32_t at = manager->first_chunk; at; at = tree->rt.chunks[at - 1].next)
      tree->rt.chunks[at - 1].handed = 0;
    manager->open_chunk = manager->first_chunk;
  }
  rt_tree_compact(storage_context(tree), &tree->rt);
  return false;
}

/* -- end --------------------------------------------------------------------------------------- */

static void restore_free_lists(const ArrangedState *a) {
  int32_t workers = a->tree->store->device->worker_count;
  RtManager *manager = a->manager;
  manager->free = 0;
  for (int32_t w = 0; w < workers; w++) manager->locals[w].free = 0;
  prepend_nodes(a, a->from->free, &manager->free);
  manager->recycled_last = prepend_nodes(a, a->from->recycled, &manager->recycled);
  manager->recycled_count = a->from->recycled.count;
  for (uint32_t k = 0; k < a->from->recycled.count; k++)
    *record_of(a, a->from->recycled.at[k]).state = RT_NODE_USED;
  for (uint32_t w = 0; w < a->from->head.workers; w++) {
    bool is_here = w < (uint32_t)workers; /* false if this run has fewer workers */
    prepend_nodes(a, a->from->own_free[w], is_here ? &manager->locals[w].free : &manager->free);
  }
}

static void clear_positions(const ArrangedState *a) {
  RtTree *tree = &a->tree->rt;
  for (uint32_t at = a->manager->first_chunk; at; at = tree->chunks[at - 1].next) {
    const RtChunk *chunk = &tree->chunks[at - 1];
    memset(chunk->positions, 0, sizeof(uint32_t) * chunk->node_count);
    memset(chunk->touched, 0, sizeof(uint32_t) * chunk->node_count);
  }
  for (int32_t w = 0; w < a->tree->store->device->worker_count; w++)
    a->manager->locals[w].touched = 0, a->manager->locals[w].touched_count = 0;
}

/* Restores the touched lists; the last number is the head of a worker's list. */
static void restore_touched(const ArrangedState *a) {
  uint32_t workers = (uint32_t)a->tree->store->device->worker_count;
  for (uint32_t w = 0; w < a->from->head.workers; w++) {
    RtLocal *local = &a->manager->locals[w < workers ? w : 0];
    for (uint32_t k = a->from->touched[w].count; k-- > 0;) {
      NodeRecord record = record_of(a, a->from->touched[w].at[k]);
      *record.touched = local->touched ? local->touched : RT_TOUCHED_END;
      local->touched = record.handle;
      local->touched_count++;
    }
  }
}

static bool restore_list(const ArrangedState *a) {
  RtManager *manager = a->manager;
  RtContext *context = storage_context(a->tree);
  uint64_t capacity = manager->list_capacity ? manager->list_capacity : 64;
  while (capacity < a->from->list.count) capacity *= 2;
  if (capacity > manager->list_capacity) {
    RtListEntry *larger = context->grow(
        context, manager->list, manager->list_capacity * sizeof *larger, capacity * sizeof *larger);
    if (!larger) return false;
    manager->list = larger;
    manager->list_capacity = capacity;
  }
  manager->list_count = a->from->list.count;
  for (uint32_t k = 0; k < a->from->list.count; k++) {
    NodeRecord record = record_of(a, a->from->list.at[k]);
    manager->list[k] =
        (RtListEntry){.handle = record.handle, .coordinates = record.info->coordinates};
    *record.position = k + 1;
  }
  return true;
}

bool arrangement_fits(const Arrangement *arrangement, const Tree *tree) {
  for (int32_t m = 0; m < arrangement->count; m++)
    if (rt_manager_live(&tree->rt, m) != arrangement->managers[m].live.count) return false;
  return true;
}

bool arrangement_end(const Arrangement *arrangement, Tree *tree, Error *err) {
  for (int32_t m = 0; m < arrangement->count; m++) {
    ArrangedState a = state_of(arrangement, tree, m);
    uint32_t flags = a.from->head.flags;
    restore_free_lists(&a);
    clear_positions(&a);
    a.manager->version += 2; /* newer than any list that exists */
    a.manager->list_version = 0;
    a.manager->list_count = 0;
    a.manager->list_drift = a.from->head.drift;
    if (!(flags & ARRANGED_HAS_LIST)) continue;
    restore_touched(&a);
    if (!restore_list(&a))
      return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a list of nodes");
    a.manager->list_version = a.manager->version - (flags & ARRANGED_IS_CURRENT ? 0 : 1);
  }
  return true;
}
