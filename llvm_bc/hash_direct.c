/* hash_direct.c - a dense index of a hash whose cells fill a good part of their bounding box: an
 * array of handles by position in the box, like a pointer's slots. Native only. It takes 4 to 16
 * bytes a cell, a table 13 to 26, so it fits nearer caches, and one gather looks up eight cells. It
 * is built after many look-ups and reflects one version of the manager, as the list does: it is not
 * read once the version changes, nor in tasks that make or remove cells (rt_hash_still_lanes).
 *
 * Invariant: while `version` equals the manager's, no thread writes to the index. The thread that
 * builds it holds the table's lock, and sets `version` last. Decision D-llvm_bc-07. */
#include "hash_direct.h"

enum { MOST_PLACES = 4 }; /* in the box, for each entry of the table that is used */

/* The inverse of an odd number modulo 2^32; each Newton step doubles the number of correct bits. */
static uint32_t inverse(uint32_t odd) {
  uint32_t found = odd;
  for (int k = 0; k < 4; k++) found *= 2 - odd * found;
  return found;
}

/* The inverse of permute_even. */
static uint32_t unpermute_even(uint32_t bits) {
  bits *= inverse(0xc2b2ae35u);
  bits ^= (bits ^ (bits >> 15 & ~1u)) >> 15 & ~1u;
  bits *= inverse(0x85ebca6bu);
  bits ^= bits >> 16 & ~1u;
  return bits * inverse(0x9e3779b1u);
}

/* The inverse of hash_exact_tag. */
static void coordinates_in(const RtManager *manager, uint32_t tag, int64_t *coordinates) {
  uint32_t bits = manager->exact_bits, packed = unpermute_even(tag & ~1u) >> 1;
  for (int32_t a = manager->axis_count - 1; a >= 0; a--) {
    coordinates[a] = (int64_t)(packed & ((1u << bits) - 1)) - ((int64_t)1 << bits >> 1);
    packed >>= bits;
  }
}

/* Returns the number of places in the bounding box; 0 if there is no cell, or one without an exact
 * tag. */
static uint64_t find_box(const RtTree *tree, const RtManager *manager, RtDirect *direct) {
  const uint64_t *entries = table_entries(tree, manager->table.current);
  int64_t last[RT_MAX_AXES];
  uint64_t places = 0;
  for (uint64_t k = 0; k < table_size(manager->table.current); k++) {
    int64_t at[RT_MAX_AXES];
    uint32_t tag = (uint32_t)(rt_load_long(&entries[k]) >> 32);
    if (!tag) continue;
    if (!tag_is_exact(tag)) return 0;
    coordinates_in(manager, tag, at);
    for (int32_t a = 0; a < manager->axis_count; a++) {
      if (!places || at[a] < direct->first[a]) direct->first[a] = at[a];
      if (!places || at[a] > last[a]) last[a] = at[a];
    }
    places = 1;
  }
  for (int32_t a = 0; a < manager->axis_count && places; a++) {
    direct->counts[a] = (uint64_t)(last[a] - direct->first[a]) + 1;
    places *= direct->counts[a]; /* below 2^31 */
  }
  return places;
}

static int have_room(RtContext *context, RtDirect *direct, uint64_t places) {
  if (places > direct->capacity) {
    uint32_t *handles = table_grow(context, direct->handles, direct->capacity * sizeof *handles,
                                   places * sizeof *handles);
    if (!handles) return 0;
    direct->handles = handles;
    direct->capacity = places;
  }
  rt_memory_zero((uint8_t *)direct->handles, places * sizeof *direct->handles);
  return 1;
}

static void fill(const RtTree *tree, const RtManager *manager, RtDirect *direct) {
  const uint64_t *entries = table_entries(tree, manager->table.current);
  for (uint64_t k = 0; k < table_size(manager->table.current); k++) {
    int64_t coordinates[RT_MAX_AXES];
    uint64_t entry = rt_load_long(&entries[k]), at = 0;
    if (!entry_is_node(entry)) continue;
    coordinates_in(manager, (uint32_t)(entry >> 32), coordinates);
    for (int32_t a = 0; a < manager->axis_count; a++)
      at = at * direct->counts[a] + (uint64_t)(coordinates[a] - direct->first[a]);
    direct->handles[at] = (uint32_t)entry;
  }
}

void rt_hash_direct_make(RtContext *context, const RtTree *tree, RtManager *manager) {
  RtDirect *direct = &manager->direct;
  RtTable *table = &manager->table;
  if (tree->foreign || !manager->exact_bits || !rt_swap(&table->lock, 0, 1)) return;
  uint64_t version = manager->version;
  if (rt_load_long(&direct->version) != version && direct->refused != version) {
    uint64_t places = find_box(tree, manager, direct);
    if (places && places <= MOST_PLACES * rt_load_long(&table->used) &&
        have_room(context, direct, places)) {
      fill(tree, manager, direct);
      rt_store_release_long(&direct->version, version);
    } else {
      direct->refused = version;
    }
  }
  rt_unlock(&table->lock);
}
