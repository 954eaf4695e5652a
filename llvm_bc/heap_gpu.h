/* heap_gpu.h - the heap from which threads of a GPU allocate arrays that kernels make, while a task
 * runs. No thread can ask the host for more memory. Layout (rt.h):
 *
 *     | pieces of 64 bytes times powers of two, one after the other | unused .. |
 *     at                                                          top    capacity
 *
 *     free[k][s]   stacks of pieces that were given back, by threads whose number ends in k;
 *                  free[0][s] also by the host, if it uses the heap
 *
 * The head of a stack holds a piece's address and a counter that grows with every change, which
 * avoids the ABA problem. A piece keeps its size forever, so `at` may be moved to new memory while
 * old pieces stay in use. Arrays that host and GPU both use are in such a heap, too, in host memory
 * (core/counted/heap.h). */
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
