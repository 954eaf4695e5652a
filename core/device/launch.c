/* launch.c - see launch.h. */
#include "device/launch.h"

#include <stddef.h>
#include <string.h>

/* Copies all members except `stop`, which belongs to the caller and which any thread may write at
 * any time. */
static void begin_context(RtContext *context, const RtContext *native) {
  const size_t before = offsetof(RtContext, stop), past = before + sizeof context->stop;
  memcpy(context, native, before);
  memcpy((uint8_t *)context + past, (const uint8_t *)native + past, sizeof *context - past);
}

void launch_begin(const Device *device, DeviceLaunch *launch, RunTask *run) {
  RtContext *context = &launch->context;
  ASSERT(!launch->tree_count || launch->trees, "a launch has its trees");
  begin_context(context, &device->native);
  context->frame = launch->frame;
  context->trees = launch->trees;
  context->tree_count = launch->tree_count;
  context->ambient = launch->ambient;
  context->random = launch->random;
  context->run = run;
  launch->runs = launch->collections = 0;
  launch->messages_lost = launch->touches_lost = launch->ticket = launch->ticks = 0;
  launch->work = 0;
  launch->is_skipped = false;
}

/* The length of begin..end, at most INT64_MAX. */
static int64_t count_axis(int64_t begin, int64_t end) {
  uint64_t count = begin < end ? (uint64_t)end - (uint64_t)begin : 0;
  return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

int64_t launch_count_range(const DeviceLaunch *launch, const DeviceTask *task) {
  ASSERT(task->kind == DEVICE_RANGE && task->axis_count > 0, "a range has axes");
  ASSERT(task->bounds >= 0 && task->bounds + 2 * task->axis_count <= launch->frame_slots,
         "the bounds of a range are in the frame");
  const uint64_t *bounds = &launch->frame[task->bounds];
  int64_t total = 1;
  bool is_empty = false, is_huge = false;
  for (int32_t axis = 0; axis < task->axis_count; axis++) {
    int64_t count = count_axis((int64_t)bounds[2 * axis], (int64_t)bounds[2 * axis + 1]);
    if (!count) is_empty = true;
    else if (is_huge || __builtin_mul_overflow(total, count, &total)) is_huge = true;
  }
  return is_empty ? 0 : is_huge ? INT64_MAX : total;
}
