/* array.h - accessors that the files of counted arrays share. */
#ifndef RG_RT_ARRAY_H
#define RG_RT_ARRAY_H

#include "atomic.h"
#include "counted.h"
#include "node.h"

static inline RtCounted *array_of(int64_t array) { return (RtCounted *)(uintptr_t)array; }
static inline int64_t array_address(const RtCounted *counted) {
  return (int64_t)(uintptr_t)counted;
}

static inline uint64_t array_bytes(const RtCounted *counted) {
  return rt_load_acquire_long(&counted->size_bytes);
}

/* Ordered so that the caller sees the elements that a growing iteration has copied there
 * (rt_counted_reserve). */
static inline uint8_t *array_data(const RtCounted *counted) {
  return (uint8_t *)(uintptr_t)rt_load_leading_long((const uint64_t *)(const void *)&counted->data);
}

/* Only of an array with several axes. */
static inline int64_t *array_extents(const RtCounted *counted) {
  return (int64_t *)(void *)(counted->data + (counted->size_bytes + 7) / 8 * 8);
}

#endif
