// histogram.c - ../ours/histogram.lua by hand: a table per thread while they fit the second cache,
// else atomic additions.
#include "bench.h"

static uint32_t *key;
static int32_t *count, *own;
static long bins, n;
static int threads;

static void setup(int argc, char **argv) {
  bins = argument(argc, argv, 1, 256);
  n = argument(argc, argv, 2, 16777216);
  threads = omp_get_max_threads();
  key = pages((size_t)n * 4);
  count = pages((size_t)bins * 4);
  own = pages((size_t)bins * 4 * (size_t)threads);
  for (long i = 0; i < n; i++) key[i] = (uint32_t)(noise((uint32_t)i) * 16777216);
}

static void start(void) {}

static void step(void) {
  int is_private = bins <= 65536 || threads == 1;
  uint32_t mask = (uint32_t)bins - 1; // a power of two
  memset(count, 0, (size_t)bins * 4);
#pragma omp parallel num_threads(threads)
  {
    int32_t *to = is_private ? own + bins * omp_get_thread_num() : count;
    if (is_private) memset(to, 0, (size_t)bins * 4);
#pragma omp for schedule(static)
    for (long i = 0; i < n; i++)
      if (is_private) to[key[i] & mask]++;
      else __atomic_fetch_add(&to[key[i] & mask], 1, __ATOMIC_RELAXED);
  }
  for (int t = 0; t < threads && is_private; t++)
    for (long b = 0; b < bins; b++) count[b] += own[bins * t + b];
}

static double checksum(void) {
  double s = 0;
  for (long b = 0; b < bins; b++) s += (double)count[b] * (double)(1 + b % 7);
  return s;
}
