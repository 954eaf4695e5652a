/* node_hash.c - the `hash` SNode: cells at any coordinates, also negative, created when written.
 * It occupies no memory in the parent. A table (hash_table.c) maps the parent node and the
 * coordinates to the cell's node. Readers take no lock. A table that is replaced meanwhile stays
 * unchanged, so a reader may miss others' activations and see cells that they deactivated, as with
 * slots; it finds its own thread's changes, which were made in the newest table. */
#include "hash.h"

uint8_t *rt_hash_find(RtContext *context, int32_t tree_index, int32_t manager_number,
                      const uint8_t *parent, const int64_t *coordinates) {
  const RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[manager_number];
  RtKey key;
  uint32_t handle =
      hash_key(tree, manager, parent, coordinates, &key) ? hash_find(tree, manager, &key) : 0;
  return handle ? node_address(tree, handle) : context->ambient;
}

uint8_t *rt_hash_ahead(RtContext *context, int32_t tree, int32_t manager, const uint8_t *parent,
                       const int64_t *coordinates) {
  return rt_hash_find(context, tree, manager, parent, coordinates);
}

uint8_t *rt_hash_ensure(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                        const uint8_t *parent, const int64_t *coordinates) {
  uint8_t *node = rt_hash_find(context, tree, manager, parent, coordinates);
  if (__builtin_expect(node != context->ambient, 1)) return node;
  return rt_hash_activate(context, worker, tree, manager, parent, coordinates);
}

void rt_hash_fetch(RtContext *context, int32_t tree_index, int32_t number, const uint8_t *parent,
                   const int64_t *coordinates) {
  const RtTree *tree = context->trees[tree_index];
  const RtManager *manager = &tree->managers[number];
  uint64_t table = rt_load_acquire_long(&manager->table.current);
  if (table) table_fetch(tree, table, hash_exact_tag(manager, coordinates, 1));
  (void)parent;
}

int32_t rt_hash_live(RtContext *context, int32_t tree, int32_t manager, const uint8_t *parent,
                     const int64_t *coordinates) {
  return rt_hash_find(context, tree, manager, parent, coordinates) != context->ambient;
}
