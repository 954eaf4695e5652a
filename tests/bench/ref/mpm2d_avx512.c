// mpm2d_avx512.c - the fastest C we have for ../ours/mpm2d.lua, by intrinsics: particles in blocks
// of 16 (AoSoA), sorted by cell every 25 steps; weights and affine terms 16 particles at a time;
// the scatter as 3 rows of 3 nodes, summed in registers while the cell stays the same, into one
// grid per thread; the gather of 16 particles at a time.
#include "bench.h"
#include <immintrin.h>

typedef __m512 V;
enum { X, Y, VX, VY, C00, C01, C10, C11, J, NF };
typedef struct {
  float f[NF][16];
} Blk;
static Blk *P, *Q;
static int n, g, pitch, T, steps;
static float dx, inv_dx, dt, p_mass, p_vol;
static const float E = 400, gravity = 9.8f;
static float *G[64]; // of each thread
#define AT(B, i, c) (B)[(i) >> 4].f[c][(i) & 15]

static void start(void) {
  steps = 0;
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < NF; c++) AT(P, i, c) = 0;
    AT(P, i, X) = hashf(2ull * (uint64_t)i) * 0.4f + 0.2f;
    AT(P, i, Y) = hashf(2ull * (uint64_t)i + 1) * 0.4f + 0.2f;
    AT(P, i, VY) = -1;
    AT(P, i, J) = 1;
  }
}
static inline int base(float x) { return (int)(x * inv_dx - 0.5f); }
static void sort(void) { // counting sort by base cell
  static uint32_t *cnt;
  if (!cnt) cnt = malloc(((size_t)g * g + 1) * 4);
  memset(cnt, 0, ((size_t)g * g + 1) * 4);
  for (int i = 0; i < n; i++) cnt[base(AT(P, i, X)) * g + base(AT(P, i, Y)) + 1]++;
  for (int i = 0; i < g * g; i++) cnt[i + 1] += cnt[i];
  for (int i = 0; i < n; i++) {
    uint32_t k = cnt[base(AT(P, i, X)) * g + base(AT(P, i, Y))]++;
    for (int c = 0; c < NF; c++) AT(Q, k, c) = AT(P, i, c);
  }
  Blk *t = P;
  P = Q;
  Q = t;
}
#define WEIGHTS(w, f) \
  (w)[0] = 0.5f * (1.5f - (f)) * (1.5f - (f)); \
  (w)[1] = 0.75f - ((f) - 1) * ((f) - 1); \
  (w)[2] = 0.5f * ((f) - 0.5f) * ((f) - 0.5f)

static inline V ld(const float *p) { return _mm512_load_ps(p); }
typedef struct {
  V r[3];
  float *q;
} Acc; // pending sums of the cell being scattered to
static inline void flush(Acc *a) {
  for (int i = 0; i < 3; i++) {
    float *q = a->q + (long)i * pitch * 4;
    _mm512_storeu_ps(q, _mm512_loadu_ps(q) + a->r[i]);
  }
}
static inline void pairs(float *o, V a, V b) { // (a0,b0,a1,b1,...)
  const __m512i lo = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  _mm512_store_ps(o, _mm512_permutex2var_ps(a, lo, b));
  _mm512_store_ps(o + 16, _mm512_permutex2var_ps(a, _mm512_add_epi32(lo, _mm512_set1_epi32(8)), b));
}
static inline void p2g16(const Blk *p, float *gr, Acc *acc) {
  V x = ld(p->f[X]) * inv_dx, y = ld(p->f[Y]) * inv_dx, wx[3], wy[3];
  __m512i bi = _mm512_cvttps_epi32(x - 0.5f), bj = _mm512_cvttps_epi32(y - 0.5f);
  V fx = x - _mm512_cvtepi32_ps(bi), fy = y - _mm512_cvtepi32_ps(bj), m = _mm512_set1_ps(p_mass);
  WEIGHTS(wx, fx);
  WEIGHTS(wy, fy);
  V s = (-dt * 4 * E * p_vol * inv_dx) * (ld(p->f[J]) - 1.0f), md = m * dx;
  V a00 = s + md * ld(p->f[C00]), a01 = md * ld(p->f[C01]), a10 = md * ld(p->f[C10]),
    a11 = s + md * ld(p->f[C11]);
  _Alignas(64) float u[32], d[32], e[32], w[6][16];
  _Alignas(64) int off[16];
  pairs(u, m * ld(p->f[VX]) - a00 * fx - a01 * fy, m * ld(p->f[VY]) - a10 * fx - a11 * fy);
  pairs(d, a00, a10);
  pairs(e, a01, a11);
  for (int k = 0; k < 3; k++) {
    _mm512_store_ps(w[k], wx[k]);
    _mm512_store_ps(w[3 + k], wy[k]);
  }
  _mm512_store_si512(
      (__m512i *)off,
      _mm512_slli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(bi, _mm512_set1_epi32(pitch)), bj), 2));
  const V mass = _mm512_maskz_mov_ps(0x0444, m),
          jj = _mm512_setr_ps(0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0);
  for (int l = 0; l < 16; l++) {
    V D = _mm512_castpd_ps(_mm512_maskz_broadcastsd_pd(0x15, _mm_load_sd((double *)d + l)));
    V K = mass + _mm512_castpd_ps(_mm512_maskz_broadcastsd_pd(0x15, _mm_load_sd((double *)u + l)));
    K += jj * _mm512_castpd_ps(_mm512_broadcastsd_pd(_mm_load_sd((double *)e + l)));
    V W = _mm512_maskz_broadcastss_ps(0x0007, _mm_load_ss(&w[3][l]));
    W = _mm512_mask_broadcastss_ps(W, 0x0070, _mm_load_ss(&w[4][l]));
    W = _mm512_mask_broadcastss_ps(W, 0x0700, _mm_load_ss(&w[5][l]));
    float *q = gr + off[l];
    if (q != acc->q) {
      if (acc->q) flush(acc);
      acc->q = q;
      acc->r[0] = acc->r[1] = acc->r[2] = _mm512_setzero_ps();
    }
    for (int i = 0; i < 3; i++) {
      acc->r[i] += (W * w[i][l]) * K;
      K += D;
    }
  }
}
static inline void g2p16(Blk *p, const float *gr) {
  V x = ld(p->f[X]) * inv_dx, y = ld(p->f[Y]) * inv_dx, wx[3], wy[3];
  __m512i bi = _mm512_cvttps_epi32(x - 0.5f), bj = _mm512_cvttps_epi32(y - 0.5f);
  V fx = x - _mm512_cvtepi32_ps(bi), fy = y - _mm512_cvtepi32_ps(bj), z = _mm512_setzero_ps();
  V vx = z, vy = z, b0 = z, b1 = z, b2 = z, b3 = z;
  WEIGHTS(wx, fx);
  WEIGHTS(wy, fy);
  __m512i o =
      _mm512_slli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(bi, _mm512_set1_epi32(pitch)), bj), 2);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      const float *q = gr + (a * pitch + b) * 4;
      V w = wx[a] * wy[b], gx = w * _mm512_i32gather_ps(o, q, 4),
        gy = w * _mm512_i32gather_ps(o, q + 1, 4);
      vx += gx;
      vy += gy;
      b0 += gx * (float)a;
      b1 += gx * (float)b;
      b2 += gy * (float)a;
      b3 += gy * (float)b;
    }
  float k = 4 * inv_dx;
  V c00 = k * (b0 - fx * vx), c01 = k * (b1 - fy * vx), c10 = k * (b2 - fx * vy),
    c11 = k * (b3 - fy * vy);
  V out[NF] = {ld(p->f[X]) + dt * vx,
               ld(p->f[Y]) + dt * vy,
               vx,
               vy,
               c00,
               c01,
               c10,
               c11,
               ld(p->f[J]) * (1.0f + dt * (c00 + c11))};
  for (int c = 0; c < NF; c++) _mm512_store_ps(p->f[c], out[c]);
}
// Adds the grids of all threads up, momentum to velocity, walls; clears the other grids.
static void grid_pass(void) {
#pragma omp for schedule(static)
  for (int i = 0; i < g; i++)
    for (int j = 0; j < g; j++) {
      long o = ((long)i * pitch + j) * 4;
      __m128 s = _mm_load_ps(G[0] + o), z = _mm_setzero_ps();
      for (int t = 1; t < T; t++) {
        s += _mm_load_ps(G[t] + o);
        _mm_store_ps(G[t] + o, z);
      }
      if (s[2] <= 0) continue;
      float vx = s[0] / s[2], vy = s[1] / s[2] - dt * gravity;
      if ((i < 3 && vx < 0) || (i > g - 3 && vx > 0)) vx = 0;
      if ((j < 3 && vy < 0) || (j > g - 3 && vy > 0)) vy = 0;
      _mm_store_ps(G[0] + o, _mm_setr_ps(vx, vy, 0, 0));
    }
}

static void step(void) {
#pragma omp parallel num_threads(T)
  {
    int t = omp_get_thread_num();
    int lo = (int)((long)(n / 16) * t / T), hi = (int)((long)(n / 16) * (t + 1) / T);
    Acc acc = {{_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()}, 0};
#pragma omp single
    if (steps++ % 25 == 0) sort();
    for (int i = lo; i < hi; i++) p2g16(P + i, G[t], &acc);
    if (acc.q) flush(&acc);
#pragma omp barrier
    grid_pass();
    for (int i = lo; i < hi; i++) g2p16(P + i, G[0]);
#pragma omp barrier
#pragma omp for schedule(static)
    for (int i = 0; i < g; i++) memset(G[0] + (long)i * pitch * 4, 0, (size_t)pitch * 16);
  }
}

static void setup(int argc, char **argv) {
  n = (int)argument(argc, argv, 1, 8192) & ~15;
  g = (int)argument(argc, argv, 2, 128);
  T = omp_get_max_threads() < 64 ? omp_get_max_threads() : 64;
  dx = 1.0f / (float)g;
  inv_dx = (float)g;
  dt = 2e-4f * 128 / (float)g;
  p_vol = dx * dx * 0.25f;
  p_mass = p_vol;
  pitch = g + 20; // rows a multiple of 4 KiB apart alias
  P = pages(sizeof(Blk) * (size_t)n / 16);
  Q = pages(sizeof(Blk) * (size_t)n / 16);
  for (int t = 0; t < T; t++) G[t] = pages((size_t)(g + 2) * pitch * 16 + 64);
}

static double checksum(void) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += AT(P, i, Y) + 0.5 * AT(P, i, X);
  return sum / n;
}
