/* private_copies.c - see private_copies.h.
 * One reserved range holds the copies of all workers but the first, which works in the tree itself:
 *
 *     | worker 1: as large as the tree's arena, sinks included | gap | worker 2 .. |
 *
 * Invariant: between launches all of it reads zero. The device says by rt.own = NULL that it could not keep that. The gap
 * keeps the same element of two copies from lying a multiple of a page apart. */
#include "tree/private_copies.h"

#include "base/bits.h"

enum { GAP = 33 * RT_GRANULE };

static uint64_t copies_of(const Tree *tree) { return (uint64_t)tree->store->device->worker_count - 1; }

static uint64_t distance(const Tree *tree) { return align_up(tree->arena.reserved, RT_SEGMENT) + GAP; }

static bool reserve(Tree *tree) {
  Error unused;
  error_clear(&unused);
  uint64_t copies = copies_of(tree), bytes = copies * distance(tree);
  if (tree->own_is_refused) return false;
  tree->own_offsets = heap_alloc(tree->store->heap, sizeof *tree->own_offsets * (size_t)(copies + 1));
  tree->own_is_refused = !tree->own_offsets || (copies && !arena_reserve(&tree->own, bytes, bytes, &unused));
  if (tree->own_is_refused) return false;
  int64_t first = tree->own.base - tree->rt.base;
  for (uint64_t w = 1; w <= copies; w++) tree->own_offsets[w] = first + (int64_t)((w - 1) * distance(tree));
  return true;
}

/* What the copies may hold is charged as the tree grows. Half of the budget is left to what must have it. */
static bool charge(Tree *tree) {
  RtBudget *budget = &tree->store->budget;
  uint64_t needed = copies_of(tree) * (tree->layout->root_size + rt_tree_bytes(&tree->rt));
  if (needed <= tree->own_charged) return true;
  uint64_t more = needed - tree->own_charged;
  if (more > budget->limit / 2 || budget->used > budget->limit / 2 - more) return false;
  budget->used += more;
  if (budget->used > budget->peak) budget->peak = budget->used;
  tree->own_charged = needed;
  return true;
}

void own_prepare(Tree *tree) {
  bool exists = tree->own_offsets && !tree->own_is_refused, was_lost = exists && !tree->rt.own;
  if ((!exists && !reserve(tree)) || !charge(tree)) {
    tree->rt.own = NULL;
    return;
  }
  if (was_lost) arena_discard(tree->own.base, tree->own.reserved);
  tree->rt.own = tree->own_offsets;
}

void own_free(Tree *tree) {
  Store *store = tree->store;
  store->budget.used -= tree->own_charged;
  heap_free(store->heap, tree->own_offsets);
  arena_release(&tree->own);
  tree->own_offsets = NULL;
  tree->own_charged = 0;
  tree->own_is_refused = false;
  tree->rt.own = NULL;
}

void own_trim(Tree *tree) {
  if (tree->own.base) arena_discard(tree->own.base, tree->own.reserved);
  tree->store->budget.used -= tree->own_charged;
  tree->own_charged = 0;
}
