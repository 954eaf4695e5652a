/* heap.c - memory for the arrays that kernels make on the GPU: llvm_bc/heap_gpu.h. It grows
 * before a task by an estimate of what the threads need; they cannot request more while it runs. A
 * launch that runs out of memory fails, and the next one gets four times as much, up to half of
 * what the budget leaves. No array of this heap outlives its iteration (for others see
 * arrays.c), so all of it can be freed between tasks.
 * Invariant: mapped memory is charged to the budget. */
#include <stddef.h>

#include "device/cuda/cuda.h"

#define PLAIN_BYTES ((uint64_t)64 << 20)
#define MIN_BYTES ((uint64_t)1 << 20)
#define MAX_PER_THREAD ((uint64_t)1 << 32)

enum { FIRST_PER_THREAD = 1024, GROWTH_FACTOR = 4 };

static uint64_t target_bytes_for(const CudaDevice *cuda, uint64_t threads) {
  const RtBudget *budget = cuda->device.budget;
  uint64_t left = budget->limit > budget->used ? budget->limit - budget->used : 0;
  uint64_t most = cuda->heap.mapped + left / 2, target_bytes = threads * cuda->bytes_per_thread;
  if (target_bytes < MIN_BYTES) target_bytes = MIN_BYTES;
  if (target_bytes > most) target_bytes = most;
  return target_bytes + sizeof(RtGpuHeap);
}

static bool reserve(CudaDevice *cuda, Error *err) {
  if (cuda->heap.at) return true;
  cuda->bytes_per_thread = FIRST_PER_THREAD;
  return cuda_reserve(cuda, &cuda->heap, cuda->about.memory_bytes, PLAIN_BYTES, err);
}

/* Queued after the clearing of the memory, so that other streams do not see it too early. */
static bool publish_capacity(CudaDevice *cuda, Error *err) {
  ASSERT(cuda->heap.mapped > sizeof(RtGpuHeap), "the memory follows the heap's own numbers");
  uint64_t numbers[] = {cuda->heap.at + sizeof(RtGpuHeap), cuda->heap.mapped - sizeof(RtGpuHeap)};
  _Static_assert(offsetof(RtGpuHeap, capacity) == offsetof(RtGpuHeap, at) + sizeof(uint64_t),
                 "they are written together");
  rt_budget_take(cuda->device.budget, cuda->heap.mapped - cuda->heap_published);
  cuda->heap_published = cuda->heap.mapped;
  return cuda_write(cuda, cuda->heap.at + offsetof(RtGpuHeap, at), numbers, sizeof numbers, err);
}

bool cuda_ensure_heap(CudaDevice *cuda, uint64_t threads, Error *err) {
  if (!reserve(cuda, err)) return false;
  uint64_t target_bytes = target_bytes_for(cuda, threads), before = cuda->heap.mapped;
  cuda->heap_grows = true;
  bool ok = cuda->heap.plain || cuda_grow(cuda, &cuda->heap, target_bytes, before ? NULL : err);
  cuda->heap_grows = false;
  if (!ok && !before) return false;
  return cuda->heap.mapped == cuda->heap_published || publish_capacity(cuda, err);
}

void cuda_heap_ran_short(CudaDevice *cuda) {
  if (cuda->bytes_per_thread < MAX_PER_THREAD) cuda->bytes_per_thread *= GROWTH_FACTOR;
}

bool cuda_trim_heap(CudaDevice *cuda) {
  if (cuda->heap_grows || !cuda_shrink(cuda, &cuda->heap, 0)) return false;
  cuda->device.budget->used -= cuda->heap_published;
  cuda->heap_published = 0;
  return true;
}
