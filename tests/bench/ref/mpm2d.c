// mpm2d.c - ../ours/mpm2d.lua in plain C, particle by particle, for machines without AVX-512.
// Particles and nodes are records; each thread adds to a grid of its own, and the loop over the
// nodes adds those up.
#include "bench.h"

typedef struct {
  float x[2], v[2], c[2][2], j;
} Particle;
typedef struct {
  float v[2], m, pad;
} Node;

enum { PAD = 20 }; // nodes at the end of a row: rows a multiple of 4 KiB apart would alias
static Particle *particles;
static Node *grids[64];
static int count, n, pitch, threads;
static float dx, inv_dx, dt, volume;
static const float stiffness = 400, gravity = 9.8f;

static void start(void) {
  for (int p = 0; p < count; p++) {
    float x = hashf(2ull * (uint64_t)p) * 0.4f + 0.2f,
          y = hashf(2ull * (uint64_t)p + 1) * 0.4f + 0.2f;
    particles[p] = (Particle){.x = {x, y}, .v = {0, -1}, .j = 1};
  }
}

typedef struct {
  int i, j;
  float fx, fy, wx[3], wy[3];
} Stencil;

static inline void weights(float f, float w[3]) {
  w[0] = 0.5f * (1.5f - f) * (1.5f - f);
  w[1] = 0.75f - (f - 1) * (f - 1);
  w[2] = 0.5f * (f - 0.5f) * (f - 0.5f);
}

static inline Stencil stencil(const Particle *p) {
  Stencil s = {.i = (int)(p->x[0] * inv_dx - 0.5f), .j = (int)(p->x[1] * inv_dx - 0.5f)};
  s.fx = p->x[0] * inv_dx - (float)s.i;
  s.fy = p->x[1] * inv_dx - (float)s.j;
  weights(s.fx, s.wx);
  weights(s.fy, s.wy);
  return s;
}

static inline void scatter(const Particle *p, Node *grid) {
  Stencil s = stencil(p);
  float stress = -4 * dt * stiffness * volume * (p->j - 1) * inv_dx * inv_dx, mass = volume;
  float a = stress + mass * p->c[0][0], b = mass * p->c[0][1], c = mass * p->c[1][0],
        d = stress + mass * p->c[1][1];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      float ox = ((float)i - s.fx) * dx, oy = ((float)j - s.fy) * dx, w = s.wx[i] * s.wy[j];
      Node *node = &grid[(s.i + i) * pitch + s.j + j];
      node->v[0] += w * (mass * p->v[0] + a * ox + b * oy);
      node->v[1] += w * (mass * p->v[1] + c * ox + d * oy);
      node->m += w * mass;
    }
}

static inline void gather(Particle *p, const Node *grid) {
  Stencil s = stencil(p);
  float v[2] = {0, 0}, c[2][2] = {{0, 0}, {0, 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const Node *node = &grid[(s.i + i) * pitch + s.j + j];
      float ox = (float)i - s.fx, oy = (float)j - s.fy, w = s.wx[i] * s.wy[j];
      for (int k = 0; k < 2; k++) {
        float wv = w * node->v[k];
        v[k] += wv;
        c[k][0] += 4 * inv_dx * wv * ox;
        c[k][1] += 4 * inv_dx * wv * oy;
      }
    }
  for (int k = 0; k < 2; k++) {
    p->v[k] = v[k];
    p->x[k] += dt * v[k];
  }
  memcpy(p->c, c, sizeof c);
  p->j *= 1 + dt * (c[0][0] + c[1][1]);
}

// Momentum to velocity, gravity, walls; first the sums of all grids into the first.
static void nodes_of_row(int i) {
  for (int j = 0; j < n; j++) {
    Node *node = &grids[0][i * pitch + j];
    for (int t = 1; t < threads; t++) {
      Node *other = &grids[t][i * pitch + j];
      node->v[0] += other->v[0];
      node->v[1] += other->v[1];
      node->m += other->m;
      *other = (Node){0};
    }
    if (node->m <= 0) continue;
    float x = node->v[0] / node->m, y = node->v[1] / node->m - dt * gravity;
    if ((i < 3 && x < 0) || (i > n - 3 && x > 0)) x = 0;
    if ((j < 3 && y < 0) || (j > n - 3 && y > 0)) y = 0;
    node->v[0] = x;
    node->v[1] = y;
  }
}

static void step(void) {
#pragma omp parallel num_threads(threads)
  {
    Node *own = grids[omp_get_thread_num()];
#pragma omp for schedule(static)
    for (int p = 0; p < count; p++) scatter(&particles[p], own);
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) nodes_of_row(i);
#pragma omp for schedule(static)
    for (int p = 0; p < count; p++) gather(&particles[p], grids[0]);
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) memset(&grids[0][i * pitch], 0, sizeof(Node) * (size_t)n);
  }
}

static void setup(int argc, char **argv) {
  count = (int)argument(argc, argv, 1, 8192);
  n = (int)argument(argc, argv, 2, 128);
  threads = omp_get_max_threads() < 64 ? omp_get_max_threads() : 64;
  pitch = n + PAD;
  dx = 1.0f / (float)n;
  inv_dx = (float)n;
  dt = 2e-4f * 128 / (float)n;
  volume = dx * dx * 0.25f;
  particles = pages(sizeof(Particle) * (size_t)count);
  for (int t = 0; t < threads; t++)
    grids[t] = pages(sizeof(Node) * (size_t)(n + 2) * (size_t)pitch);
}

static double checksum(void) {
  double sum = 0;
  for (int p = 0; p < count; p++) sum += particles[p].x[1] + 0.5 * particles[p].x[0];
  return sum / count;
}
