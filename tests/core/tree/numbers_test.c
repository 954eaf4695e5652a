/* numbers_test.c - bulk conversions of elements give the results of single ones. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "tree/access/cell.h"
#include "tree/access/numbers.h"

enum { COUNT = 37 };

static const double samples[] = {0,      -0.0,    1,          -1,        0.5,        127,    128,
                                 -128,   -129,    255,        256,       32767,      65535,  65536,
                                 1e300,  0x1p31,  0x1p31 - 1, -0x1p31,   0x1p32 - 1, 0x1p32, 0x1p63,
                                 0x1p64, -0x1p63, INFINITY,   -INFINITY, NAN};

static bool fits(Type type, double number) {
  RgValue value = {.kind = RG_VALUE_NUMBER, .number = number};
  uint64_t bits;
  if (type_is_bool(type)) value = (RgValue){.kind = RG_VALUE_BOOL, .i64 = number != 0};
  return value_convert(type, &value, &bits, NULL, NULL);
}

static void check_fits(Type type) {
  for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
    double row[COUNT] = {0};
    row[COUNT - 1] = samples[k];
    bool says = numbers_fit(type, row, 1, COUNT);
    CHECK(says == (type_size(type) < 8 || type_is_float(type) ? fits(type, samples[k]) : false));
  }
}

static void check_transfer(Type type, int64_t stride, int64_t step) {
  static double from[COUNT * 3], to[COUNT * 3];
  static uint8_t memory[COUNT * 24];
  for (int k = 0; k < COUNT * 3; k++) from[k] = k % 100, to[k] = -1;
  memset(memory, 0xff, sizeof memory);
  numbers_store(type, memory, stride, COUNT, from, step);
  numbers_load(type, memory, stride, COUNT, to, step);
  for (int k = 0; k < COUNT; k++) {
    CHECK(to[k * step] == (type_is_bool(type) ? from[k * step] != 0 : from[k * step]));
    CHECK(value_number(type, memory + k * stride) == to[k * step]);
    if (step > 1) CHECK(to[k * step + 1] == -1);
    if (stride > type_size(type)) CHECK(memory[k * stride + type_size(type)] == 0xff);
  }
}

int main(void) {
  Type types[] = {TYPE(BOOL), TYPE(I8),  TYPE(I16), TYPE(I32), TYPE(U8),  TYPE(U16),
                  TYPE(U32),  TYPE(F16), TYPE(F32), TYPE(F64), TYPE(I64), TYPE(U64)};
  TEST("a bulk write accepts the numbers that single writes accept") {
    for (int k = 0; k < 12; k++) check_fits(types[k]);
  }
  TEST("elements are read back unchanged, at every stride") {
    for (int k = 0; k < 10; k++)
      for (int step = 1; step <= 3; step++)
        for (int far = 1; far <= 3; far++)
          check_transfer(types[k], far * type_size(types[k]), step);
  }
  TEST("NaNs of any bits become the same NaN") {
    uint32_t bits = 0xffffffff;
    double out, nan = NAN;
    numbers_load(TYPE(F32), (uint8_t *)&bits, 4, 1, &out, 1);
    CHECK(!memcmp(&out, &nan, sizeof out));
  }
  TEST("one element is spread, and rows are copied, by their bytes alone") {
    for (int size = 1; size <= 8; size *= 2)
      for (int stride = size; stride <= 2 * size; stride += size) {
        uint8_t memory[64 * 16] = {0}, copy[64 * 8] = {0};
        uint64_t element = 0x1122334455667788;
        numbers_spread(memory, stride, 64, &element, size);
        numbers_copy(copy, size, memory, stride, 64, size);
        for (int k = 0; k < 64; k++) {
          CHECK(!memcmp(memory + k * stride, &element, (size_t)size));
          CHECK(!memcmp(copy + k * size, &element, (size_t)size));
          if (stride > size) CHECK(memory[k * stride + size] == 0);
        }
      }
  }
  return check_report();
}
