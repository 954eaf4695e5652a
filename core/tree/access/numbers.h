/* numbers.h - operations on strided runs of elements of one scalar type, for bulk calls of fields
 * and arrays. Strides are in bytes, but `step`, for doubles, in doubles. convert.c defines
 * conversions, and which numbers fit. */
#ifndef RG_TREE_ACCESS_NUMBERS_H
#define RG_TREE_ACCESS_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "type/type.h"

/* Replaces any NaN by one bit pattern: LuaJIT uses others as tags of its values, so that memory
 * which a script wraps could forge one. Every float that the host reads goes through here. */
static inline double value_one_nan(double value) { return value == value ? value : (double)NAN; }
/* Loads as doubles. */
void numbers_load(Type type, const uint8_t *from, int64_t stride, int64_t count, double *to,
                  int64_t step);
/* Does every double fit in the type? Also false for types of 64 bits. */
bool numbers_fit(Type type, const double *from, int64_t step, int64_t count);
/* Stores numbers that fit. */
void numbers_store(Type type, uint8_t *to, int64_t stride, int64_t count, const double *from,
                   int64_t step);
/* Stores an element of 1, 2, 4 or 8 bytes `count` times. */
void numbers_spread(uint8_t *to, int64_t stride, int64_t count, const void *element, int size);
void numbers_copy(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride,
                  int64_t count, int size);

#endif
