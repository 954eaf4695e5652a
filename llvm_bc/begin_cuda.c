/* begin_cuda.c - the start of a launch on a GPU: its block (core/device/cuda/launch.c) is uploaded
 * as the argument of a kernel instead of by a copy. Another engine of the GPU does copies, and the
 * kernels before and after would have to wait for it. Decision D-device-06. */
#include "rt.h"

enum {
  FIRST = __builtin_offsetof(RtContext, stop) / 4,
  LAST = (__builtin_offsetof(RtContext, error) + sizeof(RtError)) / 4
};

/* The two loops keep the sources apart: the compiler then knows where each load reads from, and
 * does not copy the argument to local memory. */
__attribute__((nvptx_kernel)) void rg_begin_block(RtGpuBlock block) {
  uint32_t thread = (uint32_t)__nvvm_read_ptx_sreg_tid_x(),
           threads = (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
  for (uint32_t k = thread; k < block.count; k += threads)
    if (!block.before || k < FIRST || k >= LAST) block.to[k] = block.words[k];
  if (block.before)
    for (uint32_t k = FIRST + thread; k < LAST; k += threads) block.to[k] = block.before[k];
}
