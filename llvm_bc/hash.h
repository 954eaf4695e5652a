/* hash.h - look-up in a table of coordinates, for node_hash.c and hash_table.c.
 *
 *     entry: | tag 32 | handle 32 |    0 empty    1 a tombstone: the cell was deactivated
 *                                      2 sealed: an empty one of a table that was replaced
 *
 * The tag, which is never 0, is the key's hash. Its top bits select the home line, where linear
 * probing begins. A line is 8 entries, one cache line, compared at once; its empty entries are its
 * last ones. So a search hardly ever mispredicts a branch, and a processor overlaps many searches.
 * A key is the parent node and the coordinates; it is stored in the node's info, so the table holds
 * 8 bytes per cell.
 *
 * An odd tag is exact: all coordinates, RtManager.exact_bits each, permuted. Equal exact tags mean
 * equal keys, so the look-up reads no info. Keys without a parent node have exact tags if their
 * coordinates fit; all other tags are even. */
#ifndef RG_RT_HASH_H
#define RG_RT_HASH_H

#include "atomic.h"
#include "node.h"

enum { RT_TOMBSTONE = 1, RT_SEALED = 2, RT_LINE = 8 /* entries */ };
/* RT_SHARED_LOG2: tables of up to 2^12 entries share a segment, see hash_room.c. */
enum { RT_ENTRY_BYTES = 8, RT_SHARED_LOG2 = 12 };

typedef struct RtKey {
  uint32_t parent, tag;
  const int64_t *coordinates;
} RtKey;

/* A bijection of the even numbers whose top bits depend on all bits. */
static inline uint32_t permute_even(uint32_t bits) {
  bits *= 0x9e3779b1u;
  bits ^= bits >> 16 & ~1u;
  bits *= 0x85ebca6bu;
  bits ^= bits >> 15 & ~1u;
  return bits * 0xc2b2ae35u;
}

static inline uint32_t hash_even_tag(const RtManager *manager, uint32_t parent,
                                     const int64_t *coordinates) {
  uint64_t hash = parent;
  for (int32_t a = 0; a < manager->axis_count; a++) {
    hash = (hash ^ (uint64_t)coordinates[a]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  uint32_t even = (uint32_t)(hash * 0xbf58476d1ce4e5b9u >> 32) & ~1u;
  return even ? even : 2;
}

/* 0 if the coordinates do not fit. They are `stride` numbers apart. */
static inline uint32_t hash_exact_tag(const RtManager *manager, const int64_t *coordinates,
                                      int32_t stride) {
  uint32_t bits = manager->exact_bits;
  uint64_t packed = 0, rest = 0, half = (uint64_t)1 << bits >> 1;
  for (int32_t a = 0; a < manager->axis_count; a++) {
    uint64_t at = (uint64_t)coordinates[a * stride] + half;
    packed = packed << bits | at;
    rest |= at;
  }
  return rest >> bits ? 0 : permute_even((uint32_t)packed << 1) | 1;
}

static inline uint32_t hash_tag(const RtManager *manager, uint32_t parent,
                                const int64_t *coordinates) {
  uint32_t tag = manager->exact_bits ? hash_exact_tag(manager, coordinates, 1) : 0;
  return tag ? tag : hash_even_tag(manager, parent, coordinates);
}
static inline int tag_is_exact(uint32_t tag) { return tag & 1; }

/* False if the parent is not in the arena: the ambient, or a sink. */
static inline int hash_key(const RtTree *tree, const RtManager *manager, const uint8_t *parent,
                           const int64_t *coordinates, RtKey *key) {
  uint64_t bytes = (uint64_t)parent - (uint64_t)tree->base;
  if (manager->parent < 0) bytes = 0;
  if (bytes >= tree->reserved) return 0;
  key->parent = (uint32_t)(bytes / RT_GRANULE);
  key->tag = hash_tag(manager, key->parent, coordinates);
  key->coordinates = coordinates;
  return 1;
}

static inline uint64_t *table_entries(const RtTree *tree, uint64_t table) {
  return (uint64_t *)(void *)(tree->base + table / RT_GRANULE * RT_GRANULE);
}
static inline uint32_t table_log2(uint64_t table) { return (uint32_t)(table % RT_GRANULE); }

static inline uint64_t table_size(uint64_t table) { /* entries */
  return table ? (uint64_t)1 << table_log2(table) : 0;
}

/* The first entry of its line. */
static inline uint64_t table_home(uint64_t table, uint32_t tag) {
  return (uint64_t)tag >> (32 - table_log2(table)) & ~(uint64_t)(RT_LINE - 1);
}

/* Prefetches the line where a search of the tag begins. */
static inline void table_fetch(const RtTree *tree, uint64_t table, uint32_t tag) {
  __builtin_prefetch(&table_entries(tree, table)[table_home(table, tag)]);
}

static inline int entry_is_node(uint64_t entry) { return entry >> 32 != 0; }
static inline int entry_ends_search(uint64_t entry) { return !entry || entry == RT_SEALED; }

/* For another process's tree on a GPU, chunks are known as of the last barrier, while entries are
 * current, so an entry may name a chunk that is not known here yet. */
static inline int hash_chunk_is_known(const RtTree *tree, const RtManager *manager,
                                      const uint8_t *address) {
  if (!tree->foreign) return 1;
  uint32_t number = tree->segment_owner[(uint64_t)(address - tree->base) / RT_SEGMENT] - 1;
  if (number >= tree->chunk_count) return 0;
  const RtChunk *chunk = &tree->chunks[number];
  return (uint64_t)(address - chunk->nodes) < manager->node_size * chunk->node_count;
}

/* A node's info, also in a tree of another process; NULL if the node is not known here. */
static inline const RtNodeInfo *hash_info(const RtTree *tree, const RtManager *manager,
                                          uint32_t handle) {
  const uint8_t *address = node_address(tree, handle);
  if (RT_SHARED && !hash_chunk_is_known(tree, manager, address)) return 0;
  const RtChunk *chunk = node_chunk(tree, address);
  RtNode node = node_at(manager, chunk, (uint64_t)(address - tree->away - chunk->nodes));
  return (const RtNodeInfo *)((const uint8_t *)node.info + tree->away);
}

static inline int hash_is_node(const RtTree *tree, const RtManager *manager, uint32_t handle,
                               const RtKey *key) {
  const RtNodeInfo *info = hash_info(tree, manager, handle);
  if (RT_SHARED && !info) return 0;
  int differs = info->parent != key->parent;
  for (int32_t a = 0; a < manager->axis_count; a++)
    differs |= info->coordinates[a] != key->coordinates[a];
  return !differs;
}

static inline int entry_is_of(const RtTree *tree, const RtManager *manager, uint64_t entry,
                              const RtKey *key) {
  if (entry >> 32 != key->tag || !handle_is_mapped(tree, (uint32_t)entry)) return 0;
  return tag_is_exact(key->tag) || hash_is_node(tree, manager, (uint32_t)entry, key);
}

/* The entries of a line that have the tag, one bit each. The result is a hint: these reads are
 * unordered and the hits are read again, so the vector form is left out under thread sanitizers. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RT_IS_WATCHED
#endif
#endif
#if defined(__x86_64__) && !defined(RT_IS_WATCHED)
typedef uint32_t RtQuad __attribute__((vector_size(16), may_alias));
typedef float RtSigns __attribute__((vector_size(16)));

static inline uint32_t tags_equal(RtQuad two, RtQuad next, uint32_t tag) {
  RtQuad tags = __builtin_shufflevector(two, next, 1, 3, 5, 7);
  return (uint32_t)__builtin_ia32_movmskps((RtSigns)(tags == (RtQuad){tag, tag, tag, tag}));
}
static inline uint32_t line_find(const uint64_t *line, uint32_t tag) {
  const RtQuad *two = (const RtQuad *)(const void *)line;
  return tags_equal(two[0], two[1], tag) | tags_equal(two[2], two[3], tag) << 4;
}
#else
static inline uint32_t line_find(const uint64_t *line, uint32_t tag) {
  uint32_t found = 0;
  for (uint32_t k = 0; k < RT_LINE; k++)
    found |= (uint32_t)(__atomic_load_n(&line[k], __ATOMIC_RELAXED) >> 32 == tag) << k;
  return found;
}
#endif

/* The handle of the key's node and its entry, or 0. Terminates, since a table always has an entry
 * that ends a search. */
static inline uint32_t table_find(const RtTree *tree, const RtManager *manager, uint64_t table,
                                  const RtKey *key, uint64_t **place) {
  uint64_t *entries = table_entries(tree, table), mask = table_size(table) - 1;
  for (uint64_t at = table_home(table, key->tag);; at = (at + RT_LINE) & mask) {
    uint64_t *line = &entries[at];
    for (uint32_t found = line_find(line, key->tag); found; found &= found - 1) {
      *place = &line[__builtin_ctz(found)];
      uint64_t entry = rt_load_acquire_long(*place); /* others may have deactivated it */
      if (entry_is_of(tree, manager, entry, key)) return (uint32_t)entry;
    }
    if (entry_ends_search(rt_load_long(&line[RT_LINE - 1]))) return 0;
  }
}

/* Stores the entry in the first empty place from its home on, while nothing reads the table. On a
 * GPU, lanes of one warp may do so at once. */
static inline void table_insert(const RtTree *tree, uint64_t table, uint64_t entry) {
  uint64_t *entries = table_entries(tree, table), mask = table_size(table) - 1;
  uint64_t at = table_home(table, (uint32_t)(entry >> 32));
  while (entries[at] || (RT_SHARED && !rt_try_long(&entries[at], 0, entry))) at = (at + 1) & mask;
  if (!RT_SHARED) entries[at] = entry;
}

static inline uint32_t hash_find(const RtTree *tree, const RtManager *manager, const RtKey *key) {
  uint64_t table = rt_load_acquire_long(&manager->table.current), *place;
  return table ? table_find(tree, manager, table, key, &place) : 0;
}

/* hash_table.c, under the lock, which lanes of a group hold together: removes the key and returns
 * its node, or 0 if another thread has removed it. */
uint32_t rt_hash_bury(const RtTree *tree, RtManager *manager, const RtKey *key);
/* hash_room.c: reserves an entry for the caller, or more as RtLocal.permits; 0 if out of memory. */
int rt_permit_take(RtTree *tree, RtTable *table, RtLocal *local);

#endif
