/* execute_float_test.c - floating point on the executing driver: IEEE 754 where PTX follows it, and
 * PTX's rules for NaN, signed zeros, subnormal numbers and conversions out of range. */
#include "check.h"
#include "gpu.h"

#include <math.h>

static uint64_t out[32];

static uint64_t first(const char *lines) { return gpu_lines(lines, out) ? 0xdead : out[0]; }
/* One instruction on f32: its bits. `with`: its operands, as PTX has them. */
static uint32_t single(const char *op, const char *with) {
  char lines[256];
  snprintf(lines, sizeof lines, "%s %%f1, %s; st.global.f32 [%%rd0], %%f1;", op, with);
  return (uint32_t)first(lines);
}
static uint64_t twice(const char *op, const char *with) {
  char lines[256];
  snprintf(lines, sizeof lines, "%s %%fd1, %s; st.global.f64 [%%rd0], %%fd1;", op, with);
  return first(lines);
}
static bool compare(const char *op, const char *with) {
  char lines[256];
  snprintf(lines, sizeof lines,
           "%s %%p1, %s; selp.u32 %%r1, 1, 0, %%p1; st.global.u32 [%%rd0], "
           "%%r1;",
           op, with);
  return first(lines);
}
static uint64_t integer(const char *op, const char *with) {
  char lines[256];
  snprintf(lines, sizeof lines, "%s %%rd2, %s; st.global.u64 [%%rd0], %%rd2;", op, with);
  return first(lines);
}
static uint32_t integer32(const char *op, const char *with) {
  char lines[256];
  snprintf(lines, sizeof lines, "%s %%r2, %s; st.global.u32 [%%rd0], %%r2;", op, with);
  return (uint32_t)first(lines);
}

#define NAN32 "0f7fc00001"
#define ONE "0f3f800000"

static void arithmetic(void) {
  TEST("sums, products and quotients are rounded once, to the nearest even") {
    CHECK_INT(single("add.rn.f32", "0f4b800000, " ONE), 0x4b800000); /* 2^24 + 1 */
    CHECK_INT(single("add.f32", "0f4b800000, 0f40400000"), 0x4b800002);
    CHECK_INT(single("div.rn.f32", ONE ", 0f40400000"), 0x3eaaaaab);
    CHECK_INT(single("sqrt.rn.f32", "0f40000000"), 0x3fb504f3);
    CHECK_INT(single("rcp.rn.f32", "0f40400000"), 0x3eaaaaab);
    CHECK_INT(single("fma.rn.f32", "0f3f800001, 0f3f800001, 0fbf800002"), 0x28800000);
    CHECK(twice("fma.rn.f64", "0d3ff0000000000001, 0d3ff0000000000001, 0dbff0000000000002") ==
          0x3970000000000000);
    CHECK(twice("div.rn.f64", "0d3ff0000000000000, 0d4008000000000000") == 0x3fd5555555555555);
  }
  TEST("arithmetic rounds as the instruction says") {
    CHECK_INT(single("div.rz.f32", ONE ", 0f40400000"), 0x3eaaaaaa);
    CHECK_INT(single("div.rp.f32", ONE ", 0f40400000"), 0x3eaaaaab);
    CHECK_INT(single("add.rp.f32", "0f4b800000, " ONE), 0x4b800001);
    CHECK_INT(single("add.rm.f32", "0fcb800000, 0fbf800000"), 0xcb800001);
    CHECK_INT(single("fma.rz.f32", ONE ", 0f4b800000, " ONE), 0x4b800000);
    CHECK(twice("sqrt.rm.f64", "0d4000000000000000") == 0x3ff6a09e667f3bcc);
  }
  TEST("subnormal numbers count, and with .ftz they do not") {
    CHECK_INT(single("add.f32", "0f00000001, 0f00000001"), 2);
    CHECK_INT(single("add.ftz.f32", "0f00000001, 0f00000001"), 0);
    CHECK_INT(single("mul.ftz.f32", "0f80800000, 0f3f000000"), 0x80000000);
    CHECK_INT(single("fma.rn.ftz.f32", "0f80000001, " ONE ", 0f80000000"), 0x80000000);
  }
  TEST(".sat clamps to 0 and 1, a NaN to 0") {
    CHECK_INT(single("add.sat.f32", ONE ", " ONE), 0x3f800000);
    CHECK_INT(single("mul.sat.f32", "0fbf800000, " ONE), 0);
    CHECK_INT(single("fma.rn.sat.f32", NAN32 ", " ONE ", " ONE), 0);
  }
}

static void nans(void) {
  TEST("a NaN of f32 is the canonical one") {
    CHECK_INT(single("add.f32", NAN32 ", " ONE), 0x7fffffff);
    CHECK_INT(single("sub.f32", "0f7f800000, 0f7f800000"), 0x7fffffff);
    CHECK_INT(single("sqrt.rn.f32", "0fbf800000"), 0x7fffffff);
  }
  TEST("min and max of a number and a NaN give the number, with .NaN the NaN; -0 is below 0") {
    CHECK_INT(single("min.f32", NAN32 ", " ONE), 0x3f800000);
    CHECK_INT(single("max.f32", ONE ", " NAN32), 0x3f800000);
    CHECK_INT(single("min.NaN.f32", ONE ", " NAN32), 0x7fffffff);
    CHECK_INT(single("min.f32", "0f00000000, 0f80000000"), 0x80000000);
    CHECK_INT(single("max.f32", "0f80000000, 0f00000000"), 0);
    CHECK(twice("max.f64", "0d8000000000000000, 0d0000000000000000") == 0);
  }
  TEST("comparisons with a NaN are false, unless they are the unordered ones") {
    static const char *const ordered[] = {"eq", "ne", "lt", "le", "gt", "ge", "num"};
    static const char *const unordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"};
    char op[32];
    for (int i = 0; i < 7; i++) {
      snprintf(op, sizeof op, "setp.%s.f32", ordered[i]);
      CHECK(!compare(op, ONE ", " NAN32));
      snprintf(op, sizeof op, "setp.%s.f64", unordered[i]);
      CHECK(compare(op, "0d7ff8000000000000, 0d3ff0000000000000"));
    }
    CHECK(compare("setp.ne.f32", ONE ", 0f40000000"));
    CHECK(!compare("setp.neu.f32", ONE ", " ONE));
    CHECK(compare("setp.eq.f32", "0f80000000, 0f00000000"));
    CHECK(!compare("setp.lt.ftz.f32", "0f00000000, 0f00000001"));
  }
  TEST("signs are copied, and classes are tested") {
    CHECK_INT(single("copysign.f32", "0f80000000, 0f40000000"), 0xc0000000);
    CHECK_INT(single("neg.f32", "0f00000000"), 0x80000000);
    CHECK_INT(single("abs.f32", "0fc0000000"), 0x40000000);
    CHECK(compare("testp.infinite.f32", "0fff800000"));
    CHECK(compare("testp.subnormal.f32", "0f00000001"));
    CHECK(!compare("testp.normal.f32", "0f00000001"));
    CHECK(compare("testp.notanumber.f64", "0dfff8000000000000"));
  }
}

static void conversions(void) {
  TEST("floats become integers by the requested rounding, and are clamped to the range") {
    CHECK_INT(integer32("cvt.rzi.s32.f32", "0fc0200000"), (uint32_t)-2); /* -2.5 */
    CHECK_INT(integer32("cvt.rni.s32.f32", "0f40200000"), 2);
    CHECK_INT(integer32("cvt.rmi.s32.f32", "0fc0200000"), (uint32_t)-3);
    CHECK_INT(integer32("cvt.rpi.s32.f32", "0fc0200000"), (uint32_t)-2);
    CHECK_INT(integer32("cvt.rzi.s32.f32", "0f7f800000"), 0x7fffffff);
    CHECK_INT(integer32("cvt.rzi.u32.f32", "0fbf800000"), 0);
    CHECK_INT(integer32("cvt.rzi.u32.f32", "0f7f800000"), 0xffffffff);
    CHECK(integer("cvt.rzi.s64.f64", "0dc3f0000000000000") == 1ull << 63);
    CHECK(integer("cvt.rzi.u64.f64", "0d43e0000000000000") == 1ull << 63);
    CHECK(integer("cvt.rzi.u64.f32", "0f5f7fffff") == 0xffffff0000000000);
    CHECK_INT(integer32("cvt.rzi.s32.f64", "0d41dfffffffc00000"), 0x7fffffff);
  }
  TEST("a NaN becomes 0, or the top bit in conversions from or to 64 bits") {
    CHECK_INT(integer32("cvt.rzi.s32.f32", NAN32), 0);
    CHECK_INT(integer32("cvt.rzi.u32.f32", NAN32), 0);
    CHECK(integer("cvt.rzi.s64.f32", NAN32) == 1ull << 63);
    CHECK_INT(integer32("cvt.rzi.s32.f64", "0d7ff8000000000000"), 0x80000000);
  }
  TEST("integers become floats, rounded to the nearest") {
    CHECK_INT(single("cvt.rn.f32.s32", "16777217"), 0x4b800000);
    CHECK_INT(single("cvt.rp.f32.s32", "16777217"), 0x4b800001);
    CHECK_INT(single("cvt.rn.f32.u64", "-1"), 0x5f800000);
    CHECK_INT(single("cvt.rz.f32.u64", "-1"), 0x5f7fffff);
    CHECK(twice("cvt.rn.f64.s64", "-1") == 0xbff0000000000000);
  }
  TEST("floats of one width become those of another") {
    CHECK_INT(single("cvt.rn.f32.f64", "0d3ff0000010000000"), 0x3f800000);
    CHECK_INT(single("cvt.rp.f32.f64", "0d3ff0000010000000"), 0x3f800001);
    CHECK_INT(single("cvt.rn.f32.f64", "0d7ff8000000000001"), 0x7fffffff);
    CHECK(twice("cvt.f64.f32", "0f00000001") == 0x36a0000000000000);
    CHECK_INT(single("cvt.rni.f32.f32", "0f40200000"), 0x40000000);
    CHECK_INT(single("cvt.sat.f32.f32", "0f40200000"), 0x3f800000);
    CHECK_INT(single("cvt.ftz.f32.f32", "0f00000001"), 0);
    CHECK_INT(first("cvt.rn.f16.f32 %rs1, 0f477ff000; st.global.b16 [%rd0], %rs1;"), 0x7c00);
    CHECK_INT(first("cvt.rn.f16.f32 %rs1, 0f3f801000; st.global.b16 [%rd0], %rs1;"), 0x3c00);
    CHECK_INT(first("mov.b16 %rs1, 0x0001; cvt.f32.f16 %f1, %rs1; st.global.f32 [%rd0], %f1;"),
              0x33800000);
  }
}

int main(void) {
  gpu_open("");
  arithmetic();
  nans();
  conversions();
  TEST("f16 is computed and rounded once") {
    CHECK_INT(first("mov.b16 %rs1, 0x6800; mov.b16 %rs2, 0x3c00; add.f16 %rs3, %rs1, %rs2;"
                    "st.global.b16 [%rd0], %rs3;"),
              0x6800); /* 2048 + 1 */
    CHECK_INT(first("mov.b16 %rs1, 0x4200; mov.b16 %rs2, 0x4200; mov.b16 %rs3, 0xc880;"
                    "fma.rn.f16 %rs3, %rs1, %rs2, %rs3; st.global.b16 [%rd0], %rs3;"),
              0);
    CHECK_INT(first("mov.b16 %rs1, 0x3c00; neg.f16 %rs3, %rs1; st.global.b16 [%rd0], %rs3;"),
              0xbc00);
  }
  TEST("approximate functions are within their documented error") {
    CHECK_INT(single("ex2.approx.f32", "0f40400000"), 0x41000000);
    CHECK_INT(single("lg2.approx.f32", "0f41000000"), 0x40400000);
    CHECK_INT(single("rsqrt.approx.f32", "0f40800000"), 0x3f000000);
    CHECK_INT(single("div.approx.f32", "0f40800000, 0f40000000"), 0x40000000);
    CHECK_INT(single("sin.approx.f32", "0f00000000"), 0);
  }
  return check_report();
}
