/* target_cuda.c - waiting on a GPU: threads of a warp progress independently (sm_70 and later), so
 * a short sleep lets the one that holds the claim finish. */
#include "target.h"

enum { FIRST_SLEEP_NS = 32, LONGEST_SHIFT = 5 };

void rt_target_wait(uint32_t round) {
  __nvvm_nanosleep(FIRST_SLEEP_NS << (round < LONGEST_SHIFT ? round : LONGEST_SHIFT));
}
