// marching.c - ../ours/marching.lua by hand: cubes whose corners have one sign are left at once;
// triangles go into a buffer of the thread's own, which claims its place when it is full.
#include "bench.h"

enum { CHUNK = 3 * 1024 };
typedef struct {
  float x, y, z;
} Point;
static const int tets[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                               {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const signed char cuts[16][7] = {{-1},
                                        {0, 1, 2, -1},
                                        {0, 3, 4, -1},
                                        {1, 2, 4, 1, 4, 3, -1},
                                        {1, 3, 5, -1},
                                        {0, 2, 5, 0, 5, 3, -1},
                                        {0, 1, 5, 0, 5, 4, -1},
                                        {2, 4, 5, -1},
                                        {2, 4, 5, -1},
                                        {0, 1, 5, 0, 5, 4, -1},
                                        {0, 2, 5, 0, 5, 3, -1},
                                        {1, 3, 5, -1},
                                        {1, 2, 4, 1, 4, 3, -1},
                                        {0, 3, 4, -1},
                                        {0, 1, 2, -1},
                                        {-1}};
static float *f;
static Point *vertex;
static long n, count;

static void setup(int argc, char **argv) {
  n = argument(argc, argv, 1, 96);
  f = pages((size_t)(n * n * n) * 4);
  vertex = pages((size_t)(192 * n * n) * sizeof *vertex);
}

static void start(void) {
  const float time = 0.3f;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++) {
        float x = 9.5f * (float)i / (float)n, y = 9.5f * (float)j / (float)n,
              z = 9.5f * (float)k / (float)n;
        f[(i * n + j) * n + k] = sinf(x + time) * cosf(y) + sinf(y) * cosf(z) + sinf(z) * cosf(x);
      }
}

static Point *cube(Point *to, long i, long j, long k) {
  const float *at = f + (i * n + j) * n + k;
  float w[8];
  int inside = 0;
  for (int c = 0; c < 8; c++) {
    w[c] = at[((c >> 2) * n + (c >> 1 & 1)) * n + (c & 1)];
    inside |= (w[c] < 0) << c;
  }
  if (inside == 0 || inside == 255) return to;
  for (int m = 0; m < 6; m++) {
    const int *tet = tets[m];
    int which = (inside >> tet[0] & 1) | (inside >> tet[1] & 1) << 1 | (inside >> tet[2] & 1) << 2 |
                (inside >> tet[3] & 1) << 3;
    for (const signed char *cut = cuts[which]; *cut >= 0; cut++) {
      int p = tet[edges[*cut][0]], q = tet[edges[*cut][1]];
      float s = w[p] / (w[p] - w[q]), a[3] = {(float)i, (float)j, (float)k};
      for (int axis = 0; axis < 3; axis++) {
        int shift = 2 - axis, from = p >> shift & 1, towards = q >> shift & 1;
        a[axis] += (float)from + s * (float)(towards - from);
      }
      *to++ = (Point){a[0], a[1], a[2]};
    }
  }
  return to;
}

static void flush(const Point *own, Point *end) {
  long first = __atomic_fetch_add(&count, end - own, __ATOMIC_RELAXED);
  memcpy(vertex + first, own, (size_t)(end - own) * sizeof *own);
}

static void step(void) {
  count = 0;
#pragma omp parallel
  {
    static __thread Point own[CHUNK + 36];
    Point *end = own;
#pragma omp for schedule(dynamic)
    for (long i = 0; i < n - 1; i++)
      for (long j = 0; j < n - 1; j++)
        for (long k = 0; k < n - 1; k++)
          if ((end = cube(end, i, j, k)) - own >= CHUNK) flush(own, end), end = own;
    flush(own, end);
  }
}

static double checksum(void) {
  double s = 0;
  for (long t = 0; t < count / 3; t++) {
    const Point *p = vertex + 3 * t;
    double ux = p[1].x - p[0].x, uy = p[1].y - p[0].y, uz = p[1].z - p[0].z;
    double vx = p[2].x - p[0].x, vy = p[2].y - p[0].y, vz = p[2].z - p[0].z;
    double x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    s += 0.5 * sqrt(x * x + y * y + z * z);
  }
  return s + (double)count;
}
