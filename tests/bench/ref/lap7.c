// lap7.c - ../ours/lap7.lua by hand: a dense table of leaf numbers over 8^3 leaves, six links from
// each leaf to its neighbours, rows of eight cells in registers. Leaf 0 is one of zeros, so absent
// neighbours need no branch. While it works on one leaf it requests the lines of the next but one.
#include "bench.h"

typedef float v8 __attribute__((vector_size(32)));
enum { L = 512 };                         // cells per leaf
static int R;                             // root cells per axis
static uint32_t *root, *coord, (*nbr)[6]; // leaf 0 is the shared all-zero leaf
static long nleaf;
static const float alpha = 0.1f;

static inline uint32_t rootat(int i, int j, int k) {
  return (uint32_t)i < (uint32_t)R && (uint32_t)j < (uint32_t)R && (uint32_t)k < (uint32_t)R
             ? root[((long)i * R + j) * R + k]
             : 0;
}
static int unmorton(uint32_t m, int axis) { // bits axis, axis+3, axis+6, ... of m
  int v = 0;
  for (int b = 0; b < 10; b++) v |= (int)((m >> (3 * b + axis)) & 1u) << b;
  return v;
}
static void build(void) {
  root = calloc((size_t)R * R * R, 4);
  for (int pass = 0; pass < 2; pass++) {
    long n = 0;
    for (uint32_t q = 0; q < (uint32_t)(R * R * R); q++) {
      int i = unmorton(q, 2), j = unmorton(q, 1), k = unmorton(q, 0);
      double c = 0.5 * R - 0.5, d = sqrt((i - c) * (i - c) + (j - c) * (j - c) + (k - c) * (k - c));
      if (fabs(d - 0.344 * R) >= 0.0415 * R) continue;
      n++;
      if (pass) {
        root[((long)i * R + j) * R + k] = (uint32_t)n;
        coord[n] = (uint32_t)((i << 20) | (j << 10) | k);
      }
    }
    nleaf = n;
    if (!pass) coord = calloc((size_t)n + 1, 4);
  }
  nbr = calloc((size_t)nleaf + 1, sizeof *nbr);
  for (long l = 1; l <= nleaf; l++) {
    int i = coord[l] >> 20, j = (coord[l] >> 10) & 1023, k = coord[l] & 1023;
    uint32_t t[6] = {rootat(i - 1, j, k), rootat(i + 1, j, k), rootat(i, j - 1, k),
                     rootat(i, j + 1, k), rootat(i, j, k - 1), rootat(i, j, k + 1)};
    memcpy(nbr[l], t, sizeof t);
  }
}

// ahead != 0: lines of the leaf `ahead` places later are requested row by row, and the
// first face of its i+1 neighbour, which no earlier leaf has brought in
static inline void leaf_step(const float *x, float *y, long l, long ahead) {
  const v8 *c = (const v8 *)(x + l * L);
  const v8 *xm = (const v8 *)(x + (long)nbr[l][0] * L), *xp = (const v8 *)(x + (long)nbr[l][1] * L);
  const v8 *ym = (const v8 *)(x + (long)nbr[l][2] * L), *yp = (const v8 *)(x + (long)nbr[l][3] * L);
  const float *zm = x + (long)nbr[l][4] * L + 7, *zp = x + (long)nbr[l][5] * L;
  v8 *o = (v8 *)(y + l * L), zero = {0};
  for (int i = 0; i < 8; i++) {
    const v8 *a = i ? c + (i - 1) * 8 : xm + 56, *b = i < 7 ? c + (i + 1) * 8 : xp;
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
      int r = i * 8 + j;
      if (ahead && !(j & 1)) {
        __builtin_prefetch(x + (l + ahead) * L + r * 8, 0, 3);
        __builtin_prefetch(y + (l + ahead) * L + r * 8, 1, 3);
      }
      v8 m = c[r];
      v8 d = j ? c[r - 1] : ym[i * 8 + 7], e = j < 7 ? c[r + 1] : yp[i * 8];
      v8 f = __builtin_shufflevector(m, zero + zm[r * 8], 8, 0, 1, 2, 3, 4, 5, 6),
         g = __builtin_shufflevector(m, zero + zp[r * 8], 1, 2, 3, 4, 5, 6, 7, 8);
      o[r] = m + alpha * (a[j] + b[j] + d + e + f + g - 6.0f * m);
    }
  }
}
static void prefetched(const float *x, float *y) {
#pragma omp parallel for schedule(static)
  for (long l = 1; l <= nleaf; l++) {
    long m = l + 2 <= nleaf ? l + 2 : nleaf;
    const float *xp = x + (long)nbr[m][1] * L, *yp = x + (long)nbr[m][3] * L;
    for (int t = 0; t < 64; t += 16) __builtin_prefetch(xp + t, 0, 3);
    for (int t = 0; t < 512; t += 64) __builtin_prefetch(yp + t, 0, 3);
    leaf_step(x, y, l, 1);
  }
}

static float *x, *y;

static void setup(int argc, char **argv) {
  R = (int)argument(argc, argv, 1, 64);
  build();
  size_t bytes = (size_t)(nleaf + 2) * L * 4;
  x = pages(bytes), y = pages(bytes);
  for (long l = 1; l <= nleaf; l++)
    for (int c = 0; c < L; c++) x[l * L + c] = hashf((uint64_t)coord[l] * L + (uint64_t)c) - 0.5f;
}
static void start(void) {}
static void step(void) { prefetched(x, y); }

static double checksum(void) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (long i = L; i < (nleaf + 1) * L; i++) s += (double)y[i] * (1.0 + (double)(i & (L - 1)) / L);
  return s;
}
