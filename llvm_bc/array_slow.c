/* array_slow.c - the creation, growth and end of counted arrays; see array.c.
 *
 * Elements may be arrays, or contain arrays (RT_COUNTED_ITEMS): `info` then encodes which words of
 * an element are arrays, and the length of an element:
 *
 *     bits 0..47 a bit per word of 8 bytes    48..63 words of an element
 *
 * While a parallel loop runs, iterations may append to one array: each holds its lock until the
 * element is written. Memory that other threads may still read is freed only when the loop has
 * ended (counted_wait.c): data that was too small, and released arrays whose address was in
 * memory. */
#include "array.h"

enum { WORD_BITS = 48 };

static int is_shared_now(const RtContext *context) {
  return context->allocator && rt_load(&context->allocator->deferring);
}

static int64_t fail(RtContext *context) {
  rt_error_set(context, RT_ERROR_BUDGET, -1, 0);
  return 0;
}

/* -- the lock, while a loop runs --------------------------------------------------------------- */

static void lock(RtCounted *counted) {
  uint32_t round = 0;
  while (__atomic_fetch_or(&counted->flags, RT_COUNTED_LOCK, RT_ACQ_REL) & RT_COUNTED_LOCK)
    rt_target_wait(round++);
  rt_order_after();
}

void rt_array_lock(RtContext *context, int64_t array) {
  if (array && is_shared_now(context)) lock(array_of(array));
}

void rt_array_unlock(RtContext *context, int64_t array) {
  if (!array || !is_shared_now(context)) return;
  rt_order_before();
  __atomic_fetch_and(&array_of(array)->flags, ~(uint32_t)RT_COUNTED_LOCK, RT_ACQ_REL);
}

/* -- end --------------------------------------------------------------------------------------- */

static void end_elements(const RtCounted *counted, uint64_t size_bytes) {
  const uint8_t *data = counted->data;
  uint64_t words = (uint64_t)(uintptr_t)counted->info, stride = words >> WORD_BITS << 3;
  for (uint64_t at = 0; stride && at + stride <= size_bytes; at += stride)
    for (int k = 0; k < WORD_BITS; k++)
      if (words >> k & 1) rt_array_release(*(const int64_t *)(const void *)(data + at + 8 * k));
}

void rt_array_end(RtCounted *counted) {
  if (counted->flags & RT_COUNTED_SLICE) rt_release(counted->info);
  else end_elements(counted, counted->size_bytes);
}

/* -- creation ---------------------------------------------------------------------------------- */

enum { LARGE = 1 << 16 }; /* bytes: larger data is a separate piece from the memory manager */

int64_t rt_array_new(RtContext *context, int64_t length, int32_t size, int64_t words,
                     int32_t extents) {
  uint64_t bytes;
  if (length < 0) length = 0;
  if (!context->allocator || __builtin_mul_overflow((uint64_t)length, (uint64_t)size, &bytes) ||
      bytes >> 60)
    return fail(context);
  uint64_t room = extents ? (bytes + 7) / 8 * 8 + 8 * (uint64_t)extents : bytes;
  RtCounted *made = extents && room < LARGE ? rt_counted_new(context->allocator, room)
                                            : rt_counted_grow_new(context->allocator, room);
  if (!made) return fail(context);
  rt_memory_zero(made->data, made->capacity);
  rt_counted_resize(made, bytes);
  if (extents) made->flags |= RT_COUNTED_PINNED;
  if (words) {
    made->flags |= RT_COUNTED_ITEMS;
    made->info = (void *)(uintptr_t)((uint64_t)words | (uint64_t)(size / 8) << WORD_BITS);
  }
  return array_address(made);
}

/* The product of extents for rt_array_new; one that is too large stays so. */
int64_t rt_array_times(int64_t a, int64_t b) {
  int64_t product;
  if (a < 0) a = 0;
  if (b < 0) b = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

void rt_array_extent(int64_t array, int32_t axis, int64_t extent) {
  if (array) array_extents(array_of(array))[axis] = extent < 0 ? 0 : extent;
}

/* A slice without elements; it does not grow either. */
static int64_t empty_slice(RtContext *context, int32_t size) {
  int64_t made = rt_array_new(context, 0, size, 0, 0);
  if (made) array_of(made)->flags |= RT_COUNTED_PINNED;
  return made;
}

int64_t rt_array_slice(RtContext *context, int64_t array, int64_t first, int64_t count,
                       int32_t size) {
  int64_t length = rt_array_length(array, size);
  if (first < 0) first = 0;
  if (first > length) first = length;
  if (count > length - first) count = length - first;
  if (!array || count <= 0) return empty_slice(context, size);
  RtCounted *of = array_of(array);
  rt_array_lock(context, array); /* it may be about to grow */
  __atomic_fetch_or(&of->flags, RT_COUNTED_PINNED, __ATOMIC_RELAXED);
  RtCounted *made = rt_counted_external(context->allocator, of->data + first * size,
                                        (uint64_t)(count * size), 0, of);
  rt_array_unlock(context, array);
  if (!made) return fail(context);
  made->flags |= RT_COUNTED_SLICE;
  rt_acquire(of);
  return array_address(made);
}

/* -- growth ------------------------------------------------------------------------------------ */

enum { LEAST_GROWTH = 64 }; /* bytes */

/* An array with slices cannot grow, since its data must not move. */
static int can_grow(const RtCounted *counted) {
  return (rt_counted_flags(counted) & (RT_COUNTED_OWN | RT_COUNTED_PINNED)) == RT_COUNTED_OWN;
}

static int make_room(RtCounted *counted, uint64_t bytes) {
  if (bytes <= counted->capacity) return 1;
  uint64_t more = counted->capacity + counted->capacity / 2;
  if (more < LEAST_GROWTH) more = LEAST_GROWTH;
  return rt_counted_reserve(counted, more > bytes ? more : bytes);
}

/* In a loop the array is left locked: the caller writes the element, then calls rt_array_unlock. */
int64_t rt_array_append(RtContext *context, int64_t array, int32_t size) {
  RtCounted *counted = array_of(array);
  if (!array) return -1;
  rt_array_lock(context, array);
  if (!can_grow(counted)) {
    rt_array_unlock(context, array);
    rt_error_set(context, RT_ERROR_FULL, -1, 0);
    return -1;
  }
  uint64_t bytes = counted->size_bytes;
  if (!make_room(counted, bytes + (uint64_t)size)) {
    rt_array_unlock(context, array);
    fail(context);
    return -1;
  }
  rt_memory_zero(counted->data + bytes, (uint64_t)size);
  rt_store_release_long(&counted->size_bytes, bytes + (uint64_t)size);
  return (int64_t)(bytes / (uint64_t)size);
}

/* The size in bytes. If slices share its elements or it is one: 0, and an error unless it is
 * empty. */
static uint64_t own_bytes(RtContext *context, const RtCounted *counted) {
  if (can_grow(counted)) return counted->size_bytes;
  if (counted->size_bytes) rt_error_set(context, RT_ERROR_FULL, -1, 0);
  return 0;
}

/* Removes the last element, which may be read until rt_array_unlock. */
const uint8_t *rt_array_pop(RtContext *context, int64_t array, int32_t size) {
  RtCounted *counted = array_of(array);
  if (!array) return context->ambient;
  rt_array_lock(context, array);
  uint64_t bytes = own_bytes(context, counted);
  if (bytes < (uint64_t)size) return context->ambient;
  rt_store_release_long(&counted->size_bytes, bytes - (uint64_t)size);
  return counted->data + (bytes - (uint64_t)size);
}

void rt_array_clear(RtContext *context, int64_t array) {
  RtCounted *counted = array_of(array);
  if (!array) return;
  rt_array_lock(context, array);
  uint64_t bytes = own_bytes(context, counted);
  if (rt_counted_flags(counted) & RT_COUNTED_ITEMS) end_elements(counted, bytes);
  if (bytes) rt_store_release_long(&counted->size_bytes, 0);
  rt_array_unlock(context, array);
}

/* -- addresses of arrays in memory ------------------------------------------------------------- */

/* Returns the old address. */
int64_t rt_array_exchange(uint8_t *place, int64_t array) {
  RtCounted *counted = array_of(array);
  if (counted && !(rt_counted_flags(counted) & RT_COUNTED_SHARED))
    __atomic_fetch_or(&counted->flags, RT_COUNTED_SHARED, __ATOMIC_RELAXED);
  rt_order_before();
  int64_t before = __atomic_exchange_n((int64_t *)(void *)place, array, RT_ACQ_REL);
  rt_order_after();
  return before;
}
