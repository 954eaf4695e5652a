/* segments.c - allocates a tree's arena by segments: to chunks of nodes, and to tables.
 *
 *     | root .. | chunk | vacant | table | chunk ..       | never used ..
 *     0       bottom                                     top       reserved
 *
 * The segment map (RtTree.segment_owner) has the owner of each segment, so it also shows the vacant
 * ones: 0 between bottom and top. A vacant run is searched first; if there is none, top is raised.
 * All of this is under one lock of the tree: a manager allocates once per chunk, and chunks grow.
 * The budget is shared by all trees of a runtime: charged first, released last. */
#include "atomic.h"
#include "node.h"

/* -- budget ------------------------------------------------------------------------------------ */

/* Does the limit allow that many bytes in total, possibly after asking the host for more? */
static int is_allowed(RtBudget *budget, uint64_t bytes) {
  uint64_t limit = rt_load_long(&budget->limit);
  if (bytes <= limit) return 1;
  if (RT_ALONE || !budget->ask) return 0;
  uint64_t allowed = budget->ask(budget->ask_data, bytes);
  while (allowed > limit && !rt_swap_long(&budget->limit, limit, allowed))
    limit = rt_load_long(&budget->limit);
  return bytes <= rt_load_long(&budget->limit);
}

int rt_budget_take(RtBudget *budget, uint64_t bytes) {
  uint64_t used;
  do {
    used = rt_load_long(&budget->used);
    if (used + bytes < used || !is_allowed(budget, used + bytes)) return 0;
  } while (!rt_swap_long(&budget->used, used, used + bytes));
  uint64_t peak;
  do peak = rt_load_long(&budget->peak);
  while (peak < used + bytes && !rt_swap_long(&budget->peak, peak, used + bytes));
  return 1;
}

/* -- the map ----------------------------------------------------------------------------------- */

static void own(RtTree *tree, uint64_t start, uint64_t bytes, uint32_t owner) {
  for (uint64_t s = start / RT_SEGMENT; s < (start + bytes) / RT_SEGMENT; s++)
    tree->segment_owner[s] = owner;
}

/* The first vacant run of that length, in bytes from base; 0: none. */
static uint64_t find_vacant(const RtTree *tree, uint64_t bytes) {
  if (tree->vacant < bytes) return 0;
  uint64_t end = tree->top / RT_SEGMENT, wanted = bytes / RT_SEGMENT, run = 0;
  for (uint64_t s = tree->bottom / RT_SEGMENT; s < end; s++) {
    run = tree->segment_owner[s] ? 0 : run + 1;
    if (run == wanted) return (s + 1 - wanted) * RT_SEGMENT;
  }
  return 0;
}

/* Under the lock; 0: the arena is full. */
static uint64_t take_run(RtTree *tree, uint64_t bytes) {
  uint64_t start = find_vacant(tree, bytes);
  if (start) {
    tree->vacant -= bytes;
  } else {
    start = tree->top;
    if (start > tree->reserved || bytes > tree->reserved - start) return 0;
    tree->top += bytes;
  }
  own(tree, start, bytes, (uint32_t)RT_NO_CHUNK);
  return start;
}

uint8_t *rt_segments_take(RtTree *tree, uint64_t bytes) {
  if (!rt_budget_take(tree->budget, bytes)) return 0;
  rt_lock(&tree->lock);
  uint64_t start = take_run(tree, bytes);
  rt_unlock(&tree->lock);
  if (start) return tree->base + start;
  rt_subtract_long(&tree->budget->used, bytes);
  return 0;
}

void rt_segments_give(RtTree *tree, uint8_t *memory, uint64_t bytes) {
  rt_lock(&tree->lock);
  own(tree, (uint64_t)(memory - tree->base), bytes, 0);
  tree->vacant += bytes;
  rt_unlock(&tree->lock);
  rt_subtract_long(&tree->budget->used, bytes);
}

/* -- records ----------------------------------------------------------------------------------- */

/* Entered in the map before any node of the chunk is published, so that an address in it can be
 * looked up. A chunk is at least one segment, so the table of records cannot be full. */
uint32_t rt_record_take(RtTree *tree, uint8_t *memory, uint64_t bytes) {
  rt_lock(&tree->lock);
  uint32_t record = tree->free_record;
  if (record) tree->free_record = tree->chunks[record - 1].next;
  else record = ++tree->chunk_count;
  own(tree, (uint64_t)(memory - tree->base), bytes, record);
  rt_unlock(&tree->lock);
  tree->chunks[record - 1] = (RtChunk){.segments = (uint32_t)(bytes / RT_SEGMENT)};
  return record;
}

void rt_record_give(RtTree *tree, uint32_t record) {
  rt_lock(&tree->lock);
  tree->chunks[record - 1] = (RtChunk){.manager = -1, .next = tree->free_record};
  tree->free_record = record;
  rt_unlock(&tree->lock);
}
