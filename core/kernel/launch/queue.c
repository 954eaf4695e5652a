/* queue.c - see queue.h. */
#include "kernel/launch/queue.h"
#include "kernel/tuning/tuning.h"

#include <stdio.h>
#include <string.h>

#include "kernel/versions/specialise.h"

/* Adds the kernel's name to a device's error message. */
static bool name_kernel(const Kernel *kernel, Error *err) {
  char text[sizeof err->message];
  snprintf(text, sizeof text, "kernel '%.100s': %.360s", kernel->name, err->message);
  memcpy(err->message, text, sizeof text);
  return false;
}

/* Results are read from the version's frame; a device may have kept them in another one. */
static void take_frame(Version *version, const DeviceLaunch *launch) {
  if (version->launch->is_awaited && launch->frame != version->launch->frame)
    memcpy(version->launch->frame, launch->frame,
           sizeof *version->launch->frame * (size_t)version->compiled->frame_slots);
}

static bool report(const Queued *queued, const RgValue *values, RgValue *result, Error *err) {
  Engine *engine = queued->kernel->engine;
  Device *device = engine->store->device;
  Version *version = queued->version;
  DeviceLaunch launch = {.code = version->code,
                         .tasks = version->compiled->tasks,
                         .task_count = version->compiled->task_count,
                         .frame = version->launch->frame,
                         .frame_slots = version->compiled->frame_slots,
                         .trees = version->launch->trees,
                         .tree_count = version->compiled->tree_count,
                         .message_axes = version->compiled->message_axes,
                         .prints = version->compiled->prints,
                         .makes_arrays = version->compiled->makes_arrays,
                         .shares_arrays = version->compiled->shares_arrays,
                         .messages_lost = engine->launch.messages_lost,
                         .touches_lost = engine->launch.touches_lost,
                         .ticket = queued->ticket};
  ASSERT(device->table->tickets, "only a device with tickets queues launches");
  if (!device->table->tickets->finish(device, &launch, err)) {
    tuning_forget(&queued->trial);
    return name_kernel(queued->kernel, err);
  }
  uint64_t ticks = launch.ticks * (uint64_t)queued->trial.represented;
  engine->stats.run_ticks += ticks;
  specialise_note_time(version, ticks);
  engine->stats.skipped += launch.is_skipped;
  take_frame(version, &launch);
  bool ok = readback(queued->kernel, version, &launch, values, result, err);
  if (queued->trial.base->is_tuned || launch.ticks >= engine->tune_from)
    tuning_note_launch(queued->kernel, &queued->trial, &launch, ok && !launch.is_skipped);
  return ok;
}

/* -- choosing launches to report --------------------------------------------------------------- */

typedef struct Reporting {
  Engine *engine;
  int32_t stream;        /* -1: all */
  uint64_t past;         /* later tickets stay queued */
  bool waits;            /* if false, a launch that has not ended stays, with all after it */
  const RgValue *values; /* the last launch's values, if a caller waits for its result */
  RgValue *result;
} Reporting;

static bool is_wanted(const Reporting *how, const Queued *queued) {
  return (how->stream < 0 || (queued->stream == how->stream && queued->ticket <= how->past)) &&
         (how->waits || device_is_done(how->engine->store->device, queued->ticket));
}

static void note_launch(const Queued *queued, Error *failure) {
  failure->launch = queued->number;
  snprintf(failure->kernel, sizeof failure->kernel, "%s", queued->kernel->name);
}

static void keep_failure(Engine *engine, int32_t stream, const Error *failure) {
  if (engine->has_failed[stream]) return;
  engine->has_failed[stream] = true;
  engine->failures[stream] = *failure;
}

static void report_one(const Reporting *how, const Queued *queued, bool is_last, Error *err) {
  Engine *engine = how->engine;
  RgValue unused;
  Error failure;
  error_clear(&failure);
  if (err && !error_is_set(err)) failure.more = err->more; /* including its notes */
  if (report(queued, is_last ? how->values : NULL, is_last && how->result ? how->result : &unused,
             &failure))
    return;
  note_launch(queued, &failure);
  if (err && !error_is_set(err)) *err = failure;
  else keep_failure(engine, queued->stream, &failure);
}

/* Reports the wanted launches; false if err is set. */
static bool report_some(const Reporting *how, Error *err) {
  Engine *engine = how->engine;
  if (engine->is_reporting) return true; /* a report itself may access results */
  engine->is_reporting = true;
  bool is_held[RG_STREAMS] = {false};
  int32_t count = engine->queued, kept = 0;
  for (int32_t k = 0; k < count; k++) {
    Queued queued = engine->queue[k];
    if (is_held[queued.stream] || !is_wanted(how, &queued)) {
      is_held[queued.stream] = true;
      engine->queue[kept++] = queued;
    } else {
      report_one(how, &queued, k + 1 == count, err);
    }
  }
  engine->queued = kept;
  engine->is_reporting = false;
  if (!kept) engine->store->device->queued = 0;
  return !err || !error_is_set(err);
}

/* -- called by others -------------------------------------------------------------------------- */

bool queue_has_failed(Engine *engine, int32_t stream, Error *err) {
  int32_t k = stream < 0 ? 0 : stream, past = stream < 0 ? RG_STREAMS : stream + 1;
  while (k < past && !engine->has_failed[k]) k++;
  if (k == past) return false;
  if (!err) {
    engine->stats.skipped++;
    return true;
  }
  engine->has_failed[k] = false;
  error_add(err, &engine->failures[k]);
  return true;
}

bool queue_report_all(Engine *engine, Error *err) {
  if (err && queue_has_failed(engine, -1, err)) return false;
  if (!engine->queued) return true;
  return report_some(&(Reporting){.engine = engine, .stream = -1, .waits = true}, err);
}

bool queue_report_stream(Engine *engine, int32_t stream, uint64_t ticket, Error *err) {
  if (err && queue_has_failed(engine, stream, err)) return false;
  if (!engine->queued) return true;
  Reporting how = {.engine = engine, .stream = stream, .past = ticket, .waits = true};
  return report_some(&how, err);
}

void queue_report_ended(Engine *engine) {
  if (engine->queued) report_some(&(Reporting){.engine = engine, .stream = -1}, NULL);
}

/* Reports the oldest launch of the stream, and all that have ended. */
static void report_oldest(Engine *engine, int32_t stream) {
  int32_t k = 0;
  while (k < engine->queued && engine->queue[k].stream != stream) k++;
  if (k < engine->queued) queue_report_stream(engine, stream, engine->queue[k].ticket, NULL);
  queue_report_ended(engine);
}

void queue_make_room_for_copy(Engine *engine, int32_t stream) {
  Device *device = engine->store->device;
  const DeviceTicketTable *tickets = device->table->tickets;
  while (tickets && !tickets->has_room(device, stream)) report_oldest(engine, stream);
}

void queue_make_room_for_launch(Engine *engine, const Version *version) {
  Device *device = engine->store->device;
  int64_t words = (int64_t)version->compiled->tree_count + version->compiled->frame_slots;
  bool is_full = device->queued >= device->max_queued;
  /* a host region changes arrays even if an earlier launch has failed */
  bool is_alone = version->compiled->prints || version->compiled->host_changes_arrays;
  if (is_alone || is_full || words > device->max_words) queue_report_all(engine, NULL);
  queue_make_room_for_copy(engine, engine->stream);
}

bool queue_add(Kernel *kernel, const TuneTrial *trial, const RgValue *values, RgValue *result,
               Error *err) {
  Engine *engine = kernel->engine;
  Version *version = kernel->ran;
  if (!engine->queue)
    engine->queue = heap_alloc(engine->store->heap,
                               sizeof *engine->queue * (size_t)engine->store->device->max_queued);
  Queued queued = {kernel,
                   version,
                   *trial,
                   engine->launch.ticket,
                   engine->launch.stream,
                   engine->stats.launches};
  if (!engine->queue) return report(&queued, values, result, err);
  ASSERT(engine->queued < engine->store->device->max_queued, "a launch has made room for itself");
  engine->queue[engine->queued++] = queued;
  bool is_over = engine->launch.has_waited ||
                 engine->launch.context.error.kind != RT_OK; /* the host region has failed */
  if (!version->launch->is_awaited && !is_over) return true;
  Reporting how = {
      .engine = engine, .stream = -1, .waits = true, .values = values, .result = result};
  return report_some(&how, err);
}
