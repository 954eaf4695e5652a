// nbody.c - ../ours/nbody.lua by hand: an array for each component, sixteen partners at a time.
#include "bench.h"

static float *x[3], *v[3], *mass;
static long n;

static void setup(int argc, char **argv) {
  n = argument(argc, argv, 1, 8192);
  for (int k = 0; k < 3; k++) x[k] = pages((size_t)n * 4), v[k] = pages((size_t)n * 4);
  mass = pages((size_t)n * 4);
}

static void start(void) {
  for (long i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) x[k][i] = noise((uint32_t)(3 * i + k)) - 0.5f;
    v[0][i] = x[1][i], v[1][i] = -x[0][i], v[2][i] = 0;
    mass[i] = (0.5f + noise((uint32_t)(3 * n + i))) / (float)n;
  }
}

static void step(void) {
  const float dt = 1e-3f, softening = 0.05f;
  const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *m = mass;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (long i = 0; i < n; i++) {
      float a = 0, b = 0, c = 0;
#pragma omp simd reduction(+ : a, b, c)
      for (long j = 0; j < n; j++) {
        float dx = x0[j] - x0[i], dy = x1[j] - x1[i], dz = x2[j] - x2[i];
        float square = dx * dx + dy * dy + dz * dz + softening * softening;
        float pull = m[j] / (square * sqrtf(square));
        a += pull * dx, b += pull * dy, c += pull * dz;
      }
      v[0][i] += dt * a, v[1][i] += dt * b, v[2][i] += dt * c;
    }
#pragma omp for schedule(static)
    for (long i = 0; i < n; i++)
      for (int k = 0; k < 3; k++) x[k][i] += dt * v[k][i];
  }
}

static double checksum(void) {
  double s = 0;
  for (long i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) s += (double)v[k][i] * v[k][i] + (double)x[k][i] * x[k][i];
  return s / (double)n;
}
