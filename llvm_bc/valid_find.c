/* valid_find.c - checks that every live node can be found: in the list of active nodes, in a hash's
 * table, and, if it is a chunk of a list, in that list. */
#include "hash.h"
#include "valid_check.h"

/* -- the list of active nodes ------------------------------------------------------------------ */

static int touched_is_valid(const Check *c, uint64_t *count) {
  for (int32_t w = 0; w < c->worker_count; w++) {
    const RtLocal *local = &c->manager->locals[w];
    uint64_t own = 0;
    for (uint32_t handle = local->touched; handle > RT_TOUCHED_END; own++) {
      RtNode node;
      EXPECT(own < c->manager->node_count && find_node(c->tree, c->number, handle, &node) &&
                 *node.touched,
             handle, "the changes that are recorded belong to nodes, each once");
      handle = *node.touched;
    }
    EXPECT(own == local->touched_count, 0, "the changes that are recorded are counted");
    *count += own;
  }
  return 1;
}

static int entry_is_valid(const Check *c, uint64_t at, int is_current) {
  const RtListEntry *entry = &c->manager->list[at];
  RtNode node;
  EXPECT(find_node(c->tree, c->number, entry->handle, &node), entry->handle,
         "a list of active nodes holds nodes");
  EXPECT(*node.position == at + 1, entry->handle, "a listed node has its position in the list");
  EXPECT(entry->coordinates == node.info->coordinates, entry->handle,
         "an entry has its node's coordinates");
  EXPECT(!is_current || *node.state == RT_NODE_LIVE, entry->handle,
         "a list that is up to date holds live nodes");
  return 1;
}

/* Counts the nodes that have a list position, and those on a touched list. */
static int places_are_valid(const Check *c, uint64_t *placed, uint64_t *noted) {
  for (const RtChunk *chunk = chunk_first(c->tree, c->manager); chunk;
       chunk = chunk_next(c->tree, chunk))
    for (uint32_t i = 0; i < chunk->node_count; i++) {
      int is_listed = chunk->positions[i] != 0, is_noted = chunk->touched[i] != 0;
      EXPECT(is_noted || is_listed == (chunk->states[i] == RT_NODE_LIVE) ||
                 !c->manager->list_version,
             node_handle(c->tree, chunk->nodes + i * c->manager->node_size),
             "a change that the list does not reflect is recorded");
      *placed += (uint64_t)is_listed;
      *noted += (uint64_t)is_noted;
    }
  return 1;
}

int rt_list_is_valid(const RtTree *tree, int32_t number, int32_t worker_count, RtBroken *broken) {
  const Check check = check_of(tree, number, worker_count, broken), *c = &check;
  int is_current = c->is_refreshed && c->manager->list_version == c->manager->version;
  uint64_t placed = 0, noted = 0, touched = 0;
  EXPECT(c->manager->list_count <= c->manager->list_capacity, 0, "a list fits its memory");
  for (uint64_t k = 0; k < c->manager->list_count; k++)
    if (!entry_is_valid(c, k, is_current)) return 0;
  if (!touched_is_valid(c, &touched) || !places_are_valid(c, &placed, &noted)) return 0;
  EXPECT(placed == c->manager->list_count, 0, "a node with a position is listed there");
  EXPECT(noted == touched, 0, "a node whose change is recorded is on a touched list");
  EXPECT(!is_current || c->manager->list_count == c->manager->live_count, 0,
         "a list that is up to date holds every live node");
  return 1;
}

/* -- a hash ------------------------------------------------------------------------------------ */

/* Searches begin at the home and end at an empty entry. */
static int is_found(const RtTree *tree, uint64_t table, uint64_t at) {
  const uint64_t *entries = table_entries(tree, table);
  uint64_t mask = table_size(table) - 1;
  for (uint64_t k = table_home(table, (uint32_t)(entries[at] >> 32)); k != at; k = (k + 1) & mask)
    if (!entries[k]) return 0;
  return 1;
}

static int table_entry_is_valid(const Check *c, uint64_t table, uint64_t at) {
  uint64_t entry = table_entries(c->tree, table)[at];
  uint32_t handle = (uint32_t)entry;
  RtNode node;
  EXPECT(find_node(c->tree, c->number, handle, &node) && *node.state == RT_NODE_LIVE, handle,
         "a hash finds live nodes");
  EXPECT(entry >> 32 == hash_tag(c->manager, node.info->parent, node.info->coordinates), handle,
         "an entry's tag is its node's key");
  EXPECT(is_found(c->tree, table, at), handle, "no empty entry is between an entry and its home");
  return 1;
}

int rt_table_is_valid(const RtTree *tree, int32_t number, int32_t worker_count, RtBroken *broken) {
  const Check check = check_of(tree, number, worker_count, broken), *c = &check;
  const RtTable *table = &c->manager->table;
  uint64_t entries = table_size(table->current), used = 0, permits = 0, tombstones = 0, live = 0;
  for (int32_t w = 0; w < worker_count; w++) permits += c->manager->locals[w].permits;
  for (uint64_t k = 0; k < entries; k++) {
    uint64_t entry = table_entries(tree, table->current)[k];
    if (!entry) continue;
    used++;
    if (entry == RT_TOMBSTONE) tombstones++;
    else if (!table_entry_is_valid(c, table->current, k)) return 0;
  }
  EXPECT(!entries || used + permits < entries, 0, "a table has an empty entry");
  EXPECT(used + permits == table->used && tombstones == table->tombstones, 0,
         "a table counts its entries, permits and tombstones");
  for (const RtChunk *chunk = chunk_first(tree, c->manager); chunk; chunk = chunk_next(tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++) live += chunk->states[i] == RT_NODE_LIVE;
  EXPECT(used - tombstones == live, 0, "every live node of a hash has its entry");
  return 1;
}

/* -- lists of a dynamic SNode ------------------------------------------------------------------ */

static int dynamic_run_is_valid(const Check *c, const uint32_t *slots, uint64_t count, void *data) {
  const uint32_t *list = slots - RT_LIST_SLOTS;
  uint64_t chunks = 0, size = (uint64_t)c->manager->chunk;
  while (chunks < count && slots[chunks]) chunks++;
  EXPECT(!list[RT_LIST_LOCK], 0, "a list is unlocked between tasks");
  EXPECT(list[RT_LIST_LENGTH] <= chunks * size, chunks ? slots[chunks - 1] : 0,
         "every element below a list's length has its chunk");
  for (uint64_t s = chunks; s < count; s++)
    EXPECT(!slots[s], slots[s], "a list's chunks are its first ones");
  return 1;
}

int rt_dynamic_is_valid(const RtTree *tree, int32_t number, RtBroken *broken) {
  const Check check = check_of(tree, number, 0, broken);
  return !check.is_refreshed || rt_visit_slots(&check, dynamic_run_is_valid, 0);
}
