/* heap.c - see heap.h.
 *
 *     | .. | origin 8 | memory, aligned to 64 ..
 *
 * `origin` is what to give back: the heap's block, or the manager's. */
#include "counted/heap.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/log.h"

enum { ALIGNMENT = 64 };
static const uint64_t extra = ALIGNMENT + sizeof(uintptr_t);

static CountedHeap *heap_of(RtAllocator *allocator) { return (CountedHeap *)(void *)allocator; }
static uintptr_t *origin_of(void *memory) { return (uintptr_t *)memory - 1; }

static void lock(CountedHeap *heap) {
  for (uint32_t round = 0; atomic_exchange(&heap->lock, 1); round++) rt_target_wait(round);
}
static void unlock(CountedHeap *heap) { atomic_store(&heap->lock, 0); }

static void *place(uintptr_t from, uintptr_t origin) {
  void *memory = (void *)(uintptr_t)align_up(from + sizeof origin, ALIGNMENT);
  *origin_of(memory) = origin;
  return memory;
}

static void *take_large(CountedHeap *heap, uint64_t size_bytes) {
  MemoryBlock *block = heap->server ? server_hold(heap->server, size_bytes + extra) : NULL;
  return block ? place((uintptr_t)block->at, (uintptr_t)block) : NULL;
}

static void *take_small(CountedHeap *heap, uint64_t size_bytes) {
  void *block = heap_alloc(&heap->owner->heap, (size_t)(size_bytes + extra));
  return block ? place((uintptr_t)block, (uintptr_t)block) : NULL;
}

static void give_back(CountedHeap *heap, uint64_t size_bytes) {
  __atomic_fetch_sub(&heap->budget->used, size_bytes, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&heap->live, size_bytes, __ATOMIC_RELAXED);
}

static bool is_large(uint64_t size_bytes, int is_data) {
  return is_data && size_bytes >= COUNTED_LARGE;
}

static void *take(RtAllocator *allocator, uint64_t size_bytes, int is_data) {
  CountedHeap *heap = heap_of(allocator);
  if (!rt_budget_take(heap->budget, size_bytes)) return NULL;
  __atomic_fetch_add(&heap->live, size_bytes, __ATOMIC_RELAXED);
  void *memory = is_large(size_bytes, is_data) ? take_large(heap, size_bytes)
                                               : take_small(heap, size_bytes);
  if (memory) owner_retain(heap->owner);
  else give_back(heap, size_bytes);
  return memory;
}

/* Large memory has gone with the runtime. */
static void give(RtAllocator *allocator, void *memory, uint64_t size_bytes, int is_data) {
  CountedHeap *heap = heap_of(allocator);
  give_back(heap, size_bytes);
  if (!is_large(size_bytes, is_data)) heap_free(&heap->owner->heap, (void *)*origin_of(memory));
  else if (heap->server) server_drop(heap->server, (MemoryBlock *)*origin_of(memory));
  owner_release(heap->owner); /* perhaps the last one, and then the heap is gone */
}

/* -- when it checks ---------------------------------------------------------------------------- */

static void retire(RtAllocator *allocator, void *memory, uint64_t size_bytes) {
  CountedHeap *heap = heap_of(allocator);
  if (!heap->server) {
    give(allocator, memory, size_bytes, 0);
    return;
  }
  lock(heap);
  struct CountedKept *at = &heap->kept[heap->next_kept++ % COUNTED_KEPT], oldest = *at;
  *at = (struct CountedKept){memory, size_bytes};
  unlock(heap);
  if (oldest.memory) give(allocator, oldest.memory, oldest.size_bytes, 0);
}

static _Thread_local const char *here;

const char *counted_here(const char *place) {
  const char *before = here;
  here = place;
  return before;
}

static const char *find_place(RtAllocator *allocator) {
  return here ? here : heap_of(allocator)->place;
}

/* "at FILE:LINE", "by histogram", "somewhere" */
static void say_place(char out[80], const char *place) {
  bool is_known = place && place[0], has_line = is_known && strchr(place, ':');
  snprintf(out, 80, "%s%s", !is_known ? "somewhere" : has_line ? "at " : "by ",
           is_known ? place : "");
}

static void report(RtAllocator *allocator, RtCountedFault fault, const RtCounted *counted) {
  CountedHeap *heap = heap_of(allocator);
  char text[COUNTED_FAULT], made[80], ended[80], now[80];
  say_place(made, rt_counted_made(counted));
  say_place(ended, rt_counted_ended(counted));
  say_place(now, find_place(allocator));
  if (fault == RT_COUNTED_OVERRUN)
    snprintf(text, sizeof text, "counted memory made %s was written past its end", made);
  else
    snprintf(text, sizeof text, "counted memory made %s was %s %s, after its last release %s",
             made, fault == RT_COUNTED_RELEASED_TWICE ? "released" : "acquired", now, ended);
  log_warning("%s", text);
  lock(heap);
  heap->faults++;
  memcpy(heap->fault, text, sizeof text);
  unlock(heap);
}

uint64_t counted_faults(CountedHeap *heap, char text[COUNTED_FAULT]) {
  lock(heap);
  memcpy(text, heap->fault, sizeof heap->fault);
  uint64_t faults = heap->faults;
  unlock(heap);
  return faults;
}

/* -- its life ---------------------------------------------------------------------------------- */

void counted_init(CountedHeap *heap, Owner *owner, Server *server, RtBudget *budget,
                  CountedMode mode) {
  heap->owner = owner;
  heap->server = server;
  heap->budget = budget;
  heap->rt = (RtAllocator){.take = take,
                           .give = give,
                           .report = report,
                           .retire = retire,
                           .place = find_place,
                           .counts = mode != COUNTED_OFF,
                           .is_checked = mode == COUNTED_CHECKS};
}

void counted_switch(CountedHeap *heap, bool counts) {
  heap->rt.generation++;
  heap->rt.statistics = (RtAllocations){0};
  __atomic_store_n(&heap->rt.counts, counts, __ATOMIC_RELAXED);
}

void counted_deinit(CountedHeap *heap) {
  if (!heap->owner) return; /* never began */
  heap->server = NULL;
  heap->rt.has_ended = 1;
  for (uint32_t k = 0; k < COUNTED_KEPT; k++) {
    struct CountedKept old = heap->kept[k];
    heap->kept[k] = (struct CountedKept){0};
    if (old.memory) give(&heap->rt, old.memory, old.size_bytes, 0);
  }
}
