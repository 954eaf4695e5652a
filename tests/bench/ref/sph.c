// sph.c - ../ours/sph.lua by hand: an array of places per cell and a counter each, which appending
// raises by an atomic addition.
#include "bench.h"

enum { PLACES = 64 };
typedef struct {
  float x, y;
} Pair;

static int is_build, count, n;
static Pair *at;
static float *density;
static int32_t *places, *lengths;

static int home(Pair p) { return (int)(p.x * (float)n) * n + (int)(p.y * (float)n); }

static void build(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n * n; i++) lengths[i] = 0;
#pragma omp parallel for schedule(static)
  for (int p = 0; p < count; p++) {
    int cell = home(at[p]);
    int slot = __atomic_fetch_add(&lengths[cell], 1, __ATOMIC_RELAXED);
    if (slot < PLACES) places[(int64_t)cell * PLACES + slot] = p;
  }
}

static float around(Pair me, int cell, float inverse) {
  float sum = 0;
  for (int k = 0; k < lengths[cell]; k++) {
    Pair you = at[places[(int64_t)cell * PLACES + k]];
    float dx = you.x - me.x, dy = you.y - me.y, q = 1 - (dx * dx + dy * dy) * inverse;
    if (q > 0) sum += q * q * q;
  }
  return sum;
}

static void estimate(void) {
  float inverse = (float)n * (float)n;
  float scale = 4 * inverse / ((float)M_PI * (float)count);
#pragma omp parallel for schedule(static)
  for (int p = 0; p < count; p++) {
    int i = (int)(at[p].x * (float)n), j = (int)(at[p].y * (float)n);
    float sum = 0;
    for (int a = i ? i - 1 : 0; a <= i + 1 && a < n; a++)
      for (int b = j ? j - 1 : 0; b <= j + 1 && b < n; b++)
        sum += around(at[p], a * n + b, inverse);
    density[p] = scale * sum;
  }
}

static void setup(int argc, char **argv) {
  is_build = argc < 2 || !strcmp(argv[1], "build");
  count = (int)argument(argc, argv, 2, 131072);
  n = (int)argument(argc, argv, 3, 128);
  at = pages((size_t)count * sizeof *at);
  density = pages((size_t)count * sizeof *density);
  places = pages((size_t)n * n * PLACES * sizeof *places);
  lengths = pages((size_t)n * n * sizeof *lengths);
  int wide = 4 * n, high = count / wide;
  for (int p = 0; p < count; p++) {
    float i = (float)(p / wide) + noise(2 * (uint32_t)p);
    float j = (float)(p % wide) + noise(2 * (uint32_t)p + 1);
    at[p] = (Pair){i / (float)high, j / (float)wide};
  }
  build();
}

static void start(void) {}

static void step(void) {
  if (is_build) build();
  else estimate();
}

static double checksum(void) {
  double sum = 0;
  estimate();
  for (int p = 0; p < count; p++) sum += (double)density[p];
  return sum / count;
}
