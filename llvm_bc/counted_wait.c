/* counted_wait.c - deferred frees: objects whose count becomes zero while a task runs.
 *
 *     iteration 1   %a = load x[0]                            acquire %a
 *     iteration 2                    x[0] = b, releases a
 *
 * The object that iteration 1 has read must exist until it is acquired. So an object whose address
 * has been in memory (RT_COUNTED_SHARED) ends when the task has ended, unless it is held again by
 * then. An object that was never in memory ends at once, since no other thread can reach it.
 * A GPU cannot call `end` functions or discard copies either: the host does so after the task.
 * Invariant: while RT_COUNTED_WAITS is set, the object is in `pending` once.
 * Decision D-counted-02. */
#include "atomic.h"
#include "counted.h"
#include "heap_gpu.h"
#include "node.h"

static int make_room(RtAllocator *allocator) {
  const uint64_t unit = sizeof *allocator->pending, count = allocator->pending_capacity;
  if (allocator->pending_count < count) return 1;
  uint64_t more = count ? 2 * count : 64;
  RtCounted **pending = rt_memory_take(allocator, more * unit, 1);
  if (!pending) return 0;
  if (count) rt_memory_copy(pending, allocator->pending, count * unit);
  if (count) rt_memory_give(allocator, allocator->pending, count * unit, 1);
  allocator->pending = pending;
  allocator->pending_capacity = more;
  return 1;
}

static void add(RtAllocator *allocator, RtCounted *counted) {
  if (rt_counted_flags(counted) & RT_COUNTED_WAITS || !make_room(allocator)) return;
  __atomic_fetch_or(&counted->flags, RT_COUNTED_WAITS, __ATOMIC_RELAXED);
  allocator->pending[allocator->pending_count++] = counted;
}

int rt_counted_waits(RtCounted *counted) {
  RtAllocator *allocator = counted->allocator;
  uint32_t flags = rt_counted_flags(counted);
  uint32_t has_host = flags & RT_COUNTED_COPIED || counted->end;
  uint32_t is_shared = flags & RT_COUNTED_SHARED || (RT_ALONE && has_host);
  if (flags & RT_COUNTED_WAITS) return 1; /* rt_counted_settle will find it */
  if (!is_shared || !rt_load(&allocator->deferring)) return 0;
  rt_lock(&allocator->defer_lock);
  add(allocator, counted); /* if that fails, it leaks: others may still use it */
  rt_unlock(&allocator->defer_lock);
  return 1;
}

/* Ending an object releases others, which end at once or come later in the list. */
void rt_counted_settle(RtAllocator *allocator) {
  if (allocator->take_up) allocator->take_up(allocator);
  for (uint64_t k = 0; k < allocator->pending_count; k++) {
    RtCounted *counted = allocator->pending[k];
    counted->flags &= ~(uint32_t)RT_COUNTED_WAITS;
    if (!rt_load_long((uint64_t *)&counted->count)) rt_counted_end(counted, 1);
  }
  if (allocator->pending_capacity)
    rt_memory_give(allocator, allocator->pending,
                   allocator->pending_capacity * sizeof *allocator->pending, 1);
  allocator->pending = 0;
  allocator->pending_count = allocator->pending_capacity = 0;
}
