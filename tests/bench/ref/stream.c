// stream.c - the loops of ../ours/stream.lua.
#include "bench.h"

static float *x, *y, *z, sum;
static long n;
static char phase;

static void setup(int argc, char **argv) {
  phase = argc > 1 ? argv[1][1] : 'c';
  n = argument(argc, argv, 2, 16777216);
  x = pages((size_t)n * 4), y = pages((size_t)n * 4), z = pages((size_t)n * 4);
  for (long i = 0; i < n; i++) x[i] = noise((uint32_t)i);
}
static void start(void) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; i++) y[i] = 1 - x[i];
}
static void step(void) {
  const float a = 0.25f;
  switch (phase) { // the second letter
  case 'c':
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) z[i] = a * x[i];
    break;
  case 'o':
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) z[i] = x[i];
    break;
  case 'r':
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) z[i] = a * x[i] + y[i];
    break;
  case 'x':
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
    break;
  case 'u': sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; i++) sum += x[i];
  }
}
static double checksum(void) {
  const float *of = phase == 'x' ? y : z;
  double s = 0;
  if (phase == 'u') return sum / (double)n;
#pragma omp parallel for schedule(static) reduction(+ : s)
  for (long i = 0; i < n; i++) s += (double)of[i];
  return s / (double)n;
}
