// raster.c - ../ours/raster.lua by hand: a thread draws into its own strip of the picture, so that
// the nearest wins without atomics.
#include "bench.h"

typedef struct {
  float x, y, z;
} Point;

static Point *corner, *seen, *pixel;
static int (*mesh)[3];
static int64_t *nearest;
static long size, around, across, triangles;
static float turn;

static void setup(int argc, char **argv) {
  size = argument(argc, argv, 1, 512);
  around = argument(argc, argv, 2, 256);
  across = argument(argc, argv, 3, 128);
  triangles = 2 * around * across;
  corner = pages((size_t)(around * across) * sizeof *corner);
  seen = pages((size_t)(around * across) * sizeof *seen);
  mesh = pages((size_t)triangles * sizeof *mesh);
  nearest = pages((size_t)(size * size) * 8);
  pixel = pages((size_t)(size * size) * sizeof *pixel);
  for (long i = 0; i < around; i++)
    for (long j = 0; j < across; j++) {
      float a = 6.2831853f * (float)i / (float)around, b = 6.2831853f * (float)j / (float)across;
      float r = 0.6f + 0.25f * cosf(b);
      int here = (int)(i * across + j), i2 = (int)((i + 1) % around), j2 = (int)((j + 1) % across);
      int right = i2 * (int)across, *m = mesh[2 * here], *o = mesh[2 * here + 1];
      corner[here] = (Point){r * cosf(a), r * sinf(a), 0.25f * sinf(b)};
      m[0] = here, m[1] = right + (int)j, m[2] = right + j2;
      o[0] = here, o[1] = right + j2, o[2] = (int)(i * across) + j2;
    }
}

static void start(void) { turn = 0.3f; }

static float edge(Point a, Point b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

static void triangle(long t, int low, int high) { // within these columns
  Point a = seen[mesh[t][0]], b = seen[mesh[t][1]], d = seen[mesh[t][2]];
  float area = edge(a, b, d.x, d.y);
  if (area <= 0) return;
  int left = (int)fmaxf(fminf(fminf(a.x, b.x), d.x), (float)low);
  int right = (int)fminf(fmaxf(fmaxf(a.x, b.x), d.x), (float)high);
  int bottom = (int)fmaxf(fminf(fminf(a.y, b.y), d.y), 0);
  int top = (int)fminf(fmaxf(fmaxf(a.y, b.y), d.y), (float)(size - 1));
  for (int i = left; i <= right; i++)
    for (int j = bottom; j <= top; j++) {
      float x = (float)i + 0.5f, y = (float)j + 0.5f;
      float wa = edge(b, d, x, y) / area, wb = edge(d, a, x, y) / area, wd = 1 - wa - wb;
      if (wa < 0 || wb < 0 || wd < 0) continue;
      float z = wa * a.z + wb * b.z + wd * d.z;
      int64_t key = (int64_t)(1e6f / z) * 4294967296 + t, *to = &nearest[i * size + j];
      if (key > *to) *to = key;
    }
}

static void step(void) {
  const float c = cosf(turn), s = sinf(turn);
#pragma omp parallel
  {
    int strip = omp_get_thread_num(), strips = omp_get_num_threads();
    int low = (int)(size * strip / strips), high = (int)(size * (strip + 1) / strips) - 1;
#pragma omp for schedule(static)
    for (long k = 0; k < around * across; k++) {
      Point p = {corner[k].x, c * corner[k].y - s * corner[k].z, 0};
      p.z = s * corner[k].y + c * corner[k].z + 2.4f;
      seen[k] = (Point){(0.5f + 1.1f * p.x / p.z) * (float)size,
                        (0.5f + 1.1f * p.y / p.z) * (float)size, p.z};
    }
    memset(nearest + low * size, 0, (size_t)((high - low + 1) * size) * 8);
    for (long t = 0; t < triangles; t++) triangle(t, low, high);
    for (long k = low * size; k < (high + 1) * size; k++) {
      Point colour = {0.05f, 0.06f, 0.09f};
      if (nearest[k] > 0) {
        const int *m = mesh[nearest[k] & 0xffffffff];
        Point a = seen[m[0]], b = seen[m[1]], d = seen[m[2]];
        float ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
        float vx = d.x - a.x, vy = d.y - a.y, vz = d.z - a.z;
        float x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
        float bright = 0.2f + 0.8f * fabsf(z) / sqrtf(x * x + y * y + z * z);
        colour = (Point){0.9f * bright, 0.6f * bright, 0.3f * bright};
      }
      pixel[k] = colour;
    }
  }
  turn += 0.1f;
}

static double checksum(void) {
  double s = 0;
  for (long k = 0; k < size * size; k++) s += pixel[k].x + (nearest[k] > 0);
  return s;
}
