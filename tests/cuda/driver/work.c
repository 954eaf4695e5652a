/* work.c - executes one item of a stream's queue. */
#include "api.h"

#include <stdlib.h>

void work_free(Work *work) {
  free(work->bytes);
  work->bytes = NULL;
}

Work work_copy(const Work *work) {
  Work copy = *work;
  uint64_t size = work->kind == WORK_LAUNCH ? work->grid.function->param_bytes : work->size;
  if (!work->bytes) return copy;
  copy.bytes = malloc(size + 1);
  if (!copy.bytes) abort();
  memcpy(copy.bytes, work->bytes, size);
  return copy;
}

static int launch(Work *work) {
  static long launches;
  Grid grid = work->grid;
  grid.params = work->bytes;
  grid.random = (uint64_t)options.seed * 1000003 + (uint64_t)launches;
  if (++launches == options.fail_launch) {
    fprintf(stderr, "device: launch %ld fails, as PTX_FAIL_LAUNCH asks\n", launches);
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  int result = grid_run(&grid);
  event_time_passes(grid.time);
  return result;
}

/* Bytes that were never written are recognisable: the host reads 0xa5. */
static void to_host(uint64_t to, uint64_t from, uint64_t size) {
  char *host = (char *)(uintptr_t)to; /* NOLINT */
  memcpy(host, memory_host(from), size);
  const uint8_t *shadow = (const uint8_t *)memory.shadow;
  memory_settle(from, size);
  for (uint64_t i = 0; i < size;) {
    uint64_t bit = from + i - DEVICE_BASE;
    if (bit % 8 == 0 && shadow[bit / 8] == 255) {
      i += 8;
    } else {
      if (!(shadow[bit / 8] >> bit % 8 & 1)) host[i] = (char)0xa5;
      i++;
    }
  }
}

static void set(const Work *work) {
  char *at = memory_host(work->to);
  uint64_t bytes = work->size * work->unit;
  if (!work->value) {
    memory_clear(work->to, bytes);
    return;
  }
  if (work->unit == 1) memset(at, (int)work->value, bytes);
  else
    for (uint64_t i = 0; i < work->size; i++) memcpy(at + i * work->unit, &work->value, work->unit);
  memory_set_written(work->to, bytes, true);
}

int work_run(Work *work) {
  uint64_t bytes = work->kind == WORK_SET ? work->size * work->unit : work->size;
  bool reads = work->kind == WORK_TO_HOST || work->kind == WORK_ON_DEVICE;
  bool writes =
      work->kind == WORK_TO_DEVICE || work->kind == WORK_ON_DEVICE || work->kind == WORK_SET;
  if ((reads && !memory_is_live(work->from, bytes)) ||
      (writes && !memory_is_live(work->to, bytes))) {
    fprintf(stderr, "device: a copy of %llu bytes from 0x%llx to 0x%llx: nothing is there\n",
            (unsigned long long)bytes, (unsigned long long)work->from,
            (unsigned long long)work->to);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  grid_counts.copies += reads || writes;
  grid_counts.copied_bytes += reads || writes ? bytes : 0;
  switch (work->kind) {
  case WORK_LAUNCH: return launch(work);
  case WORK_TO_DEVICE:
    memcpy(memory_host(work->to), work->bytes ? work->bytes : (const char *)(uintptr_t)work->from,
           bytes); /* NOLINT */
    memory_set_written(work->to, bytes, true);
    break;
  case WORK_TO_HOST: to_host(work->to, work->from, bytes); break;
  case WORK_ON_DEVICE:
    memmove(memory_host(work->to), memory_host(work->from), bytes);
    memory_copy_written(work->to, work->from, bytes);
    break;
  case WORK_SET: set(work); break;
  case WORK_WAIT: return stream_wait(work->stream, work->size);
  case WORK_HOST: work->call((void *)(uintptr_t)work->to); break; /* NOLINT */
  }
  return CUDA_SUCCESS;
}
