/* queue.c - see queue.h. */
#include "kernel/queue.h"

#include <stdio.h>
#include <string.h>

/* What the device says of a launch, with the kernel's name. */
static bool name_kernel(const Kernel *kernel, Error *err) {
  char text[sizeof err->message];
  snprintf(text, sizeof text, "kernel '%.100s': %.360s", kernel->name, err->message);
  memcpy(err->message, text, sizeof text);
  return false;
}

static bool report(const Queued *queued, const RgValue *values, RgValue *result, Error *err) {
  Engine *engine = queued->kernel->engine;
  Device *device = engine->store->device;
  Variant *variant = queued->variant;
  DeviceLaunch launch = {.code = variant->code,
                         .tasks = variant->tasks,
                         .task_count = variant->task_count,
                         .frame = variant->frame,
                         .frame_slots = variant->frame_slots,
                         .trees = variant->trees,
                         .tree_count = variant->tree_count,
                         .message_axes = variant->message_axes,
                         .says = variant->says,
                         .messages_lost = engine->launch.messages_lost,
                         .touches_lost = engine->launch.touches_lost,
                         .ticket = queued->ticket};
  if (!device->table->finish(device, &launch, err)) return name_kernel(queued->kernel, err);
  return readback(queued->kernel, variant, &launch, values, result, err);
}

/* The last of them with its values, if somebody waits for its result. */
static bool report_all(Engine *engine, const RgValue *values, RgValue *result, Error *err) {
  RgValue unused;
  bool ok = true;
  int32_t count = engine->queued;
  engine->queued = 0;
  for (int32_t k = 0; k < count; k++) {
    bool is_last = values && k + 1 == count;
    if (!ok) engine->stats.skipped++;
    else ok = report(&engine->queue[k], is_last ? values : NULL, is_last ? result : &unused, err);
  }
  engine->store->device->queued = 0;
  return ok;
}

bool queue_has_failed(Engine *engine, Error *err) {
  if (!engine->has_failed) return false;
  if (!err) {
    engine->stats.skipped++;
    return true;
  }
  engine->has_failed = false;
  error_add(err, &engine->failure);
  return true;
}

bool queue_settle(Engine *engine, Error *err) {
  if (err && queue_has_failed(engine, err)) return false;
  if (!engine->queued) return true;
  if (err) return report_all(engine, NULL, NULL, err);
  error_clear(&engine->failure);
  engine->has_failed = !report_all(engine, NULL, NULL, &engine->failure);
  return !engine->has_failed;
}

void queue_make_room(Engine *engine, const Variant *variant) {
  const Device *device = engine->store->device;
  int64_t words = (int64_t)variant->tree_count + variant->frame_slots;
  if (variant->says || device->queued >= device->most_queued || words > device->most_words)
    queue_settle(engine, NULL);
}

bool queue_add(Kernel *kernel, Variant *variant, const RgValue *values, RgValue *result,
               Error *err) {
  Engine *engine = kernel->engine;
  if (!engine->queue) engine->queue = heap_alloc(engine->store->heap, sizeof *engine->queue *
                                                 (size_t)engine->store->device->most_queued);
  if (!engine->queue) {
    engine->store->device->queued = 0;
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  }
  engine->queue[engine->queued++] = (Queued){kernel, variant, engine->launch.ticket};
  bool is_over = engine->launch.context.error.kind != RT_OK; /* its host region has failed */
  return !(variant->is_awaited || is_over) || report_all(engine, values, result, err);
}
