/* hash_lanes.c - operations on cells of a hash for all lanes of vectorised code: native only. The
 * table's lines are prefetched for all lanes before the first is read, so that the misses overlap.
 * The common keys have exact tags, so that comparing tags is enough. */
#include "hash_direct.h"
#include "hash_wide.h"

enum { MOST_LANES = 64 };

typedef struct Lanes {
  const RtTree *tree;
  const RtManager *manager;
  uint64_t table;
  int32_t width;
  const int64_t *coordinates; /* by axis, then by lane */
  uint32_t tags[MOST_LANES];  /* exact ones */
} Lanes;

static Lanes lanes_of(const RtContext *context, int32_t tree_index, int32_t number, int32_t width,
                      const int64_t *coordinates) {
  Lanes l;
  l.tree = context->trees[tree_index];
  l.manager = &l.tree->managers[number];
  l.table = rt_load_acquire_long(&l.manager->table.current);
  l.width = width;
  l.coordinates = coordinates;
  return l;
}

/* Prefetches the lines; returns the lanes with exact tags. */
static uint64_t fetch(Lanes *l, uint64_t running) {
  const uint64_t *entries = table_entries(l->tree, l->table);
  uint64_t exact = 0;
  for (uint64_t left = running; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    uint32_t tag = hash_exact_tag(l->manager, l->coordinates + lane, l->width);
    l->tags[lane] = tag;
    exact |= (uint64_t)tag_is_exact(tag) << lane;
    __builtin_prefetch(&entries[table_home(l->table, tag)]);
  }
  return exact;
}

/* Searches on from a first line that does not have the tag. */
static uint32_t find_beyond(const Lanes *l, const uint64_t *line, uint32_t tag) {
  uint64_t *place;
  const RtKey key = {0, tag, 0};
  if (entry_ends_search(rt_load_long(&line[RT_LINE - 1]))) return 0;
  return table_find(l->tree, l->manager, l->table, &key, &place);
}

/* Sets the nodes of these lanes, and returns the lanes that have one. Keys with exact tags have no
 * parent node, so the parents in `nodes` are not needed any more. */
static uint64_t find_exact(const Lanes *l, uint64_t exact, uint8_t **nodes) {
  const uint64_t *entries = table_entries(l->tree, l->table);
  uint64_t found = exact;
  for (uint64_t left = exact; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    uint32_t tag = l->tags[lane];
    const uint64_t *line = &entries[table_home(l->table, tag)];
    uint32_t places = line_find(line, tag);
    uint64_t entry = places ? rt_load_acquire_long(&line[__builtin_ctz(places)]) : 0;
    uint32_t handle = entry >> 32 == tag ? (uint32_t)entry : find_beyond(l, line, tag);
    if (!handle) found &= ~((uint64_t)1 << lane);
    nodes[lane] = node_address(l->tree, handle);
  }
  return found;
}

static void coordinates_of_lane(const Lanes *l, int lane, int64_t *coordinates) {
  for (int32_t a = 0; a < l->manager->axis_count; a++)
    coordinates[a] = l->coordinates[a * l->width + lane];
}

static uint64_t find_others(const Lanes *l, uint64_t others, uint8_t **nodes) {
  uint64_t found = 0;
  for (uint64_t left = others; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    int64_t coordinates[RT_MAX_AXES];
    RtKey key;
    coordinates_of_lane(l, lane, coordinates);
    if (!hash_key(l->tree, l->manager, nodes[lane], coordinates, &key)) continue;
    uint32_t handle = hash_find(l->tree, l->manager, &key);
    if (!handle) continue;
    found |= (uint64_t)1 << lane;
    nodes[lane] = node_address(l->tree, handle);
  }
  return found;
}

#if defined(RT_HASH_WIDE)
/* Sets the nodes that are found in the first line of their lane, and returns these lanes. */
WIDE static uint64_t find_near(const Lanes *l, uint8_t **nodes) {
  Wide wide[MOST_LANES / EIGHT];
  uint64_t found = 0;
  for (int32_t k = 0; k < l->width; k += EIGHT)
    wide_fetch(&wide[k / EIGHT], l->tree, l->manager, l->table, l->coordinates, k, l->width);
  for (int32_t k = 0; k < l->width; k += EIGHT)
    found |= (uint64_t)wide_find(&wide[k / EIGHT], l->tree, nodes + k) << k;
  return found;
}
#endif

static uint64_t find(Lanes *l, uint64_t running, uint8_t **nodes) {
  uint64_t near = 0;
  if (!l->table) return 0;
#if defined(RT_HASH_WIDE)
  if (l->manager->exact_bits && wide_is_there()) near = find_near(l, nodes) & running;
  if (near == running) return near;
#endif
  uint64_t rest = running & ~near, exact = l->manager->exact_bits ? fetch(l, rest) : 0;
  uint64_t found = near | find_exact(l, exact, nodes);
  return exact == rest ? found : found | find_others(l, rest & ~exact, nodes);
}

void rt_hash_find_lanes(RtContext *context, int32_t tree, int32_t manager, int64_t running,
                        int32_t width, uint8_t **nodes, const int64_t *coordinates) {
  Lanes l = lanes_of(context, tree, manager, width, coordinates);
  uint64_t found = find(&l, (uint64_t)running, nodes), all = ~(uint64_t)0 >> (64 - width);
  for (uint64_t left = all & ~found; left; left &= left - 1)
    nodes[__builtin_ctzll(left)] = context->ambient;
}

/* -- by the dense index ------------------------------------------------------------------------ */

static uint32_t direct_handle(const RtDirect *direct, int32_t axis_count,
                              const int64_t *coordinates, int32_t stride) {
  uint64_t at = 0;
  int is_inside = 1;
  for (int32_t a = 0; a < axis_count; a++) {
    uint64_t digit = (uint64_t)coordinates[a * stride] - (uint64_t)direct->first[a];
    is_inside &= digit < direct->counts[a];
    at = at * direct->counts[a] + digit;
  }
  return is_inside ? direct->handles[at] : 0;
}

#if defined(RT_HASH_WIDE)
/* The places of eight lanes are below 2^32. */
WIDE static inline void direct_find_wide(const RtContext *context, const RtTree *tree,
                                         const RtDirect *direct, int32_t axis_count,
                                         __mmask8 running, int32_t width, uint8_t **nodes,
                                         const int64_t *coordinates) {
  __m512i at = _mm512_setzero_si512();
  __mmask8 inside = running;
  for (int32_t a = 0; a < axis_count; a++) {
    __m512i count = _mm512_set1_epi64((long long)direct->counts[a]);
    __m512i digit = _mm512_maskz_loadu_epi64(running, coordinates + (int64_t)a * width);
    digit = _mm512_sub_epi64(digit, _mm512_set1_epi64((long long)direct->first[a]));
    inside = _mm512_mask_cmplt_epu64_mask(inside, digit, count);
    at = _mm512_add_epi64(a ? _mm512_mul_epu32(at, count) : at, digit);
  }
  __m256i handles = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), inside, at,
                                                (const int *)direct->handles, 4);
  __mmask8 found = _mm256_test_epi32_mask(handles, handles);
  __m512i bytes = _mm512_slli_epi64(_mm512_cvtepu32_epi64(handles), GRANULE_LOG2);
  __m512i ambient = _mm512_set1_epi64((long long)(uint64_t)context->ambient);
  __m512i cells = _mm512_add_epi64(bytes, _mm512_set1_epi64((long long)(uint64_t)tree->base));
  cells = _mm512_mask_blend_epi64(found, ambient, cells);
  if (width >= EIGHT) _mm512_storeu_si512(nodes, cells);
  else _mm512_mask_storeu_epi64(nodes, (__mmask8)((1 << width) - 1), cells);
}
#endif

/* Lanes without a cell, and lanes that do not run, get the ambient. */
static void direct_find(const RtContext *context, const RtTree *tree, const RtDirect *direct,
                        int32_t axis_count, uint64_t running, int32_t width, uint8_t **nodes,
                        const int64_t *coordinates) {
#if defined(RT_HASH_WIDE)
  if (wide_is_there()) {
    for (int32_t k = 0; k < width; k += EIGHT)
      direct_find_wide(context, tree, direct, axis_count, (__mmask8)(running >> k), width,
                       nodes + k, coordinates + k);
    return;
  }
#endif
  for (int32_t lane = 0; lane < width; lane++) {
    uint32_t handle =
        running >> lane & 1 ? direct_handle(direct, axis_count, coordinates + lane, width) : 0;
    nodes[lane] = handle ? node_address(tree, handle) : context->ambient;
  }
}

void rt_hash_still_lanes(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t number,
                         int64_t running, int32_t width, uint8_t **nodes,
                         const int64_t *coordinates) {
  const RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[number];
  if (direct_is_current(tree, manager)) {
    direct_find(context, tree, &manager->direct, manager->axis_count, (uint64_t)running, width,
                nodes, coordinates);
    return;
  }
  rt_hash_find_lanes(context, tree_index, number, running, width, nodes, coordinates);
  if (worker->index) return;
  uint64_t *asked = &manager->direct.asked;
  *asked += (uint64_t)width;
  if (*asked < rt_load_long(&manager->table.used) * RT_DIRECT_PAYS) return;
  *asked = 0;
  rt_hash_direct_make(context, tree, manager);
}

/* -- prefetch ---------------------------------------------------------------------------------- */

void rt_hash_fetch_lanes(RtContext *context, int32_t tree, int32_t manager, int32_t width,
                         const int64_t *coordinates) {
  Lanes l = lanes_of(context, tree, manager, width, coordinates);
  if (!l.table || direct_is_current(l.tree, l.manager)) return;
#if defined(RT_HASH_WIDE)
  Wide wide;
  if (wide_is_there()) {
    for (int32_t k = 0; k < width; k += EIGHT)
      wide_fetch(&wide, l.tree, l.manager, l.table, coordinates, k, width);
    return;
  }
#endif
  fetch(&l, ~(uint64_t)0 >> (64 - width));
}

/* An earlier lane may have activated the cell of a later one. */
void rt_hash_ensure_lanes(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                          int64_t running, int32_t width, uint8_t **nodes,
                          const int64_t *coordinates) {
  Lanes l = lanes_of(context, tree, manager, width, coordinates);
  uint64_t found = find(&l, (uint64_t)running, nodes);
  for (uint64_t left = (uint64_t)running & ~found; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    int64_t own[RT_MAX_AXES];
    coordinates_of_lane(&l, lane, own);
    nodes[lane] = rt_hash_ensure(context, worker, tree, manager, nodes[lane], own);
  }
}

/* -- deactivate -------------------------------------------------------------------------------- */

/* Prefetches what node_retire writes. */
static void fetch_entries(const Lanes *l, uint64_t found, uint8_t *const *nodes) {
  for (uint64_t left = found; left; left &= left - 1) {
    RtNode node = node_around(l->tree, l->manager, nodes[__builtin_ctzll(left)]);
    __builtin_prefetch(node.state, 1);
    __builtin_prefetch(node.info, 1);
    __builtin_prefetch(node.touched, 1);
  }
}

/* Removes the keys of the lanes in `found`, which have nodes; returns `found` without the lanes
 * whose keys other threads have removed. */
static uint64_t bury(const Lanes *l, RtManager *manager, uint64_t found, uint8_t *const *above,
                     uint8_t **nodes) {
  for (uint64_t left = found; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    int64_t coordinates[RT_MAX_AXES];
    RtKey key;
    coordinates_of_lane(l, lane, coordinates);
    hash_key(l->tree, manager, above[lane], coordinates, &key);
    uint32_t handle = rt_hash_bury(l->tree, manager, &key);
    nodes[lane] = node_address(l->tree, handle);
    if (!handle) found &= ~((uint64_t)1 << lane);
  }
  return found;
}

/* Takes the lock once for all lanes, and releases it before it writes to the nodes, whose memory is
 * cold. */
void rt_hash_clear_lanes(RtContext *context, RtWorker *worker, int32_t tree_index, int32_t number,
                         int64_t running, int32_t width, uint8_t **nodes,
                         const int64_t *coordinates) {
  Lanes l = lanes_of(context, tree_index, number, width, coordinates);
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[number];
  RtLocal *local = local_of(manager, worker);
  int others = !rt_is_alone(context);
  uint8_t *above[MOST_LANES];
  for (int lane = 0; lane < width; lane++) above[lane] = nodes[lane];
  uint64_t found = find(&l, (uint64_t)running, nodes);
  if (!found) return;
  fetch_entries(&l, found, nodes);
  if (others) rt_lock(&manager->table.lock);
  found = bury(&l, manager, found, above, nodes);
  if (others) rt_unlock(&manager->table.lock);
  for (uint64_t left = found; left; left &= left - 1)
    rt_node_recycle(tree, manager, local, node_handle(tree, nodes[__builtin_ctzll(left)]));
  rt_tree_touch(tree);
}
