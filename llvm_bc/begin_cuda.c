/* begin_cuda.c - how a launch begins on a GPU: its block (core/device/cuda_launch.c) comes there as
 * an argument, by a kernel, not by a copy. A copy is work of another part of the GPU, for which the
 * kernels before and after it would wait. */
#include "rt.h"

enum {
  FIRST = __builtin_offsetof(RtContext, stop) / 4,
  LAST = (__builtin_offsetof(RtContext, error) + sizeof(RtError)) / 4
};

/* Each word is read from where it is known to be, so that the argument stays where it came. */
__attribute__((nvptx_kernel)) void rg_begin_block(RtGpuBlock block) {
  uint32_t thread = (uint32_t)__nvvm_read_ptx_sreg_tid_x(),
           threads = (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
  for (uint32_t k = thread; k < block.count; k += threads)
    if (!block.before || k < FIRST || k >= LAST) block.to[k] = block.words[k];
  if (block.before)
    for (uint32_t k = FIRST + thread; k < LAST; k += threads) block.to[k] = block.before[k];
}
