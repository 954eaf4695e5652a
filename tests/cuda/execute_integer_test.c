/* execute_integer_test.c - integers, bits and predicates on the executing driver, by the rules of
 * the PTX manual. A row is an instruction with its operands; the table is the test. */
#include "check.h"
#include "gpu.h"

typedef struct Row {
  const char *op;
  int to, from; /* bits of the result and of the first operand */
  uint64_t a, b, c, e;
  uint64_t expected;
  int counts; /* bits of the second operand; 0: as the first. Those after it follow it */
} Row;

static uint64_t out[32];

static const char *letter(int bits) { return bits == 16 ? "rs" : bits == 64 ? "rd" : "r"; }

static uint64_t run(const Row *row, int operands) {
  char lines[1024];
  const uint64_t values[] = {row->a, row->b, row->c, row->e};
  int at = 0;
  for (int i = 0; i < operands; i++) {
    int bits = i && row->counts ? row->counts : row->from;
    at += snprintf(lines + at, sizeof lines - (size_t)at, "mov.b%d %%%s%d, %lld;", bits,
                   letter(bits), i + 2, (long long)values[i]);
  }
  at += snprintf(lines + at, sizeof lines - (size_t)at, "%s %%%s10", row->op, letter(row->to));
  bool has_table = !strncmp(row->op, "lop3", 4); /* its last operand is a number */
  for (int i = 0; i < operands - has_table; i++)
    at += snprintf(lines + at, sizeof lines - (size_t)at, ", %%%s%d",
                   letter(i && row->counts ? row->counts : row->from), i + 2);
  if (has_table) at += snprintf(lines + at, sizeof lines - (size_t)at, ", %d", (int)row->e);
  snprintf(lines + at, sizeof lines - (size_t)at, "; st.global.b%d [%%rd0], %%%s10;", row->to,
           letter(row->to));
  return gpu_lines(lines, out) ? 0xdead : out[0];
}

static void check(const Row *rows, size_t count, int operands) {
  for (size_t i = 0; i < count; i++) {
    uint64_t found = run(&rows[i], operands);
    if (found != rows[i].expected || found != out[31])
      printf("%s gives 0x%llx for 0x%llx\n", rows[i].op, (unsigned long long)found,
             (unsigned long long)rows[i].expected);
    CHECK(found == rows[i].expected);
    CHECK(found == out[31]);
  }
}
#define ROWS(OPERANDS, ...) \
  do { \
    static const Row rows[] = {__VA_ARGS__}; \
    check(rows, sizeof rows / sizeof rows[0], OPERANDS); \
  } while (0)

static void arithmetic(void) {
  TEST("integers wrap around") {
    ROWS(2, {"add.s32", 32, 32, 0x7fffffff, 1, .expected = 0x80000000},
         {"add.s64", 64, 64, UINT64_MAX, 2, .expected = 1},
         {"sub.s16", 16, 16, 1, 2, .expected = 0xffff},
         {"mul.lo.s32", 32, 32, 0x10001, 0x10001, .expected = 0x20001},
         {"mul.hi.u32", 32, 32, 0xffffffff, 0xffffffff, .expected = 0xfffffffe},
         {"mul.hi.s32", 32, 32, 0xffffffff, 0xffffffff, .expected = 0},
         {"mul.hi.u64", 64, 64, UINT64_MAX, UINT64_MAX, .expected = UINT64_MAX - 1},
         {"mul.hi.s64", 64, 64, 1ull << 63, 2, .expected = UINT64_MAX},
         {"mul.wide.s32", 64, 32, 0xffffffff, 3, .expected = (uint64_t)-3},
         {"mul.wide.u32", 64, 32, 0xffffffff, 3, .expected = 0x2fffffffd},
         {"mul.wide.s16", 32, 16, 0xffff, 3, .expected = 0xfffffffd},
         {"add.sat.s32", 32, 32, 0x7fffffff, 5, .expected = 0x7fffffff},
         {"mul24.lo.u32", 32, 32, 0xff000002, 3, .expected = 6});
    ROWS(3, {"mad.lo.s32", 32, 32, 3, 4, 5, .expected = 17},
         {"mad.lo.s64", 64, 64, 1ull << 62, 4, 5, .expected = 5},
         {"mad.hi.u32", 32, 32, 0x80000000, 4, 5, .expected = 7},
         {"sad.s32", 32, 32, 0xffffffff, 1, 10, .expected = 12},
         {"sad.u32", 32, 32, 0xffffffff, 1, 10, .expected = 8});
    ROWS(1, {"neg.s32", 32, 32, 0x80000000, .expected = 0x80000000},
         {"abs.s32", 32, 32, 0x80000000, .expected = 0x80000000},
         {"abs.s64", 64, 64, (uint64_t)-5, .expected = 5});
  }
  TEST("quotients go towards zero, remainders take the dividend's sign") {
    ROWS(2, {"div.s32", 32, 32, (uint32_t)-7, 2, .expected = (uint32_t)-3},
         {"rem.s32", 32, 32, (uint32_t)-7, 2, .expected = (uint32_t)-1},
         {"rem.s32", 32, 32, 7, (uint32_t)-2, .expected = 1},
         {"div.u32", 32, 32, (uint32_t)-7, 2, .expected = 0x7ffffffc},
         {"div.s64", 64, 64, 1ull << 63, UINT64_MAX, .expected = 1ull << 63},
         {"rem.s64", 64, 64, 1ull << 63, UINT64_MAX, .expected = 0},
         {"div.u64", 64, 64, 100, 7, .expected = 14}, {"rem.u16", 16, 16, 100, 7, .expected = 2},
         {"div.u32", 32, 32, 5, 0, .expected = 0xffffffff});
  }
  TEST("minimum and maximum are found for signed and unsigned integers") {
    ROWS(2, {"min.s32", 32, 32, (uint32_t)-1, 1, .expected = 0xffffffff},
         {"min.u32", 32, 32, (uint32_t)-1, 1, .expected = 1},
         {"max.s64", 64, 64, UINT64_MAX, 1, .expected = 1},
         {"max.u64", 64, 64, UINT64_MAX, 1, .expected = UINT64_MAX},
         {"max.s16", 16, 16, 0x8000, 1, .expected = 1});
  }
}

static void bits(void) {
  TEST("shifts past the width give zero, or the sign") {
    ROWS(2, {"shl.b32", 32, 32, 1, 31, .expected = 0x80000000},
         {"shl.b32", 32, 32, 1, 32, .expected = 0}, {"shl.b32", 32, 32, 1, 255, .expected = 0},
         {"shr.u32", 32, 32, 0x80000000, 31, .expected = 1},
         {"shr.u32", 32, 32, 0x80000000, 32, .expected = 0},
         {"shr.s32", 32, 32, 0x80000000, 99, .expected = 0xffffffff},
         {"shl.b64", 64, 64, 1, 63, .expected = 1ull << 63, .counts = 32},
         {"shl.b64", 64, 64, 1, 64, .expected = 0, .counts = 32},
         {"shr.s64", 64, 64, 1ull << 63, 63, .expected = UINT64_MAX, .counts = 32},
         {"shl.b16", 16, 16, 1, 15, .expected = 0x8000, .counts = 32},
         {"shl.b16", 16, 16, 1, 16, .expected = 0, .counts = 32},
         {"shr.s16", 16, 16, 0x8000, 4, .expected = 0xf800, .counts = 32});
    ROWS(3, {"shf.l.wrap.b32", 32, 32, 0x80000001, 0x12345678, 36, .expected = 0x23456788},
         {"shf.l.clamp.b32", 32, 32, 0x80000001, 0x12345678, 40, .expected = 0x80000001},
         {"shf.r.wrap.b32", 32, 32, 0x80000001, 0x12345678, 4, .expected = 0x88000000},
         {"shf.r.clamp.b32", 32, 32, 0x80000001, 0x12345678, 33, .expected = 0x12345678});
  }
  TEST("bits are counted, found, reversed, extracted and inserted") {
    ROWS(1, {"popc.b32", 32, 32, 0xf0f0, .expected = 8},
         {"popc.b64", 32, 64, UINT64_MAX, .expected = 64}, {"clz.b32", 32, 32, 0, .expected = 32},
         {"clz.b64", 32, 64, 1, .expected = 63}, {"brev.b32", 32, 32, 1, .expected = 0x80000000},
         {"brev.b64", 64, 64, 6, .expected = 3ull << 61}, {"not.b32", 32, 32, 5, .expected = ~5u},
         {"cnot.b32", 32, 32, 0, .expected = 1}, {"bfind.u32", 32, 32, 0x500, .expected = 10},
         {"bfind.s32", 32, 32, 0xffffff00, .expected = 7},
         {"bfind.s32", 32, 32, 0xffffffff, .expected = 0xffffffff},
         {"bfind.shiftamt.u32", 32, 32, 0x500, .expected = 21});
    ROWS(3, {"bfe.u32", 32, 32, 0xabcd1234, 4, 8, .expected = 0x23},
         {"bfe.s32", 32, 32, 0xabcd1284, 4, 4, .expected = 0xfffffff8},
         {"bfe.s32", 32, 32, 0x80000000, 28, 12, .expected = 0xfffffff8},
         {"bfe.u32", 32, 32, 0xffffffff, 5, 0, .expected = 0},
         {"bfe.u64", 64, 64, 0xabcd000000001234, 48, 16, .expected = 0xabcd, .counts = 32},
         {"prmt.b32", 32, 32, 0x33221100, 0x77665544, 0x7531, .expected = 0x77553311},
         {"prmt.b32", 32, 32, 0x33221180, 0, 0x8888, .expected = 0xffffffff},
         {"prmt.b32", 32, 32, 0x12345678, 0, 0x0123, .expected = 0x78563412},
         {"prmt.b32.b4e", 32, 32, 0x33221100, 0x77665544, 3, .expected = 0x00112233},
         {"prmt.b32.f4e", 32, 32, 0x33221100, 0x77665544, 1, .expected = 0x44332211},
         {"prmt.b32.rc8", 32, 32, 0x33221100, 0, 2, .expected = 0x22222222});
    ROWS(
        4, {"bfi.b32", 32, 32, 0xff, 0x11111111, 8, 4, .expected = 0x11111f11},
        {"lop3.b32", 32, 32, 0xf0f0, 0xff00, 0xaaaa, 0x96, .expected = 0xf0f0 ^ 0xff00 ^ 0xaaaa},
        {"lop3.b32", 32, 32, 0xf0f0, 0xff00, 0xaaaa, 0xea, .expected = (0xf0f0 & 0xff00) | 0xaaaa});
  }
}

static void conversions(void) {
  TEST("integers are truncated and extended by their own signs") {
    ROWS(1, {"cvt.s64.s32", 64, 32, 0x80000000, .expected = 0xffffffff80000000},
         {"cvt.u64.u32", 64, 32, 0x80000000, .expected = 0x80000000},
         {"cvt.u32.u64", 32, 64, 0x123456789, .expected = 0x23456789},
         {"cvt.s32.s8", 32, 32, 0x180, .expected = 0xffffff80},
         {"cvt.u32.u8", 32, 32, 0x1ff, .expected = 0xff},
         {"cvt.s16.s8", 16, 16, 0x80, .expected = 0xff80},
         {"cvt.u32.u16", 32, 16, 0xffff, .expected = 0xffff},
         {"cvt.s64.s16", 64, 16, 0x8000, .expected = 0xffffffffffff8000},
         {"cvt.u16.u32", 16, 32, 0x12345, .expected = 0x2345},
         {"cvt.sat.u8.s32", 32, 32, 300, .expected = 255},
         {"cvt.sat.u8.s32", 32, 32, (uint32_t)-3, .expected = 0},
         {"cvt.sat.s16.s32", 32, 32, (uint32_t)-40000, .expected = 0xffff8000},
         {"cvt.sat.u32.s64", 32, 64, 1ull << 40, .expected = 0xffffffff});
  }
}

static const char carry_lines[] =
    "mov.b64 %rd2, -1; mov.b64 %rd3, 5; mov.b64 %rd4, 1; mov.b64 %rd5, 0;"
    "add.cc.s64 %rd6, %rd2, %rd4; addc.cc.s64 %rd7, %rd3, %rd5;"
    "sub.cc.s64 %rd8, %rd5, %rd4; subc.s64 %rd9, %rd3, %rd5;"
    "shl.b64 %rd10, %rd9, 32; add.s64 %rd10, %rd10, %rd7; st.global.u64 [%rd0], %rd10;";

int main(void) {
  gpu_open("");
  arithmetic();
  bits();
  conversions();
  TEST("sums carry into the next, differences borrow") {
    CHECK_INT(gpu_lines(carry_lines, out), 0);
    CHECK(out[0] == (4ull << 32 | 6));
  }
  TEST("predicates are computed, select values, and guard instructions") {
    CHECK_INT(gpu_lines("setp.lt.u32 %p1, %r0, 4; setp.ge.s32 %p2, %r0, 2; and.pred %p3, %p1, %p2;"
                        "selp.u32 %r2, 7, 9, %p3; @%p1 add.s32 %r2, %r2, 100;"
                        "@!%p1 add.s32 %r2, %r2, 200; not.pred %p4, %p3; mov.pred %p5, -1;"
                        "xor.pred %p4, %p4, %p5; @%p4 add.s32 %r2, %r2, 1000;"
                        "st.global.u32 [%rd0], %r2;",
                        out),
              0);
    for (int i = 0; i < 32; i++) {
      bool in = i < 4 && i >= 2;
      CHECK_INT(out[i], (in ? 7 : 9) + (i < 4 ? 100 : 200) + (in ? 1000 : 0));
    }
  }
  TEST("registers are packed and unpacked") {
    CHECK_INT(gpu_lines("mov.b32 %r2, 0x11112222; mov.b32 %r3, 0x33334444;"
                        "mov.b64 %rd2, {%r2, %r3}; mov.b64 {%r4, %r5}, %rd2;"
                        "mov.b32 {%rs2, %rs3}, %r5; mov.b32 %r6, {%rs3, %rs2};"
                        "mov.b64 %rd3, {%r6, %r4}; st.global.u64 [%rd0], %rd3;",
                        out),
              0);
    CHECK(out[5] == 0x1111222244443333);
  }
  return check_report();
}
