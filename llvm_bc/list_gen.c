/* list_gen.c - the list of a manager's active nodes, made anew when its version moved, from the state bytes of its
 * chunks alone: the price is that of the nodes there are or were, however large the root is. Eight states are looked
 * at at once, so that a level most of whose nodes are gone costs little.
 * Order: by node number, which is the order of allocation. Size: 16 bytes per node. */
#include "atomic.h"
#include "node.h"

enum { LEAST_CAPACITY = 64 };

_Static_assert(RT_NODE_LIVE == 1 && RT_NODE_USED == 2, "bit 0 of a state byte says LIVE");

/* Room for every live node; the old list stays where there is none. */
static int reserve(RtContext *context, const RtTree *tree, RtManager *manager) {
  uint64_t capacity = manager->list_capacity ? manager->list_capacity : LEAST_CAPACITY;
  while (capacity < manager->live_count) capacity *= 2;
  if (capacity == manager->list_capacity) return 1;
  uint64_t old_bytes = manager->list_capacity * sizeof(RtListEntry), new_bytes = capacity * sizeof(RtListEntry);
  RtListEntry *list = context->grow(context, manager->list, old_bytes, new_bytes);
  if (!list) {
    rt_error_set(context, RT_ERROR_MEMORY, tree->number, (int32_t)(manager - tree->managers));
    return 0;
  }
  manager->list = list;
  manager->list_capacity = capacity;
  return 1;
}

static RtListEntry entry_of(const RtTree *tree, const RtManager *manager, const RtChunk *chunk, uint32_t index) {
  RtNode node = node_in_chunk(manager, chunk, index);
  return (RtListEntry){node_handle(tree, node.memory), chunk->first_number + index, node.info->coordinates};
}

static uint64_t live_bits(const uint8_t *states) {
  uint64_t word;
  __builtin_memcpy(&word, states, sizeof word);
  return word & 0x0101010101010101u;
}

/* Appends the live nodes of a chunk; returns the list's new end. */
static RtListEntry *list_chunk(const RtTree *tree, const RtManager *manager, const RtChunk *chunk, RtListEntry *end) {
  uint32_t index = 0;
  for (; index + 8 <= chunk->handed; index += 8)
    for (uint64_t bits = live_bits(chunk->states + index); bits; bits &= bits - 1)
      *end++ = entry_of(tree, manager, chunk, index + (uint32_t)__builtin_ctzll(bits) / 8);
  for (; index < chunk->handed; index++)
    if (chunk->states[index] == RT_NODE_LIVE) *end++ = entry_of(tree, manager, chunk, index);
  return end;
}

int rt_list_update(RtContext *context, RtTree *tree, int32_t number) {
  RtManager *manager = &tree->managers[number];
  rt_tree_settle(tree, context->worker_count);
  if (manager->list_version == manager->version) return 1;
  if (!reserve(context, tree, manager)) return 0;
  RtListEntry *end = manager->list;
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    end = list_chunk(tree, manager, chunk, end);
  manager->list_count = (uint64_t)(end - manager->list);
  manager->list_version = manager->version;
  manager->lists++;
  return 1;
}

int64_t rt_list_count(RtContext *context, int32_t tree, int32_t manager) {
  rt_tree_settle(context->trees[tree], context->worker_count);
  return rt_manager_live(context->trees[tree], manager);
}
