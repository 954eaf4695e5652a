/* races.c - the race detector on a GPU: its table is in GPU memory, and the host waits for
 * each task and then reads it. The table is as large as the CPU's, or smaller on a small GPU. */
#include "base/bits.h"
#include "device/cuda/cuda.h"
#include "device/race.h"

enum {
  ENTRIES = 1 << 22,
  MEMORY_DIVISOR = 16 /* at most this fraction of the GPU's memory */,
  ENTRIES_PER_READ = 4096
};

bool cuda_races_create(CudaDevice *cuda, Error *err) {
  uint64_t capacity = ENTRIES;
  while (capacity * sizeof(RtShadow) > cuda->about.memory_bytes / MEMORY_DIVISOR) capacity /= 2;
  if (!cuda_allocate(cuda, &cuda->shadow, capacity * sizeof(RtShadow), err) ||
      !cuda_allocate(cuda, &cuda->races, sizeof(RtRaces), err))
    return false;
  cuda->gpu_races =
      (RtRaces){.entries = (RtShadow *)(uintptr_t)cuda->shadow.at, .capacity = capacity};
  return true;
}

bool cuda_races_begin(CudaDevice *cuda, Error *err) {
  RtRaces *races = &cuda->gpu_races;
  if (!races->capacity) return true;
  races->epoch += 2;
  races->found = races->lost = 0;
  return cuda_write(cuda, cuda->races.at, races, sizeof *races, err);
}

static bool scan_table(CudaDevice *cuda, Race *race, RtShadow *entries, Error *err) {
  const RtRaces *races = &cuda->gpu_races;
  for (uint64_t k = 0; k < races->capacity; k += ENTRIES_PER_READ) {
    uint64_t count = (uint64_t)min_i64(ENTRIES_PER_READ, (int64_t)(races->capacity - k)),
             size_bytes = sizeof *entries * count;
    if (!cuda_read(cuda, entries, cuda->shadow.at + sizeof *entries * k, size_bytes, err))
      return false;
    race_scan(race, entries, count, races->epoch);
  }
  return true;
}

bool cuda_races_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  RtRaces *races = &cuda->gpu_races;
  Race race = {0};
  if (!races->capacity) return true;
  if (!cuda_read(cuda, races, cuda->races.at, sizeof *races, err)) return false;
  launch->touches_lost += races->lost;
  if (!races->found || launch->context.error.kind != RT_OK) return true;
  RtShadow *entries = heap_alloc(cuda->device.heap, sizeof *entries * ENTRIES_PER_READ);
  if (!entries) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a race");
  bool ok = scan_table(cuda, &race, entries, err);
  heap_free(cuda->device.heap, entries);
  if (ok) race_report(&race, &launch->context, &cuda->worker);
  return ok;
}
