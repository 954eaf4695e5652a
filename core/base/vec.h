/* vec.h - a growing array in scratch memory:
 * `VEC(int) numbers = {0}; vec_push(scratch, &numbers, 7);` Items move when the array grows: keep
 * indices, not pointers. */
#ifndef RG_BASE_VEC_H
#define RG_BASE_VEC_H

#include "base/scratch.h"

#define VEC(T) \
  struct { \
    T *items; \
    int count, capacity; \
  }

#define vec_push(scratch, vec, item) \
  ((vec)->count == (vec)->capacity \
       ? (void)((vec)->items = vec_grow((scratch), (vec)->items, sizeof *(vec)->items, \
                                        (vec)->count, &(vec)->capacity)) \
       : (void)0, \
   (vec)->items[(vec)->count++] = (item))
#define vec_last(vec) ((vec)->items[(vec)->count - 1])

void *vec_grow(Scratch *scratch, const void *items, size_t item_bytes, int count, int *capacity);

#endif
