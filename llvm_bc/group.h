/* group.h - threads that do one thing together: those lanes of a GPU's warp that come to a place at
 * the same time, with the same key. One of them, of rank 0, does it for all, so that there is one
 * atomic access instead of many. Which lanes come together is up to the hardware: a group may be
 * one lane, and everywhere but on a GPU it is.
 *
 *     RtGroup group = rt_group_of(key);
 *     if (!group.rank) first = rt_add(word, group.count);
 *     own = rt_group_share(group, first) + group.rank;
 *
 * Every lane of a group must come to each rt_group_* of it. */
#ifndef RG_RT_GROUP_H
#define RG_RT_GROUP_H

#include "target.h"

typedef struct RtGroup {
  uint32_t lanes;       /* a bit each */
  uint32_t count, rank; /* of this lane among them */
} RtGroup;

#if defined(__NVPTX__)
static inline RtGroup rt_group_make(uint32_t lanes) {
  uint32_t before = (uint32_t)__nvvm_read_ptx_sreg_lanemask_lt() & lanes;
  return (RtGroup){.lanes = lanes,
                   .count = (uint32_t)__builtin_popcount(lanes),
                   .rank = (uint32_t)__builtin_popcount(before)};
}

static inline uint32_t rt_lanes_here(void) {
  uint32_t lanes;
  __asm__ volatile("activemask.b32 %0;" : "=r"(lanes));
  return lanes;
}

/* Whose keys are equal. */
static inline RtGroup rt_group_of(uint64_t key) {
  return rt_group_make((uint32_t)__nvvm_match_any_sync_i64(rt_lanes_here(), (int64_t)key));
}
/* Where keys cannot differ. */
static inline RtGroup rt_group_here(void) { return rt_group_make(rt_lanes_here()); }

/* What the lane of a rank passes, which all of them name. */
static inline uint32_t rt_group_tell(RtGroup group, uint32_t value, uint32_t rank) {
  uint32_t from = group.lanes;
  while (rank--) from &= from - 1;
  return (uint32_t)__nvvm_shfl_sync_idx_i32((int)group.lanes, (int)value, __builtin_ctz(from), 31);
}

/* All of it are here, and see what each has written. */
static inline void rt_group_wait(RtGroup group) { __nvvm_bar_warp_sync(group.lanes); }

/* What the lane of the next rank passes; 0 for the last. */
static inline uint32_t rt_group_next(RtGroup group, uint32_t value) {
  uint32_t after = (uint32_t)__nvvm_read_ptx_sreg_lanemask_gt() & group.lanes;
  int from = __builtin_ctz(after ? after : group.lanes);
  int next = __nvvm_shfl_sync_idx_i32((int)group.lanes, (int)value, from, 31);
  return after ? (uint32_t)next : 0;
}
#else
static inline RtGroup rt_group_of(uint64_t key) {
  (void)key;
  return (RtGroup){1, 1, 0};
}
static inline RtGroup rt_group_here(void) { return rt_group_of(0); }
static inline uint32_t rt_group_tell(RtGroup group, uint32_t value, uint32_t rank) {
  (void)group;
  (void)rank;
  return value;
}
static inline uint32_t rt_group_next(RtGroup group, uint32_t value) {
  (void)group;
  (void)value;
  return 0;
}
static inline void rt_group_wait(RtGroup group) { (void)group; }
#endif

/* What the lane of rank 0 passes. */
static inline uint32_t rt_group_share(RtGroup group, uint32_t value) {
  return rt_group_tell(group, value, 0);
}

static inline uint64_t rt_group_tell_long(RtGroup group, uint64_t value, uint32_t rank) {
  uint64_t high = rt_group_tell(group, (uint32_t)(value >> 32), rank);
  return high << 32 | rt_group_tell(group, (uint32_t)value, rank);
}
static inline uint64_t rt_group_share_long(RtGroup group, uint64_t value) {
  return rt_group_tell_long(group, value, 0);
}

static inline uint64_t rt_group_key(const void *place) { return (uint64_t)(uintptr_t)place; }

#endif
