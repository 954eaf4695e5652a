/* bytes_test.c - canonical bytes: written and read, equal for equal kernels, and harmless if they
 * are invalid. */
#include "check.h"
#include "ir/task.h"
#include "ir_texts.h"

static Heap heap;
static Scratch scratch;

static const char *print(const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, &scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static IrKernel *read(const char *text) {
  Error err;
  error_clear(&err);
  return ir_read(&scratch, &heap, text, &err);
}

static bool same_bytes(IrBytes a, IrBytes b) {
  return a.length == b.length && memcmp(a.data, b.data, (size_t)a.length) == 0;
}

/* `text` with the first `from` replaced. */
static const char *replaced(const char *text, const char *from, const char *with) {
  const char *at = strstr(text, from);
  return scratch_format(&scratch, "%.*s%s%s", (int)(at - text), text, with, at + strlen(from));
}

static void test_vector_result(void) {
  Error err;
  error_clear(&err);
  TEST("a result of several numbers is written and read back") {
    static const char text[] =
        "kernel k\nresult f32 2 1\nframe 2\nhost {\n  %0: f32 = const 1.0\n  return %0, %0\n}\n";
    IrKernel *kernel = read(text);
    CHECK(kernel && ir_verify(kernel, &err));
    if (kernel) CHECK_TEXT(print(kernel), text);
    IrBytes bytes = ir_write(&scratch, kernel, "x86-64-v3");
    const char *target = NULL;
    IrKernel *again = ir_read_bytes(&scratch, bytes.data, bytes.length, &target, &err);
    CHECK(again && again->results.count == 1 && type_rows(again->results.items[0]) == 2 &&
          type_cols(again->results.items[0]) == 1);
    IrKernel *wrong = read(replaced(text, "%0, %0", "%0"));
    CHECK(!wrong || !ir_verify(wrong, &err));
    CHECK(!read(replaced(text, "2 1", "17 1")));
  }
}

static void test_many_results(void) {
  Error err;
  error_clear(&err);
  TEST("several results are written and read back, and a return has them all") {
    static const char text[] =
        "kernel k\nresult i32\nresult f32 2 1\nresult bool\nframe 4\nhost {\n  %0: i32 = const 7\n"
        "  %1: f32 = const 1.0\n  %2: bool = const true\n  return %0, %1, %1, %2\n}\n";
    IrKernel *kernel = read(text);
    CHECK(kernel && ir_verify(kernel, &err));
    if (kernel) CHECK_TEXT(print(kernel), text);
    IrBytes bytes = ir_write(&scratch, kernel, "x86-64-v3");
    const char *target = NULL;
    IrKernel *again = ir_read_bytes(&scratch, bytes.data, bytes.length, &target, &err);
    CHECK(again && again->results.count == 3 && ir_result_slots(again) == 4);
    CHECK(!read(replaced(text, "%0, %1, %1, %2", "%0, %1, %2")));
    CHECK(!read(replaced(text, "%0, %1, %1, %2", "%1, %0, %1, %2")));
  }
}

static void test_functions(void) {
  Error err;
  error_clear(&err);
  TEST("functions are written and read back, and a call has a value per parameter and a variable "
       "per result") {
    static const char text[] =
        "kernel k\nframe 1\nhost {\n  %0: i32 = const 7\n  %1: i32 = var\n  %2: bool = var\n"
        "  invoke 0 %0, %1, %2\n  invoke 1\n}\n"
        "function 0 fib = i32, bool fault 3 (%0: i32) {\n  %1: bool = const true\n"
        "  return %0, %1\n}\nfunction 1 \"\" {\n  return\n}\n";
    IrKernel *kernel = read(text);
    CHECK(kernel && ir_verify(kernel, &err));
    if (kernel) CHECK_TEXT(print(kernel), text);
    IrBytes bytes = ir_write(&scratch, kernel, "x86-64-v3");
    const char *target = NULL;
    IrKernel *again = ir_read_bytes(&scratch, bytes.data, bytes.length, &target, &err);
    CHECK(again && again->functions.count == 2 && again->functions.items[0]->fault == 3);
    if (again) CHECK(same_bytes(ir_write(&scratch, again, target), bytes));
    CHECK(!read(replaced(text, "invoke 1", "invoke 2")));
    CHECK(!read(replaced(text, "%0, %1, %2", "%0, %2, %1")));
    CHECK(!read(replaced(text, "%0, %1, %2", "%0, %1")));
    CHECK(!read(replaced(text, "%0, %1, %2", "%1, %0, %2")));
    CHECK(!read(replaced(text, "return %0, %1", "return %1, %0")));
    CHECK(!read(replaced(text, "function 1", "function 3")));
  }
}

static void test_both_ways(void) {
  Error err;
  error_clear(&err);
  IrBytes bytes = ir_write(&scratch, read(STAGE3), "x86-64-v3");
  TEST("bytes contain the kernel and its target, without names") {
    const char *target = NULL;
    IrKernel *again = ir_read_bytes(&scratch, bytes.data, bytes.length, &target, &err);
    CHECK(again != NULL);
    if (again) {
      CHECK_TEXT(target, "x86-64-v3");
      CHECK_TEXT(print(again), replaced(STAGE3, "kernel k", "kernel \"\""));
      CHECK(same_bytes(ir_write(&scratch, again, target), bytes));
    }
  }
  TEST("bytes do not depend on names, but on constants and targets") {
    const char *renamed =
        replaced(replaced(STAGE3, "kernel k", "kernel other"), "f32\nlevel", "f32 heat\nlevel");
    CHECK(same_bytes(ir_write(&scratch, read(renamed), "x86-64-v3"), bytes));
    CHECK(
        !same_bytes(ir_write(&scratch, read(replaced(STAGE3, "-0.5", "0.5")), "x86-64-v3"), bytes));
    CHECK(!same_bytes(ir_write(&scratch, read(STAGE3), "x86-64-v4"), bytes));
    CHECK(!same_bytes(ir_write(&scratch, read(replaced(STAGE3, " fast_math", "")), "x86-64-v3"),
                      bytes));
    const char *bounded = replaced(STAGE3, " fast_math", " fast_math bounded");
    CHECK(!same_bytes(ir_write(&scratch, read(bounded), "x86-64-v3"), bytes));
  }
  TEST("a kernel that still has symbolic ops is refused") {
    const char *target;
    IrBytes early = ir_write(
        &scratch,
        read("kernel k\ntree t0\nlevel l0 = t0.node -1\nhost {\n  %0: i64 = count l0\n}\n"), "x");
    CHECK(!ir_read_bytes(&scratch, early.data, early.length, &target, &err));
    CHECK_TEXT(err.message, "canonical bytes are not valid: 'count': should be lowered by now");
  }
  TEST("loops in lanes are valid only with a step of one, and sums only into the frame") {
    const char *const text = "kernel k\nframe 3\nhost {\n  run 0\n}\n"
                             "task 0 = range axes=1 bounds=0 index=i32%s {\n  body (%%i: i32%s) {\n"
                             "    %%one: i32 = const %s\n    %%v: i32 = var\n"
                             "    for%s %%i, %%i, %%one (%%k: i32%s) {\n    }\n"
                             "    %%s: i32 = frame.get 2\n    reduce add %s, %%i\n  }\n}\n";
    static const char *const rows[][7] = {
        {"", "", "1", " lanes=8", ", %l: boolx8", "%s", NULL},
        {"", "", "2", " lanes=8", ", %l: boolx8", "%s", "'for': its iterations cannot be lanes"},
        {"", "", "1", " lanes=8", "", "%s", "'for': its iterations cannot be lanes"},
        {" lanes=8", ", %m: boolx8", "1", "", "", "%s", NULL},
        {" lanes=8", "", "1", "", "", "%s", "task 0: its iterations cannot be lanes"},
        {"", "", "1", "", "", "%v", "'reduce': combines into a slot of the frame"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      const char *const *r = rows[i], *target;
      IrBytes own = ir_write(
          &scratch, read(scratch_format(&scratch, text, r[0], r[1], r[2], r[3], r[4], r[5])), "x");
      error_clear(&err);
      bool crosses = ir_read_bytes(&scratch, own.data, own.length, &target, &err) != NULL;
      CHECK(crosses == !r[6]);
      if (r[6]) CHECK(strstr(err.message, r[6]));
      if (crosses == !!r[6]) printf("  row %d: %s\n", (int)i, err.message);
    }
  }
}

/* Reads the bytes in a Scratch of its own; true if they were accepted. */
static bool accepts(const uint8_t *data, int64_t length) {
  Scratch own;
  Error err;
  const char *target;
  scratch_init(&own, &heap);
  error_clear(&err);
  bool ok = ir_read_bytes(&own, data, length, &target, &err) != NULL;
  CHECK(ok || err.code == RG_ERROR_IR);
  scratch_deinit(&own);
  return ok;
}

static void test_corrupt(void) {
  IrBytes bytes = ir_write(&scratch, read(STAGE3), "x86-64-v3");
  uint8_t *copy = scratch_array(&scratch, uint8_t, bytes.length + 64);
  TEST("no proper prefix of the bytes is accepted") {
    for (int64_t length = 0; length < bytes.length; length++) CHECK(!accepts(bytes.data, length));
  }
  TEST("bytes with more at their end are not accepted") {
    memcpy(copy, bytes.data, (size_t)bytes.length);
    CHECK(!accepts(copy, bytes.length + 1));
  }
  TEST("a changed byte is refused or gives a valid kernel, wherever it is") {
    for (int64_t at = 0; at < bytes.length; at++) {
      for (int value = 0; value < 256; value += 5) {
        memcpy(copy, bytes.data, (size_t)bytes.length);
        copy[at] = (uint8_t)value;
        accepts(copy, bytes.length);
      }
    }
  }
  TEST("several bytes changed at random are refused or give a valid kernel") {
    uint64_t random = 12345;
    for (int round = 0; round < 20000; round++) {
      memcpy(copy, bytes.data, (size_t)bytes.length);
      for (int k = 0; k < 3; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        copy[(random >> 33) % (uint64_t)bytes.length] = (uint8_t)(random >> 25);
      }
      accepts(copy, bytes.length);
    }
  }
}

int main(void) {
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  test_both_ways();
  test_vector_result();
  test_many_results();
  test_functions();
  test_corrupt();
  scratch_deinit(&scratch);
  TEST("reading and writing free all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
