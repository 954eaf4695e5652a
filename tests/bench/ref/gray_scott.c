// gray_scott.c - ../ours/gray_scott.lua by hand: the middle of each row in vectors, its ends apart.
#include "bench.h"

static float *u, *v, *next_u, *next_v;
static long n;

static void setup(int argc, char **argv) {
  n = argument(argc, argv, 1, 1024);
  u = pages((size_t)(n * n) * 4), v = pages((size_t)(n * n) * 4);
  next_u = pages((size_t)(n * n) * 4), next_v = pages((size_t)(n * n) * 4);
}

static void start(void) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      int inside = i % 64 < 20 && j % 64 < 20;
      u[i * n + j] = (inside ? 0.5f : 1) + 0.02f * noise((uint32_t)(i * n + j));
      v[i * n + j] = inside ? 0.25f : 0;
    }
}

static inline __attribute__((always_inline)) void cell(long here, long up, long down, long left,
                                                       long right) {
  const float feed = 0.055f, kill = 0.062f;
  float a = u[here], b = v[here], react = a * b * b;
  float au = u[up] + u[down] + u[right] + u[left] - 4 * a;
  float av = v[up] + v[down] + v[right] + v[left] - 4 * b;
  next_u[here] = a + 0.16f * au - react + feed * (1 - a);
  next_v[here] = b + 0.08f * av + react - (feed + kill) * b;
}

static void step(void) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; i++) {
    long row = i * n, up = (i + 1) % n * n, down = (i + n - 1) % n * n;
    cell(row, up, down, row + n - 1, row + 1);
#pragma omp simd
    for (long j = 1; j < n - 1; j++) cell(row + j, up + j, down + j, row + j - 1, row + j + 1);
    cell(row + n - 1, up + n - 1, down + n - 1, row + n - 2, row);
  }
  float *a = u, *b = v;
  u = next_u, v = next_v, next_u = a, next_v = b;
}

static double checksum(void) {
  double s = 0;
  for (long i = 0; i < n * n; i++) s += (double)u[i] + 2 * (double)v[i];
  return s / (double)(n * n);
}
