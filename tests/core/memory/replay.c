/* replay.c - see replay.h. */
#include "replay.h"

#include <stdlib.h>

#include "base/clock.h"
#include "fake_source.h"

Replay replay(const Trace *trace, const MemoryConfig *config, uint64_t limit) {
  Heap heap;
  FakeSource fake = {.limit = limit};
  MemorySource source = fake_source(&fake);
  heap_init(&heap, 0);
  MemoryPool *pool = memory_pool_create(&heap, &source, config);
  MemoryBlock **blocks = calloc((size_t)trace->blocks, sizeof *blocks);
  Replay result = {.is_done = true};
  uint64_t warm = 0;
  int64_t begin = clock_ns(), moves = 0;
  for (int64_t k = 0; k < trace->count && result.is_done; k++) {
    const TraceEvent *event = &trace->events[k];
    if (k == trace->warm) warm = memory_pool_usage(pool).device_calls;
    if (event->kind == TRACE_KERNEL) continue;
    moves++;
    if (event->kind == TRACE_TAKE) {
      blocks[event->id] = memory_pool_take(pool, event->bytes);
      result.is_done = blocks[event->id];
    } else {
      memory_pool_give(pool, blocks[event->id]);
    }
  }
  result.ns = (double)(clock_ns() - begin) / (double)moves;
  MemoryUsage usage = memory_pool_usage(pool);
  result.peak = usage.peak_reserved;
  result.calls = usage.device_calls;
  result.calls_warm = usage.device_calls - warm;
  free(blocks);
  memory_pool_destroy(pool);
  return result;
}

Replay replay_without_reuse(const Trace *trace, int kernels) {
  Replay result = {.is_done = true};
  uint64_t *bytes = calloc((size_t)trace->blocks, sizeof *bytes), now = 0, given = 0;
  int run = 0;
  for (int64_t k = 0; k < trace->count; k++) {
    const TraceEvent *event = &trace->events[k];
    if (event->kind == TRACE_TAKE) {
      bytes[event->id] = event->bytes;
      now += event->bytes;
      result.calls++;
      if (k >= trace->warm) result.calls_warm++;
    } else if (event->kind == TRACE_GIVE) {
      given += bytes[event->id];
    } else if (++run == kernels) {
      now -= given;
      given = 0;
      run = 0;
    }
    if (now > result.peak) result.peak = now;
  }
  free(bytes);
  return result;
}
