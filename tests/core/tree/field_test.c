/* field_test.c - elements of every type, and whole fields at once. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

static void elements(void) {
  static const struct {
    const char *type;
    double low, high, beyond;
  } rows[] = {{"i8", -128, 127, 128},
              {"i16", -32768, 32767, 32768},
              {"i32", -2147483648.0, 2147483647, 2147483648.0},
              {"u8", 0, 255, -1},
              {"u16", 0, 65535, 65536},
              {"u32", 0, 4294967295.0, 4294967296.0}};
  RgTree *tree = new_tree("types");
  RgSNode *cells = add(rg_tree_root(tree), "dense", "i", 3, NULL);
  RgField *fields[6], *f16 = place(cells, "f16", "h"), *f64 = place(cells, "f64", "d"),
                      *b = place(cells, "bool", "b");
  RgField *i64 = place(cells, "i64", "l"), *u64 = place(cells, "u64", "u");
  int64_t two = 2;
  for (int k = 0; k < 6; k++) fields[k] = place(cells, rows[k].type, rows[k].type);
  TEST("integers keep their whole range, and refuse the next number") {
    for (int k = 0; k < 6; k++) {
      RgValue value = number(rows[k].beyond), half = number(0.5);
      set(fields[k], 0, 0, 1, rows[k].low), set(fields[k], 2, 0, 1, rows[k].high);
      CHECK(get(fields[k], 0, 0, 1) == rows[k].low && get(fields[k], 2, 0, 1) == rows[k].high &&
            get(fields[k], 1, 0, 1) == 0);
      CHECK(rg_field_set(fields[k], &two, 1, &value) != 0 &&
            rg_field_set(fields[k], &two, 1, &half) != 0);
      CHECK_TEXT(rg_error(rg)->code, "value.fit");
      CHECK(get(fields[k], 2, 0, 1) == rows[k].high);
    }
    RgValue value = number(2.5);
    CHECK_ERROR(rg_field_set(fields[2], &two, 1, &value), "value.fit",
                "field 'i32' cannot hold 2.5: its type is i32");
    CHECK_TEXT(rg_error(rg)->hint, "math.floor makes a whole number");
  }
  TEST("64-bit integers keep every bit") {
    RgValue least = {.kind = RG_VALUE_I64, .i64 = INT64_MIN},
            most = {.kind = RG_VALUE_U64, .u64 = UINT64_MAX}, value;
    CHECK(rg_field_set(i64, &two, 1, &least) == 0 && rg_field_get(i64, &two, 1, &value) == 0);
    CHECK(value.kind == RG_VALUE_I64 && value.i64 == INT64_MIN);
    CHECK(rg_field_set(u64, &two, 1, &most) == 0 && rg_field_get(u64, &two, 1, &value) == 0);
    CHECK(value.kind == RG_VALUE_U64 && value.u64 == UINT64_MAX);
    CHECK_ERROR(rg_field_set(i64, &two, 1, &most), "value.fit",
                "field 'l' cannot hold 18446744073709551615ULL: its type is i64");
    CHECK_ERROR(rg_field_set(u64, &two, 1, &least), "value.fit",
                "field 'u' cannot hold -9223372036854775808LL: its type is u64");
    least = (RgValue){.kind = RG_VALUE_I64, .i64 = -128};
    CHECK(rg_field_set(fields[0], &two, 1, &least) == 0 && get(fields[0], 2, 0, 1) == -128);
    least.i64 = -129;
    CHECK(rg_field_set(fields[0], &two, 1, &least) != 0);
  }
  TEST("floats round to their type, booleans are booleans") {
    RgValue yes = {.kind = RG_VALUE_BOOL, .i64 = 1}, one = number(1), value;
    set(f16, 1, 0, 1, 0.1), set(f64, 1, 0, 1, 0.1);
    CHECK(get(f64, 1, 0, 1) == 0.1 && fabs(get(f16, 1, 0, 1) - 0.1) < 1e-4 &&
          get(f16, 1, 0, 1) != 0.1);
    set(f16, 1, 0, 1, 1e9);
    CHECK(isinf(get(f16, 1, 0, 1)));
    CHECK(rg_field_set(b, &two, 1, &yes) == 0 && rg_field_get(b, &two, 1, &value) == 0 &&
          value.kind == RG_VALUE_BOOL && value.i64 == 1);
    CHECK_ERROR(rg_field_set(b, &two, 1, &one), "value.fit",
                "field 'b' cannot hold 1: its type is bool");
    CHECK_ERROR(rg_field_set(f64, &two, 1, &yes), "value.fit",
                "field 'd' cannot hold true: its type is f64");
  }
  TEST("a dense field has one place in memory") {
    void *pointer = NULL;
    CHECK(rg_field_pointer(f64, &pointer) == 0 && ((double *)pointer)[1] == 0.1);
  }
}

/* Of a field of SIDE x SIDE elements below `cells`, all or some of them set: reading it whole gives
 * what get gives. */
static bool reads_as_it_gets(RgSNode *cells, const char *type, int spread) {
  enum { SIDE = 12 };
  RgField *x = place(cells, type, "x");
  double numbers[SIDE * SIDE];
  int64_t integers[SIDE * SIDE];
  for (int k = 0; k < SIDE * SIDE; k += spread) set(x, k / SIDE, k % SIDE, 2, k + 1);
  bool ok = rg_field_read(x, numbers, SIDE * SIDE) == 0 &&
            rg_field_read_i64(x, integers, SIDE * SIDE) == 0;
  for (int k = 0; k < SIDE * SIDE; k++) {
    double expected = k % spread ? 0 : k + 1;
    ok = ok && numbers[k] == expected && integers[k] == (int64_t)expected;
  }
  return ok;
}

static void layouts(void) {
  TEST("an array is row-major whatever the layout, and whether its numbers are converted or not") {
    static const char *const types[] = {"f64", "i64", "f32"};
    for (int k = 0; k < 3; k++) {
      RgTree *trees[5];
      for (int t = 0; t < 5; t++) trees[t] = new_tree("layout");
      CHECK(reads_as_it_gets(add(rg_tree_root(trees[0]), "dense", "ij", 12, NULL), types[k], 1));
      RgSNode *columns = add(rg_tree_root(trees[1]), "dense", "j", 12, NULL);
      CHECK(reads_as_it_gets(add(columns, "dense", "i", 12, NULL), types[k], 1));
      RgSNode *rows = add(rg_tree_root(trees[2]), "pointer", "i", 12, NULL);
      CHECK(reads_as_it_gets(add(rows, "dense", "j", 12, NULL), types[k], 29));
      RgSNode *blocks = add(rg_tree_root(trees[3]), "pointer", "ij", 3, NULL);
      CHECK(reads_as_it_gets(add(blocks, "dense", "ij", 4, NULL), types[k], 37));
      RgSNode *bits = add(rg_tree_root(trees[4]), "dense", "i", 12, NULL);
      CHECK(reads_as_it_gets(add(bits, "bitmasked", "j", 12, NULL), types[k], 5));
    }
  }
}

static void bulk(void) {
  RgTree *tree = new_tree("bulk");
  RgSNode *block = add(rg_tree_root(tree), "pointer", "ij", 3, NULL);
  RgField *x = place(add(block, "dense", "ij", 5, NULL), "i32", "x"),
          *age = place(block, "f32", "age");
  RgTree *flat = new_tree("flat");
  RgField *y = place(add(rg_tree_root(flat), "dense", "ij", 15, NULL), "f64", "y");
  double *values = calloc(225, sizeof *values);
  int64_t *integers = calloc(225, sizeof *integers);
  TEST("writing an array activates where it is not zero") {
    values[7 * 15 + 3] = 4, values[14 * 15 + 14] = -9;
    CHECK(rg_field_write(x, values, 225) == 0);
    CHECK(call(block, "count", 0, 0, 0) == 2 && get(x, 7, 3, 2) == 4 && get(x, 14, 14, 2) == -9);
    CHECK_ERROR(rg_field_write(x, values, 224), "argument.invalid",
                "field 'x' has 225 elements, but 224 were given");
  }
  TEST("reading gives all elements, and zero for inactive cells") {
    memset(values, 255, 225 * sizeof *values);
    CHECK(rg_field_read(x, values, 225) == 0 && rg_field_read_i64(x, integers, 225) == 0);
    for (int k = 0; k < 225; k++) {
      double expected = k == 108 ? 4 : k == 224 ? -9 : 0;
      CHECK(values[k] == expected && integers[k] == (int64_t)expected);
    }
  }
  TEST("filling reaches every active cell and no other") {
    RgValue seven = number(7);
    CHECK(rg_field_fill(x, &seven) == 0 && rg_field_fill(age, &seven) == 0);
    CHECK(rg_field_read(x, values, 225) == 0);
    double sum = 0;
    for (int k = 0; k < 225; k++) sum += values[k];
    CHECK(sum == 7 * 50 && get(x, 5, 0, 2) == 7 && get(x, 0, 0, 2) == 0 && get(age, 1, 0, 2) == 7 &&
          get(age, 0, 0, 2) == 0);
  }
  TEST("copying carries active cells over, whatever the layout") {
    CHECK(rg_field_copy(y, x) == 0 && get(y, 9, 4, 2) == 7 && get(y, 9, 5, 2) == 0);
    set(y, 0, 0, 2, 3);
    call(block, "clear", 0, 0, 0);
    CHECK(rg_field_copy(x, y) == 0 && call(block, "count", 0, 0, 0) == 9 && get(x, 0, 0, 2) == 3 &&
          get(x, 9, 4, 2) == 7);
    set(y, 2, 2, 2, 0.5);
    CHECK_ERROR(rg_field_copy(x, y), "value.fit", "field 'x' cannot hold 0.5: its type is i32");
    CHECK_ERROR(rg_field_copy(age, y), "argument.invalid",
                "field 'age' and field 'y' have different shapes: 3 x 3 and 15 x 15");
  }
  TEST("a sparse field is not one block of memory") {
    void *pointer;
    CHECK_ERROR(rg_field_pointer(x, &pointer), "argument.invalid",
                "field 'x' is not contiguous in memory: it is sparse");
  }
  free(values);
  free(integers);
}

static void *visit(void *data) {
  RgStatus *status = data;
  for (int k = 0; k < 20000; k++) {
    RgStatus s = rg_sync(rg);
    if (s) *status = s;
    if (s && strcmp(rg_error(rg)->code, "runtime.busy")) *status = -1;
  }
  return NULL;
}

static void threads(void) {
  TEST("two threads never enter a runtime at once: one gets runtime.busy, and nothing breaks") {
    pthread_t other;
    RgStatus here = 0, there = 0;
    CHECK(pthread_create(&other, NULL, visit, &there) == 0);
    visit(&here);
    pthread_join(other, NULL);
    CHECK(here >= 0 && there >= 0);
    CHECK(rg_sync(rg) == 0);
  }
}

int main(void) {
  start(256 << 20, 1);
  elements();
  bulk();
  layouts();
  threads();
  stop();
  return check_report();
}
