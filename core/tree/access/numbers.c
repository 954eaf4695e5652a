/* numbers.c - operations on strided runs of elements of one scalar type: one loop per type.
 * Contiguous elements have a separate loop, which the compiler vectorises. */
#include <math.h>
#include <string.h>

#include "tree/access/numbers.h"

#define LOAD_LOOP(ELEMENT, VALUE, STRIDE, STEP) \
  for (int64_t k = 0; k < count; k++) { \
    ELEMENT element; \
    memcpy(&element, from + k * (STRIDE), sizeof element); \
    to[k * (STEP)] = VALUE; \
  }
#define LOAD(NAME, ELEMENT, VALUE) \
  static void load_##NAME(const uint8_t *from, int64_t stride, int64_t count, double *to, \
                          int64_t step) { \
    if (stride == sizeof(ELEMENT) && step == 1) LOAD_LOOP(ELEMENT, VALUE, sizeof element, 1) \
    else LOAD_LOOP(ELEMENT, VALUE, stride, step) \
  }
#define STORE_LOOP(ELEMENT, VALUE, STRIDE, STEP) \
  for (int64_t k = 0; k < count; k++) { \
    double number = from[k * (STEP)]; \
    ELEMENT element = VALUE; \
    memcpy(to + k * (STRIDE), &element, sizeof element); \
  }
#define STORE(NAME, ELEMENT, VALUE) \
  static void store_##NAME(uint8_t *to, int64_t stride, int64_t count, const double *from, \
                           int64_t step) { \
    if (stride == sizeof(ELEMENT) && step == 1) STORE_LOOP(ELEMENT, VALUE, sizeof element, 1) \
    else STORE_LOOP(ELEMENT, VALUE, stride, step) \
  }
#define INTEGER(NAME, ELEMENT) \
  LOAD(NAME, ELEMENT, (double)element) \
  STORE(NAME, ELEMENT, (ELEMENT)(int64_t)number) \
  static bool fits_##NAME(const double *from, int64_t step, int64_t count) { \
    bool all = true; \
    for (int64_t k = 0; k < count; k++) { \
      double number = from[k * step]; \
      all &= number > -0x1p62 && number < 0x1p62 && (double)(ELEMENT)(int64_t)number == number; \
    } \
    return all; \
  }
#define OTHER(NAME, ELEMENT, LOADED, STORED) \
  LOAD(NAME, ELEMENT, LOADED) \
  STORE(NAME, ELEMENT, STORED)

INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
OTHER(boolean, uint8_t, element != 0, number != 0)
OTHER(f16, _Float16, value_one_nan((double)element), (_Float16)number)
OTHER(f32, float, value_one_nan((double)element), (float)number)
OTHER(f64, double, value_one_nan(element), number)
LOAD(i64, int64_t, (double)element)
LOAD(u64, uint64_t, (double)element)

typedef struct Row {
  void (*load)(const uint8_t *from, int64_t stride, int64_t count, double *to, int64_t step);
  /* NULL: a double cannot hold every number of the type */
  void (*store)(uint8_t *to, int64_t stride, int64_t count, const double *from, int64_t step);
  bool (*fits)(const double *from, int64_t step, int64_t count); /* NULL: all fit */
} Row;

static const Row *row_of(Type type) {
  static const Row rows[] = {[TYPE_I8] = {load_i8, store_i8, fits_i8},
                             [TYPE_I16] = {load_i16, store_i16, fits_i16},
                             [TYPE_I32] = {load_i32, store_i32, fits_i32},
                             [TYPE_U8] = {load_u8, store_u8, fits_u8},
                             [TYPE_U16] = {load_u16, store_u16, fits_u16},
                             [TYPE_U32] = {load_u32, store_u32, fits_u32},
                             [TYPE_BOOL] = {load_boolean, store_boolean, NULL},
                             [TYPE_F16] = {load_f16, store_f16, NULL},
                             [TYPE_F32] = {load_f32, store_f32, NULL},
                             [TYPE_F64] = {load_f64, store_f64, NULL},
                             [TYPE_I64] = {load_i64, NULL, NULL},
                             [TYPE_U64] = {load_u64, NULL, NULL}};
  const Row *row = &rows[type_scalar_kind(type)];
  ASSERT(type_scalar_kind(type) < sizeof rows / sizeof *rows && row->load, "a number in memory");
  return row;
}

void numbers_load(Type type, const uint8_t *from, int64_t stride, int64_t count, double *to,
                  int64_t step) {
  row_of(type)->load(from, stride, count, to, step);
}

bool numbers_fit(Type type, const double *from, int64_t step, int64_t count) {
  const Row *row = row_of(type);
  return row->store && (!row->fits || row->fits(from, step, count));
}

void numbers_store(Type type, uint8_t *to, int64_t stride, int64_t count, const double *from,
                   int64_t step) {
  const Row *row = row_of(type);
  ASSERT(row->store, "a double holds every number of the type");
  row->store(to, stride, count, from, step);
}

#define SPREAD(BYTES, NUMBER) \
  case BYTES: { \
    NUMBER number; \
    memcpy(&number, element, BYTES); \
    if (stride == (BYTES)) \
      for (int64_t k = 0; k < count; k++) memcpy(to + k * (BYTES), &number, BYTES); \
    else \
      for (int64_t k = 0; k < count; k++) memcpy(to + k * stride, &number, BYTES); \
    return; \
  }
#define COPY(BYTES) \
  case BYTES: \
    for (int64_t k = 0; k < count; k++) memcpy(to + k * to_stride, from + k * from_stride, BYTES); \
    return;

void numbers_spread(uint8_t *to, int64_t stride, int64_t count, const void *element, int size) {
  switch (size) {
    SPREAD(1, uint8_t)
    SPREAD(2, uint16_t)
    SPREAD(4, uint32_t)
    SPREAD(8, uint64_t)
  default: return;
  }
}

void numbers_copy(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride,
                  int64_t count, int size) {
  if (to_stride == size && from_stride == size) {
    memmove(to, from, (size_t)(count * size));
    return;
  }
  switch (size) {
    COPY(1)
    COPY(2)
    COPY(4)
    COPY(8)
  default: return;
  }
}
