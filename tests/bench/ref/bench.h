/* bench.h - what the programs in C share, as ../ours/bench.lua is for ours. A program includes it
 * and defines the four functions below; `main` is here. */
#ifndef BENCH_H
#define BENCH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void setup(int argc, char **argv);
static void start(void); /* makes the first state */
static void step(void);  /* what is timed */
static double checksum(void);

/* The word of the command line at `k`, from 1, as a number. */
static inline long argument(int argc, char **argv, int k, long otherwise) {
  return argc > k ? atol(argv[k]) : otherwise;
}

/* Zeros on pages of 2 MiB, where the system has them. */
static inline void *pages(size_t bytes) {
  size_t size = (bytes + (2u << 20) - 1) & ~(size_t)((2u << 20) - 1);
  void *memory = aligned_alloc(2u << 20, size);
  if (!memory) exit(1);
  madvise(memory, size, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < (long)(size >> 12); i++) memset((char *)memory + (i << 12), 0, 4096);
  return memory;
}

/* A number in [0, 1) made from `k`, the same in every language. */
static inline float noise(uint32_t k) {
  uint32_t h = k * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  h ^= h >> 13;
  return (float)(int32_t)(h >> 8) * (1 / 16777216.0f);
}

/* splitmix64 */
static inline uint64_t hash64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
static inline float hashf(uint64_t x) { return (float)(hash64(x) >> 40) * (1 / 16777216.0f); }

int main(int argc, char **argv) {
  const char *word = getenv("STEPS");
  int steps = word ? atoi(word) : 1;
  char line[64] = "go 1";
  if ((word = getenv("THREADS"))) omp_set_num_threads(atoi(word));
  setup(argc, argv);
  for (int first = 1; first || fgets(line, sizeof line, stdin); first = 0) {
    int passes = 0;
    double sum = 0;
    if (!strncmp(line, "checksum", 8)) printf("bench: %.12g\n", checksum());
    else if (sscanf(line, "go %d", &passes) != 1) return 0;
    for (int pass = 0; pass < passes; pass++) {
      start();
      double begin = omp_get_wtime();
      for (int k = 0; k < steps; k++) step();
      sum += (omp_get_wtime() - begin) / steps * 1e3;
    }
    if (first) printf("bench: ready\n");
    else if (passes) printf("bench: %.9g\n", sum / passes);
    fflush(stdout);
  }
  return 0;
}
#endif
