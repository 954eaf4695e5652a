/* index.c - checks that indices from outside kernels are inside a shape. */
#include <inttypes.h>
#include <stdio.h>

#include "tree/tree.h"

void numbers_join(char *out, size_t size, const int64_t *numbers, int count, const char *between) {
  size_t used = 0;
  out[0] = 0;
  for (int k = 0; k < count && used < size; k++)
    used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, k ? between : "", numbers[k]);
}

static bool starts_elsewhere(const int64_t *offset, int count) {
  for (int k = 0; offset && k < count; k++)
    if (offset[k]) return true;
  return false;
}

static bool is_inside(const int64_t *shape, const int64_t *offset, const int64_t *index, int k) {
  return !shape[k] || (uint64_t)index[k] - (uint64_t)(offset ? offset[k] : 0) < (uint64_t)shape[k];
}

bool index_is_inside(const int64_t *shape, const int64_t *offset, int rank, const int64_t *index,
                     int32_t index_count) {
  if (index_count != rank) return rank == 0 && index_count == 1 && index[0] == 0;
  for (int k = 0; k < rank; k++)
    if (!is_inside(shape, offset, index, k)) return false;
  return true;
}

bool index_check(const int64_t *shape, const int64_t *offset, int rank, const int64_t *index,
                 int32_t index_count, const char *what, Error *err) {
  char numbers[160], extents[200], start[200];
  if (index_is_inside(shape, offset, rank, index, index_count)) return true;
  if (index_count != rank)
    return error_set(err, RG_ERROR_INDEX_COUNT, "%s takes %d %s, %d given", what, rank,
                     rank == 1 ? "index" : "indices", index_count);
  for (int k = 0; k < index_count; k++) {
    if (is_inside(shape, offset, index, k)) continue;
    numbers_join(numbers, sizeof numbers, index, index_count, ", ");
    numbers_join(extents, sizeof extents, shape, rank, " x ");
    error_set(err, RG_ERROR_INDEX_RANGE, "index %s is outside %s, whose shape is %s", numbers, what,
              extents);
    if (err) snprintf(err->index, sizeof err->index, "%.60s", numbers);
    if (!starts_elsewhere(offset, rank)) return error_hint(err, "indices start at 0");
    numbers_join(start, sizeof start, offset, rank, ", ");
    return error_hint(err, "its indices start at %s", start);
  }
  return true;
}
