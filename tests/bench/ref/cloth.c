// cloth.c - ../ours/cloth.lua by hand: a plane for each component, rows in vectors, link by link.
#include "bench.h"

static float *x[3], *v[3], *f[3];
static long n;

static void setup(int argc, char **argv) {
  n = argument(argc, argv, 1, 256);
  for (int k = 0; k < 3; k++) {
    x[k] = pages((size_t)(n * n) * 4);
    v[k] = pages((size_t)(n * n) * 4);
    f[k] = pages((size_t)(n * n) * 4);
  }
}

static void start(void) {
  const float h = 1 / (float)n;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      long p = i * n + j;
      x[0][p] = (float)i * h - 0.5f + 0.1f * h * noise((uint32_t)p);
      x[1][p] = 0.301f;
      x[2][p] = (float)j * h - 0.5f;
      v[0][p] = v[1][p] = v[2][p] = 0;
    }
}

static inline void pull(long i, int a, int b, float rest) {
  const float spacing = 1 / (float)n;
  long first = b < 0 ? -b : 0, last = b > 0 ? n - b : n, to = (i + a) * n + b - i * n;
  const float *x0 = x[0] + i * n, *x1 = x[1] + i * n, *x2 = x[2] + i * n;
  const float *v0 = v[0] + i * n, *v1 = v[1] + i * n, *v2 = v[2] + i * n;
  float *f0 = f[0] + i * n, *f1 = f[1] + i * n, *f2 = f[2] + i * n;
#pragma omp simd
  for (long j = first; j < last; j++) {
    float dx = x0[j] - x0[j + to], dy = x1[j] - x1[j + to], dz = x2[j] - x2[j + to];
    float length = sqrtf(dx * dx + dy * dy + dz * dz), inverse = 1 / length;
    dx *= inverse, dy *= inverse, dz *= inverse;
    float apart = (v0[j] - v0[j + to]) * dx + (v1[j] - v1[j + to]) * dy + (v2[j] - v2[j + to]) * dz;
    float strength = 3e4f * (length / rest - 1) + 1e4f * spacing * apart;
    f0[j] -= strength * dx, f1[j] -= strength * dy, f2[j] -= strength * dz;
  }
}

static void step(void) {
  const float spacing = 1 / (float)n, dt = 2e-2f / (float)n, keep = expf(-dt);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (long i = 0; i < n; i++) {
      for (long j = 0; j < n; j++) f[0][i * n + j] = f[2][i * n + j] = 0, f[1][i * n + j] = -9.8f;
      for (int a = -2; a <= 2; a++)
        for (int b = -2; b <= 2; b++)
          if (abs(a) + abs(b) > 0 && abs(a) + abs(b) <= 2 && i + a >= 0 && i + a < n)
            pull(i, a, b, spacing * sqrtf((float)(a * a + b * b)));
    }
#pragma omp for simd schedule(static)
    for (long p = 0; p < n * n; p++) {
      float u = (v[0][p] + dt * f[0][p]) * keep, w = (v[1][p] + dt * f[1][p]) * keep,
            z = (v[2][p] + dt * f[2][p]) * keep;
      float r = sqrtf(x[0][p] * x[0][p] + x[1][p] * x[1][p] + x[2][p] * x[2][p]), inverse = 1 / r;
      float nx = x[0][p] * inverse, ny = x[1][p] * inverse, nz = x[2][p] * inverse;
      float in = u * nx + w * ny + z * nz;
      in = r <= 0.3f && in < 0 ? in : 0;
      u -= in * nx, w -= in * ny, z -= in * nz;
      v[0][p] = u, v[1][p] = w, v[2][p] = z;
      x[0][p] += dt * u, x[1][p] += dt * w, x[2][p] += dt * z;
    }
  }
}

static double checksum(void) {
  double s = 0;
  for (long p = 0; p < n * n; p++)
    s += x[1][p] + 0.1 * (x[0][p] * x[0][p] + x[1][p] * x[1][p] + x[2][p] * x[2][p]);
  return s / (double)(n * n);
}
