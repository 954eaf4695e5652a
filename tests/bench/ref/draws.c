// draws.c - ../ours/draws.lua by hand: "fill" computes the same numbers, a block of Philox4x32-10
// for each; "state" draws from xoshiro128+ (Blackman and Vigna), a state per thread, which is as
// fast as good generators with a state are, and "loop" 16 times from it.
#include "bench.h"

static uint64_t mix(uint64_t z) { return hash64(z - 0x9E3779B97F4A7C15u); }

static float *x;
static int64_t n;
static int is_stateful, turns;
static uint64_t stream;

static uint32_t philox(uint64_t key, uint64_t index) {
  uint64_t c0 = (uint32_t)index, c1 = index >> 32, c2 = 0, c3 = 0, k0 = (uint32_t)key,
           k1 = key >> 32;
  for (int round = 0; round < 10; round++) {
    uint64_t a = 0xd2511f53u * c0, b = 0xcd9e8d57u * c2;
    c0 = (b >> 32) ^ c1 ^ k0, c1 = (uint32_t)b;
    c2 = (a >> 32) ^ c3 ^ k1, c3 = (uint32_t)a;
    k0 = (uint32_t)(k0 + 0x9e3779b9u), k1 = (uint32_t)(k1 + 0xbb67ae85u);
  }
  return (uint32_t)c0;
}

static void fill_philox(uint64_t stream) {
  const uint64_t step = 0x9e3779b97f4a7c15u, key = mix(mix(1 + step) + stream * step);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) x[i] = (float)(int32_t)(philox(key, (uint64_t)i) >> 8) * 0x1p-24f;
}

static uint32_t next(uint32_t s[4]) {
  uint32_t result = s[0] + s[3], t = s[1] << 9;
  s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
  s[3] = s[3] << 11 | s[3] >> 21;
  return result;
}

static void fill_xoshiro(uint64_t stream) {
#pragma omp parallel
  {
    uint32_t s[4];
    for (int k = 0; k < 4; k++)
      s[k] = (uint32_t)mix(stream * 1000 + (uint64_t)omp_get_thread_num() * 4 + (uint64_t)k + 1);
#pragma omp for schedule(static)
    for (int64_t i = 0; i < n; i++) {
      float sum = 0;
      for (int k = 0; k < turns; k++) sum += (float)(int32_t)(next(s) >> 8) * 0x1p-24f;
      x[i] = sum / (float)turns;
    }
  }
}

static void setup(int argc, char **argv) {
  turns = argc > 1 && !strcmp(argv[1], "loop") ? 16 : 1;
  is_stateful = turns > 1 || (argc > 1 && !strcmp(argv[1], "state"));
  n = argument(argc, argv, 2, 4194304);
  x = pages((size_t)n * sizeof *x);
}

static void start(void) { stream = 0; }

static void step(void) {
  if (is_stateful) fill_xoshiro(stream++);
  else fill_philox(stream++);
}

static double checksum(void) {
  long below = 0;
  for (int64_t i = 0; i < n; i++) below += x[i] < 0.5f;
  return (double)below / (double)n;
}
