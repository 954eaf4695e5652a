/* draws.c - draws.lua in hand-written C: "philox" computes the same numbers, a block of
 * Philox4x32-10 for each; "xoshiro" draws from xoshiro128+ (Blackman and Vigna), a state per
 * thread, which is as fast as good generators with a state are.
 * usage: draws philox|xoshiro [numbers] [repetitions]. One JSON line; the checksum is how many of
 * the first fill are below a half. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPS = 99 };

static float *x;
static int64_t n;

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

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
    for (int64_t i = 0; i < n; i++) x[i] = (float)(int32_t)(next(s) >> 8) * 0x1p-24f;
  }
}

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

int main(int argc, char **argv) {
  const char *variant = argc > 1 ? argv[1] : "philox";
  void (*fill)(uint64_t stream) = !strcmp(variant, "philox") ? fill_philox : fill_xoshiro;
  int reps = argc > 3 ? atoi(argv[3]) : 9;
  long below = 0;
  double rates[MOST_REPS];
  n = argc > 2 ? atoll(argv[2]) : 4194304;
  if (reps > MOST_REPS) reps = MOST_REPS;
  x = malloc((size_t)n * sizeof *x);
  if (!x) return 1;
  fill(0);
  for (int64_t i = 0; i < n; i++) below += x[i] < 0.5f;
  for (int rep = 0; rep < reps; rep++) {
    double begin = omp_get_wtime();
    fill((uint64_t)rep + 1);
    rates[rep] = (double)n / (omp_get_wtime() - begin) / 1e6;
  }
  qsort(rates, (size_t)reps, sizeof *rates, ascending);
  printf("{\"bench\":\"draws\",\"variant\":\"%s\",\"threads\":%d,\"median_rate\":%.3f,"
         "\"checksum\":%ld}\n",
         variant, omp_get_max_threads(), rates[(reps + 1) / 2 - 1], below);
  return 0;
}
