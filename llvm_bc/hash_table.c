/* hash_table.c - the table of a hash manager: entering and removal, while others read.
 *
 *     EMPTY --enter (CAS)--> tag, handle --deactivate--> TOMBSTONE   (growth, refresh drop these)
 *       +-----seal (CAS)---> SEALED: the table is being replaced, the entry goes into the next one
 *
 * Entering takes no lock: a complete node is put, by compare-and-swap, into the first empty entry
 * from its home; of two threads with one key, the second finds the first one's entry there. The
 * thread holds a permit (hash_room.c). If it meets a sealed entry, it waits for the next table.
 * Deactivating takes the table's lock.
 * Invariants: between an entry and its home there is no empty one; outside a task, the entries of
 * `current` that are not tombstones are exactly the LIVE nodes. */
#include "hash.h"

/* -- permits ----------------------------------------------------------------------------------- */

static int take_permit(RtTree *tree, RtTable *table, RtLocal *local) {
  return (!RT_SHARED && local->permits) || rt_permit_take(tree, table, local);
}

/* Ends a permit that was spent or is not needed. Threads that share a worker give an unspent one
 * back; others keep it. */
static void end_permit(RtTable *table, RtLocal *local, int is_spent) {
  if (!RT_SHARED) local->permits -= (uint64_t)is_spent;
  if (!RT_SHARED || is_spent) return;
  RtGroup group = rt_group_of(rt_group_key(table));
  if (!group.rank) rt_subtract_long(&table->used, group.count);
}

/* -- activate ---------------------------------------------------------------------------------- */

static void fill_info(const RtManager *manager, RtNodeInfo *info, const RtKey *key) {
  info->parent = key->parent;
  info->slot = 0;
  for (int32_t a = 0; a < manager->axis_count; a++) info->coordinates[a] = key->coordinates[a];
}

/* Finds the handle of the key's node, or enters `node` if there is none; 0 if the table is
 * sealed. */
static uint32_t table_enter(const RtTree *tree, const RtManager *manager, uint64_t table,
                            const RtKey *key, uint32_t node) {
  uint64_t *entries = table_entries(tree, table), mask = table_size(table) - 1;
  for (uint64_t at = table_home(table, key->tag);; at = (at + 1) & mask) {
    uint64_t entry = rt_load_acquire_long(&entries[at]);
    if (!entry && rt_swap_long(&entries[at], 0, (uint64_t)key->tag << 32 | node)) return node;
    if (!entry) entry = rt_load_acquire_long(&entries[at]);
    if (entry == RT_SEALED) return 0;
    if (entry_is_of(tree, manager, entry, key)) return (uint32_t)entry;
  }
}

static uint32_t enter(const RtTree *tree, const RtManager *manager, const RtKey *key,
                      uint32_t node) {
  for (uint32_t round = 0;; round++) {
    uint64_t table = rt_load_acquire_long(&manager->table.current);
    uint32_t handle = table_enter(tree, manager, table, key, node);
    if (handle) return handle;
    rt_target_wait(round);
  }
}

/* The key's handle; 0 if out of memory. The node is complete before others see it, and is returned
 * if another thread was first. The permit is taken before the node, since nodes taken by many
 * threads could leave no memory for the table. */
static uint32_t activate(RtTree *tree, RtManager *manager, RtLocal *local, const RtKey *key) {
  int is_permitted = take_permit(tree, &manager->table, local);
  RtNodeInfo *info;
  uint32_t handle, node = is_permitted ? rt_node_take(tree, manager, local, &info) : 0;
  if (node) {
    fill_info(manager, info, key);
    handle = enter(tree, manager, key, node);
  } else {
    handle = hash_find(tree, manager, key);
  }
  if (is_permitted) end_permit(&manager->table, local, node && handle == node);
  if (node && handle != node) rt_node_return(tree, manager, local, node);
  if (handle && handle == node) {
    local_count(&local->activations);
    rt_tree_touch(tree);
  }
  return handle;
}

/* One lane of a warp activates a cell for all lanes that want it; the others find its node. */
static uint32_t activate_once(RtTree *tree, RtManager *manager, RtLocal *local, const RtKey *key) {
  for (;;) {
    RtGroup group = rt_group_of((uint64_t)key->parent << 32 | key->tag);
    uint32_t handle = group.rank ? 0 : activate(tree, manager, local, key);
    int is_own = !group.rank || tag_is_exact(key->tag); /* else keys of one tag may differ */
    handle = rt_group_share(group, handle);
    if (!is_own) handle = hash_find(tree, manager, key);
    if (handle || is_own) return handle;
  }
}

uint8_t *rt_hash_activate(RtContext *context, RtWorker *worker, int32_t tree_index,
                          int32_t manager_number, const uint8_t *parent,
                          const int64_t *coordinates) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = local_of(manager, worker);
  RtKey key;
  if (!hash_key(tree, manager, parent, coordinates, &key)) return local->sink;
  uint32_t handle =
      RT_SHARED ? activate_once(tree, manager, local, &key) : activate(tree, manager, local, &key);
  if (handle) return node_address(tree, handle);
  rt_error_set(context, RT_ERROR_BUDGET, tree->number, manager_number);
  return local->sink;
}

/* -- deactivate -------------------------------------------------------------------------------- */

uint32_t rt_hash_bury(const RtTree *tree, RtManager *manager, const RtKey *key) {
  uint64_t table = manager->table.current, *place;
  uint32_t handle = table ? table_find(tree, manager, table, key, &place) : 0;
  if (!handle) return 0;
  if (!RT_SHARED) rt_store_release_long(place, RT_TOMBSTONE);
  else if (!rt_swap_long(place, (uint64_t)key->tag << 32 | handle, RT_TOMBSTONE)) return 0;
  local_count(&manager->table.tombstones);
  return handle;
}

/* Lanes with the same `key` take the lock together. */
static RtGroup lock_together(RtTable *table, const void *key) {
  RtGroup group = rt_group_of(rt_group_key(key));
  if (!group.rank) rt_lock(&table->lock);
  rt_group_wait(group);
  return group;
}
static void unlock_together(RtTable *table, RtGroup group) {
  rt_group_wait(group);
  if (!group.rank) rt_unlock(&table->lock);
}

void rt_hash_clear(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t manager_number,
                   const uint8_t *parent, const int64_t *coordinates) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[manager_number];
  RtLocal *local = local_of(manager, worker);
  RtKey key;
  if (!hash_key(tree, manager, parent, coordinates, &key) || !hash_find(tree, manager, &key))
    return;
  int others = !rt_is_alone(context);
  RtGroup group = {0};
  if (others) group = lock_together(&manager->table, manager);
  uint32_t handle = rt_hash_bury(tree, manager, &key);
  if (others) unlock_together(&manager->table, group);
  if (!handle) return;
  rt_node_recycle(tree, manager, local, handle);
  rt_tree_touch(tree);
}

/* -- deactivate all in a masked cell ----------------------------------------------------------- */

/* The nodes to remove: below `parent`, from `first` on along each axis. */
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

/* The range of the lane of that rank; `spans` are the same in all lanes. */
static Range range_of(const RtManager *manager, const Range *own, RtGroup group, uint32_t rank) {
  Range range = {.parent = rt_group_tell(group, own->parent, rank), .spans = own->spans};
  for (int32_t a = 0; a < manager->axis_count; a++)
    range.first[a] = (int64_t)rt_group_tell_long(group, (uint64_t)own->first[a], rank);
  return range;
}

/* Reads every entry, since the table is not ordered by coordinates, dividing them among lanes. */
static void bury_range(RtTree *tree, RtManager *manager, RtLocal *local, const Range *range,
                       RtGroup group) {
  RtTable *table = &manager->table;
  uint64_t *entries = table_entries(tree, table->current), buried = 0;
  for (uint64_t k = group.rank; k < table_size(table->current); k += group.count) {
    uint64_t entry = rt_load_acquire_long(&entries[k]);
    uint32_t handle = (uint32_t)entry;
    if (!entry_is_node(entry)) continue;
    if (!is_in_range(manager, node_get(tree, manager, handle).info, range)) continue;
    rt_store_release_long(&entries[k], RT_TOMBSTONE);
    rt_node_recycle(tree, manager, local, handle);
    buried++;
  }
  if (!buried) return;
  if (RT_SHARED) rt_add_long(&table->tombstones, buried);
  else table->tombstones += buried;
  rt_tree_touch(tree);
}

/* Lanes that arrive together handle the request of one lane after the other. */
void rt_hash_clear_in_cell(RtTree *tree, RtWorker *worker, const RtInCell *hash,
                           const uint8_t *container, uint64_t cell) {
  RtManager *manager = &tree->managers[hash->manager];
  RtTable *table = &manager->table;
  if (!rt_load_acquire_long(&table->current) || !node_is_in_arena(tree, container)) return;
  Range own = range_in_cell(tree, manager, hash, container, cell);
  RtGroup group = lock_together(table, hash);
  for (uint32_t rank = 0; rank < group.count; rank++) {
    Range range = range_of(manager, &own, group, rank);
    bury_range(tree, manager, local_of(manager, worker), &range, group);
  }
  unlock_together(table, group);
}

/* -- while no task runs ------------------------------------------------------------------------ */

static void drop_node(RtTree *tree, RtManager *manager, RtNode node) {
  RtLocal *local = &manager->locals[0];
  uint32_t parent = node.info->parent;
  RtKey key = {parent, hash_tag(manager, parent, node.info->coordinates), node.info->coordinates};
  rt_hash_bury(tree, manager, &key);
  rt_node_recycle(tree, manager, local, node_handle(tree, node.memory));
}

void rt_hash_drop_orphans(RtTree *tree, RtManager *manager, uint64_t first, uint64_t step) {
  const RtManager *above = &tree->managers[manager->parent];
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint64_t k = first; k < chunk->handed; k += step) {
      RtNode node = node_in_chunk(manager, chunk, k);
      if (*node.state != RT_NODE_LIVE ||
          *node_get(tree, above, node.info->parent).state == RT_NODE_LIVE)
        continue;
      drop_node(tree, manager, node);
    }
}

/* The first line from `line` on whose last entry is empty. Line numbers run on past the table's end
 * and wrap. */
static uint64_t line_with_room(const uint64_t *entries, uint64_t lines, uint64_t line) {
  while (entries[line % lines * RT_LINE + RT_LINE - 1]) line++;
  return line;
}

/* Shares begin and end at lines with an empty entry: a search ends there, so no entry moves across
 * one. All shares are found before the first is purged; such a line always exists. */
RtPurge rt_hash_purge_begin(const RtTree *tree, const RtManager *manager, uint64_t share,
                            uint64_t shares) {
  const uint64_t *entries = table_entries(tree, manager->table.current);
  uint64_t lines = table_size(manager->table.current) / RT_LINE;
  uint64_t first = line_with_room(entries, lines, share * lines / shares);
  uint64_t last = share + 1 < shares ? (share + 1) * lines / shares : 0;
  uint64_t end = line_with_room(entries, lines, last) + (share + 1 < shares ? 0 : lines);
  return (RtPurge){(first + 1) * RT_LINE, (end + 1) * RT_LINE};
}

/* Each entry is removed and reinserted, which moves it to the first empty entry from its home, at
 * or before its old position. */
void rt_hash_purge(const RtTree *tree, const RtManager *manager, RtPurge purge) {
  uint64_t current = manager->table.current, *entries = table_entries(tree, current);
  for (uint64_t k = purge.begin; k < purge.end; k++) {
    uint64_t *at = &entries[k & (table_size(current) - 1)], entry = *at;
    if (!entry) continue;
    *at = 0;
    if (entry_is_node(entry)) table_insert(tree, current, entry);
  }
}

void rt_hash_purge_end(RtManager *manager) {
  manager->table.used -= manager->table.tombstones;
  manager->table.tombstones = 0;
}

/* Frees outgrown tables, which have no reader any more. */
static void give_outgrown(RtContext *context, RtTree *tree, RtTable *table) {
  for (uint32_t log2 = RT_SHARED_LOG2 + 1; log2 < table_log2(table->current); log2++) {
    if (!table->memory[log2]) continue;
    uint8_t *memory = (uint8_t *)table_entries(tree, table->memory[log2]);
    uint64_t bytes = (uint64_t)RT_ENTRY_BYTES << log2;
    context->discard(context, memory, bytes);
    rt_segments_give(tree, memory, bytes);
    table->memory[log2] = 0;
    table->bytes -= bytes;
  }
}

/* True once an eighth of the table are tombstones, which bounds the cost per deactivated cell.
 * While other processes read the table, the purge is put off: tree_publish of the core. */
int rt_hash_wants_purge(const RtTree *tree, const RtManager *manager) {
  const RtTable *table = &manager->table;
  return !tree->is_read && table->tombstones > table_size(table->current) / 8;
}

void rt_hash_refresh(RtContext *context, RtTree *tree, RtManager *manager) {
  if (!RT_ALONE && context->discard && !tree->is_read)
    give_outgrown(context, tree, &manager->table);
  if (!rt_hash_wants_purge(tree, manager)) return;
  rt_hash_purge(tree, manager, rt_hash_purge_begin(tree, manager, 0, 1));
  rt_hash_purge_end(manager);
}

void rt_hash_zero(const RtTree *tree, const RtManager *manager, uint64_t first, uint64_t step) {
  uint64_t current = manager->table.current, *entries = table_entries(tree, current);
  for (uint64_t k = first; k < table_size(current); k += step) entries[k] = 0;
}

void rt_hash_forget(RtManager *manager, int32_t worker_count) {
  manager->table.used = manager->table.tombstones = 0;
  for (int32_t w = 0; w < worker_count; w++) manager->locals[w].permits = 0;
}

void rt_hash_empty(RtTree *tree, RtManager *manager, int32_t worker_count) {
  const RtTable *table = &manager->table;
  if (!table->used) return;
  rt_memory_zero(table_entries(tree, table->current), RT_ENTRY_BYTES * table_size(table->current));
  rt_hash_forget(manager, worker_count);
}
