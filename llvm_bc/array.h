/* array.h - what the files of counted arrays share. */
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

/* Of an array with several axes. */
static inline int64_t *array_extents(const RtCounted *counted) {
  return (int64_t *)(void *)(counted->data + (counted->size_bytes + 7) / 8 * 8);
}

#endif
