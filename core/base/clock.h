/* clock.h - the monotonic clock, read in one place. Any thread. */
#ifndef RG_BASE_CLOCK_H
#define RG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
/* Processor time of the calling thread, which other threads and processes do not lengthen. Reading
 * it is a system call. */
static inline int64_t clock_thread_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
static inline double clock_ms(void) { return (double)clock_ns() * 1e-6; }

/* The processor's time-stamp counter; reading it takes a third of the time of reading the clock.
 * Its rate is constant, and the caller must measure it. */
static inline uint64_t clock_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return (uint64_t)clock_ns();
#endif
}

#endif
