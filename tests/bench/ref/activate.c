// activate.c - ../ours/activate.lua by hand: a dense root of slots over leaves of 8^3 cells, with a
// mask of 512 bits where asked for. Nodes come from magazines of each thread and are zeroed as they
// are handed out; touches are pipelined in software, a slot two distances ahead, a leaf one.
#include "bench.h"
#include <stdatomic.h>

enum { BATCH = 64, LOCK = 1, AHEAD = 12, CELLS = 512 };
typedef struct {
  uint32_t free[BATCH], *live;
  long free_count, live_count;
  char pad[64];
} Cache;

static _Atomic uint32_t *root; // 0: absent, LOCK: being made, else the leaf's number + 2
static char *pool;
static Cache *caches;
static uint32_t *freed;
static _Atomic long fresh, freed_count;
static long capacity, count, slots;
static size_t leaf_bytes;
static int has_mask;
static char phase;

static float *values(uint32_t leaf) {
  return (float *)(pool + leaf_bytes * leaf) + (has_mask ? 16 : 0);
}
static _Atomic uint64_t *masks(uint32_t leaf) {
  return (_Atomic uint64_t *)(pool + leaf_bytes * leaf);
}

static uint32_t take(Cache *c) {
  if (!c->free_count) { // a batch of freed nodes, else fresh ones
    long end = atomic_fetch_sub_explicit(&freed_count, BATCH, memory_order_acq_rel);
    long k = end < 0 ? 0 : end < BATCH ? end : BATCH;
    if (k < BATCH) atomic_fetch_add_explicit(&freed_count, BATCH - k, memory_order_relaxed);
    while (c->free_count < k) {
      c->free[c->free_count] = freed[end - k + c->free_count];
      c->free_count++;
    }
    if (!k) {
      long first = atomic_fetch_add_explicit(&fresh, BATCH, memory_order_relaxed);
      if (first + BATCH > capacity) exit(1);
      for (int i = BATCH - 1; i >= 0; i--) c->free[c->free_count++] = (uint32_t)(first + i);
    }
  }
  return c->free[--c->free_count];
}

static uint32_t make(uint32_t slot, Cache *c) {
  uint32_t v = 0;
  if (atomic_compare_exchange_strong_explicit(&root[slot], &v, LOCK, memory_order_acquire,
                                              memory_order_acquire)) {
    uint32_t leaf = take(c);
    memset(pool + leaf_bytes * leaf, 0, leaf_bytes);
    c->live[c->live_count++] = slot;
    atomic_store_explicit(&root[slot], leaf + 2, memory_order_release);
    return leaf;
  }
  while ((v = atomic_load_explicit(&root[slot], memory_order_acquire)) == LOCK)
    __builtin_ia32_pause();
  return v - 2;
}

static inline void look_ahead(long i) {
  uint64_t near = hash64((uint64_t)i + AHEAD);
  __builtin_prefetch(&root[(hash64((uint64_t)i + 2 * AHEAD) >> 9) % (uint64_t)slots], 0, 3);
  uint32_t v = atomic_load_explicit(&root[(near >> 9) % (uint64_t)slots], memory_order_relaxed);
  if (v <= LOCK) return;
  if (has_mask) __builtin_prefetch(masks(v - 2) + ((near & 511) >> 6), 1, 3);
  __builtin_prefetch(values(v - 2) + (near & 511), 1, 3);
}

static void touch(void) {
#pragma omp parallel
  {
    Cache *c = caches + omp_get_thread_num();
#pragma omp for schedule(static)
    for (long i = 0; i < count; i++) {
      uint64_t h = hash64((uint64_t)i), bit = 1ull << (h & 63);
      uint32_t slot = (uint32_t)((h >> 9) % (uint64_t)slots), cell = h & 511;
      look_ahead(i);
      uint32_t v = atomic_load_explicit(&root[slot], memory_order_acquire);
      uint32_t leaf = v > LOCK ? v - 2 : make(slot, c);
      if (has_mask && !(atomic_load_explicit(&masks(leaf)[cell >> 6], memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&masks(leaf)[cell >> 6], bit, memory_order_relaxed);
      values(leaf)[cell] = (float)cell;
    }
  }
}

static void drop(void) {
#pragma omp parallel
  {
    Cache *c = caches + omp_get_thread_num();
    long at = atomic_fetch_add_explicit(&freed_count, c->live_count, memory_order_relaxed);
    for (long i = 0; i < c->live_count; i++) {
      freed[at + i] = root[c->live[i]] - 2;
      atomic_store_explicit(&root[c->live[i]], 0, memory_order_relaxed);
    }
    c->live_count = 0;
  }
}

static void setup(int argc, char **argv) {
  long side = argument(argc, argv, 3, 64);
  int threads = omp_get_max_threads();
  phase = argc > 1 ? argv[1][0] : 't';
  has_mask = argc < 3 || argv[2][0] == 'b';
  count = argument(argc, argv, 4, 4194304);
  slots = side * side * side;
  leaf_bytes = CELLS * 4 + (has_mask ? 64 : 0);
  capacity = slots + 4 * BATCH * threads;
  root = pages((size_t)slots * 4);
  freed = pages((size_t)capacity * 4);
  pool = pages((size_t)capacity * leaf_bytes);
  caches = calloc((size_t)threads, sizeof *caches);
  for (int t = 0; t < threads; t++) caches[t].live = pages((size_t)capacity * 4);
  touch();
}

static void start(void) {
  if (phase == 't') drop();
  if (phase == 'd') touch();
}

static void step(void) {
  if (phase == 'c' || phase == 'd') drop();
  if (phase != 'd') touch();
}

static double checksum(void) {
  double s = 0;
  for (int t = 0; t < omp_get_max_threads(); t++)
    for (long i = 0; i < caches[t].live_count; i++)
      for (int k = 0; k < CELLS; k++) s += (double)values(root[caches[t].live[i]] - 2)[k];
  return s;
}
