/* numbers.h - many elements of one scalar type at once, at constant distances (in bytes; those of
 * doubles, `step`, in doubles): what bulk calls of fields and arrays are made of. Conversions and
 * what fits are convert.c's. */
#ifndef RG_TREE_NUMBERS_H
#define RG_TREE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "type/type.h"

/* As doubles, with one NaN. */
void numbers_load(Type type, const uint8_t *from, int64_t stride, int64_t count, double *to,
                  int64_t step);
/* Whether every one is a number of the type; false too for those of 64 bits. */
bool numbers_fit(Type type, const double *from, int64_t step, int64_t count);
/* Of numbers that fit. */
void numbers_store(Type type, uint8_t *to, int64_t stride, int64_t count, const double *from,
                   int64_t step);
/* `count` times the element of 1, 2, 4 or 8 bytes. */
void numbers_spread(uint8_t *to, int64_t stride, int64_t count, const void *element, int size);
void numbers_copy(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride,
                  int64_t count, int size);

#endif
