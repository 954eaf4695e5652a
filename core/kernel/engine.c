/* engine.c - see engine.h. */
#include "kernel/engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "kernel/versions/background.h"
#include "kernel/report/message.h"
#include "kernel/launch/queue.h"
#include "kernel/tuning/tuning.h"

static bool report_all(void *data, Error *err) { return queue_report_all(data, err); }
static bool report_stream(void *data, int32_t stream, uint64_t ticket, Error *err) {
  return queue_report_stream(data, stream, ticket, err);
}

void engine_init(Engine *engine, Store *store, const EngineOptions *options, Cache *cache) {
  ASSERT(!store->device->report_all, "a device has one engine");
  engine->store = store;
  engine->options = *options;
  engine->cache = cache;
  engine->begin_ticks = clock_ticks();
  engine->begin_ns = clock_ns();
  store->device->report_all = report_all;
  store->device->report_stream = report_stream;
  store->device->report_data = engine;
  tuning_init(engine);
  engine_end_launch(engine);
}

bool engine_has_one_order(const Engine *engine) {
  const Device *device = engine->store->device;
  return engine->options.deterministic ||
         (device->worker_count == 1 && !device->processors[RG_TARGET_PTX]);
}

bool engine_may_differ(const Engine *engine) {
  return !engine->options.deterministic && engine->options.tunes != TUNE_OFF;
}

/* Measures a tick from the engine's creation until now; keeps the result once that is long
 * enough. */
double engine_ms(Engine *engine, uint64_t ticks) {
  enum { LONG_NS = 20000000 };
  ASSERT(engine->begin_ns, "the clock is read when the engine begins");
  if (engine->ms_per_tick > 0) return (double)ticks * engine->ms_per_tick;
  int64_t ns = clock_ns() - engine->begin_ns;
  uint64_t passed = clock_ticks() - engine->begin_ticks;
  double ms_per_tick = passed ? (double)ns * 1e-6 / (double)passed : 0;
  if (ns >= LONG_NS) engine->ms_per_tick = ms_per_tick;
  return (double)ticks * ms_per_tick;
}

uint64_t engine_ticks(Engine *engine, double ms) {
  enum { MANY = 1000000 };
  double of_many = engine_ms(engine, MANY);
  return of_many > 0 ? (uint64_t)(ms / of_many * MANY) : 0;
}

void engine_begin_launch(Engine *engine) {
  __atomic_store_n(&engine->launch.context.stop, LAUNCH_RUNS, __ATOMIC_RELAXED);
}

void engine_end_launch(Engine *engine) {
  engine->is_reporting = false;
  __atomic_store_n(&engine->launch.context.stop, LAUNCH_NONE, __ATOMIC_RELAXED);
}

bool engine_stop(Engine *engine) {
  const Store *store = engine->store;
  Device *device = store ? store->device : NULL;
  const DeviceTicketTable *tickets = device ? device->table->tickets : NULL;
  uint32_t stop = LAUNCH_RUNS;
  bool was_queued = tickets && tickets->stop(device);
  bool runs = __atomic_compare_exchange_n(&engine->launch.context.stop, &stop, LAUNCH_STOPS, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return runs || stop == LAUNCH_STOPS || was_queued;
}

bool engine_is_stopped(const Engine *engine) {
  return __atomic_load_n(&engine->launch.context.stop, __ATOMIC_RELAXED) == LAUNCH_STOPS;
}

/* Warns of failures that no call has reported, as an error must not pass silently. */
static void warn_of_unread_failures(Engine *engine) {
  if (engine->queued) queue_report_all(engine, NULL);
  for (int k = 0; k < RG_STREAMS; k++) {
    const Error *failure = &engine->failures[k];
    if (!engine->has_failed[k]) continue;
    engine->has_failed[k] = false;
    char place[300] = "";
    if (failure->line)
      snprintf(place, sizeof place, "%s:%d:%d: ", failure->file, failure->line, failure->column);
    engine_warn(engine, "%s%s (in a queued launch; the runtime ended before any call reported it)",
                place, failure->message);
  }
}

void engine_deinit(Engine *engine) {
  warn_of_unread_failures(engine);
  for (Kernel *kernel = engine->kernels; kernel; kernel = kernel->next) versions_drop_all(kernel);
  background_end(engine);
  codegen_close(engine->codegen);
  engine->codegen = NULL;
  cache_close(engine->cache);
  engine->cache = NULL;
  tuning_end(engine);
  if (engine->store) lines_free(engine);
  if (engine->store) heap_free(engine->store->heap, engine->queue);
  if (engine->store) heap_free(engine->store->heap, engine->trusted);
  engine->trusted = NULL;
  engine->queue = NULL;
}

bool engine_take_test_failure(bool *wanted) {
  bool fails = *wanted;
  *wanted = false;
  return fails;
}

void engine_warn(Engine *engine, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (engine->warn) engine->warn(engine->warn_data, text);
  else if (engine->lines.has_warnings) lines_warn(engine, text);
  else log_warning("%s", text);
}
