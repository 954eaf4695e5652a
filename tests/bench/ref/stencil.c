// stencil.c - the sweeps of ../ours/stencil.lua.
#include "bench.h"

static float *restrict x, *restrict y;
static long axes, n, cells;

static void setup(int argc, char **argv) {
  axes = argument(argc, argv, 1, 2);
  n = argument(argc, argv, 2, 4096);
  cells = axes == 2 ? n * n : n * n * n;
  x = pages((size_t)cells * 4), y = pages((size_t)cells * 4);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < cells; i++) x[i] = noise((uint32_t)i);
}
static void start(void) {}

static void step(void) {
  const float a = 0.1f;
  const long m = n * n;
  if (axes == 2) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < n - 1; i++) {
      const float *c = x + i * n;
      float *o = y + i * n;
#pragma omp simd
      for (long j = 1; j < n - 1; j++)
        o[j] = c[j] + a * (c[j - n] + c[j + n] + c[j - 1] + c[j + 1] - 4 * c[j]);
    }
    return;
  }
#pragma omp parallel for collapse(2) schedule(static)
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++) {
      const float *c = x + i * m + j * n;
      float *o = y + i * m + j * n;
#pragma omp simd
      for (long k = 1; k < n - 1; k++)
        o[k] =
            c[k] + a * (c[k - m] + c[k + m] + c[k - n] + c[k + n] + c[k - 1] + c[k + 1] - 6 * c[k]);
    }
}
static double checksum(void) {
  double s = 0;
#pragma omp parallel for schedule(static) reduction(+ : s)
  for (long i = 0; i < cells; i++) s += (double)y[i];
  return s / (double)cells;
}
