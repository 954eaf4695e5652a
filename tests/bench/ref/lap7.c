// 7-point Laplacian step y = x + a*(sum of 6 neighbours - 6x) on a two-level sparse grid:
// a dense root table of leaf numbers over 8x8x8-cell f32 leaves; absent neighbours read 0.
// Active set: a spherical shell of leaves, so most of the 512^3 domain is empty.
// usage: lap7 [root cells per axis, default 64] [reps, default 9]
//             [leaf order: 1 Morton (default), 0 row-major]
#include "util.h"
#include <immintrin.h>

typedef float v8 __attribute__((vector_size(32)));
enum { L = 512 };                         // cells per leaf
static int R;                             // root cells per axis
static u32 *root, *coord, (*nbr)[6];      // leaf 0 is the shared all-zero leaf
static long nleaf;
static const float alpha = 0.1f;

static inline u32 rootat(int i, int j, int k) {
  return (u32)i < (u32)R && (u32)j < (u32)R && (u32)k < (u32)R ? root[((long)i * R + j) * R + k]
                                                               : 0;
}
static inline float cell(const float *x, int i, int j, int k) {   // full walk from the root
  return x[(long)rootat(i >> 3, j >> 3, k >> 3) * L + ((i & 7) * 8 + (j & 7)) * 8 + (k & 7)];
}

static int unmorton(u32 m, int axis) {        // bits axis, axis+3, axis+6, ... of m
  int v = 0;
  for (int b = 0; b < 10; b++) v |= (int)((m >> (3 * b + axis)) & 1u) << b;
  return v;
}
static void build(int morton) {
  root = calloc((size_t)R * R * R, 4);
  for (int pass = 0; pass < 2; pass++) {
    long n = 0;
    for (u32 q = 0; q < (u32)(R * R * R); q++) {
      int i = morton ? unmorton(q, 2) : (int)q / (R * R),
          j = morton ? unmorton(q, 1) : (int)q / R % R, k = morton ? unmorton(q, 0) : (int)q % R;
      double c = 0.5 * R - 0.5, d = sqrt((i - c) * (i - c) + (j - c) * (j - c) + (k - c) * (k - c));
      if (fabs(d - 0.344 * R) >= 0.0415 * R) continue;
      n++;
      if (pass) {
        root[((long)i * R + j) * R + k] = (u32)n;
        coord[n] = (u32)((i << 20) | (j << 10) | k);
      }
    }
    nleaf = n;
    if (!pass) coord = calloc((size_t)n + 1, 4);
  }
  nbr = calloc((size_t)nleaf + 1, sizeof *nbr);
  for (long l = 1; l <= nleaf; l++) {
    int i = coord[l] >> 20, j = (coord[l] >> 10) & 1023, k = coord[l] & 1023;
    u32 t[6] = {rootat(i - 1, j, k), rootat(i + 1, j, k), rootat(i, j - 1, k),
                rootat(i, j + 1, k), rootat(i, j, k - 1), rootat(i, j, k + 1)};
    memcpy(nbr[l], t, sizeof t);
  }
}

// what an accessor without any index analysis does: seven root walks per cell
static void naive(const float *x, float *y) {
  #pragma omp parallel for schedule(static)
  for (long l = 1; l <= nleaf; l++) {
    int bi = (int)(coord[l] >> 20) * 8, bj = (int)((coord[l] >> 10) & 1023) * 8,
        bk = (int)(coord[l] & 1023) * 8;
    for (int c = 0; c < L; c++) {
      int i = bi + (c >> 6), j = bj + ((c >> 3) & 7), k = bk + (c & 7);
      float m = cell(x, i, j, k);
      float s = cell(x, i - 1, j, k) + cell(x, i + 1, j, k) + cell(x, i, j - 1, k) +
                cell(x, i, j + 1, k) + cell(x, i, j, k - 1) + cell(x, i, j, k + 1);
      y[(long)rootat(i >> 3, j >> 3, k >> 3) * L + c] = m + alpha * (s - 6.0f * m);
    }
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
static void hoisted(const float *x, float *y) {
  #pragma omp parallel for schedule(static)
  for (long l = 1; l <= nleaf; l++) leaf_step(x, y, l, 0);
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

static double total(const float *y) {
  double s = 0;
  #pragma omp parallel for reduction(+ : s)
  for (long i = L; i < (nleaf + 1) * L; i++) s += (double)y[i] * (1.0 + (double)(i & (L - 1)) / L);
  return s;
}

int main(int argc, char **argv) {
  R = argc > 1 ? atoi(argv[1]) : 64;
  int reps = argc > 2 ? atoi(argv[2]) : 9, tmax = omp_get_max_threads();
  build(argc > 3 ? atoi(argv[3]) : 1);
  size_t bytes = (size_t)(nleaf + 2) * L * 4;
  float *x = huge_alloc(bytes), *y = huge_alloc(bytes);
  for (long l = 1; l <= nleaf; l++)
    for (int c = 0; c < L; c++) x[l * L + c] = hashf((u64)coord[l] * L + (u64)c) - 0.5f;
  typedef void (*fn)(const float *, float *);
  fn f[3] = {naive, hoisted, prefetched};
  const char *name[3] = {"naive_root_walk", "hoisted_leaf_ptrs", "hoisted_prefetch"};
  double sec[128], n = (double)nleaf * L;
  fprintf(stderr, "lap7: %ld leaves, %.0f cells, %.1f MiB per field, domain %d^3\n", nleaf, n,
          n * 4 / 1048576, R * 8);
  for (int t = 1; t <= tmax; t *= 2) {
    omp_set_num_threads(t);
    for (int v = 0; v < 3; v++) {
      memset(y, 0xff, bytes);
      f[v](x, y);
      double sum = total(y);
      foreign();
      for (int r = 0; r < reps; r++) { double t0 = now(); f[v](x, y); sec[r] = now() - t0; }
      report("lap7", name[v], (long)n, n * 1e-6, "Mcell/s", sec, reps, sum);
    }
  }
  return 0;
}
