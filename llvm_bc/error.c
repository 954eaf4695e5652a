/* error.c - keeps the first fault of a launch; it is read when no task runs any more. */
#include "atomic.h"
#include "rt.h"

void rt_error_set(RtContext *context, uint32_t kind, int32_t tree, int32_t manager) {
  RtError *error = &context->error;
  if (rt_load(&error->kind) != RT_OK || !rt_swap(&error->kind, RT_OK, kind)) return;
  error->tree = tree;
  error->manager = manager;
  error->task = context->task;
}
