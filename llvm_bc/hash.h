/* hash.h - look-up in a table of coordinates: linked into kernels by node_hash.c, and under a lock
 * by hash_table.c.
 *
 *     entry: | tag 32 | handle 32 |     0 empty     handle 1: a tombstone, the cell was deactivated
 *
 * The tag is the key's hash; its top bits are the home, where linear probing begins. A key is the
 * parent node and the coordinates; it is stored in the node's info, so the table holds 8 bytes per
 * cell.
 *
 * An odd tag is exact: all coordinates, RtManager.exact_bits each, permuted. So equal ones are
 * equal keys, and the look-up reads no info. Keys with no parent node have such tags if their
 * coordinates fit; the others' tags are even. */
#ifndef RG_RT_HASH_H
#define RG_RT_HASH_H

#include "atomic.h"
#include "node.h"

enum { RT_TOMBSTONE = 1 };

typedef struct RtKey {
  uint32_t parent, tag;
  const int64_t *coordinates;
} RtKey;

/* One to one for even numbers; the top bits depend on all. */
static inline uint32_t permute_even(uint32_t bits) {
  bits *= 0x9e3779b1u;
  bits ^= bits >> 16 & ~1u;
  bits *= 0x85ebca6bu;
  bits ^= bits >> 15 & ~1u;
  return bits * 0xc2b2ae35u;
}

static inline uint32_t hash_tag(const RtManager *manager, uint32_t parent,
                                const int64_t *coordinates) {
  uint32_t bits = manager->exact_bits;
  uint64_t hash = parent, packed = 0, rest = !bits;
  for (int32_t a = 0; a < manager->axis_count; a++) {
    uint64_t at = (uint64_t)coordinates[a] + ((uint64_t)1 << bits >> 1);
    packed = packed << bits | at;
    rest |= at >> bits;
    hash = (hash ^ (uint64_t)coordinates[a]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  if (!rest) return permute_even((uint32_t)packed << 1) | 1;
  return (uint32_t)(hash * 0xbf58476d1ce4e5b9u >> 32) & ~1u;
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

static inline uint64_t table_home(uint64_t table, uint32_t tag) {
  return (uint64_t)tag >> (32 - table_log2(table));
}

static inline int hash_is_node(const RtTree *tree, const RtManager *manager, uint32_t handle,
                               const RtKey *key) {
  const RtNodeInfo *info = node_get(tree, manager, handle).info;
  int differs = info->parent != key->parent;
  for (int32_t a = 0; a < manager->axis_count; a++)
    differs |= info->coordinates[a] != key->coordinates[a];
  return !differs;
}

/* The handle of the key's node, and its entry; 0: none. A table always has an empty entry. */
static inline uint32_t table_find(const RtTree *tree, const RtManager *manager, uint64_t table,
                                  const RtKey *key, uint64_t **place) {
  uint64_t *entries = table_entries(tree, table), mask = ((uint64_t)1 << table_log2(table)) - 1;
  for (uint64_t at = table_home(table, key->tag);; at = (at + 1) & mask) {
    uint64_t entry = rt_load_acquire_long(&entries[at]);
    uint32_t handle = (uint32_t)entry;
    if (!entry) return 0;
    if (entry >> 32 != key->tag || handle == RT_TOMBSTONE) continue;
    if (!tag_is_exact(key->tag) && !hash_is_node(tree, manager, handle, key)) continue;
    *place = &entries[at];
    return handle;
  }
}

static inline uint32_t hash_find(const RtTree *tree, const RtManager *manager, const RtKey *key) {
  uint64_t table = rt_load_acquire_long(&manager->table.current), *place;
  return table ? table_find(tree, manager, table, key, &place) : 0;
}

#endif
