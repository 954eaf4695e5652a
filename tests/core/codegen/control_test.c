/* control_test.c - loops, branches, variables, ranges, the host region and reductions, run and
 * counted. A body records what it did in slots of the tree's root: 8 bytes each. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "machine.h"

static Machine m;

static int64_t word(int slot) {
  int64_t value;
  memcpy(&value, m.memory + slot * 8, 8);
  return value;
}

static bool compile(const char *text) {
  memset(m.memory, 0, 65536);
  if (machine_compile(&m, text, "native")) return true;
  printf("  %s\n", m.err.message);
  return false;
}

/* -- numeric for: Lua's, at the edges of every type -------------------------------------------- */

typedef struct ForCase {
  const char *type;
  int64_t begin, last, step;
  int64_t turns, final;
} ForCase;
static const ForCase for_cases[] = {
    {"i32", 1, 10, 1, 10, 10},
    {"i32", 10, 1, -3, 4, 1},
    {"i32", 1, 10, 0, 0, 0},
    {"i32", 5, 4, 1, 0, 0},
    {"i32", INT32_MAX - 2, INT32_MAX, 1, 3, INT32_MAX},
    {"i32", INT32_MIN + 2, INT32_MIN, -1, 3, INT32_MIN},
    {"i32", INT32_MIN, INT32_MAX, 1 << 30, 4, INT32_MIN + 3 * (int64_t)(1 << 30)},
    {"i32", 0, 100000, 1, 100001, 100000},
    {"i32", 100000, -5, -7, 14287, -2},
    {"i32", 7, 4102, 1, 4096,
     4102}, /* a strip, after which there is a poll, and one more iteration */
    {"i32", 7, 4103, 1, 4097, 4103},
    {"i32", INT32_MAX - 4095, INT32_MAX, 1, 4096, INT32_MAX},
    {"i32", INT32_MAX - 4096, INT32_MAX, 1, 4097, INT32_MAX},
    {"i32", INT32_MIN, INT32_MIN + 4096, 1, 4097, INT32_MIN + 4096},
    {"u32", 4294967295 - 8192, 4294967295, 1, 8193, 4294967295},
    {"u32", 2147483640, 2147487740, 1, 4101, 2147487740},
    {"i8", -128, 127, 1, 256, 127},
    {"i8", 127, -128, -100, 3, -73},
    {"u8", 250, 255, 1, 6, 255},
    {"u8", 3, 255, 200, 2, 203},
    {"i16", -32768, 32767, 1, 65536, 32767},
    {"u16", 0, 65535, 5, 13108, 65535},
    {"u32", 4294967290, 4294967295, 2, 3, 4294967294},
    {"i64", INT64_MAX - 1, INT64_MAX, 1, 2, INT64_MAX},
    {"i64", INT64_MIN, INT64_MAX, INT64_MAX, 3, INT64_MAX - 1},
    {"i64", INT64_MAX, INT64_MIN, INT64_MIN, 2, -1},
    {"u64", -3, -1, 1, 3, -1}};

/* Bounds come from the frame, or are constants in the code. */
static bool for_agrees(const ForCase *c, bool fixed) {
  char text[2048], bounds[512];
  const char *form =
      fixed ? "%%a: %s = const %lld\n%%b: %s = const %lld\n%%s: %s = const %lld\n"
            : "%%a: %s = frame.load 3\n%%b: %s = frame.load 4\n%%s: %s = frame.load 5\n";
  bool is_u64 = !strcmp(c->type, "u64");
  if (fixed && is_u64)
    snprintf(bounds, sizeof bounds,
             "%%a: u64 = const %llu\n%%b: u64 = const %llu\n%%s: u64 = const %llu\n",
             (unsigned long long)c->begin, (unsigned long long)c->last,
             (unsigned long long)c->step);
  else if (fixed)
    snprintf(bounds, sizeof bounds, form, c->type, (long long)c->begin, c->type, (long long)c->last,
             c->type, (long long)c->step);
  else snprintf(bounds, sizeof bounds, form, c->type, c->type, c->type);
  snprintf(
      text, sizeof text,
      "kernel for\ntree t0\nframe 8\nhost {\n%s%%n: i64 = var\n%%one: i64 = const 1\n%%root: ptr = "
      "tree.root t0\n"
      "%%zero: i32 = const 0\n%%p: ptr = offset +8 stride=0 %%root, %%zero\n"
      "for %%a, %%b, %%s (%%i: %s) {\n%%x: i64 = get %%n\n%%y: i64 = add %%x, %%one\nset %%n, %%y\n"
      "%%w: i64 = convert %%i\nmem.store %%p, %%w\n}\n%%t: i64 = get %%n\nmem.store %%root, "
      "%%t\n}\n",
      bounds, c->type);
  if (!compile(text)) return false;
  m.frame[3] = (uint64_t)c->begin, m.frame[4] = (uint64_t)c->last, m.frame[5] = (uint64_t)c->step;
  machine_host(&m);
  bool ok = word(0) == c->turns && (c->turns == 0 || word(1) == c->final);
  if (!ok)
    printf("  for %s %lld, %lld, %lld: %lld turns, last %lld\n", c->type, (long long)c->begin,
           (long long)c->last, (long long)c->step, (long long)word(0), (long long)word(1));
  return ok;
}

static int64_t float_turns(double begin, double last, double step) {
  static const char text[] =
      "kernel for\ntree t0\nframe 8\nhost {\n%a: f64 = frame.load 3\n%b: f64 = frame.load 4\n%s: "
      "f64 = frame.load 5\n"
      "%n: i64 = var\n%one: i64 = const 1\n%root: ptr = tree.root t0\nfor %a, %b, %s (%i: f64) {\n"
      "%x: i64 = get %n\n%y: i64 = add %x, %one\nset %n, %y\n}\n%t: i64 = get %n\nmem.store %root, "
      "%t\n}\n";
  if (!compile(text)) return -1;
  memcpy(&m.frame[3], &begin, 8), memcpy(&m.frame[4], &last, 8), memcpy(&m.frame[5], &step, 8);
  machine_host(&m);
  return word(0);
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* counts visits per cell at root + 4 * (i * 40 + j), and with an interior adds 100 there */
static const char *range_text(bool interior) {
  return interior ? "kernel range\ntree t0\nframe 8\nhost {\nrun 0\n}\ntask 0 = range axes=2 "
                    "bounds=2 index=i32 {\n"
                    "body (%i: i32, %j: i32) {\n%r: ptr = tree.root t0\n%p: ptr = offset "
                    "stride=160 %r, %i\n%q: ptr = offset stride=4 %p, %j\n"
                    "%one: i32 = const 1\nmem.update add nonatomic %q, %one\n}\ninterior_box 1..4 "
                    "2..30\ninterior (%i: i32, %j: i32) {\n%r: ptr = tree.root t0\n"
                    "%p: ptr = offset stride=160 %r, %i\n%q: ptr = offset stride=4 %p, %j\n%one: "
                    "i32 = const 100\nmem.update add nonatomic %q, %one\n}\n}\n"
                  : "kernel range\ntree t0\nframe 8\nhost {\nrun 0\n}\ntask 0 = range axes=2 "
                    "bounds=2 index=i64 {\n"
                    "body (%i: i64, %j: i64) {\n%r: ptr = tree.root t0\n%p: ptr = offset "
                    "stride=160 %r, %i\n%q: ptr = offset stride=4 %p, %j\n"
                    "%one: i32 = const 1\n%c: bool = lt %i, %j\nif %c {\ncontinue 0\n}\nmem.update "
                    "add nonatomic %q, %one\n}\n}\n";
}

static bool range_agrees(bool interior, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                         int64_t piece) {
  memset(m.memory, 0, 65536);
  machine_bounds(&m, 2, 0, i0, i1);
  machine_bounds(&m, 2, 1, j0, j1);
  m.positions = i1 > i0 && j1 > j0 ? (i1 - i0) * (j1 - j0) : 0;
  m.piece = piece;
  machine_host(&m);
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 40; j++) {
      int32_t seen;
      memcpy(&seen, m.memory + i * 160 + j * 4, 4);
      bool in = i >= i0 && i < i1 && j >= j0 && j < j1, inner = i >= 1 && i < 4 && j >= 2 && j < 30;
      int expected = !in ? 0 : interior ? (inner ? 100 : 1) : i < j ? 0 : 1;
      if (seen != expected)
        return printf("  cell %d %d: %d, not %d\n", i, j, seen, expected), false;
    }
  return true;
}

/* four axes, begins that are not 0: every cell once, however the positions are cut */
static bool axes_agree(int64_t piece) {
  static const char text[] =
      "kernel axes\ntree t0\nframe 12\nhost {\nrun 0\n}\ntask 0 = range axes=4 bounds=2 index=i32 "
      "{\n"
      "body (%i: i32, %j: i32, %k: i32, %l: i32) {\n%r: ptr = tree.root t0\n%a: ptr = offset "
      "stride=480 %r, %i\n%b: ptr = offset stride=96 %a, %j\n"
      "%c: ptr = offset stride=16 %b, %k\n%d: ptr = offset stride=4 %c, %l\n%one: i32 = const "
      "1\nmem.update add nonatomic %d, %one\n}\n}\n";
  static const int64_t begin[] = {1, 2, 0, 1}, end[] = {4, 5, 6, 3};
  if (!compile(text)) return false;
  for (int axis = 0; axis < 4; axis++) machine_bounds(&m, 2, axis, begin[axis], end[axis]);
  m.positions = 3 * 3 * 6 * 2;
  m.piece = piece;
  machine_host(&m);
  for (int n = 0; n < 4 * 5 * 6 * 4; n++) {
    int64_t place[] = {n / 120, n / 24 % 5, n / 4 % 6, n % 4};
    int32_t seen, expected = 1;
    memcpy(&seen, m.memory + n * 4, 4);
    for (int axis = 0; axis < 4; axis++)
      expected &= place[axis] >= begin[axis] && place[axis] < end[axis];
    if (seen != expected)
      return printf("  pieces of %d: cell %d is %d\n", (int)piece, n, seen), false;
  }
  return true;
}

/* -- reductions -------------------------------------------------------------------------------- */

typedef struct ReduceCase {
  const char *op, *type, *start, *value;
  double expected;
} ReduceCase;
static const ReduceCase reduce_cases[] = {
    {"add", "i32", "7", "i", 7 + 4950}, {"add", "f32", "0.5", "i", 4950.5},
    {"add", "f64", "0.0", "i", 4950},   {"sub", "i64", "5000", "i", 50},
    {"min", "i32", "50", "i", 0},       {"max", "i32", "-5", "i", 99},
    {"min", "f32", "3.0", "i", 0},      {"max", "f64", "500.0", "i", 500},
    {"max", "u8", "3", "i", 99},        {"bor", "u32", "0", "i", 127},
    {"band", "i32", "-1", "i", 0},      {"bxor", "i64", "0", "i", 0},
    {"mul", "f64", "2.0", "c", 2},      {"min", "i8", "5", "i", 0},
    {"add", "f16", "0.0", "c", 100}};

static double read_slot(const char *type, int slot) {
  void *at = &m.frame[slot];
  if (!strcmp(type, "f32")) return *(float *)at;
  if (!strcmp(type, "f64")) return *(double *)at;
  if (!strcmp(type, "f16")) return (double)*(_Float16 *)at;
  if (!strcmp(type, "i8")) return *(int8_t *)at;
  if (!strcmp(type, "u8")) return *(uint8_t *)at;
  if (!strcmp(type, "i64")) return (double)*(int64_t *)at;
  return *(int32_t *)at;
}

static bool reduction_agrees(const ReduceCase *c) {
  char text[1024];
  snprintf(text, sizeof text,
           "kernel reduce\nframe 8\nhost {\n%%s: %s = const %s\nframe.set 6 %%s\nrun 0\n}\n"
           "task 0 = range axes=1 bounds=2 index=i32 {\nreduction %s slot=6: %s\nbody (%%i: i32) "
           "{\n%%g: %s = frame.get 6\n"
           "%%v: %s = %s\nreduce %s %%g, %%v\n}\n}\n",
           c->type, c->start, c->op, c->type, c->type, c->type,
           *c->value == 'i' ? "convert %i" : "const 1.0", c->op);
  if (!compile(text)) return false;
  machine_bounds(&m, 2, 0, 0, 100);
  m.positions = 100;
  m.piece = 33;
  machine_host(&m);
  if (read_slot(c->type, 6) == c->expected) return true;
  printf("  %s of %s: %g, not %g\n", c->op, c->type, read_slot(c->type, 6), c->expected);
  return false;
}

static void test_exits(void) {
  TEST("break and continue count loops and fors outward") {
    CHECK(compile("kernel exits\ntree t0\nframe 8\nhost {\n%zero: i32 = const 0\n%one: i32 = const "
                  "1\n%three: i32 = const 3\n%nine: i32 = const 9\n"
                  "%n: i32 = var\n%turns: i32 = var\n%root: ptr = tree.root t0\nloop {\n%t: i32 = "
                  "get %turns\n%u: i32 = add %t, %one\nset %turns, %u\n"
                  "for %zero, %nine, %one (%i: i32) {\nfor %zero, %nine, %one (%j: i32) {\n%x: i32 "
                  "= get %n\n%y: i32 = add %x, %one\nset %n, %y\n"
                  "%c: bool = eq %j, %three\nif %c {\n%d: bool = eq %i, %three\nif %d {\nbreak "
                  "2\n} else {\ncontinue 1\n}\n}\n}\n}\n}\n"
                  "%r: i32 = get %n\nmem.store %root, %r\n%s: i32 = get %turns\n%p: ptr = offset "
                  "+8 stride=0 %root, %zero\nmem.store %p, %s\n}\n"));
    machine_host(&m);
    CHECK_INT(word(0), 16);
    CHECK_INT(word(1), 1);
  }
  TEST("a variable is zero each time its place is reached") {
    CHECK(compile("kernel var\ntree t0\nframe 8\nhost {\n%zero: i32 = const 0\n%one: i32 = const "
                  "1\n%five: i32 = const 5\n%root: ptr = tree.root t0\n"
                  "%sum: i32 = var\nfor %zero, %five, %one (%i: i32) {\n%v: i32 = var\n%a: i32 = "
                  "get %v\n%b: i32 = get %sum\n%c: i32 = add %a, %b\nset %sum, %c\n"
                  "set %v, %five\n}\n%r: i32 = get %sum\nmem.store %root, %r\n}\n"));
    machine_host(&m);
    CHECK_INT(word(0), 0);
  }
  TEST("a stopped launch leaves endless loops, long fors and tasks") {
    m.context.stop = 1;
    CHECK(compile("kernel stop\ntree t0\nframe 8\nhost {\nloop {\n}\n}\n"));
    machine_host(&m);
    CHECK(compile("kernel stop\ntree t0\nframe 8\nhost {\n%a: i64 = const 0\n%b: i64 = const "
                  "9000000000000000000\n%s: i64 = const 1\n%root: ptr = tree.root t0\n"
                  "for %a, %b, %s (%i: i64) {\nmem.update add %root, %s\n}\n}\n"));
    machine_host(&m);
    CHECK_INT(word(0), 4096);
    CHECK(compile(range_text(true)));
    m.positions = 100;
    machine_host(&m);
    CHECK_INT(word(0), 0);
    m.context.stop = 0;
  }
}

static void test_host(void) {
  TEST("the host region reads arguments, hands values to tasks, and leaves its result in the "
       "frame") {
    CHECK(compile(
        "kernel host\ntree t0\narg 0: i16 n\narg 1: bool flag\nresult f64\nframe 8\nhost {\n%n: "
        "i16 = arg 0\n%c: bool = arg 1\n%w: f64 = convert %n\n"
        "if %c {\nframe.set 7 %w\nrun 0\n%h: f64 = frame.load 7\nreturn %h\n}\nreturn %w\n}\n"
        "task 0 = range axes=1 bounds=3 index=i32 {\nbody (%i: i32) {\n%g: f64 = frame.get "
        "7\n%two: f64 = const 2.0\n%d: f64 = mul %g, %two\n"
        "%r: ptr = tree.root t0\nmem.store %r, %d\n}\n}\n"));
    machine_bounds(&m, 3, 0, 0, 1);
    m.positions = 1;
    m.frame[0] = (uint16_t)-21 | 0xabcd0000;
    m.frame[1] = 1;
    machine_host(&m);
    double seen, result;
    memcpy(&seen, m.memory, 8);
    memcpy(&result, &m.frame[2], 8);
    CHECK(seen == -42 && result == -21 && m.runs > 0);
    int runs = m.runs;
    m.frame[1] = 0;
    machine_host(&m);
    CHECK_INT(m.runs, runs);
  }
}

static bool contracts(bool fast) {
  char text[1024];
  snprintf(text, sizeof text,
           "kernel fast%s\ntree t0\nframe 4\nhost {\n%%r: ptr = tree.root t0\n%%a: f32 = "
           "frame.load 1\n%%b: f32 = mul %%a, %%a\n"
           "%%c: f32 = add %%b, %%a\nmem.store %%r, %%c\n}\n",
           fast ? " fast_math" : "");
  m.want_texts = 1;
  bool ok = machine_compile(&m, text, "x86-64-v3");
  m.want_texts = 0;
  return ok && strstr(m.object->asm_text, "vfmadd") != NULL;
}

static void test_fast_math(void) {
  TEST("a product and a sum become one instruction only in a fast_math kernel") {
    CHECK(!contracts(false));
    CHECK(contracts(true));
  }
}

static double power(const char *type, const char *base, const char *exponent, const char *cpu) {
  char text[1024];
  snprintf(text, sizeof text,
           "kernel power\nframe 8\nhost {\n%%x: %s = frame.load 1\n%%b: %s = const %s\n%%e: %s = "
           "const %s\n%%p: %s = pow %%%s, %%%s\n"
           "frame.set 2 %%p\n}\n",
           type, type, *base ? base : "0.0", type, *exponent ? exponent : "0.0", type,
           *base ? "b" : "x", *exponent ? "e" : "x");
  double x = 3;
  float single = 3;
  if (!machine_compile(&m, text, cpu)) return printf("  %s\n", m.err.message), -1;
  if (type[1] == '3') memcpy(&m.frame[1], &single, 4);
  else memcpy(&m.frame[1], &x, 8);
  machine_host(&m);
  return read_slot(type, 2);
}

static void test_powers(void) {
  TEST("powers of constants and by constants call only what the loader knows") {
    static const char *const types[] = {"f32", "f64"}, *const cpus[] = {"native", "x86-64"};
    for (int i = 0; i < 4; i++) {
      CHECK(power(types[i % 2], "10.0", "", cpus[i / 2]) == 1000);
      CHECK(power(types[i % 2], "2.0", "", cpus[i / 2]) == 8);
      CHECK(power(types[i % 2], "", "2.0", cpus[i / 2]) == 9);
      CHECK(fabs(power(types[i % 2], "", "0.5", cpus[i / 2]) - sqrt(3)) < 1e-6);
      CHECK(fabs(power(types[i % 2], "", "-1.0", cpus[i / 2]) - 1 / 3.0) < 1e-6);
      CHECK(power(types[i % 2], "", "5.0", cpus[i / 2]) == 243);
    }
  }
}

static void test_errors(void) {
  TEST("IR that is not in its final form is refused, and so is an unknown processor") {
    CHECK(!machine_compile(&m,
                           "kernel bad\ntree t0 = root{ dense \"i\" 8 { f32 x } }\nfield f0 = "
                           "t0.node 1.component 0: f32 x\nframe 4\nhost {\n"
                           "%i: i32 = const 0\n%p: place = place f0 %i\n%v: f32 = load %p\n}\n",
                           "native"));
    CHECK(error_is_set(&m.err));
    CHECK(!machine_compile(&m, "kernel fine\nframe 4\nhost {\n}\n", "pdp-11"));
    CHECK(strstr(m.err.message, "pdp-11") != NULL);
    CHECK(machine_compile(&m, "kernel fine\nframe 4\nhost {\n}\n", "native"));
  }
}

/* -- functions --------------------------------------------------------------------------------- */

#define CALLS(CALL) \
  "kernel k\ntree t0\nframe 8\nhost {\n%root: ptr = tree.root t0\n%n: i32 = frame.load 1\n" \
  "%a: i32 = var\n%b: bool = var\n" CALL "%x: i32 = get %a\nmem.store %root, %x\n" \
  "%y: bool = get %b\n%zero: i32 = const 0\n%p: ptr = offset +8 stride=0 %root, %zero\n" \
  "mem.store %p, %y\n}\n"
#define FIB \
  "function 0 fib = i32, bool fault 5 (%n: i32) {\n%two: i32 = const 2\n" \
  "%yes: bool = const true\n%no: bool = const false\n%small: bool = lt %n, %two\n" \
  "if %small {\nreturn %n, %yes\n}\n%one: i32 = const 1\n%m: i32 = sub %n, %one\n" \
  "%l: i32 = sub %n, %two\n%r: i32 = var\n%b: bool = var\ninvoke 0 %m, %r, %b\n" \
  "%f: i32 = get %r\ninvoke 0 %l, %r, %b\n%g: i32 = get %r\n%s: i32 = add %f, %g\n" \
  "return %s, %no\n}\n"
static void *grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  static uint64_t words[1 << 16];
  memset(words, 0, sizeof words);
  return new_bytes <= sizeof words ? words : NULL;
}

/* Of the fault that ended the launch. */
static int64_t depth_said(void) {
  return m.worker.messages.used == 2 ? (int64_t)m.worker.messages.words[1] : -1;
}

static void begin_launch(void) {
  m.context.error = (RtError){0};
  m.context.stop = 0;
  m.context.grow = grow;
  m.worker.messages = (RtMessages){0};
}

static void test_functions(void) {
  begin_launch();
  TEST("a function calls itself, and all of its results arrive") {
    bool ok = compile(CALLS("invoke 0 %n, %a, %b\n") FIB);
    CHECK(ok);
    m.frame[1] = 20;
    if (ok) machine_host(&m);
    CHECK_INT(word(0), 6765);
    CHECK_INT(word(1) & 0xff, 0);
    m.frame[1] = 1;
    if (ok) machine_host(&m);
    CHECK_INT(word(1) & 0xff, 1);
  }
  TEST("calls nested too deeply end the launch, and nothing after them runs") {
    bool ok = compile("kernel k\ntree t0\nframe 8\nhost {\n%n: i32 = const 0\ninvoke 0 %n\n"
                      "%root: ptr = tree.root t0\n%x: i32 = const 9\nmem.store %root, %x\n}\n"
                      "function 0 f fault 7 (%n: i32) {\n%one: i32 = const 1\n"
                      "%m: i32 = add %n, %one\n%root: ptr = tree.root t0\ninvoke 0 %m\n"
                      "mem.store %root, %m\nreturn\n}\n");
    CHECK(ok);
    if (ok) machine_host(&m);
    CHECK_INT(m.context.error.kind, RT_ERROR_FAULT);
    CHECK_INT(m.context.error.manager, 7);
    CHECK_INT(depth_said(), RT_MOST_CALLS + 1);
    CHECK_INT(word(0), 0);
  }
  TEST("a stack that is exhausted ends the launch") {
    begin_launch();
    m.worker.stack_end = UINT64_MAX;
    if (compile(CALLS("invoke 0 %n, %a, %b\n") FIB)) machine_host(&m);
    CHECK_INT(m.context.error.kind, RT_ERROR_FAULT);
    CHECK_INT(depth_said(), 1);
    begin_launch();
    m.context.grow = NULL;
    m.worker.stack_end = 0;
  }
}

/* -- stores past the caches -------------------------------------------------------------------- */

/* root + 64 + 4 i = i, root + 32768 + `away` + 8 i = (i, -i), for i in 0..count */
static bool streams_agree(int away, int64_t count, uint64_t least) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "kernel streams\ntree t0\nframe 8\nhost {\nrun 0\n}\ntask 0 = range axes=1 bounds=2 "
      "index=i32 lanes=16 traffic=12 {\nbody (%%i: i32) {\n%%r: ptr = tree.root t0\n"
      "%%p: ptr = offset +%d stride=4 %%r, %%i\nmem.store shape=run nontemporal aligns %%p, %%i\n"
      "%%z: i32 = neg "
      "%%i\n%%q: ptr = offset +%d stride=8 %%r, %%i\n"
      "mem.store shape=strided group=1 parts=2 deferred nontemporal %%q, %%i\n"
      "%%s: ptr = offset +%d stride=8 %%r, %%i\n"
      "mem.store shape=strided group=1 part=1 parts=2 nontemporal %%s, %%z\n}\n}\n",
      64 + away, 32768 + away, 32772 + away);
  if (!compile(text)) return false;
  memset(m.memory, 0x55, 65536);
  m.context.stream_bytes = least;
  machine_bounds(&m, 2, 0, 0, count);
  m.positions = count;
  m.piece = 0;
  machine_host(&m);
  for (int32_t i = -1; i <= count; i++) {
    int32_t seen[3];
    bool in = i >= 0 && i < count;
    memcpy(seen, m.memory + 64 + away + 4 * i, 4);
    memcpy(seen + 1, m.memory + 32768 + away + 8 * i, 8);
    if (seen[0] != (in ? i : 0x55555555) || seen[1] != (in ? i : 0x55555555) ||
        seen[2] != (in ? -i : 0x55555555))
      return printf("  element %d: %d, %d %d\n", i, seen[0], seen[1], seen[2]), false;
  }
  return true;
}

static void test_streams(void) {
  TEST("non-temporal stores write what other stores write, wherever they begin") {
    for (int away = 0; away <= 68; away += 4) {
      CHECK(streams_agree(away, 100, 0));
      CHECK(streams_agree(away, 300, 0));
    }
    for (int count = 0; count < 40; count++) CHECK(streams_agree(0, count, 0));
    CHECK(streams_agree(0, 100, 1201));
  }
}

int main(void) {
  if (!machine_init(&m)) return 1;
  TEST("a numeric for runs as Lua's, and never wraps at the limits of a type") {
    for (size_t i = 0; i < sizeof for_cases / sizeof *for_cases; i++) {
      CHECK(for_agrees(&for_cases[i], false));
      CHECK(for_agrees(&for_cases[i], true));
    }
  }
  TEST("a for over floats adds its step, and runs nothing for a step of zero or NaN") {
    CHECK_INT(float_turns(0, 1, 0.25), 5);
    CHECK_INT(float_turns(1, 0, -0.5), 3);
    CHECK_INT(float_turns(0, 1, 0), 0);
    CHECK_INT(float_turns(0, NAN, 1), 0);
    CHECK_INT(float_turns(0, 1, NAN), 0);
    CHECK_INT(float_turns(0, 99999, 1), 100000);
  }
  test_exits();
  TEST("a range visits each position once, however it is divided, and continue ends an iteration") {
    CHECK(compile(range_text(false)));
    CHECK(range_agrees(false, 0, 10, 0, 40, 0));
    CHECK(range_agrees(false, 3, 9, 7, 8, 1));
    CHECK(range_agrees(false, 2, 10, 5, 39, 13));
    CHECK(range_agrees(false, 4, 4, 0, 40, 5));
    CHECK(range_agrees(false, 5, 2, 9, 1, 5));
  }
  TEST("indices of four axes count on with carry") {
    for (int64_t piece = 0; piece < 40; piece++) CHECK(axes_agree(piece));
  }
  TEST("the interior of a range runs its own body, and nothing else does") {
    CHECK(compile(range_text(true)));
    CHECK(range_agrees(true, 0, 10, 0, 40, 0));
    CHECK(range_agrees(true, 0, 10, 0, 40, 7));
    CHECK(range_agrees(true, 2, 3, 5, 9, 0));
    CHECK(range_agrees(true, 0, 10, 30, 40, 11));
    CHECK(range_agrees(true, 1, 4, 2, 30, 3));
    CHECK(range_agrees(true, 0, 5, 29, 31, 1));
  }
  TEST("a reduction combines the results of all chunks with its initial value") {
    for (size_t i = 0; i < sizeof reduce_cases / sizeof *reduce_cases; i++)
      CHECK(reduction_agrees(&reduce_cases[i]));
  }
  test_streams();
  test_host();
  test_powers();
  test_fast_math();
  test_functions();
  test_errors();
  machine_deinit(&m);
  return check_report();
}
