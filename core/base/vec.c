/* vec.c - growth by doubling; the old array stays in scratch until the compile ends. */
#include "base/vec.h"

#include <string.h>

enum { FIRST_CAPACITY = 2 }; /* most lists of a tree hold one or two items */

void *vec_grow(Scratch *scratch, const void *items, size_t item_bytes, int count, int *capacity) {
  int larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
  void *grown = scratch_alloc(scratch, item_bytes * (size_t)larger);
  if (count) memcpy(grown, items, item_bytes * (size_t)count);
  *capacity = larger;
  return grown;
}
