/* mask.c - deactivates, counts and snapshots cells of bitmasked SNodes: a loop visits the cells
 * that were active when it began, so one that may change its own masks reads a copy of the words.
 *
 * clear one    the bit (one thread wins), then the cell's contents: mask words, an outer level's
 * first, then slots and lists, then plain memory to zero; cells of hashes clear all    frees every
 * node below through the side tables, then zeroes whole containers
 *
 * So each bit is cleared before the memory that it guards, and a concurrent write sets its bits
 * in the opposite order, innermost first, after its store (node_bitmasked.c): an inactive cell
 * has no bit that is set, and all its memory is zero. A slot is never zeroed as plain memory:
 * another iteration may be activating it, and its node would leak. The offsets follow from the
 * declaration: RtRun (rt.h). */
#include "atomic.h"
#include "node.h"

typedef void RunVisit(void *data, uint8_t *place);

static uint64_t count_places(const RtRun *run) {
  uint64_t places = 1;
  for (int32_t k = 0; k < run->depth; k++) places *= run->counts[k];
  return places;
}

/* The address of place `number`, below count_places, in a run below `start` for cell `cell`. */
static uint8_t *place_at(const RtRun *run, uint8_t *start, uint64_t cell, uint64_t number) {
  uint8_t *place = start + run->offset + cell * run->stride;
  for (int32_t k = run->depth - 1; k >= 0; k--) {
    place += number % run->counts[k] * run->steps[k];
    number /= run->counts[k];
  }
  return place;
}

static void visit_run(const RtRun *run, uint8_t *start, uint64_t cell, RunVisit *visit,
                      void *data) {
  uint64_t places = count_places(run);
  for (uint64_t number = 0; number < places; number++)
    visit(data, place_at(run, start, cell, number));
}

/* -- one cell ---------------------------------------------------------------------------------- */

typedef struct Clearing {
  RtContext *context;
  RtWorker *worker;
  int32_t tree;
  const RtRun *run;
} Clearing;

/* Most runs are one number of a cell: a single store. */
static void zero_plain(uint8_t *place, uint64_t size) {
  if (!RT_SHARED && size == 4) __builtin_memset(place, 0, 4);
  else if (!RT_SHARED && size == 8) __builtin_memset(place, 0, 8);
  else rt_memory_zero(place, size);
}

static void clear_place(void *data, uint8_t *place) {
  const Clearing *c = data;
  if (c->run->is_words) {
    for (uint64_t w = 0; w < c->run->size / sizeof(uint64_t); w++)
      rt_zero_long((uint64_t *)place + w);
    return;
  }
  if (c->run->manager < 0) {
    zero_plain(place, c->run->size);
    return;
  }
  uint32_t *slots = (uint32_t *)place;
  if (c->run->list_capacity) {
    rt_dynamic_clear(c->context, c->worker, c->tree, c->run->manager, slots, c->run->list_capacity,
                     1, 0);
    return;
  }
  for (uint64_t s = 0; s < c->run->size / sizeof *slots; s++)
    rt_slot_clear(c->context, c->worker, c->tree, c->run->manager, &slots[s]);
}

/* A single worker needs no atomic access: see rt_mask_set. */
static int take_bit(const RtContext *context, uint64_t *word, uint64_t bit) {
  if (!rt_is_alone(context)) return rt_clear_bit(word, bit);
  uint64_t bits = rt_load_long(word);
  if (bits & bit) rt_store_long(word, bits & ~bit);
  return (bits & bit) != 0;
}

static int is_one_number(const RtRun *run) {
  return run->manager < 0 && !run->is_words && !run->depth;
}

/* In the order of the table. */
void rt_mask_clear(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                   uint64_t *words, uint64_t cell) {
  const RtMask *mask = &context->trees[tree]->masks[number];
  if (!take_bit(context, words + cell / 64, (uint64_t)1 << cell % 64)) return;
  uint8_t *container = (uint8_t *)words - mask->mask_offset;
  for (int32_t r = 0; r < mask->run_count; r++) {
    const RtRun *run = &mask->runs[r];
    Clearing clearing = {context, worker, tree, run};
    if (is_one_number(run)) zero_plain(container + run->offset + cell * run->stride, run->size);
    else visit_run(run, container, cell, clear_place, &clearing);
  }
  for (int32_t h = 0; h < mask->hash_count; h++)
    rt_hash_clear_in_cell(context->trees[tree], worker, &mask->hashes[h], container, cell);
}

/* -- all containers ---------------------------------------------------------------------------- */

static void visit_containers(const RtTree *tree, const RtMask *mask, RunVisit *visit, void *data) {
  if (mask->holder < 0) {
    visit_run(&mask->containers, tree->root, 0, visit, data);
    return;
  }
  const RtManager *manager = &tree->managers[mask->holder];
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t n = 0; n < chunk->handed; n++)
      if (chunk->states[n] == RT_NODE_LIVE)
        visit_run(&mask->containers, node_in_chunk(manager, chunk, n).memory, 0, visit, data);
}

typedef struct Count {
  const RtMask *mask;
  int64_t cells;
} Count;

static void count_container(void *data, uint8_t *container) {
  Count *count = data;
  const uint64_t *words = (const uint64_t *)(container + count->mask->mask_offset);
  for (uint64_t w = 0; w < (count->mask->cell_count + 63) / 64; w++)
    count->cells += __builtin_popcountll(words[w]);
}

int64_t rt_mask_count(RtContext *context, int32_t tree_index, int32_t number) {
  const RtTree *tree = context->trees[tree_index];
  Count count = {.mask = &tree->masks[number]};
  visit_containers(tree, count.mask, count_container, &count);
  return count.cells;
}

static void zero_container(void *data, uint8_t *container) {
  const RtMask *mask = data;
  rt_memory_zero(container, mask->containers.size);
}

void rt_mask_clear_all(RtContext *context, int32_t tree_index, int32_t number) {
  RtTree *tree = context->trees[tree_index];
  RtMask *mask = &tree->masks[number];
  rt_tree_refresh(context, tree);
  for (int32_t r = 0; r < mask->run_count; r++)
    if (mask->runs[r].manager >= 0) rt_tree_clear(context, tree_index, mask->runs[r].manager);
  for (int32_t h = 0; h < mask->hash_count; h++)
    rt_tree_clear(context, tree_index, mask->hashes[h].manager);
  visit_containers(tree, mask, zero_container, mask);
}

#if RT_ALONE
/* Zeroes word `number` of the containers below `start`. Consecutive threads zero consecutive
 * words. */
static void zero_piece(const RtMask *mask, uint8_t *start, uint64_t number) {
  const RtRun *containers = &mask->containers;
  uint64_t pieces = (containers->size + sizeof(uint64_t) - 1) / sizeof(uint64_t),
           from = number % pieces * sizeof(uint64_t), left = containers->size - from;
  rt_memory_zero(place_at(containers, start, 0, number / pieces) + from,
                 left < sizeof(uint64_t) ? left : sizeof(uint64_t));
}

void rt_mask_zero(RtTree *tree, int32_t number, uint64_t thread, uint64_t threads) {
  const RtMask *mask = &tree->masks[number];
  uint64_t pieces = count_places(&mask->containers) *
                    ((mask->containers.size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  if (mask->holder < 0) {
    for (uint64_t k = thread; k < pieces; k += threads) zero_piece(mask, tree->root, k);
    return;
  }
  const RtManager *manager = &tree->managers[mask->holder];
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint64_t k = thread; k < chunk->handed * pieces; k += threads)
      if (chunk->states[k / pieces] == RT_NODE_LIVE)
        zero_piece(mask, chunk->nodes + k / pieces * manager->node_size, k % pieces);
}
#endif

/* -- snapshots --------------------------------------------------------------------------------- */

static uint64_t words_of(const RtMask *mask) { return (mask->cell_count + 63) / 64; }

static uint64_t containers_in_node(const RtMask *mask) {
  uint64_t count = 1;
  for (int32_t k = 0; k < mask->containers.depth; k++) count *= mask->containers.counts[k];
  return count;
}

/* The number of the container at this byte offset in its node, or in the root's container. A run
 * lists its inner loops before the outer ones. */
static uint64_t number_in_node(const RtMask *mask, uint64_t bytes) {
  uint64_t number = 0, rest = bytes - mask->containers.offset;
  for (int32_t k = mask->containers.depth - 1; k >= 0; k--) {
    number = number * mask->containers.counts[k] + rest / mask->containers.steps[k];
    rest %= mask->containers.steps[k];
  }
  return number;
}

/* The index into `was` of a container's saved words. */
static uint64_t place_in_was(const RtTree *tree, const RtMask *mask, const uint8_t *container) {
  uint64_t number;
  if (mask->holder < 0) {
    number = number_in_node(mask, (uint64_t)(container - tree->root));
  } else {
    const RtManager *manager = &tree->managers[mask->holder];
    const RtChunk *chunk = node_chunk(tree, container);
    uint64_t bytes = (uint64_t)(container - chunk->nodes), index = bytes / manager->node_size;
    number = (chunk->first_number + index) * containers_in_node(mask) +
             number_in_node(mask, bytes % manager->node_size);
  }
  return number * words_of(mask);
}

typedef struct Remembering {
  const RtTree *tree;
  RtMask *mask;
} Remembering;

static void remember_container(void *data, uint8_t *container) {
  const Remembering *r = data;
  const uint64_t *words = (const uint64_t *)(container + r->mask->mask_offset);
  uint64_t *was = r->mask->was + place_in_was(r->tree, r->mask, container);
  for (uint64_t w = 0; w < words_of(r->mask); w++) was[w] = words[w];
}

/* If the host refuses memory, nothing is saved, so the loop visits nothing and the launch fails. */
void rt_mask_remember(RtContext *context, int32_t tree_index, int32_t number) {
  RtTree *tree = context->trees[tree_index];
  RtMask *mask = &tree->masks[number];
  uint64_t nodes = mask->holder < 0 ? 1 : tree->managers[mask->holder].node_count;
  uint64_t count = nodes * containers_in_node(mask) * words_of(mask);
  mask->was_count = 0;
  if (count > mask->was_capacity) {
    uint64_t *was =
        table_grow(context, mask->was, mask->was_capacity * sizeof *was, count * sizeof *was);
    if (!was) {
      rt_error_set(context, RT_ERROR_MEMORY, tree->number, mask->holder);
      return;
    }
    mask->was = was;
    mask->was_capacity = count;
  }
  mask->was_count = count;
  Remembering remembering = {tree, mask};
  visit_containers(tree, mask, remember_container, &remembering);
}

uint64_t rt_mask_was(RtContext *context, int32_t tree_index, int32_t number, const uint64_t *words,
                     uint64_t first, uint64_t count) {
  const RtTree *tree = context->trees[tree_index];
  const RtMask *mask = &tree->masks[number];
  uint64_t place = place_in_was(tree, mask, (const uint8_t *)words - mask->mask_offset);
  return place + words_of(mask) <= mask->was_count ? rt_mask_bits(mask->was + place, first, count)
                                                   : 0;
}
