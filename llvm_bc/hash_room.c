/* hash_room.c - space in the table of a hash manager: permits, and growth while others read.
 *
 * A table that is five eighths full is copied into one of twice the size, under its lock. Each of
 * its empty entries is sealed, so nothing is entered that the copy misses. The copy is published
 * with release; the old table stays as it is, since readers may still be using it, and is freed by
 * the next refresh.
 * A thread that enters a node needs a permit: an entry counted as used in advance. A worker takes
 * several at once and keeps the rest; the lanes of a GPU's group take one each by one addition, and
 * copy a table together.
 * Invariant: `used` is the number of permits plus that of entries that are not empty, so a table
 * always has an empty entry, and every search ends. (On a GPU `used` may be too large for a moment,
 * until permits beyond the limit are taken back.)
 *
 * Memory: whole segments of the arena. Tables of up to half a segment share the first one, each at
 * an offset equal to its size, so they do not overlap. Sizes: 8 bytes per entry, 13 to 26 bytes per
 * cell. */
#include "hash.h"

enum { FIRST_LOG2 = 9, TINY_LOG2 = 3, MOST_PERMITS = 16 };

_Static_assert((RT_ENTRY_BYTES << RT_SHARED_LOG2) * 2 == RT_SEGMENT,
               "the shared tables fill one segment");
_Static_assert(RT_ENTRY_BYTES *RT_LINE == RT_GRANULE, "a line is a cache line");
_Static_assert(1 << TINY_LOG2 >= RT_LINE, "a table is whole lines");

/* -- memory ------------------------------------------------------------------------------------ */

static int take_memory(RtTree *tree, RtTable *table, uint32_t log2) {
  uint64_t bytes = log2 <= RT_SHARED_LOG2 ? RT_SEGMENT : (uint64_t)RT_ENTRY_BYTES << log2;
  uint8_t *memory = rt_segments_take(tree, bytes);
  if (!memory) return 0;
  uint64_t start = (uint64_t)(memory - tree->base);
  table->bytes += bytes;
  if (log2 > RT_SHARED_LOG2) table->memory[log2] = start;
  else
    for (uint32_t k = TINY_LOG2; k <= RT_SHARED_LOG2; k++)
      table->memory[k] = start + ((uint64_t)RT_ENTRY_BYTES << k);
  return 1;
}

/* A table of a new size, zeroed like all segments; 0: out of memory. */
static uint64_t table_make(RtTree *tree, RtTable *table, uint32_t log2) {
  if (log2 > RT_MAX_TABLE || (!table->memory[log2] && !take_memory(tree, table, log2))) return 0;
  return table->memory[log2] | log2;
}

/* -- grow: all of it under the lock ------------------------------------------------------------ */

static uint64_t next_table(RtTree *tree, RtTable *table) {
  uint32_t first = tree->tiny_chunks ? TINY_LOG2 : FIRST_LOG2;
  return table_make(tree, table, table->current ? table_log2(table->current) + 1 : first);
}

/* Seals the entry if it is empty, and returns its content, which now changes only by deactivation.
 * On a GPU one rt_order_after in `copy` orders all of them. */
static uint64_t seal(uint64_t *place) {
  uint64_t entry = RT_ALONE ? rt_load_long(place) : rt_load_acquire_long(place);
  if (entry) return entry;
  int is_sealed = RT_ALONE ? rt_try_long(place, 0, RT_SEALED) : rt_swap_long(place, 0, RT_SEALED);
  return is_sealed ? RT_SEALED : RT_ALONE ? rt_load_long(place) : rt_load_acquire_long(place);
}

/* Copies all entries, dividing them among the lanes of the group. */
static void copy(const RtTree *tree, uint64_t from, uint64_t to, RtGroup group) {
  for (uint64_t k = group.rank; k < table_size(from); k += group.count) {
    uint64_t entry = seal(&table_entries(tree, from)[k]);
    if (entry_is_node(entry)) table_insert(tree, to, entry);
  }
  rt_order_after();
  rt_group_wait(group);
}

static void publish(RtTable *table, uint64_t made) {
  rt_subtract_long(&table->used, table->tombstones);
  table->tombstones = 0;
  rt_store_release_long(&table->current, made);
}

/* -- permits ----------------------------------------------------------------------------------- */

static uint64_t most_used(const RtTable *table) {
  return table_size(rt_load_acquire_long(&table->current)) / 8 * 5;
}

/* The number of permits that a worker takes at once. */
static uint64_t batch(const RtTable *table) {
  uint64_t few = table_size(rt_load_acquire_long(&table->current)) >> 9;
  return RT_SHARED || few < 1 ? 1 : few > MOST_PERMITS ? MOST_PERMITS : few;
}

static int has_room(const RtTable *table, uint64_t used) {
  return used + batch(table) <= most_used(table);
}

/* Fills the table further when there is no memory for a larger one. */
static int take_last(RtTable *table) {
  uint64_t used;
  while ((used = rt_load_long(&table->used)) + 1 < table_size(table->current))
    if (rt_swap_long(&table->used, used, used + 1)) return 1;
  return 0;
}

/* 1 if the table has grown, or if a lane of the group has got one of the last permits. */
static int make_room(RtTree *tree, RtTable *table, uint64_t *got) {
  RtGroup group = rt_group_of(rt_group_key(table));
  uint64_t made = 0;
  uint32_t done = 0;
  if (!group.rank) {
    rt_lock(&table->lock);
    done = (uint32_t)has_room(table, rt_load_long(&table->used));
    if (!done) made = next_table(tree, table);
    if (!done && !made) *got = (uint64_t)take_last(table);
    done |= made || *got;
  }
  made = rt_group_share_long(group, made);
  if (made) copy(tree, rt_load_long(&table->current), made, group);
  if (!group.rank) {
    if (made) publish(table, made);
    rt_unlock(&table->lock);
  }
  return (int)rt_group_share(group, done);
}

#if RT_SHARED
/* Takes up to `wanted` permits; returns their number. */
static uint32_t count_used(RtTable *table, uint32_t wanted) {
  uint64_t most = most_used(table);
  if (rt_load_long(&table->used) >= most) return 0;
  uint64_t used = rt_add_long(&table->used, wanted), left = used < most ? most - used : 0;
  if (left >= wanted) return wanted;
  rt_subtract_long(&table->used, wanted - left);
  return (uint32_t)left;
}

int rt_permit_take(RtTree *tree, RtTable *table, RtLocal *local) {
  uint64_t got = 0;
  while (!got) {
    RtGroup group = rt_group_of(rt_group_key(table));
    uint32_t count = 0;
    if (!group.rank) count = count_used(table, group.count);
    got = group.rank < rt_group_share(group, count);
    if (!got && !make_room(tree, table, &got)) return 0;
  }
  return 1;
}
#else
int rt_permit_take(RtTree *tree, RtTable *table, RtLocal *local) {
  while (!local->permits) {
    uint64_t used = rt_load_long(&table->used);
    if (has_room(table, used)) {
      uint64_t wanted = batch(table);
      if (rt_swap_long(&table->used, used, used + wanted)) local->permits = wanted;
    } else if (!make_room(tree, table, &local->permits)) {
      return 0;
    }
  }
  return 1;
}
#endif
