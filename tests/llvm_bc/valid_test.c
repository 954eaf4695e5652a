/* valid_test.c - each invariant of a tree is broken on purpose, and its own message must report it.
 * */
#include <string.h>

#include "check.h"
#include "forest.h"
#include "hash.h"
#include "valid.h"

enum { SHIFT = 24, CELLS = 16, CHUNK = 8, LIST_SLOTS = 4 };

/* Managers: 0 a pointer, 1 a pointer below it, 2 a hash, 3 a list of LIST_SLOTS chunks. */
enum { OUTER, INNER, HASH, LIST };
static const ForestRow rows[] = {{.kind = FOREST_ROOT},
                                 {FOREST_POINTER, 0, "i", {CELLS}, 4},
                                 {FOREST_POINTER, 1, "i", {2}, 4},
                                 {FOREST_HASH, 0, "j", {CELLS}, 4},
                                 {FOREST_DENSE, 0, "k", {2}, 0},
                                 {FOREST_POINTER, 4, "l", {LIST_SLOTS + RT_LIST_SLOTS}, 4 * CHUNK}};
enum { OUTER_NODE = 1, INNER_NODE = 2, HASH_NODE = 3 };

static ForestTree trees[1];
static RtTree *rt;
static RtContext *context;
static RtBudget budget;

static void make_list_manager(void) {
  RtManager *manager = &rt->managers[LIST];
  RtLevel *level = &manager->levels[manager->level_count - 1];
  manager->chunk = CHUNK;
  manager->info_stride += sizeof(int64_t);
  level->offset += RT_LIST_SLOTS * sizeof(uint32_t);
  level->cell_count = LIST_SLOTS;
  level->sizes[0] = LIST_SLOTS;
  manager->parent_weights[manager->axis_count - 1] = LIST_SLOTS;
}

static uint32_t *list_at(int i) {
  const RtLevel *outer = &rt->managers[LIST].levels[0];
  return (uint32_t *)(void *)(rt->root + outer->offset + (uint64_t)i * outer->stride);
}

/* Nodes of every sort: live, freed and recycled ones, a tombstone, lists that are up to date. */
static void create(void) {
  budget = (RtBudget){.limit = UINT64_MAX};
  forest_create(trees, rows, (int)(sizeof rows / sizeof *rows), &budget, 0, SHIFT);
  rt = &trees->rt;
  make_list_manager();
  context = forest_context(trees, 1);
  for (int k = 0; k < CELLS; k++) forest_activate(context, trees, 0, 0, INNER_NODE, k);
  for (int k = 0; k < 12; k++) forest_activate(context, trees, 0, 0, HASH_NODE, k);
  for (int k = 0; k < 2 * CHUNK; k++)
    rt_dynamic_append(context, &context->workers[0], 0, LIST, list_at(0), CHUNK, LIST_SLOTS * CHUNK,
                      0);
  forest_deactivate(context, trees, 0, 0, INNER_NODE, 3);
  forest_deactivate(context, trees, 0, 0, OUTER_NODE, 0);
  rt_tree_collect(context, rt);
  forest_deactivate(context, trees, 0, 0, OUTER_NODE, 1);
  forest_deactivate(context, trees, 0, 0, OUTER_NODE, 2);
  forest_deactivate(context, trees, 0, 0, HASH_NODE, 5);
  for (int m = 0; m < rt->manager_count; m++) rt_list_update(context, rt, m);
}

static void destroy(void) {
  forest_context_destroy(context);
  forest_destroy(trees);
}

/* -- what the breakers reach for --------------------------------------------------------------- */

static RtManager *manager(int m) { return &rt->managers[m]; }
static RtChunk *chunk(int m) { return chunk_first(rt, manager(m)); }
static RtNode live_node(int m) {
  uint32_t i = 0;
  while (chunk(m)->states[i] != RT_NODE_LIVE) i++;
  return node_in_chunk(manager(m), chunk(m), i);
}
static uint32_t *slot_of(RtNode node) { return (uint32_t *)(void *)(rt->base + node.info->slot); }
static uint64_t segment_of(int m) { return (uint64_t)(chunk(m)->nodes - rt->base) / RT_SEGMENT; }
/* An entry that is a node's. */
static uint64_t *table_entry(void) {
  uint64_t *entries = table_entries(rt, manager(HASH)->table.current);
  while ((uint32_t)*entries <= RT_TOMBSTONE) entries++;
  return entries;
}

/* -- breakers ---------------------------------------------------------------------------------- */

static void lock_tree(void) { rt->lock = 1; }
static void lower_top(void) { rt->top -= 64; }
static void give_root_an_owner(void) { rt->segment_owner[0] = 1; }
static void own_by_nobody(void) { rt->segment_owner[segment_of(OUTER)] = rt->chunk_count + 1; }
static void own_by_another(void) {
  rt->segment_owner[segment_of(OUTER)] = rt->segment_owner[segment_of(INNER)];
}
static void lose_manager(void) { chunk(OUTER)->manager = rt->manager_count; }
static void grow_chunk(void) { chunk(OUTER)->segments++; }
static void free_record_in_use(void) { rt->free_record = 1; }
static void lose_record(void) { rt->chunks[rt->chunk_count++].manager = -1; }
static void count_too_many_bytes(void) { manager(OUTER)->chunk_bytes += RT_SEGMENT; }
static void count_too_large_tables(void) { manager(HASH)->table.bytes += RT_SEGMENT; }
static void count_too_much_vacant(void) { rt->vacant += RT_SEGMENT; }
static void undercharge(void) { budget.used = 0; }
static void forget_peak(void) { budget.peak = 0; }

static void lock_manager(void) { manager(INNER)->lock = 1; }
static void chain_another(void) { chunk(OUTER)->next = manager(INNER)->first_chunk; }
static void number_with_a_gap(void) { chunk(OUTER)->first_number = 1; }
static void hand_out_too_many(void) { chunk(OUTER)->handed = chunk(OUTER)->node_count + 1; }
static void close_chunk(void) { manager(OUTER)->open_chunk = 0; }
static void open_another(void) {
  manager(OUTER)->open_chunk = manager(INNER)->first_chunk;
  chunk(OUTER)->handed = chunk(OUTER)->node_count;
}
static void lose_last_chunk(void) { manager(OUTER)->last_chunk = 0; }
static void count_a_chunk_more(void) { manager(OUTER)->chunk_count++; }

static void free_nowhere(void) { manager(INNER)->locals[0].free = RT_SLOT_BUSY; }
static void free_a_live_node(void) {
  manager(INNER)->free = node_handle(rt, live_node(INNER).memory);
}
static void recycle_a_fresh_node(void) {
  *node_get(rt, manager(OUTER), manager(OUTER)->recycled).state = RT_NODE_FRESH;
}
static void write_into_a_fresh_node(void) { *node_address(rt, manager(OUTER)->locals[0].free) = 1; }
static void lose_the_end(void) { manager(OUTER)->recycled_last = manager(OUTER)->recycled; }
static void lose_a_free_node(void) {
  RtLocal *local = &manager(OUTER)->locals[0];
  local->free = node_get(rt, manager(OUTER), local->free).info->next;
}
static void free_twice(void) { /* as many nodes as before, one of them twice */
  RtLocal *local = &manager(OUTER)->locals[0];
  RtNode first = node_get(rt, manager(OUTER), local->free),
         second = node_get(rt, manager(OUTER), first.info->next);
  uint32_t third = second.info->next;
  local->free = first.info->next;
  second.info->next = manager(OUTER)->free;
  manager(OUTER)->free = local->free;
  local->free = third;
}
static void leave_recycled_at_a_worker(void) {
  RtManager *outer = manager(OUTER);
  outer->locals[1].recycled = outer->recycled;
  outer->locals[1].recycled_last = outer->recycled_last;
  outer->recycled = 0;
}
static void leave_changes_uncounted(void) { manager(OUTER)->locals[1].activations = 1; }
static void live_beyond_handed(void) { chunk(OUTER)->states[chunk(OUTER)->handed] = RT_NODE_LIVE; }
static void count_a_node_more(void) { manager(OUTER)->live_count++; }

static void give_root_node_a_parent(void) { live_node(OUTER).info->parent = 2; }
static void give_a_parent_that_is_none(void) { live_node(INNER).info->parent = RT_SLOT_BUSY; }
static void give_a_dead_parent(void) { live_node(INNER).info->parent = manager(OUTER)->recycled; }
static void move_slot(void) { live_node(INNER).info->slot = (uint64_t)(rt->root - rt->base); }
static void empty_slot(void) { *slot_of(live_node(INNER)) = RT_SLOT_EMPTY; }
static void move_coordinates(void) { live_node(INNER).info->coordinates[0] += 2; }
static void claim_slot(void) { /* of a cell that was deactivated */
  uint32_t *slot = forest_slot(context, trees, 0, 0, INNER_NODE, 8, false);
  rt_slot_clear(context, &context->workers[0], 0, INNER, slot);
  rt_tree_refresh(context, rt);
  *slot = RT_SLOT_BUSY;
}

static void shrink_list(void) { manager(OUTER)->list_capacity = 0; }
static void list_nothing(void) { manager(OUTER)->list[0].handle = 1; }
static void misplace(void) { *live_node(OUTER).position += 1; }
static void list_wrong_coordinates(void) { manager(OUTER)->list[0].coordinates++; }
static void list_a_dead_node(void) {
  RtNode dead = node_get(rt, manager(OUTER), manager(OUTER)->recycled);
  RtListEntry *entry = &manager(OUTER)->list[0];
  *node_get(rt, manager(OUTER), entry->handle).position = 0;
  *entry = (RtListEntry){.handle = manager(OUTER)->recycled, .coordinates = dead.info->coordinates};
  *dead.position = 1;
}
static void note_nothing(void) { manager(OUTER)->locals[2].touched = RT_TOUCHED_END + 1; }
static void note_more_than_there_are(void) { manager(OUTER)->locals[2].touched_count = 1; }
static void forget_a_change(void) {
  RtManager *outer = manager(OUTER);
  *node_get(rt, outer, outer->list[--outer->list_count].handle).position = 0;
}
static void place_without_entry(void) {
  manager(OUTER)->list_version = 0;
  manager(OUTER)->list_count--;
}
static void note_without_list(void) { *live_node(OUTER).touched = RT_TOUCHED_END; }
static void list_too_few(void) {
  forget_a_change();
  manager(OUTER)->list_version = manager(OUTER)->version = 0;
}

static void lead_to_a_dead_node(void) {
  uint64_t *entry = table_entry();
  *entry = *entry >> 32 << 32 | manager(HASH)->recycled;
}
static void change_tag(void) { *table_entry() ^= (uint64_t)1 << 32; }
static void move_entry(void) { /* to an empty entry with another before it */
  uint64_t *entries = table_entries(rt, manager(HASH)->table.current), *entry = table_entry(),
           moved = *entry;
  uint64_t mask = ((uint64_t)1 << table_log2(manager(HASH)->table.current)) - 1,
           at = (uint64_t)(entry - entries) + 1;
  while (entries[at & mask] || entries[(at + 1) & mask]) at++;
  *entry = 0;
  entries[(at + 1) & mask] = moved;
}
static void fill_table(void) {
  uint64_t entries = (uint64_t)1 << table_log2(manager(HASH)->table.current);
  for (uint64_t k = 0; k < entries; k++) {
    uint64_t *entry = &table_entries(rt, manager(HASH)->table.current)[k];
    if (!*entry) *entry = RT_TOMBSTONE;
  }
}
static void count_an_entry_more(void) { manager(HASH)->table.used++; }
static void lose_entry(void) {
  uint64_t *entry = table_entry();
  *entry = RT_TOMBSTONE;
  manager(HASH)->table.tombstones++;
}

static void lock_list(void) { list_at(0)[RT_LIST_LOCK] = 1; }
static void lengthen_list(void) { list_at(0)[RT_LIST_LENGTH] = 2 * CHUNK + 1; }
static void leave_a_gap(void) { /* the second chunk becomes the third, and the list the shorter */
  uint32_t *list = list_at(0), handle = list[RT_LIST_SLOTS + 1];
  RtNodeInfo *info = node_get(rt, manager(LIST), handle).info;
  list[RT_LIST_LENGTH] = CHUNK;
  list[RT_LIST_SLOTS + 1] = 0;
  list[RT_LIST_SLOTS + 2] = handle;
  info->slot += sizeof(uint32_t);
  info->coordinates[manager(LIST)->axis_count - 1]++;
}

/* -- of what the owner fills in ---------------------------------------------------------------- */

static RtLevel *last_level(int m) { return &manager(m)->levels[manager(m)->level_count - 1]; }
static void cut_node(void) { manager(OUTER)->node_size -= 8; }
static void grow_axes(void) { manager(OUTER)->axis_count = RT_MAX_AXES + 1; }
static void lose_locals(void) { manager(OUTER)->locals = NULL; }
static void lose_levels(void) { manager(OUTER)->level_count = 0; }
static void give_a_hash_levels(void) { manager(HASH)->level_count = 1; }
static void lose_stride(void) { last_level(OUTER)->stride = 0; }
static void move_axis(void) { last_level(OUTER)->positions[0] = 1; }
static void weigh_more(void) { last_level(OUTER)->weights[0] = 2; }
static void weigh_parent_less(void) { manager(OUTER)->parent_weights[0]--; }
static void count_more_cells(void) { last_level(OUTER)->cell_count++; }
static void come_before_parent(void) { manager(INNER)->parent = INNER; }
static void share_no_axis(void) { manager(INNER)->parent_positions[0] = 1; }
static void leave_parent(void) { last_level(INNER)->offset = manager(OUTER)->node_size; }

typedef struct Case {
  void (*break_it)(void);
  const char *sentence;
} Case;

static const Case cases[] = {
    {lock_tree, "a tree is unlocked between tasks"},
    {lower_top, "bottom and top are whole segments, in this order"},
    {give_root_an_owner, "the root's segments belong to no chunk"},
    {own_by_nobody, "a segment's owner is a chunk in use"},
    {own_by_another, "a segment is in the chunk that owns it"},
    {lose_manager, "a chunk belongs to a manager of the tree"},
    {grow_chunk, "a chunk owns all of its segments"},
    {free_record_in_use, "the list of free records holds free records, each once"},
    {lose_record, "every free record is on the list of them"},
    {count_too_many_bytes, "the managers' chunks are as large as the segments they own"},
    {count_too_large_tables, "the tables are as large as the segments they own"},
    {count_too_much_vacant, "`vacant` counts the bytes without an owner"},
    {undercharge, "the budget is charged for chunks and tables"},
    {forget_peak, "the budget's peak is its largest use"},
    {lock_manager, "a manager is unlocked between tasks"},
    {chain_another, "a manager's chunks are its own, each once"},
    {number_with_a_gap, "chunks number their nodes without gaps"},
    {hand_out_too_many, "a chunk hands out no more nodes than it has"},
    {close_chunk, "chunks before the open one are handed out"},
    {open_another, "the open chunk is one of the manager's"},
    {lose_last_chunk, "the last chunk is the end of the chain"},
    {count_a_chunk_more, "a manager counts its chunks, their nodes and bytes"},
    {free_nowhere, "free and recycled lists hold nodes that were handed out"},
    {free_a_live_node, "no live node is on a free or recycled list"},
    {recycle_a_fresh_node, "a recycled node is one that was used"},
    {write_into_a_fresh_node, "a fresh node's memory is zero"},
    {lose_the_end, "a recycled list ends at its recorded last node"},
    {lose_a_free_node, "every node that was handed out is live, or on one free or recycled list"},
    {free_twice, "every node that was handed out is live, or on one free or recycled list"},
    {leave_recycled_at_a_worker, "after refresh no worker has recycled nodes"},
    {leave_changes_uncounted, "after refresh no worker has changes that are not counted"},
    {live_beyond_handed, "a live node was handed out"},
    {count_a_node_more, "live nodes are counted"},
    {give_root_node_a_parent, "a node in the root's container has no parent"},
    {give_a_parent_that_is_none, "a node's parent is a node"},
    {give_a_dead_parent, "a live node's parent is live"},
    {move_slot, "a node's slot is in its parent"},
    {empty_slot, "a live node's slot holds its handle"},
    {move_coordinates, "a node's coordinates are inside its parent's cell"},
    {claim_slot, "slots hold live nodes, each its own"},
    {shrink_list, "a list fits its memory"},
    {list_nothing, "a list of active nodes holds nodes"},
    {misplace, "a listed node has its position in the list"},
    {list_wrong_coordinates, "an entry has its node's coordinates"},
    {list_a_dead_node, "a list that is up to date holds live nodes"},
    {note_nothing, "the changes that are recorded belong to nodes, each once"},
    {note_more_than_there_are, "the changes that are recorded are counted"},
    {forget_a_change, "a change that the list does not reflect is recorded"},
    {place_without_entry, "a node with a position is listed there"},
    {note_without_list, "a node whose change is recorded is on a touched list"},
    {list_too_few, "a list that is up to date holds every live node"},
    {lead_to_a_dead_node, "a hash finds live nodes"},
    {change_tag, "an entry's tag is its node's key"},
    {move_entry, "no empty entry is between an entry and its home"},
    {fill_table, "a table has an empty entry"},
    {count_an_entry_more, "a table counts its entries, permits and tombstones"},
    {lose_entry, "every live node of a hash has its entry"},
    {lock_list, "a list is unlocked between tasks"},
    {lengthen_list, "every element below a list's length has its chunk"},
    {leave_a_gap, "a list's chunks are its first ones"},
};

static const Case declared_cases[] = {
    {cut_node, "a node is whole granules"},
    {grow_axes, "a manager has at most RT_MAX_AXES axes"},
    {lose_locals, "a tree with managers has all of its tables"},
    {lose_levels, "slots are reached through levels, nodes of a hash through none"},
    {give_a_hash_levels, "slots are reached through levels, nodes of a hash through none"},
    {lose_stride, "a level has axes and a stride"},
    {move_axis, "a level's axes are axes of its manager"},
    {weigh_more, "a digit weighs the cells of the levels below"},
    {weigh_parent_less, "a step of the parent weighs the cells of all levels"},
    {count_more_cells, "the cells of a level are the product of its sizes"},
    {come_before_parent, "a manager's parent comes before it"},
    {share_no_axis, "an axis is an axis of the parent, or new"},
    {leave_parent, "slots lie in their parent"},
};

static const char *undeclared(void) {
  RtBroken broken;
  return rt_tree_is_declared(rt, &broken) ? "" : broken.what;
}

static void check_declared(void) {
  for (size_t k = 0; k < sizeof declared_cases / sizeof *declared_cases; k++) {
    create();
    RtManager kept[4];
    memcpy(kept, rt->managers, sizeof kept);
    TEST(declared_cases[k].sentence) {
      CHECK_TEXT(undeclared(), "");
      declared_cases[k].break_it();
      CHECK_TEXT(undeclared(), declared_cases[k].sentence);
    }
    memcpy(rt->managers, kept, sizeof kept);
    destroy();
  }
}

int main(void) {
  TEST("an intact tree is valid") {
    create();
    CHECK_TEXT(forest_broken(trees), "");
    destroy();
  }
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    create();
    TEST(cases[k].sentence) {
      cases[k].break_it();
      CHECK_TEXT(forest_broken(trees), cases[k].sentence);
    }
    destroy();
  }
  check_declared();
  return check_report();
}
