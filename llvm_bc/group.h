/* group.h - aggregated atomics: those lanes of a GPU's warp that reach a place at the same time
 * with the same key form a group, and the lane of rank 0 makes one atomic access for all. The
 * hardware decides which lanes arrive together; a group may be a single lane, and on a CPU always
 * is.
 *
 *     RtGroup group = rt_group_of(key);
 *     if (!group.rank) first = rt_add(word, group.count);
 *     own = rt_group_share(group, first) + group.rank;
 *
 * Every lane of a group must take part in each rt_group_* call on it. Decision D-llvm_bc-13. */
#ifndef RG_RT_GROUP_H
#define RG_RT_GROUP_H

#include "target.h"

typedef struct RtGroup {
  uint32_t lanes;       /* one bit per lane of the group */
  uint32_t count, rank; /* the number of lanes, and this lane's rank among them */
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

/* The lanes here whose keys are equal. */
static inline RtGroup rt_group_of(uint64_t key) {
  return rt_group_make((uint32_t)__nvvm_match_any_sync_i64(rt_lanes_here(), (int64_t)key));
}
/* All lanes here, where keys cannot differ. */
static inline RtGroup rt_group_here(void) { return rt_group_make(rt_lanes_here()); }

/* Broadcast: the value of the lane of rank `rank`, which must be the same in all lanes. */
static inline uint32_t rt_group_tell(RtGroup group, uint32_t value, uint32_t rank) {
  uint32_t from = group.lanes;
  while (rank--) from &= from - 1;
  return (uint32_t)__nvvm_shfl_sync_idx_i32((int)group.lanes, (int)value, __builtin_ctz(from), 31);
}

/* A barrier for the group, after which each lane sees what the others have written. */
static inline void rt_group_wait(RtGroup group) { __nvvm_bar_warp_sync(group.lanes); }

/* The value of the lane of the next rank; 0 in the last lane. */
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

/* Broadcast: the value of the lane of rank 0. */
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
