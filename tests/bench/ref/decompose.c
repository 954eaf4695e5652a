// decompose.c - ../ours/decompose.lua's singular values by hand: one-sided Jacobi, sixteen matrices
// side by side in vector registers, a fixed number of sweeps, without branches. Components in runs
// of their own.
#pragma GCC optimize("no-math-errno", "no-trapping-math")
#include "bench.h"

enum { LANES = 16 };
typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t Mask __attribute__((vector_size(4 * LANES)));

static int n, count;
static float *M, *U, *S, *V;

static inline Lanes root(Lanes x) {
  for (int l = 0; l < LANES; l++) x[l] = sqrtf(x[l]);
  return x;
}

static inline Lanes choose(Mask mask, Lanes a, Lanes b) {
  return (Lanes)(((Mask)a & mask) | ((Mask)b & ~mask));
}

static inline void swap(Mask mask, Lanes *a, Lanes *b) {
  Lanes x = *a, y = *b;
  *a = choose(mask, y, x), *b = choose(mask, x, y);
}

/* c x - s y and s x + c y */
static inline void turn(Lanes c, Lanes s, Lanes *x, Lanes *y) {
  Lanes a = *x, b = *y;
  *x = c * a - s * b, *y = s * a + c * b;
}

static inline __attribute__((always_inline)) void decompose(int first, int size, int sweeps) {
  Lanes u[3][3], v[3][3], d[3], zero = {0};
  for (int r = 0; r < size; r++)
    for (int k = 0; k < size; k++) {
      memcpy(&u[r][k], M + (int64_t)(r * size + k) * count + first, sizeof(Lanes));
      v[r][k] = zero + (float)(r == k);
    }
  for (int sweep = 0; sweep < sweeps; sweep++)
#pragma GCC unroll 3
    for (int p = 0; p < size; p++)
#pragma GCC unroll 3
      for (int q = p + 1; q < size; q++) {
        Lanes a = zero, b = zero, off = zero;
        for (int r = 0; r < size; r++)
          a += u[r][p] * u[r][p], b += u[r][q] * u[r][q], off += u[r][p] * u[r][q];
        Lanes half = (b - a) * 0.5f, far = root(half * half + off * off) + 1e-30f;
        Lanes t = off / choose(half < 0, half - far, half + far);
        Lanes c = 1 / root(1 + t * t), s = c * t;
        for (int r = 0; r < size; r++)
          turn(c, s, &u[r][p], &u[r][q]), turn(c, s, &v[r][p], &v[r][q]);
      }
  for (int k = 0; k < size; k++) {
    Lanes sum = zero + 1e-30f;
    for (int r = 0; r < size; r++) sum += u[r][k] * u[r][k];
    d[k] = root(sum);
  }
  for (int last = size - 1; last > 0; last--)
    for (int k = 0; k < last; k++) {
      Mask swaps = d[k] < d[k + 1];
      swap(swaps, &d[k], &d[k + 1]);
      for (int r = 0; r < size; r++)
        swap(swaps, &u[r][k], &u[r][k + 1]), swap(swaps, &v[r][k], &v[r][k + 1]);
    }
  for (int k = 0; k < size; k++) {
    memcpy(S + (int64_t)k * count + first, &d[k], sizeof(Lanes));
    for (int r = 0; r < size; r++) {
      u[r][k] /= d[k];
      memcpy(U + (int64_t)(r * size + k) * count + first, &u[r][k], sizeof(Lanes));
      memcpy(V + (int64_t)(r * size + k) * count + first, &v[r][k], sizeof(Lanes));
    }
  }
}

static void step(void) {
#pragma omp parallel for schedule(static)
  for (int first = 0; first < count; first += LANES)
    if (n == 2) decompose(first, 2, 2);
    else decompose(first, 3, 5);
}

static void setup(int argc, char **argv) {
  const char *phase = argc > 1 ? argv[1] : "svd3";
  if (strncmp(phase, "svd", 3)) exit(1);
  n = strstr(phase, "2") ? 2 : 3;
  count = (int)argument(argc, argv, 2, 65536) / LANES * LANES;
  M = pages(36 * (size_t)count), U = pages(36 * (size_t)count);
  V = pages(36 * (size_t)count), S = pages(12 * (size_t)count);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < n * n; k++) {
      uint64_t h = (uint64_t)(i * 16 + k / n * 4 + k % n) * 2654435761u;
      M[(int64_t)k * count + i] = (float)((h >> 8) & 0xffff) / 32768 - 1;
    }
}

static void start(void) {}

static double checksum(void) {
  double sum = 0;
  for (int64_t k = 0; k < (int64_t)n * count; k++) sum += S[k];
  return sum / count;
}
