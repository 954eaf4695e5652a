/* atomic.h - the runtime's atomic accesses, each with the weakest order that suffices. Four and
 * eight bytes only: every target has them without a library. rt_step, before each access and after
 * those that publish, is where the model checker may switch threads (tests/llvm_bc/model.c);
 * elsewhere it is empty. */
#ifndef RG_RT_ATOMIC_H
#define RG_RT_ATOMIC_H

#include "target.h"

#if defined(RT_MODEL)
void rt_step(void);
#else
static inline void rt_step(void) {}
#endif

static inline uint32_t rt_load(const uint32_t *word) {
  rt_step();
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void rt_store(uint32_t *word, uint32_t value) {
  rt_step();
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Loads a handle through which the caller then reads what was published with it (a dependent load).
 * A GPU needs no acquire for that: it starts no access before the address is known, and no cache
 * holds an old state of a node that has just been handed out. Caches may hold old states of tables,
 * so a look-up of a node in a table must acquire. */
static inline uint32_t rt_load_leading(const uint32_t *word) {
#if defined(__NVPTX__)
  return rt_load(word);
#else
  rt_step();
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#endif
}

static inline uint32_t rt_load_acquire(const uint32_t *word) {
  rt_step();
  uint32_t value = __atomic_load_n(word, RT_ACQUIRE);
  rt_order_after();
  return value;
}

static inline void rt_store_release(uint32_t *word, uint32_t value) {
  rt_step();
  rt_order_before();
  __atomic_store_n(word, value, RT_RELEASE);
  rt_step();
}

/* Compare-and-swap, acquire and release; returns 1 on success, else sets *expected to the value
 * found. */
static inline int rt_swap_from(uint32_t *word, uint32_t *expected, uint32_t desired) {
  rt_step();
  rt_order_before();
  int done = __atomic_compare_exchange_n(word, expected, desired, 0, RT_ACQ_REL, __ATOMIC_RELAXED);
  rt_order_after();
  rt_step();
  return done;
}
static inline int rt_swap(uint32_t *word, uint32_t expected, uint32_t desired) {
  return rt_swap_from(word, &expected, desired);
}

static inline uint64_t rt_load_long(const uint64_t *word) {
  rt_step();
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void rt_store_long(uint64_t *word, uint64_t value) {
  rt_step();
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline uint64_t rt_load_leading_long(const uint64_t *word) {
#if defined(__NVPTX__)
  return rt_load_long(word);
#else
  rt_step();
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#endif
}

static inline uint64_t rt_load_acquire_long(const uint64_t *word) {
  rt_step();
  uint64_t value = __atomic_load_n(word, RT_ACQUIRE);
  rt_order_after();
  return value;
}

static inline void rt_store_release_long(uint64_t *word, uint64_t value) {
  rt_step();
  rt_order_before();
  __atomic_store_n(word, value, RT_RELEASE);
  rt_step();
}

static inline int rt_swap_long(uint64_t *word, uint64_t expected, uint64_t desired) {
  rt_step();
  rt_order_before();
  int done = __atomic_compare_exchange_n(word, &expected, desired, 0, RT_ACQ_REL, __ATOMIC_RELAXED);
  rt_order_after();
  rt_step();
  return done;
}

/* Relaxed compare-and-swap; returns 1 on success. */
static inline int rt_try_long(uint64_t *word, uint64_t expected, uint64_t desired) {
  rt_step();
  return __atomic_compare_exchange_n(word, &expected, desired, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

/* Sets bits of a word, acquire and release. */
static inline void rt_set_bits(uint64_t *word, uint64_t bits) {
  rt_order_before();
  __atomic_fetch_or(word, bits, RT_ACQ_REL);
  rt_order_after();
}

/* Clears a bit, acquire and release; returns 1 if it was set. */
static inline int rt_clear_bit(uint64_t *word, uint64_t bit) {
  if (!(rt_load_long(word) & bit)) return 0;
  rt_order_before();
  uint64_t before = __atomic_fetch_and(word, ~bit, RT_ACQ_REL);
  rt_order_after();
  return (before & bit) != 0;
}

/* Sets a word to zero, acquire and release. */
static inline void rt_zero_long(uint64_t *word) {
  rt_order_before();
  __atomic_exchange_n(word, 0, RT_ACQ_REL);
  rt_order_after();
}

static inline uint32_t rt_add(uint32_t *word, uint32_t value) {
  rt_step();
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
static inline uint64_t rt_add_long(uint64_t *word, uint64_t value) {
  rt_step();
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
/* Atomic minimum. */
static inline void rt_least(uint32_t *word, uint32_t value) {
#if defined(__NVPTX__)
  __atomic_fetch_min(word, value, __ATOMIC_RELAXED);
#else
  uint32_t seen;
  do seen = rt_load(word);
  while (seen > value && !rt_swap(word, seen, value));
#endif
}
/* Returns the old value. */
static inline uint32_t rt_exchange(uint32_t *word, uint32_t value) {
  rt_step();
  return __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
}
static inline void rt_subtract_long(uint64_t *word, uint64_t value) {
  rt_step();
  __atomic_fetch_sub(word, value, __ATOMIC_RELAXED);
}

static inline void rt_lock(uint32_t *lock) {
  for (uint32_t round = 0; !rt_swap(lock, 0, 1); round++) rt_target_wait(round);
}
static inline void rt_unlock(uint32_t *lock) { rt_store_release(lock, 0); }

/* The same for several holders at once, such as lanes of a warp; the lock counts them. */
static inline void rt_lock_for(uint32_t *lock, uint32_t holders) {
  for (uint32_t round = 0; !rt_swap(lock, 0, holders); round++) rt_target_wait(round);
}
static inline void rt_unlock_for(uint32_t *lock, uint32_t holders) {
  rt_step();
  rt_order_before();
  __atomic_fetch_sub(lock, holders, RT_RELEASE);
  rt_step();
}

#endif
