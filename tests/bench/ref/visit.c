// visit.c - ../ours/visit.lua by hand: a list of leaves, and a mask of 512 bits in each where cells
// are active one by one.
#include "bench.h"

typedef struct {
  uint64_t mask[8];
  float value[512];
} Leaf;

static Leaf *leaves;
static float *cells;
static long leaf_count, leaf_cells;
static int has_mask;

static void setup(int argc, char **argv) {
  char phase = argc > 1 ? argv[1][1] : 'u'; // full few one small
  long root = argument(argc, argv, 2, 64), every = phase == 'm' ? 256 : 8;
  int each = phase == 'e' ? 16 : 1;
  has_mask = phase == 'e' || phase == 'n';
  leaf_count = root * root * root / every;
  leaf_cells = phase == 'm' ? 64 : 512;
  if (!has_mask) {
    cells = pages((size_t)(leaf_count * leaf_cells) * 4);
    return;
  }
  leaves = pages((size_t)leaf_count * sizeof *leaves);
  for (long l = 0; l < leaf_count; l++)
    for (int c = 0; c < each; c++) {
      long q = l * every, at = (31 * c + q / (root * root) + q / root % root) % 512;
      leaves[l].mask[at >> 6] |= 1ull << (at & 63);
      leaves[l].value[at] = 1;
    }
}

static void start(void) {}

static void step(void) {
  if (!has_mask) {
    long n = leaf_count * leaf_cells;
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) cells[i] += 1;
    return;
  }
#pragma omp parallel for schedule(static)
  for (long l = 0; l < leaf_count; l++)
    for (int w = 0; w < 8; w++)
      for (uint64_t m = leaves[l].mask[w]; m; m &= m - 1)
        leaves[l].value[w * 64 + __builtin_ctzll(m)] += 1;
}

static double checksum(void) {
  double n = 0;
  if (!has_mask) {
    for (long i = 0; i < leaf_count * leaf_cells; i++) n += cells[i] > 0;
    return n;
  }
  for (long l = 0; l < leaf_count; l++)
    for (int i = 0; i < 512; i++) n += leaves[l].value[i] > 0;
  return n;
}
