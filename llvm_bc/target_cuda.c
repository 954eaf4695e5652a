/* target_cuda.c - waiting on a GPU: threads of one warp advance on their own (sm_70 and later), so a short sleep is
 * enough to let the one that holds the claim finish. */
#include "target.h"

enum { FIRST_SLEEP_NS = 32, LONGEST_SHIFT = 5 };

void rt_target_wait(uint32_t round) {
  __nvvm_nanosleep(FIRST_SLEEP_NS << (round < LONGEST_SHIFT ? round : LONGEST_SHIFT));
}
