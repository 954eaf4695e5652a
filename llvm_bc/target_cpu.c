/* target_cpu.c - waiting on a CPU: the thread we wait for may have been preempted by us, so yield
 * soon. */
#include "target.h"

#include <sched.h>

enum { ROUNDS_OF_PAUSE = 64 };

void rt_target_wait(uint32_t round) {
  if (round >= ROUNDS_OF_PAUSE) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
