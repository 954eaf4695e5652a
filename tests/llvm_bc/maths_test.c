/* maths_test.c - the runtime's mathematics compared with the C library's long double, which has 11
 * bits more than f64: the largest error in units in the last place, over edge values and random
 * numbers; and lanes must give the bits of the scalar function. `test_rt_maths table` prints the
 * errors; `all` compares every f32 instead of a sample with the C library's f64, which takes half
 * an hour. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "maths.h"

enum { SAMPLES = 60000, MOST_LANES = 16, WIDE_TURNS = 3000, KINDS = 4 };

static const double most_ulps_f32 = 0.51, most_ulps_f64 = 1.7;

typedef struct Function {
  const char *name;
  int arguments;
  double (*wide)(double, double);
  float (*single)(float, float);
  long double (*exact)(long double, long double);
  double (*library)(double, double);
} Function;

#define ARGUMENTS_1(x, y) (x)
#define ARGUMENTS_2(x, y) (x, y)
// clang-format off
#define MATH(OP, name, arguments) \
  static double name##_wide(double x, double y) { \
    return (void)y, rt_##name##_f64 ARGUMENTS_##arguments(x, y); \
  } \
  static float name##_single(float x, float y) { \
    return (void)y, rt_##name##_f32 ARGUMENTS_##arguments(x, y); \
  } \
  static long double name##_exact(long double x, long double y) { \
    return (void)y, name##l ARGUMENTS_##arguments(x, y); \
  } \
  static double name##_library(double x, double y) { \
    return (void)y, name ARGUMENTS_##arguments(x, y); \
  }
// clang-format on
#include "maths.def"
#undef MATH

// clang-format off
static const Function functions[] = {
#define MATH(OP, name, arguments) \
  {#name, arguments, name##_wide, name##_single, name##_exact, name##_library},
#include "maths.def"
#undef MATH
};
// clang-format on
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const double edges[] = {0,
                               -0.0,
                               1,
                               -1,
                               .5,
                               -.5,
                               2,
                               3,
                               4,
                               -2,
                               -3,
                               1e-300,
                               -1e-300,
                               5e-324,
                               -5e-324,
                               0x1p-1022,
                               1e300,
                               -1e300,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               0x1p52,
                               0x1p53,
                               -0x1p53,
                               0x1p53 + 2,
                               0x1p51 + .5,
                               1e22,
                               10,
                               100,
                               1000,
                               .1,
                               1.5,
                               .625,
                               .975,
                               33.25,
                               1e15 + .5,
                               0x1.921fb54442d18p0,
                               0x1.921fb54442d18p2,
                               0x1.8p20,
                               1.6e6,
                               0x1p127,
                               1e-40,
                               1e-45,
                               0x1.fffffep127,
                               0x1.fffffffffffffp1023,
                               -0x1.fffffffffffffp1023,
                               709.782712893384,
                               -745.1332191019412,
                               710.4758600739439,
                               88.72283,
                               -103.972,
                               .7071067811865476,
                               1.4142135623730951,
                               0x1.6ac5b262ca1ffp849 /* the f64 nearest a multiple of pi / 2 */};
enum { EDGES = sizeof edges / sizeof *edges };

static uint64_t state;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dull;
}

/* -1 .. 1 */
static double fraction(void) { return (double)(int64_t)draw() * 0x1p-63; }

static double any_f64(void) {
  uint64_t bits = draw();
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static float f32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Sample number `turn` for a function: all pairs of edges, then random numbers of four kinds. */
static void draw_pair(int turn, double *x, double *y) {
  if (turn < EDGES * EDGES) {
    *x = edges[turn / EDGES];
    *y = edges[turn % EDGES];
    return;
  }
  switch (turn % KINDS) {
  case 0: *x = any_f64(), *y = any_f64(); break;
  case 1: *x = 4 * fraction(), *y = 4 * fraction(); break;
  case 2: *x = fabs(1000 * fraction()), *y = 100 * fraction(); break;
  default: *x = 1 + .01 * fraction(), *y = 60000 * fraction(); break;
  }
}

static double distance(long double got, long double want, int digits, int least_exponent,
                       long double most) {
  int exponent;
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : INFINITY;
  if (fabsl(want) > most) return isinf(got) || fabsl(got) >= most ? 0 : INFINITY;
  if (isinf(got)) return fabsl(want) >= most ? 0 : INFINITY;
  if (got == 0 && want == 0) return !signbit(got) == !signbit(want) ? 0 : INFINITY;
  frexpl(want, &exponent);
  if (want == 0 || exponent < least_exponent) exponent = least_exponent;
  return (double)fabsl((got - want) / ldexpl(1, exponent - digits));
}
static double ulps_f64(double got, long double want) {
  return distance(got, want, 53, -1021, 0x1.fffffffffffffp1023L);
}
static double ulps_f32(float got, long double want) {
  return distance(got, want, 24, -125, 0x1.fffffep127L);
}

/* Small whole powers are products, and f32's are products of f32. */
static long double wanted(const Function *f, double x, double y, bool is_single) {
  if (f->exact != pow_exact || (y != 2 && y != 3 && y != 4)) return f->exact(x, y);
  float single = (float)x, square = single * single;
  if (is_single) return y == 2 ? square : square * (y == 3 ? single : square);
  return y == 2 ? x * x : x * x * (y == 3 ? x : x * x);
}

typedef struct Worst {
  double ulps, x, y;
} Worst;
static void note(Worst *worst, double ulps, double x, double y) {
  if (ulps > worst->ulps) *worst = (Worst){ulps, x, y};
}

static void measure(const Function *f, Worst *wide, Worst *single) {
  *wide = *single = (Worst){0};
  for (int turn = 0; turn < EDGES * EDGES + SAMPLES; turn++) {
    double x, y;
    draw_pair(turn, &x, &y);
    note(wide, ulps_f64(f->wide(x, y), wanted(f, x, y, false)), x, y);
    float a = (float)x, b = (float)y;
    if (turn >= EDGES * EDGES && turn % KINDS == 0)
      a = f32_of((uint32_t)draw()), b = f32_of((uint32_t)draw());
    note(single, ulps_f32(f->single(a, b), wanted(f, a, b, true)), a, b);
  }
}

static void measure_all_f32(const Function *f) {
  Worst worst = {0};
  uint64_t not_nearest = 0;
  for (uint64_t bits = 0; bits < 1ull << 32; bits++) {
    float x = f32_of((uint32_t)bits), got = f->single(x, 0);
    double want = f->library(x, 0);
    if (got == (float)want) continue;
    double ulps = ulps_f32(got, want);
    if (ulps > 0) not_nearest++;
    note(&worst, ulps, x, 0);
  }
  printf("%-6s all f32: %.4f ulps at %a; %llu are not the nearest\n", f->name, worst.ulps, worst.x,
         (unsigned long long)not_nearest);
  fflush(stdout);
}

/* -- lanes ------------------------------------------------------------------------------------- */

typedef struct Wide {
  int lanes;
  void (*f32[FUNCTIONS])(const float *, const float *, float *);
  void (*f64[FUNCTIONS])(const double *, const double *, double *);
} Wide;

#define DECLARE(type, T, lanes, name) \
  void wide_##name##_##type##x##lanes(const T *, const T *, T *);
#define MATH(OP, name, arguments) \
  DECLARE(f32, float, 4, name) \
  DECLARE(f32, float, 8, name) \
  DECLARE(f32, float, 16, name) \
  DECLARE(f64, double, 2, name) DECLARE(f64, double, 4, name) DECLARE(f64, double, 8, name)
#include "maths.def"
#undef MATH

// clang-format off
static const Wide widths[] = {
    {2, {0}, {
#define MATH(OP, name, arguments) wide_##name##_f64x2,
#include "maths.def"
#undef MATH
    }},
    {4, {
#define MATH(OP, name, arguments) wide_##name##_f32x4,
#include "maths.def"
#undef MATH
    }, {
#define MATH(OP, name, arguments) wide_##name##_f64x4,
#include "maths.def"
#undef MATH
    }},
    {8, {
#define MATH(OP, name, arguments) wide_##name##_f32x8,
#include "maths.def"
#undef MATH
    }, {
#define MATH(OP, name, arguments) wide_##name##_f64x8,
#include "maths.def"
#undef MATH
    }},
    {16, {
#define MATH(OP, name, arguments) wide_##name##_f32x16,
#include "maths.def"
#undef MATH
    }, {0}},
};
// clang-format on

static bool same_f64(double a, double b) {
  return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}
static bool same_f32(float a, float b) {
  return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static bool lanes_agree(const Function *f, int number, const Wide *wide, int turn) {
  double x[MOST_LANES], y[MOST_LANES], out[MOST_LANES];
  float a[MOST_LANES], b[MOST_LANES], single[MOST_LANES];
  for (int i = 0; i < wide->lanes; i++) {
    draw_pair(turn * wide->lanes + i, &x[i], &y[i]);
    a[i] = (float)x[i], b[i] = (float)y[i];
  }
  if (wide->f64[number]) wide->f64[number](x, y, out);
  if (wide->f32[number]) wide->f32[number](a, b, single);
  for (int i = 0; i < wide->lanes; i++)
    if ((wide->f64[number] && !same_f64(out[i], f->wide(x[i], y[i]))) ||
        (wide->f32[number] && !same_f32(single[i], f->single(a[i], b[i])))) {
      printf("%s of %d lanes: %a, %a\n", f->name, wide->lanes, x[i], y[i]);
      return false;
    }
  return true;
}

int main(int argc, char **argv) {
  bool is_table = argc > 1 && !strcmp(argv[1], "table");
  if (argc > 1 && !strcmp(argv[1], "all")) {
    for (int i = 0; i < FUNCTIONS; i++)
      if (functions[i].arguments == 1) measure_all_f32(&functions[i]);
    return 0;
  }
  state = 88172645463325252ull;
  TEST("mathematics is within 0.51 units in the last place for f32, 1.7 for f64, at every edge") {
    for (int i = 0; i < FUNCTIONS; i++) {
      Worst wide, single;
      measure(&functions[i], &wide, &single);
      if (is_table || wide.ulps > most_ulps_f64 || single.ulps > most_ulps_f32)
        printf("%-6s f64 %.3f at %a, %a   f32 %.4f at %a, %a\n", functions[i].name, wide.ulps,
               wide.x, wide.y, single.ulps, single.x, single.y);
      CHECK(wide.ulps <= most_ulps_f64);
      CHECK(single.ulps <= most_ulps_f32);
    }
  }
  TEST("exact results are exact") {
    for (int n = -20; n <= 20; n++) CHECK(rt_pow_f64(2, n) == ldexp(1, n));
    for (int n = 0; n <= 22; n++) CHECK(rt_log10_f64(pow(10, n)) == n);
    for (int n = 0; n <= 15; n++) CHECK(rt_pow_f64(10, n) == pow(10, n));
    CHECK(rt_exp_f64(0) == 1 && rt_cos_f64(0) == 1 && rt_cosh_f64(0) == 1);
    CHECK(rt_pow_f64(7, 3) == 343 && rt_pow_f32(-3, 3) == -27 && rt_pow_f64(9, .5) == 3);
  }
  TEST("lanes give the bits of the scalar function") {
    for (int i = 0; i < FUNCTIONS; i++)
      for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (int turn = 0; turn < WIDE_TURNS; turn++)
          if (!lanes_agree(&functions[i], i, &widths[k], turn)) {
            CHECK(!"lanes differ");
            break;
          }
  }
  return check_report();
}
