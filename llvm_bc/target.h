/* target.h - the primitives in which the targets differ: memory order, and rt_target_wait.
 * On NVPTX LLVM 19 selects no acquire load, no release store and no fence, and drops the order of a
 * compare-and-swap without a word; so there every access is relaxed and a membar stands beside it. Elsewhere the
 * order is part of the access, and thread sanitizers see it. */
#ifndef RG_RT_TARGET_H
#define RG_RT_TARGET_H

#include "rt.h"

#if defined(__NVPTX__)
#define RT_ACQUIRE __ATOMIC_RELAXED
#define RT_RELEASE __ATOMIC_RELAXED
#define RT_ACQ_REL __ATOMIC_RELAXED
static inline void rt_order_after(void) { __nvvm_membar_gl(); }  /* behind an access that acquires */
static inline void rt_order_before(void) { __nvvm_membar_gl(); } /* before one that releases */
#else
#define RT_ACQUIRE __ATOMIC_ACQUIRE
#define RT_RELEASE __ATOMIC_RELEASE
#define RT_ACQ_REL __ATOMIC_ACQ_REL
static inline void rt_order_after(void) {}
static inline void rt_order_before(void) {}
#endif

#endif
