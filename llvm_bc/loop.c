/* loop.c - the reads of a running kernel from its context. Every function but the last is one or
 * two loads, and is inlined. */
#include "atomic.h"
#include "rt.h"

uint64_t *rt_frame(RtContext *context) { return context->frame; }

static const RtTree *tree_of(RtContext *context, int32_t tree) {
  return RT_GLOBAL(RT_GLOBAL(context->trees)[tree]);
}

uint8_t *rt_tree_root(RtContext *context, int32_t tree) { return tree_of(context, tree)->root; }

uint8_t *rt_tree_base(RtContext *context, int32_t tree) { return tree_of(context, tree)->base; }

int64_t rt_tree_reserved(RtContext *context, int32_t tree) {
  return (int64_t)tree_of(context, tree)->reserved;
}

int64_t rt_tree_private_copy(RtContext *context, RtWorker *worker, int32_t tree) {
  return tree_of(context, tree)->private_copies[worker->index];
}

uint8_t *rt_ambient(RtContext *context) { return context->ambient; }

int32_t rt_tree_large(RtContext *context, int32_t tree) {
  const RtTree *of = context->trees[tree];
  return of->top > RT_LARGE || of->root_size > RT_LARGE;
}

void rt_fetch(const uint8_t *place, int32_t writes) {
  if (writes) __builtin_prefetch(place, 1, 3);
  else __builtin_prefetch(place, 0, 3);
}

RtWorker *rt_host_worker(RtContext *context) { return &context->workers[0]; }

int32_t rt_stopped(RtContext *context) { return rt_load(&context->stop) != 0; }

/* A GPU's stack cannot be measured, so there the count is the limit. */
static int has_stack(const RtWorker *worker, int32_t depth) {
#if defined(__x86_64__)
  return depth <= RT_MOST_CALLS &&
         (uint64_t)(uintptr_t)__builtin_frame_address(0) > worker->stack_end;
#else
  return RT_ALONE ? (uint64_t)depth <= worker->most_calls : depth <= RT_MOST_CALLS;
#endif
}

int32_t rt_nest(RtContext *context, RtWorker *worker, int32_t fault, int32_t depth) {
  if (has_stack(worker, depth)) return 1;
  uint64_t value = (uint64_t)depth;
  rt_fault(context, worker, fault, 1, &value);
  return 0;
}

void rt_run(RtContext *context, int32_t task) {
  if (!RT_ALONE) context->run(context, task);
}

/* Counts per worker, so the count is atomic only where all threads share one. Kept out of line,
 * since it is rarely called. */
__attribute__((noinline, cold)) void rt_outside(RtWorker *worker, int32_t site, int32_t axes,
                                                const int64_t *coordinates) {
  RtOutside *outside = &worker->outside;
  uint64_t before = RT_SHARED ? rt_add_long(&outside->count, 1) : outside->count++;
  if (before) return;
  outside->site = site;
  outside->axis_count = axes;
  for (int32_t k = 0; k < axes && k < RT_MAX_AXES; k++) outside->index[k] = coordinates[k];
}
