// eikonal.c - the sweeps of ../ours/eikonal.lua, one after the other as they must be; a frame of
// far cells around the square spares the questions at its border.
#include "bench.h"

static float *when, *slowness, far = 1e3f;
static long n, pitch;

static void setup(int argc, char **argv) {
  n = argument(argc, argv, 1, 512);
  pitch = n + 2;
  when = pages((size_t)(pitch * pitch) * 4), slowness = pages((size_t)(pitch * pitch) * 4);
}

static void start(void) {
  const float h = 1 / (float)n;
  for (long p = 0; p < pitch * pitch; p++) when[p] = far;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      slowness[(i + 1) * pitch + j + 1] =
          1 + 0.5f * sinf(9 * (float)i * h) * cosf(7 * (float)j * h);
  when[(n / 3 + 1) * pitch + n / 4 + 1] = 0;
}

static inline void relax(long p) {
  float a = fminf(when[p - pitch], when[p + pitch]), b = fminf(when[p - 1], when[p + 1]);
  float f = slowness[p] / (float)n, t = fminf(a, b) + f;
  if (fabsf(a - b) < f) t = 0.5f * (a + b + sqrtf(2 * f * f - (a - b) * (a - b)));
  when[p] = fminf(when[p], t);
}

static void step(void) {
  for (long i = 1; i <= n; i++)
    for (long j = 1; j <= n; j++) relax(i * pitch + j);
  for (long i = n; i > 0; i--)
    for (long j = 1; j <= n; j++) relax(i * pitch + j);
  for (long i = n; i > 0; i--)
    for (long j = n; j > 0; j--) relax(i * pitch + j);
  for (long i = 1; i <= n; i++)
    for (long j = n; j > 0; j--) relax(i * pitch + j);
}

static double checksum(void) {
  double s = 0;
  for (long i = 1; i <= n; i++)
    for (long j = 1; j <= n; j++) s += (double)when[i * pitch + j];
  return s / (double)(n * n);
}
