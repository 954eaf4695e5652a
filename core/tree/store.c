/* store.c - see store.h. */
#include "tree/store.h"

#include "tree/tree.h"

bool store_init(Store *store, Owner *owner, Device *device, const StoreOptions *options,
                Error *err) {
  store->owner = owner;
  store->heap = &owner->heap;
  store->device = device;
  store->budget.limit = options->memory_bytes;
  store->tiny_chunks = options->tiny_chunks;
  scratch_init(&store->text, store->heap);
  if (!device->table->allocate_zeros(device, &store->ambient, 1, err)) return false;
  store->zeros = device->table->map(device, &store->ambient);
  return true;
}

void store_deinit(Store *store) {
  if (!store->heap) return; /* never began */
  for (Tree *tree = store->trees; tree; tree = tree->next) storage_free(tree);
  store->device->table->free(store->device, &store->ambient);
  store->device = NULL;
  scratch_deinit(&store->text);
}

Scratch *store_text(Store *store) {
  scratch_deinit(&store->text);
  return &store->text;
}

void store_collect(Tree *tree) {
  Store *store = tree->store;
  if (!store->gc_is_stopped && rt_tree_collect(storage_context(tree), &tree->rt))
    store->stats.gcs++;
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
