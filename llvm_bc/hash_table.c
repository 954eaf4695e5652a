/* hash_table.c - the table of a hash manager: inserts, removals, and growth concurrent with
 * readers.
 *
 *     EMPTY --insert--> handle --deactivate--> TOMBSTONE       (growth and refresh drop tombstones)
 *
 * Changing a table requires its lock. An entry is published with release after its node is
 * complete. A table that is three quarters full is copied into one of twice the size, which is
 * published with release; the old one is kept unchanged, since readers may still be using it, and
 * freed by the next refresh.
 * Invariants: a table always has an empty entry, so every search ends; between an entry and its
 * home there is no empty one; outside a task, the entries of `current` that are not tombstones are
 * exactly the LIVE nodes.
 *
 * Memory: whole segments of the arena. Tables of up to half a segment share the first one, each at
 * an offset equal to its size, so they do not overlap. Sizes: 8 bytes per entry, 11 to 22 bytes per
 * cell. */
#include "hash.h"

enum { FIRST_LOG2 = 9, TINY_LOG2 = 3, SHARED_LOG2 = 12, ENTRY_BYTES = 8 };

_Static_assert((ENTRY_BYTES << SHARED_LOG2) * 2 == RT_SEGMENT,
               "the shared tables fill one segment");
_Static_assert(ENTRY_BYTES << TINY_LOG2 >= RT_GRANULE, "a table starts at a granule");

/* -- memory ------------------------------------------------------------------------------------ */

static int take_memory(RtTree *tree, RtTable *table, uint32_t log2) {
  uint64_t bytes = log2 <= SHARED_LOG2 ? RT_SEGMENT : (uint64_t)ENTRY_BYTES << log2;
  uint8_t *memory = rt_segments_take(tree, bytes);
  if (!memory) return 0;
  uint64_t start = (uint64_t)(memory - tree->base);
  table->bytes += bytes;
  if (log2 > SHARED_LOG2) table->memory[log2] = start;
  else
    for (uint32_t k = TINY_LOG2; k <= SHARED_LOG2; k++)
      table->memory[k] = start + ((uint64_t)ENTRY_BYTES << k);
  return 1;
}

/* A table of a new size, zeroed like all segments; 0: out of memory. */
static uint64_t table_make(RtTree *tree, RtTable *table, uint32_t log2) {
  if (log2 > RT_MAX_TABLE || (!table->memory[log2] && !take_memory(tree, table, log2))) return 0;
  return table->memory[log2] | log2;
}

/* -- insert and grow --------------------------------------------------------------------------- */

/* Inserts into the first empty entry from its home; the key is not in the table. */
static void insert(const RtTree *tree, uint64_t table, uint64_t entry) {
  uint64_t *entries = table_entries(tree, table), mask = ((uint64_t)1 << table_log2(table)) - 1;
  uint64_t at = table_home(table, (uint32_t)(entry >> 32));
  while (rt_load_long(&entries[at])) at = (at + 1) & mask;
  rt_store_release_long(&entries[at], entry);
}

static int is_node(uint64_t entry) { return (uint32_t)entry > RT_TOMBSTONE; }

static int grow(RtTree *tree, RtTable *table) {
  uint64_t old = table->current, entries = old ? (uint64_t)1 << table_log2(old) : 0;
  uint32_t first = tree->tiny_chunks ? TINY_LOG2 : FIRST_LOG2;
  uint64_t made = table_make(tree, table, old ? table_log2(old) + 1 : first);
  if (!made) return 0;
  for (uint64_t k = 0; k < entries; k++) {
    uint64_t entry = table_entries(tree, old)[k];
    if (is_node(entry)) insert(tree, made, entry);
  }
  table->used -= table->tombstones;
  table->tombstones = 0;
  rt_store_release_long(&table->current, made);
  return 1;
}

/* Under the lock: 1 if an empty entry can be used. When memory is short a table gets fuller than
 * usual. */
static int make_room(RtTree *tree, RtTable *table) {
  uint64_t entries = table->current ? (uint64_t)1 << table_log2(table->current) : 0;
  if (table->used < entries / 4 * 3) return 1;
  return grow(tree, table) || table->used + 1 < entries;
}

/* -- activate ---------------------------------------------------------------------------------- */

static void enter_node(RtTree *tree, const RtManager *manager, uint32_t handle, const RtKey *key) {
  RtNodeInfo *info = node_get(tree, manager, handle).info;
  info->parent = key->parent;
  info->slot = 0;
  for (int32_t a = 0; a < manager->axis_count; a++) info->coordinates[a] = key->coordinates[a];
}

/* Under the lock: the node of the key; if there is none, `*spare` becomes it and is set to 0; 0:
 * out of memory. */
static uint32_t find_or_insert(RtTree *tree, RtManager *manager, const RtKey *key,
                               uint32_t *spare) {
  uint32_t handle = hash_find(tree, manager, key);
  if (handle || !*spare || !make_room(tree, &manager->table)) return handle;
  handle = *spare;
  *spare = 0;
  enter_node(tree, manager, handle, key);
  insert(tree, manager->table.current, (uint64_t)key->tag << 32 | handle);
  manager->table.used++;
  return handle;
}

/* The node is taken and zeroed before the lock, and put back if another thread was first. */
uint8_t *rt_hash_activate(RtContext *context, RtWorker *worker, int32_t tree_index,
                          int32_t manager_number, const uint8_t *parent,
                          const int64_t *coordinates) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = &manager->locals[worker->index];
  RtKey key;
  if (!hash_key(tree, manager, parent, coordinates, &key)) return local->sink;
  uint32_t spare = rt_node_take(tree, manager, local);
  rt_lock(&manager->table.lock);
  uint32_t node = spare, handle = find_or_insert(tree, manager, &key, &spare);
  rt_unlock(&manager->table.lock);
  if (spare) rt_node_return(tree, manager, local, spare);
  if (!handle) {
    rt_error_set(context, RT_ERROR_BUDGET, tree->number, manager_number);
    return local->sink;
  }
  if (handle == node) {
    local->activations++;
    rt_tree_touch(tree);
  }
  return node_address(tree, handle);
}

/* -- deactivate -------------------------------------------------------------------------------- */

/* Under the lock: removes the key and returns its node; 0: none. */
static uint32_t bury(const RtTree *tree, RtManager *manager, const RtKey *key) {
  uint64_t table = manager->table.current, *place;
  uint32_t handle = table ? table_find(tree, manager, table, key, &place) : 0;
  if (!handle) return 0;
  rt_store_release_long(place, (uint64_t)key->tag << 32 | RT_TOMBSTONE);
  manager->table.tombstones++;
  return handle;
}

void rt_hash_clear(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t manager_number,
                   const uint8_t *parent, const int64_t *coordinates) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = &manager->locals[worker->index];
  RtKey key;
  if (!hash_key(tree, manager, parent, coordinates, &key) || !hash_find(tree, manager, &key))
    return;
  rt_lock(&manager->table.lock);
  uint32_t handle = bury(tree, manager, &key);
  rt_unlock(&manager->table.lock);
  if (!handle) return;
  rt_node_recycle(tree, manager, local, handle);
  rt_tree_touch(tree);
}

/* -- deactivate all in a masked cell ----------------------------------------------------------- */

/* The nodes that go: below `parent`, from `first` on along each axis. */
typedef struct Range {
  uint32_t parent;
  int64_t first[RT_MAX_AXES];
  const int64_t *spans;
} Range;

static Range range_in_cell(const RtTree *tree, const RtManager *manager, const RtInCell *hash,
                           const uint8_t *container, uint64_t cell) {
  Range range = {.spans = hash->spans};
  const RtNodeInfo *info = 0;
  const uint8_t *start = tree->root;
  if (manager->parent >= 0) {
    RtNode parent = node_around(tree, &tree->managers[manager->parent], container);
    info = parent.info;
    start = parent.memory;
    range.parent = node_handle(tree, parent.memory);
  }
  int32_t last = hash->level_count - 1;
  coordinates_of(manager, hash->levels, last, info, (uint64_t)(container - start), range.first);
  add_digits(&hash->levels[last], cell, range.first);
  return range;
}

static int is_in_range(const RtManager *manager, const RtNodeInfo *info, const Range *range) {
  if (info->parent != range->parent) return 0;
  for (int32_t a = 0; a < manager->axis_count; a++) {
    int64_t at = info->coordinates[a] - range->first[a];
    if (range->spans[a] && (at < 0 || at >= range->spans[a])) return 0;
  }
  return 1;
}

/* Every entry is read, since the table keeps no order of coordinates. */
void rt_hash_clear_in_cell(RtTree *tree, RtWorker *worker, const RtInCell *hash,
                           const uint8_t *container, uint64_t cell) {
  RtManager *manager = &tree->managers[hash->manager];
  RtTable *table = &manager->table;
  if (!rt_load_acquire_long(&table->current) || !node_is_in_arena(tree, container)) return;
  Range range = range_in_cell(tree, manager, hash, container, cell);
  rt_lock(&table->lock);
  uint64_t *entries = table_entries(tree, table->current);
  for (uint64_t k = 0; k < (uint64_t)1 << table_log2(table->current); k++) {
    uint32_t handle = (uint32_t)entries[k];
    if (!is_node(entries[k])) continue;
    if (!is_in_range(manager, node_get(tree, manager, handle).info, &range)) continue;
    rt_store_release_long(&entries[k], entries[k] >> 32 << 32 | RT_TOMBSTONE);
    table->tombstones++;
    rt_node_recycle(tree, manager, &manager->locals[worker->index], handle);
    rt_tree_touch(tree);
  }
  rt_unlock(&table->lock);
}

/* -- while no task runs ------------------------------------------------------------------------ */

static void drop_node(RtTree *tree, RtManager *manager, RtNode node) {
  RtLocal *local = &manager->locals[0];
  uint32_t parent = node.info->parent;
  RtKey key = {parent, hash_tag(manager, parent, node.info->coordinates), node.info->coordinates};
  bury(tree, manager, &key);
  rt_node_recycle(tree, manager, local, node_handle(tree, node.memory));
}

void rt_hash_drop_orphans(RtTree *tree, RtManager *manager) {
  const RtManager *above = &tree->managers[manager->parent];
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t k = 0; k < chunk->handed; k++) {
      RtNode node = node_in_chunk(manager, chunk, k);
      if (*node.state != RT_NODE_LIVE ||
          *node_get(tree, above, node.info->parent).state == RT_NODE_LIVE)
        continue;
      drop_node(tree, manager, node);
    }
}

/* Starting after an empty entry, once around: each entry is removed and reinserted, which moves it
 * to the first empty entry from its home, at or before its old position. */
static void purge(RtTree *tree, RtTable *table) {
  uint64_t *entries = table_entries(tree, table->current),
           mask = ((uint64_t)1 << table_log2(table->current)) - 1;
  uint64_t first = 0;
  while (entries[first]) first++;
  for (uint64_t k = 1; k <= mask; k++) {
    uint64_t *at = &entries[(first + k) & mask], entry = *at;
    if (!entry) continue;
    *at = 0;
    if (is_node(entry)) insert(tree, table->current, entry);
  }
  table->used -= table->tombstones;
  table->tombstones = 0;
}

/* No reader is left. */
static void give_outgrown(RtContext *context, RtTree *tree, RtTable *table) {
  for (uint32_t log2 = SHARED_LOG2 + 1; log2 < table_log2(table->current); log2++) {
    if (!table->memory[log2]) continue;
    uint8_t *memory = (uint8_t *)table_entries(tree, table->memory[log2]);
    uint64_t bytes = (uint64_t)ENTRY_BYTES << log2;
    context->discard(context, memory, bytes);
    rt_segments_give(tree, memory, bytes);
    table->memory[log2] = 0;
    table->bytes -= bytes;
  }
}

/* Tombstones: an eighth of the table, which bounds the cost per deactivated cell. */
void rt_hash_refresh(RtContext *context, RtTree *tree, RtManager *manager) {
  RtTable *table = &manager->table;
  if (context->discard) give_outgrown(context, tree, table);
  if (table->tombstones > (uint64_t)1 << table_log2(table->current) >> 3) purge(tree, table);
}

void rt_hash_empty(RtTree *tree, RtManager *manager) {
  RtTable *table = &manager->table;
  if (!table->used) return;
  rt_memory_zero(table_entries(tree, table->current),
                 (uint64_t)ENTRY_BYTES << table_log2(table->current));
  table->used = table->tombstones = 0;
}
