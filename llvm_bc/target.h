/* target.h - the primitives in which the targets differ: memory order, and rt_target_wait. On
 * NVPTX, LLVM 19 cannot select acquire loads, release stores and fences, and silently drops the
 * order of a compare-and-swap; so there every access is relaxed and paired with a membar. Elsewhere
 * the order is part of the access, where thread sanitizers see it. */
#ifndef RG_RT_TARGET_H
#define RG_RT_TARGET_H

#include "rt.h"

#if defined(__NVPTX__)
#define RT_ACQUIRE __ATOMIC_RELAXED
#define RT_RELEASE __ATOMIC_RELAXED
#define RT_ACQ_REL __ATOMIC_RELAXED
/* An address in global memory, where all of a context is, so that an access need not determine the
 * kind of memory at run time. */
#define RT_GLOBAL(address) \
  ((__typeof__(address))(__typeof__(*(address)) \
                             __attribute__((address_space(1))) *)(uint64_t)(address))
static inline void rt_order_after(void) { __nvvm_membar_gl(); }  /* after an access that acquires */
static inline void rt_order_before(void) { __nvvm_membar_gl(); } /* before one that releases */
#else
#define RT_ACQUIRE __ATOMIC_ACQUIRE
#define RT_RELEASE __ATOMIC_RELEASE
#define RT_ACQ_REL __ATOMIC_ACQ_REL
#define RT_GLOBAL(address) (address)
static inline void rt_order_after(void) {}
static inline void rt_order_before(void) {}
#endif

/* RT_SHARED: all threads share worker 0 and its part of each manager, so these change atomically:
 * on a GPU, which has no workers, and natively in tests (RT_SHARED_NATIVELY). RT_ALONE: there are
 * no callbacks into the host, so tables do not grow, work is not split, and memory is kept. */
#if defined(__NVPTX__) || defined(RT_SHARED_NATIVELY)
#define RT_SHARED 1
#else
#define RT_SHARED 0
#endif
#if defined(__NVPTX__)
#define RT_ALONE 1
#else
#define RT_ALONE 0
#endif

#endif
