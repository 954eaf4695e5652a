/* array.c - counted arrays: the accesses that are inlined into kernels. An array is passed as the
 * address of its header (counted.h), a number; 0 is no array: it has no elements, and reads zero.
 *
 *     one axis       header | data, can grow       elements in use: size_bytes / element size
 *     more axes      header, data, extents         as many i64 as axes, past the elements
 *
 * For any reader, `data` always has all elements that `size_bytes` counts: see rt_array_append. */
#include "array.h"

int64_t rt_array_length(int64_t array, int32_t size) {
  return array ? (int64_t)(array_bytes(array_of(array)) / (uint64_t)size) : 0;
}

int64_t rt_array_axis(int64_t array, int32_t axis) {
  return array ? array_extents(array_of(array))[axis] : 0;
}

int32_t rt_array_has(int64_t array, int64_t index, int32_t size) {
  return array && (uint64_t)index < array_bytes(array_of(array)) / (uint64_t)size;
}

uint8_t *rt_array_at(int64_t array, int64_t index, int32_t size) {
  return array_data(array_of(array)) + index * size;
}

const uint8_t *rt_array_read(RtContext *context, int64_t array, int64_t index, int32_t size) {
  return rt_array_has(array, index, size) ? rt_array_at(array, index, size) : context->ambient;
}

/* A GPU runs no host region, so there is nothing to move. */
const uint8_t *rt_array_to_tasks(RtContext *context, int64_t array, int32_t use) {
  if (RT_ALONE || !array) return context->ambient;
  RtCounted *counted = array_of(array);
  uint8_t *data = array_data(counted);
  return context->move ? context->move(context, counted, data, array_bytes(counted), use) : data;
}

void rt_array_to_host(RtContext *context, int64_t array, int64_t index, int32_t size, int32_t use) {
  if (RT_ALONE || !array || !context->move) return;
  const RtCounted *of = array_of(array);
  while (rt_counted_flags(of) & RT_COUNTED_SLICE) of = of->info;
  if (!(rt_counted_flags(of) & RT_COUNTED_COPIED)) return;
  if (use != RT_ARRAY_HOST_RESIZES && !rt_array_has(array, index, size)) return;
  const uint8_t *from = rt_array_at(array, index, size);
  context->move(context, array_of(array), from, (uint64_t)size, use);
}

/* The row-major index of an element; -1: out of bounds. */
int64_t rt_array_index(int64_t array, int32_t axes, const int64_t *coordinates) {
  int64_t at = 0;
  if (!array) return -1;
  const int64_t *extents = array_extents(array_of(array));
  for (int32_t k = 0; k < axes; k++) {
    if ((uint64_t)coordinates[k] >= (uint64_t)extents[k]) return -1;
    at = at * extents[k] + coordinates[k];
  }
  return at;
}

int32_t rt_array_beside(int64_t array, const uint8_t *memory, int64_t bytes) {
  if (!array) return 1;
  const uint8_t *data = array_data(array_of(array));
  return data + array_bytes(array_of(array)) <= memory || memory + bytes <= data;
}

int32_t rt_array_apart(int64_t a, int64_t b) {
  if (!a || !b) return 1;
  return a != b && rt_array_beside(a, array_data(array_of(b)), (int64_t)array_bytes(array_of(b)));
}

void rt_array_outside(RtWorker *worker, int32_t site) {
  RtOutside *outside = &worker->outside;
  uint64_t before = RT_SHARED ? rt_add_long(&outside->count, 1) : outside->count++;
  if (before) return;
  outside->site = -1 - site;
  outside->axis_count = 0;
}

void rt_array_acquire(int64_t array) { rt_acquire(array_of(array)); }
void rt_array_release(int64_t array) { rt_release(array_of(array)); }
