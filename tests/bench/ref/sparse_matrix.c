// sparse_matrix.c - ../ours/sparse_matrix.lua by hand: products alone.
#include "bench.h"

static long n, size;
static int32_t *starts, *columns;
static double *values, *x, *y;

static void setup(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "product") != 0) exit(1);
  n = argument(argc, argv, 2, 1000);
  size = n * n;
  starts = pages((size_t)(size + 1) * 4);
  columns = pages((size_t)size * 5 * 4);
  values = pages((size_t)size * 5 * 8);
  x = pages((size_t)size * 8);
  y = pages((size_t)size * 8);
  int32_t count = 0;
  for (long k = 0; k < size; k++) {
    long i = k / n, j = k % n;
    long to[5] = {i > 0 ? k - n : -1, j > 0 ? k - 1 : -1, k, j < n - 1 ? k + 1 : -1,
                  i < n - 1 ? k + n : -1};
    for (int e = 0; e < 5; e++) {
      if (to[e] < 0) continue;
      columns[count] = (int32_t)to[e];
      values[count++] = e == 2 ? 4 : -1;
    }
    starts[k + 1] = count;
    x[k] = noise((uint32_t)k);
  }
}

static void start(void) {}

static void step(void) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < size; i++) {
    double sum = 0;
    for (int32_t k = starts[i]; k < starts[i + 1]; k++) sum += values[k] * x[columns[k]];
    y[i] = sum;
  }
}

static double checksum(void) {
  double s = 0;
  step();
  for (long k = 0; k < size; k++) s += y[k] * (double)(1 + k % 7);
  return s;
}
