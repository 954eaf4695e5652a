/* arrays.c - counted arrays that host and tasks both use: arrays of Lua, extensions and host
 * regions. They are in pinned host memory that tasks access at the same addresses
 * (core/counted/heap.h), so an array of arrays works on both sides. Host and tasks never use them
 * at the same time, as updates by one side are not atomic for the other: the host waits for a task
 * before its region goes on with arrays, and for the launch before it returns. At these points,
 * arrays without references are destroyed. Tasks that do not resize arrays use copies of their
 * elements instead (copies.c), and the host need not wait.
 * CUDA managed memory is not used, as it would be lost when a fault ends the context, although the
 * host still has handles of arrays. Decision D-device-13. */
#include "device/cuda/cuda.h"

#define MIN_BYTES ((uint64_t)1 << 20)
#define MAX_BYTES ((uint64_t)64 << 20) /* until a launch has run out of memory */

enum { FIRST_PER_THREAD = 1024, GROWTH_FACTOR = 4 };

bool cuda_pin(Device *device, void *memory, uint64_t size_bytes, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_enter(cuda, err)) return false;
  int result =
      cuda->driver.cuMemHostRegister_v2(memory, size_bytes, DRIVER_PORTABLE | DRIVER_FOR_KERNELS);
  cuda_leave(cuda);
  return driver_check(&cuda->driver, result, "reach memory of the host", err);
}

/* A lost context has already released it. */
void cuda_unpin(Device *device, void *memory) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_enter(cuda, NULL)) return;
  cuda_wait_all(cuda, NULL);
  cuda->driver.cuMemHostUnregister(memory);
  cuda_leave(cuda);
}

static uint64_t target_bytes_for(CudaDevice *cuda, uint64_t threads) {
  const RtBudget *budget = cuda->device.budget;
  uint64_t left = budget->limit > budget->used ? budget->limit - budget->used : 0;
  uint64_t per_thread = cuda->shared_per_thread ? cuda->shared_per_thread : FIRST_PER_THREAD;
  uint64_t target_bytes = threads * per_thread;
  if (target_bytes > MAX_BYTES && per_thread == FIRST_PER_THREAD) target_bytes = MAX_BYTES;
  if (target_bytes < MIN_BYTES) target_bytes = MIN_BYTES;
  return target_bytes > left / 2 ? left / 2 : target_bytes;
}

/* Provides no more than half of what the budget leaves, even if more memory is free: tasks do not
 * check the budget. */
bool cuda_arrays_begin(CudaDevice *cuda, const DeviceLaunch *launch, uint64_t threads, Error *err) {
  RtAllocator *allocator = launch->context.allocator;
  ASSERT(allocator && allocator->have_room, "a launch with arrays has their allocator");
  allocator->deferring = 1;
  uint64_t target_bytes = launch->grows_arrays ? target_bytes_for(cuda, threads) : 0;
  return allocator->have_room(allocator, target_bytes) ||
         error_set(
             err, RG_ERROR_MEMORY,
             "the host has no memory left that the GPU can access, for the arrays that they share");
}

/* Waits for the tasks that use shared arrays, and applies the releases that they deferred. If a
 * fault ended a task, these may be half written, so all of them are dropped. */
static bool finish_array_tasks(CudaDevice *cuda, DeviceLaunch *launch, bool is_last, Error *err) {
  RtAllocator *allocator = launch->context.allocator;
  ASSERT(cuda->arrays_are_used && allocator, "a task has used arrays of the launch's allocator");
  bool ok = is_last ? cuda_wait(cuda, err) : cuda_check_stop(cuda, err);
  cuda->arrays_are_used = false;
  launch->has_waited = true;
  allocator->deferring = 0;
  if (!ok) {
    allocator->pending = NULL;
    allocator->pending_count = allocator->pending_capacity = 0;
  }
  rt_counted_settle(allocator);
  return ok;
}

/* Also waits if tasks may grow arrays, as memory cannot be added while a task allocates. */
bool cuda_arrays_pause(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  bool is_due = launch->host_has_arrays || launch->grows_arrays;
  return !cuda->arrays_are_used || !is_due || finish_array_tasks(cuda, launch, false, err);
}

bool cuda_arrays_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  return !cuda->arrays_are_used || finish_array_tasks(cuda, launch, true, err);
}

void cuda_arrays_ran_short(CudaDevice *cuda) {
  uint64_t before = cuda->shared_per_thread ? cuda->shared_per_thread : FIRST_PER_THREAD;
  cuda->shared_per_thread = before * GROWTH_FACTOR;
}
