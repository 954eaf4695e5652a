/* time.c - measures a launch by the GPU's clock: with an event before its work and one after it, on
 * its stream. They are read when the launch is reported, which waits for its stream anyway. Each
 * event costs the host a driver call, so only launches with is_timed have them. */
#include "base/clock.h"
#include "device/cuda/cuda.h"

enum { WITH_TIME = 0 };

static bool ensure_event(CudaDevice *cuda, void **event) {
  return *event || !cuda->driver.cuEventCreate(event, WITH_TIME);
}

/* If an event cannot be created, the launch is not timed. */
void cuda_time_begin(CudaDevice *cuda, const DeviceLaunch *launch) {
  CudaTimer *timer = &cuda->timers[cuda->slot];
  timer->is_set = launch->is_timed && ensure_event(cuda, &timer->begin) &&
                  ensure_event(cuda, &timer->end) &&
                  !cuda->driver.cuEventRecord(timer->begin, cuda->stream);
}

void cuda_time_end(CudaDevice *cuda) {
  CudaTimer *timer = &cuda->timers[cuda->slot];
  if (timer->is_set) timer->is_set = !cuda->driver.cuEventRecord(timer->end, cuda->stream);
}

static double ticks_per_ms(const CudaDevice *cuda) {
  double ns = (double)(clock_ns() - cuda->begin_ns);
  return ns > 0 ? (double)(clock_ticks() - cuda->begin_ticks) / ns * 1e6 : 0;
}

uint64_t cuda_time_take(CudaDevice *cuda, int32_t slot) {
  ASSERT(slot >= 0 && slot < CUDA_MAX_QUEUED, "the slot of a queued launch");
  CudaTimer *timer = &cuda->timers[slot];
  float ms = 0;
  if (!timer->is_set || cuda_is_lost(cuda)) return 0;
  timer->is_set = false;
  if (cuda->driver.cuEventElapsedTime(&ms, timer->begin, timer->end)) return 0;
  return 1 + (uint64_t)((double)ms * ticks_per_ms(cuda));
}

void cuda_times_free(CudaDevice *cuda) {
  for (int32_t k = 0; k < CUDA_MAX_QUEUED && !cuda_is_lost(cuda); k++) {
    if (cuda->timers[k].begin) cuda->driver.cuEventDestroy_v2(cuda->timers[k].begin);
    if (cuda->timers[k].end) cuda->driver.cuEventDestroy_v2(cuda->timers[k].end);
  }
}
