/* together.c - operations of the threads of a GPU's warp and block together, for code generation:
 * they combine their values, count, and wait for each other. Numbers are passed as bits, and an
 * RtScalar is their type; it and the operator are constants where these functions are inlined, so
 * one branch of each switch remains. On a CPU, where they are not called, a block is a thread.
 * Decisions D-codegen-13, D-codegen-15. */
#include "atomic.h"
#include "group.h"

#if defined(__NVPTX__)
#define INLINED __attribute__((always_inline))
#define ADD(place, value) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
static inline uint32_t thread_here(void) { return (uint32_t)__nvvm_read_ptx_sreg_tid_x(); }
static inline uint32_t threads_of_block(void) { return (uint32_t)__nvvm_read_ptx_sreg_ntid_x(); }
static inline uint32_t lanes_before(void) { return (uint32_t)__nvvm_read_ptx_sreg_lanemask_lt(); }
static inline void block_wait(void) { __nvvm_bar_sync(0); }
static inline uint32_t lanes_left(uint32_t lanes) {
  return (uint32_t)__nvvm_vote_ballot_sync(lanes, 1);
}
static inline uint32_t word_across(uint32_t word, int32_t distance) {
  return (uint32_t)__nvvm_shfl_sync_bfly_i32(-1, (int32_t)word, distance, RT_GPU_LANES - 1);
}
static inline void fence(void) { __asm__ volatile("fence.acq_rel.gpu;" ::: "memory"); }
#else
#define INLINED
#define ADD(place, value) (*(place) += (value))
static inline uint32_t rt_lanes_here(void) { return 1; }
static inline uint32_t thread_here(void) { return 0; }
static inline uint32_t threads_of_block(void) { return 1; }
static inline uint32_t lanes_before(void) { return 0; }
static inline void block_wait(void) {}
static inline uint32_t lanes_left(uint32_t lanes) { return lanes; }
static inline uint32_t word_across(uint32_t word, int32_t distance) { return word; }
static inline void fence(void) {}
#endif

/* -- numbers ----------------------------------------------------------------------------------- */

typedef union Number {
  uint64_t bits;
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
  float f32;
  double f64;
} Number;

static inline int is_wide(int32_t number) {
  return number == RT_SCALAR_I64 || number == RT_SCALAR_U64 || number == RT_SCALAR_F64;
}

/* MIN and MAX are those of Lua: the first operand unless the second is less, or greater. `wraps`:
 * of signed integers the unsigned ones, whose sums wrap. */
#define COMBINE(member, wraps) \
  switch (op) { \
  case RT_COMBINE_ADD: result.wraps = a.wraps + b.wraps; break; \
  case RT_COMBINE_MUL: result.wraps = a.wraps * b.wraps; break; \
  case RT_COMBINE_MIN: result.member = b.member < a.member ? b.member : a.member; break; \
  case RT_COMBINE_MAX: result.member = a.member < b.member ? b.member : a.member; break; \
  case RT_COMBINE_AND: result.bits = a.bits & b.bits; break; \
  case RT_COMBINE_OR: result.bits = a.bits | b.bits; break; \
  default: result.bits = a.bits ^ b.bits; \
  }

static inline uint64_t combined(int32_t op, int32_t number, uint64_t first, uint64_t second) {
  Number a = {first}, b = {second}, result = {0};
  switch (number) {
  case RT_SCALAR_I32: COMBINE(i32, u32) break;
  case RT_SCALAR_U32: COMBINE(u32, u32) break;
  case RT_SCALAR_I64: COMBINE(i64, u64) break;
  case RT_SCALAR_U64: COMBINE(u64, u64) break;
  case RT_SCALAR_F32: COMBINE(f32, f32) break;
  default: COMBINE(f64, f64)
  }
  return result.bits;
}

/* -- warps ------------------------------------------------------------------------------------- */

static inline uint64_t bits_across(uint64_t bits, int32_t number, int32_t distance) {
  uint64_t low = word_across((uint32_t)bits, distance);
  return is_wide(number) ? (uint64_t)word_across((uint32_t)(bits >> 32), distance) << 32 | low
                         : low;
}

/* The combined values of a warp whose lanes are all active; every lane gets the result. */
static inline uint64_t warp_sum(int32_t op, int32_t number, uint64_t bits) {
  for (int32_t distance = RT_GPU_LANES / 2; distance; distance /= 2)
    bits = combined(op, number, bits, bits_across(bits, number, distance));
  return bits;
}

INLINED void rt_fence(RtContext *context) { fence(); }

INLINED int32_t rt_warp_sum(uint64_t *bits, int32_t op, int32_t number) {
  if (rt_lanes_here() != UINT32_MAX) return 1;
  *bits = warp_sum(op, number, *bits);
  return !lanes_before();
}

/* A barrier of the lanes is on either side of the first lane's fences. */
INLINED int64_t rt_warp_count(void *element, int32_t bytes, int32_t is_ordered, int64_t value) {
  RtGroup group = rt_group_here();
  uint64_t first = 0, sum = (uint64_t)value * group.count;
  if (is_ordered) rt_group_wait(group);
  if (!group.rank) {
    if (is_ordered) fence();
    first = bytes == 8 ? rt_add_long(element, sum) : rt_add(element, (uint32_t)sum);
    if (is_ordered) fence();
  }
  first = bytes == 8 ? rt_group_share_long(group, first) : rt_group_share(group, (uint32_t)first);
  if (is_ordered) rt_group_wait(group);
  return (int64_t)(first + (uint64_t)value * group.rank);
}

INLINED int32_t rt_block_thread(RtContext *context) { return (int32_t)thread_here(); }

INLINED void rt_warp_wait(int32_t lanes) { rt_group_wait((RtGroup){.lanes = (uint32_t)lanes}); }

INLINED int32_t rt_warp_meets(int32_t lanes) {
  rt_warp_wait(lanes);
  return lanes_left((uint32_t)lanes) == (uint32_t)lanes;
}

/* -- blocks ------------------------------------------------------------------------------------ */

/* The lanes of a warp combine their values by shuffles, the warps of a block through `partials`. A
 * block is of whole warps, or a single thread. Lanes that exited because the launch stops have
 * stored no partial, so none is read then, and no thread has the result. */
INLINED int32_t rt_block_sum(RtContext *context, uint64_t *bits, uint64_t *partials, int32_t op,
                             int32_t number, int32_t may_exit) {
  uint32_t thread = thread_here(), threads = threads_of_block();
  uint64_t sum = threads > 1 ? warp_sum(op, number, *bits) : *bits;
  if (thread % RT_GPU_LANES == 0) partials[thread / RT_GPU_LANES] = sum;
  block_wait();
  int32_t is_first = !thread && !(may_exit && rt_stopped(context));
  for (uint32_t warp = 1; is_first && warp < threads / RT_GPU_LANES; warp++)
    sum = combined(op, number, sum, partials[warp]);
  *bits = sum;
  return is_first;
}

INLINED void rt_block_clear(uint32_t *words, int32_t count) {
  for (int32_t k = (int32_t)thread_here(); k < count; k += (int32_t)threads_of_block())
    words[k] = 0;
}

INLINED void rt_block_wait(RtContext *context) { block_wait(); }

/* A zero is skipped: nothing was added there, and -0 is preserved. */
#define ADD_TO(type) \
  { \
    type value = *(const type *)(const void *)(copy + at); \
    if (value != 0) ADD((type *)(void *)(root + at), value); \
    break; \
  }
INLINED void rt_block_add(const uint8_t *copy, uint8_t *root, int32_t count, int32_t stride,
                          int32_t offset, int32_t number) {
  for (int32_t k = (int32_t)thread_here(); k < count; k += (int32_t)threads_of_block()) {
    int64_t at = k * stride + offset;
    switch (number) {
    case RT_SCALAR_F32: ADD_TO(float)
    case RT_SCALAR_F64: ADD_TO(double)
    case RT_SCALAR_I32:
    case RT_SCALAR_U32: ADD_TO(uint32_t)
    default: ADD_TO(uint64_t)
    }
  }
}
