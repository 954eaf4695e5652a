// lbm.c - ../ours/lbm.lua by hand: two lattices, a plane for each direction, the planes apart so
// that the nine streams meet in different sets of the caches. The axes are named the other way
// round, so that x is the fast one.
#include "bench.h"

enum { NQ = 9 };
static const int ex[NQ] = {0, 1, -1, 0, 0, 1, -1, 1, -1}, ey[NQ] = {0, 0, 0, 1, -1, 1, -1, -1, 1};

static const float wq[NQ] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                             1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
static const float omega = 1 / 0.6f;
static long nx, ny, N, S; // S: distance between planes of one direction
static float *F, *H;

static inline __attribute__((always_inline)) void collide(const float *f, float *o) {
  float r = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8], ir = 1.0f / r;
  float ux = (f[1] - f[2] + f[5] - f[6] + f[7] - f[8]) * ir,
        uy = (f[3] - f[4] + f[5] - f[6] - f[7] + f[8]) * ir;
  float u2 = 1.0f - 1.5f * (ux * ux + uy * uy);
  for (int q = 0; q < NQ; q++) {
    float e = 3.0f * ((float)ex[q] * ux + (float)ey[q] * uy);
    o[q] = f[q] + omega * (wq[q] * r * (u2 + e + 0.5f * e * e) - f[q]);
  }
}
static inline long wrap(long v, long n) { return v < 0 ? v + n : v >= n ? v - n : v; }

static void start(void) {
#pragma omp parallel for schedule(static)
  for (long y = 0; y < ny; y++)
    for (long x = 0; x < nx; x++) {
      double X = (double)x / (double)nx, Y = (double)y / (double)ny, k = 80.0 / 4;
      float ux = (float)(0.04 * tanh(Y <= 0.5 ? k * (Y - 0.25) : k * (0.75 - Y))),
            uy = (float)(0.002 * sin(6.283185307179586 * (X + 0.25)));
      float u2 = 1.0f - 1.5f * (ux * ux + uy * uy);
      for (int q = 0; q < NQ; q++) {
        float e = 3.0f * ((float)ex[q] * ux + (float)ey[q] * uy),
              v = wq[q] * (u2 + e + 0.5f * e * e);
        F[q * S + y * nx + x] = v;
      }
    }
}

// One row of one sweep. in[q]/out[q] point at the start of the row that direction q is read
// from / written to; dx[q] shifts the read, sx[q] the write. Interior cells vectorise.
static inline __attribute__((always_inline)) void row(float *const *in, float *const *out,
                                                      const int *dx, const int *sx) {
  for (int edge = 0; edge < 2; edge++) {
    long x = edge ? nx - 1 : 0;
    float f[NQ], o[NQ];
    for (int q = 0; q < NQ; q++) f[q] = in[q][wrap(x + dx[q], nx)];
    collide(f, o);
    for (int q = 0; q < NQ; q++) out[q][wrap(x + sx[q], nx)] = o[q];
  }
#pragma GCC ivdep
  for (long x = 1; x < nx - 1; x++) {
    float f[NQ], o[NQ];
#pragma GCC unroll 9
    for (int q = 0; q < NQ; q++) f[q] = in[q][x + dx[q]];
    collide(f, o);
#pragma GCC unroll 9
    for (int q = 0; q < NQ; q++) out[q][x + sx[q]] = o[q];
  }
}
static const int zero[NQ], mex[NQ] = {0, -1, 1, 0, 0, -1, 1, -1, 1};

static void step(void) {
#pragma omp parallel for schedule(static)
  for (long y = 0; y < ny; y++) {
    float *in[NQ], *out[NQ];
    for (int q = 0; q < NQ; q++) {
      in[q] = F + q * S + wrap(y - ey[q], ny) * nx;
      out[q] = H + q * S + y * nx;
    }
    row(in, out, mex, zero);
  }
  float *t = F;
  F = H;
  H = t;
}

static void setup(int argc, char **argv) {
  nx = ny = argument(argc, argv, 2, 1024);
  N = nx * ny;
  S = N + 112;
  F = pages((size_t)(S * NQ + 64) * 4), H = pages((size_t)(S * NQ + 64) * 4);
}

static double checksum(void) {
  double ke = 0;
#pragma omp parallel for reduction(+ : ke) schedule(static)
  for (long i = 0; i < N; i++) {
    double m[3] = {0, 0, 0};
    for (int q = 0; q < NQ; q++) {
      double f = F[q * S + i];
      m[0] += f, m[1] += ex[q] * f, m[2] += ey[q] * f;
    }
    ke += (m[1] * m[1] + m[2] * m[2]) / m[0];
  }
  return ke;
}
