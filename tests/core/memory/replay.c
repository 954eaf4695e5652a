/* replay.c - see replay.h. */
#include "replay.h"

#include <stdlib.h>

#include "base/clock.h"
#include "fake_source.h"

typedef struct Run {
  Heap heap;
  FakeSource fake;
  MemoryPool *pool;
  MemoryBlock **blocks;
} Run;

static void begin(Run *run, const Trace *trace, const MemoryConfig *config, uint64_t limit) {
  *run = (Run){.fake = {.limit = limit}};
  MemorySource source = fake_source(&run->fake);
  heap_init(&run->heap, 0);
  run->pool = memory_pool_create(&run->heap, &source, config);
  run->blocks = calloc((size_t)trace->blocks, sizeof *run->blocks);
}

static void end(Run *run) {
  free(run->blocks);
  memory_pool_destroy(run->pool);
}

/* False: there is no memory left. */
static bool do_event(Run *run, const TraceEvent *event) {
  if (event->kind == TRACE_TAKE) {
    run->blocks[event->id] = memory_pool_allocate(run->pool, event->bytes);
    return run->blocks[event->id];
  }
  if (event->kind == TRACE_GIVE) memory_pool_free(run->pool, run->blocks[event->id]);
  return true;
}

Replay replay(const Trace *trace, const MemoryConfig *config, uint64_t limit) {
  Run run;
  Replay result = {.is_done = true};
  uint64_t warm = 0;
  begin(&run, trace, config, limit);
  for (int64_t k = 0; k < trace->count && result.is_done; k++) {
    if (k == trace->warm) warm = memory_pool_usage(run.pool).device_calls;
    result.is_done = do_event(&run, &trace->events[k]);
  }
  MemoryUsage usage = memory_pool_usage(run.pool);
  result.peak = usage.peak_reserved;
  result.calls = usage.device_calls;
  result.calls_warm = usage.device_calls - warm;
  end(&run);
  return result;
}

enum { PART = 512 };

static void time_parts(const Trace *trace, const MemoryConfig *config, int64_t *least) {
  Run run;
  begin(&run, trace, config, 0);
  for (int64_t first = 0; first < trace->count; first += PART, least++) {
    int64_t past = first + PART < trace->count ? first + PART : trace->count;
    int64_t before = clock_ns();
    for (int64_t k = first; k < past; k++) do_event(&run, &trace->events[k]);
    int64_t ns = clock_ns() - before;
    if (!*least || ns < *least) *least = ns;
  }
  end(&run);
}

double replay_ns(const Trace *trace, const MemoryConfig *config, int times) {
  int64_t parts = trace->count / PART + 1, moves = 0, ns = 0;
  int64_t *least = calloc((size_t)parts, sizeof *least);
  while (times--) time_parts(trace, config, least);
  for (int64_t k = 0; k < parts; k++) ns += least[k];
  for (int64_t k = 0; k < trace->count; k++) moves += trace->events[k].kind != TRACE_KERNEL;
  free(least);
  return (double)ns / (double)moves;
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
