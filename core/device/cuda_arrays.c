/* cuda_arrays.c - counted arrays that host and tasks both use: those that Lua, extensions and host
 * regions have. They lie in memory of the host's that tasks reach at the same addresses
 * (core/counted/heap.h), so an array that holds arrays means the same on both sides. Host and tasks
 * never use them at once, as atomics of one side are none for the other: the host waits for a task
 * before its region goes on with arrays, and for the launch before it returns. Then, too, what
 * nobody holds any more ends. Tasks that leave arrays as large as they are have copies of their
 * elements instead (cuda_copies.c), and nobody waits.
 * Not managed memory: it is gone with a context that a fault has ended, and handles may live on. */
#include "device/cuda.h"

#define LEAST_BYTES ((uint64_t)1 << 20)
#define MOST_BYTES ((uint64_t)64 << 20) /* until a launch has run short */

enum { FIRST_PER_THREAD = 1024, MORE = 4 };

bool cuda_pin(Device *device, void *memory, uint64_t size_bytes, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_enter(cuda, err)) return false;
  int result = cuda->driver.cuMemHostRegister_v2(memory, size_bytes,
                                                 DRIVER_PORTABLE | DRIVER_FOR_KERNELS);
  cuda_leave(cuda);
  return driver_check(&cuda->driver, result, "reach memory of the host", err);
}

/* A context that is lost has forgotten it. */
void cuda_unpin(Device *device, void *memory) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_enter(cuda, NULL)) return;
  cuda_wait_all(cuda, NULL);
  cuda->driver.cuMemHostUnregister(memory);
  cuda_leave(cuda);
}

static uint64_t wish_for(CudaDevice *cuda, uint64_t threads) {
  const RtBudget *budget = cuda->device.budget;
  uint64_t left = budget->limit > budget->used ? budget->limit - budget->used : 0;
  uint64_t per_thread = cuda->shared_per_thread ? cuda->shared_per_thread : FIRST_PER_THREAD;
  uint64_t wish = threads * per_thread;
  if (wish > MOST_BYTES && per_thread == FIRST_PER_THREAD) wish = MOST_BYTES;
  if (wish < LEAST_BYTES) wish = LEAST_BYTES;
  return wish > left / 2 ? left / 2 : wish;
}

/* No more than `left` can be taken, though there may be more: tasks know no budget. */
bool cuda_arrays_begin(CudaDevice *cuda, const DeviceLaunch *launch, uint64_t threads,
                       Error *err) {
  RtAllocator *allocator = launch->context.allocator;
  allocator->deferring = 1;
  uint64_t wish = launch->grows_arrays ? wish_for(cuda, threads) : 0;
  return allocator->have_room(allocator, wish) ||
         error_set(err, RG_ERROR_MEMORY,
                   "there is no memory of the host that the GPU could reach for the arrays that it "
                   "shares with it");
}

/* What a task left that a fault has ended may be half written: nothing of it ends. */
static bool settle(CudaDevice *cuda, DeviceLaunch *launch, bool is_last, Error *err) {
  RtAllocator *allocator = launch->context.allocator;
  bool ok = is_last ? cuda_wait(cuda, err) : cuda_look_for_stop(cuda, err);
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

/* Nor can the next one be given room while this one takes some. */
bool cuda_arrays_pause(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  bool is_due = launch->host_has_arrays || launch->grows_arrays;
  return !cuda->arrays_are_used || !is_due || settle(cuda, launch, false, err);
}

bool cuda_arrays_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  return !cuda->arrays_are_used || settle(cuda, launch, true, err);
}

void cuda_arrays_ran_short(CudaDevice *cuda) {
  uint64_t before = cuda->shared_per_thread ? cuda->shared_per_thread : FIRST_PER_THREAD;
  cuda->shared_per_thread = before * MORE;
}
