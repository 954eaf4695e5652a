/* wait.h - the iterations of a loop that waits for other ranks. On a busy machine a single yield
 * may take as long as other processes' time slices, so the clock, not the number of iterations,
 * decides when to check whether the ranks are still alive. */
#ifndef RG_COMM_WAIT_H
#define RG_COMM_WAIT_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { WAIT_SPINS = 50, WAIT_TIME_EVERY = 16, WAIT_CHECK_NS = 5000000 };

typedef struct Wait {
  uint64_t spins;
  int64_t began_ns, checked_ns; /* 0: the clock was not read yet */
} Wait;

/* Call this after an iteration without success. True if it is time to check the other ranks. */
static inline bool wait_is_due(Wait *wait) {
  if (++wait->spins > WAIT_SPINS) sched_yield();
  if (wait->spins % WAIT_TIME_EVERY) return false;
  int64_t now = clock_ns();
  if (!wait->began_ns) wait->began_ns = wait->checked_ns = now;
  if (now - wait->checked_ns < WAIT_CHECK_NS) return false;
  wait->checked_ns = now;
  return true;
}

#endif
