/* heap_gpu.h - memory that threads of a GPU take and give back while a task runs, for arrays that
 * kernels make. No thread can ask the host for more; what there is (rt.h):
 *
 *     | pieces of 64 bytes times powers of two, one after the other | unused .. |
 *     at                                                          top    capacity
 *
 *     free[k][s]   stacks of pieces that were given back, by threads whose number ends in k;
 *                  free[0][s] by the host, too, if it has the heap as well
 *
 * A head has the piece's address and a number that grows with every change, so that a stack which
 * looks like before but is another is not taken for it. A piece is of one size for good. So `at`
 * may become other memory, whose pieces come beside those of before. Arrays that host and GPU both
 * use are in such a heap, too, in memory of the host's (core/counted/heap.h). */
#ifndef RG_RT_HEAP_GPU_H
#define RG_RT_HEAP_GPU_H

#include "target.h"

/* -- memory of an allocator, on every target --------------------------------------------------- */

#if RT_ALONE
static inline uint32_t rt_thread_here(void) {
  return (uint32_t)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
                    __nvvm_read_ptx_sreg_tid_x());
}
static inline void rt_memory_note(RtAllocator *allocator, uint64_t bytes, uint64_t pieces) {
  __atomic_fetch_add(&allocator->gpu_bytes, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&allocator->gpu_pieces, pieces, __ATOMIC_RELAXED);
}
static inline void *rt_memory_take(RtAllocator *allocator, uint64_t size_bytes, int is_data) {
  void *memory = rt_gpu_heap_take((RtGpuHeap *)(void *)allocator, size_bytes, rt_thread_here());
  if (memory && allocator->host) rt_memory_note(allocator, size_bytes, 1);
  return memory;
}
static inline void rt_memory_give(RtAllocator *allocator, void *memory, uint64_t size_bytes,
                                  int is_data) {
  if (allocator->host) rt_memory_note(allocator, -size_bytes, (uint64_t)-1);
  rt_gpu_heap_give((RtGpuHeap *)(void *)allocator, memory, size_bytes, rt_thread_here());
}
#else
static inline void *rt_memory_take(RtAllocator *allocator, uint64_t size_bytes, int is_data) {
  return allocator->take(allocator, size_bytes, is_data);
}
static inline void rt_memory_give(RtAllocator *allocator, void *memory, uint64_t size_bytes,
                                  int is_data) {
  allocator->give(allocator, memory, size_bytes, is_data);
}
#endif

#endif
