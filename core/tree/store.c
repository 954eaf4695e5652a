/* store.c - see store.h. */
#include "tree/store.h"

#include "tree/tree.h"

static uint64_t mix(uint64_t *state) { /* splitmix64: seeds for each worker's own generator */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool create_workers(Store *store, uint64_t seed, Error *err) {
  int32_t count = store->device->worker_count;
  store->workers = heap_alloc(store->heap, sizeof *store->workers * (size_t)count);
  if (!store->workers) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for %d workers", count);
  for (int32_t k = 0; k < count; k++) {
    store->workers[k].index = k;
    for (int r = 0; r < 4; r++) store->workers[k].random[r] = mix(&seed);
  }
  return true;
}

bool store_init(Store *store, Owner *owner, Device *device, const StoreOptions *options, Error *err) {
  store->owner = owner;
  store->heap = &owner->heap;
  store->device = device;
  store->budget.limit = options->memory_bytes;
  store->tiny_chunks = options->tiny_chunks;
  scratch_init(&store->text, store->heap);
  return create_workers(store, options->seed, err) && arena_reserve_zeros(&store->ambient, 1, err);
}

void store_deinit(Store *store) {
  if (!store->heap) return; /* never began */
  for (Tree *tree = store->trees; tree; tree = tree->next) storage_free(tree);
  arena_release(&store->ambient);
  heap_free(store->heap, store->workers);
  store->workers = NULL;
  store->device = NULL;
  scratch_deinit(&store->text);
}

Scratch *store_text(Store *store) {
  scratch_deinit(&store->text);
  return &store->text;
}

void store_collect(Tree *tree) {
  Store *store = tree->store;
  if (!store->gc_is_stopped && rt_tree_collect(storage_context(tree), &tree->rt)) store->stats.gcs++;
}

void store_collect_all(Store *store, bool trims) {
  for (Tree *tree = store->trees; tree; tree = tree->next) {
    if (!tree->has_storage) continue;
    if (rt_tree_collect(storage_context(tree), &tree->rt)) store->stats.gcs++;
    if (trims) storage_trim(tree);
  }
}

void store_relieve(Store *store) {
  if (!store->is_short) return;
  store->is_short = false;
  if (store->gc_is_stopped) return;
  for (Tree *tree = store->trees; tree; tree = tree->next)
    if (tree->has_storage) rt_tree_compact(storage_context(tree), &tree->rt);
}

void store_count(StoreStats *stats, const Tree *tree) {
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    stats->activations += tree->rt.managers[m].activations;
    stats->deactivations += tree->rt.managers[m].deactivations;
    stats->lists += tree->rt.managers[m].lists;
  }
}

StoreStats store_stats(const Store *store) {
  StoreStats stats = store->stats;
  for (const Tree *tree = store->trees; tree; tree = tree->next) store_count(&stats, tree);
  return stats;
}
