/* heap.c - see heap.h.
 *
 *     | .. | origin 8 | memory, aligned to 64 ..
 *
 * `origin` is the block to free, of the heap or of the manager. Pieces of chunks have none.
 * Decision D-device-13. */
#include "counted/heap.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/log.h"

enum { ALIGNMENT = 64, FIRST_CHUNK = 1 << 20, MAX_DOUBLINGS = 6 };
static const uint64_t extra = ALIGNMENT + sizeof(uintptr_t);

static CountedHeap *heap_of(const RtAllocator *allocator) { return allocator->host; }
static RtGpuHeap *shared_of(const CountedHeap *heap) { return (RtGpuHeap *)(void *)heap->rt; }
static uintptr_t *origin_of(void *memory) { return (uintptr_t *)memory - 1; }

static void lock(CountedHeap *heap) {
  for (uint32_t round = 0; atomic_exchange(&heap->lock, 1); round++) rt_target_wait(round);
}
static void unlock(CountedHeap *heap) { atomic_store(&heap->lock, 0); }

static void *align_block(uintptr_t from, uintptr_t origin) {
  void *memory = (void *)(uintptr_t)align_up(from + sizeof origin, ALIGNMENT);
  *origin_of(memory) = origin;
  return memory;
}

static void *allocate_large(CountedHeap *heap, uint64_t size_bytes) {
  MemoryBlock *block =
      heap->server ? server_allocate_transient(heap->server, size_bytes + extra) : NULL;
  return block ? align_block((uintptr_t)block->at, (uintptr_t)block) : NULL;
}

static void *allocate_small(CountedHeap *heap, uint64_t size_bytes) {
  void *block = heap_alloc(&heap->owner->heap, (size_t)(size_bytes + extra));
  return block ? align_block((uintptr_t)block, (uintptr_t)block) : NULL;
}

/* -- memory that tasks of a GPU access --------------------------------------------------------- */

static bool pin_control(CountedHeap *heap, Device *device) {
  if (heap->control_is_pinned) return true;
  uint64_t size_bytes = align_up(sizeof(RtGpuHeap), COUNTED_PAGE);
  return heap->control_is_pinned = device->table->pins->pin(device, heap->rt, size_bytes, NULL);
}

static bool ensure_chunk_slot(CountedHeap *heap) {
  if (heap->chunk_count < heap->chunk_capacity) return true;
  uint32_t more = heap->chunk_capacity ? 2 * heap->chunk_capacity : 8;
  void *chunks = heap_resize(&heap->owner->heap, heap->chunks, more * sizeof *heap->chunks);
  if (!chunks) return false;
  heap->chunks = chunks;
  heap->chunk_capacity = more;
  return true;
}

/* Adds a chunk; NULL if out of memory. The caller holds the lock. */
static struct CountedChunk *new_chunk(CountedHeap *heap, uint64_t size_bytes) {
  Device *device = heap->server ? server_device(heap->server) : NULL;
  Arena memory = {0};
  if (!device || !ensure_chunk_slot(heap) || !pin_control(heap, device) ||
      !arena_reserve(&memory, size_bytes, size_bytes, NULL))
    return NULL;
  if (!device->table->pins->pin(device, memory.base, size_bytes, NULL)) {
    arena_release(&memory);
    return NULL;
  }
  struct CountedChunk *chunk = &heap->chunks[heap->chunk_count++];
  *chunk = (struct CountedChunk){.memory = memory};
  return chunk;
}

/* Adds a chunk, from which pieces are allocated from now on. The unused rest of the previous chunk
 * is abandoned. */
static bool add_chunk(CountedHeap *heap, uint64_t least_bytes) {
  uint32_t doublings = heap->chunk_count < MAX_DOUBLINGS ? heap->chunk_count : MAX_DOUBLINGS;
  uint64_t size_bytes = (uint64_t)FIRST_CHUNK << doublings;
  if (size_bytes < least_bytes) size_bytes = align_up(least_bytes, FIRST_CHUNK);
  const struct CountedChunk *chunk = new_chunk(heap, size_bytes);
  RtGpuHeap *shared = shared_of(heap);
  if (!chunk) return false;
  shared->capacity = shared->top = 0;
  shared->at = (uint64_t)(uintptr_t)chunk->memory.base;
  shared->capacity = size_bytes;
  return true;
}

static uint64_t piece_bytes(uint64_t size_bytes) {
  uint64_t bytes = RT_GPU_UNIT;
  while (bytes < size_bytes) bytes *= 2;
  return bytes;
}

static void *allocate_new(CountedHeap *heap, uint64_t size_bytes) {
  uint64_t bytes = piece_bytes(size_bytes);
  if (bytes < FIRST_CHUNK)
    return add_chunk(heap, bytes) ? rt_gpu_heap_take(shared_of(heap), size_bytes, 0) : NULL;
  struct CountedChunk *chunk = new_chunk(heap, bytes);
  if (!chunk) return NULL;
  chunk->is_single_piece = true;
  return chunk->memory.base;
}

static void *allocate_shared(CountedHeap *heap, uint64_t size_bytes) {
  if (size_bytes >> 46) return NULL;
  lock(heap);
  void *memory = rt_gpu_heap_take(shared_of(heap), size_bytes, 0);
  if (!memory) memory = allocate_new(heap, size_bytes);
  unlock(heap);
  return memory;
}

/* Returns a piece that is a whole chunk to the system, unless the runtime has ended. */
static bool free_chunk(CountedHeap *heap, const void *memory) {
  struct CountedChunk *chunk = heap->chunks, *end = chunk + heap->chunk_count;
  while (chunk < end && chunk->memory.base != memory) chunk++;
  if (!heap->server || chunk == end || !chunk->is_single_piece) return false;
  Device *device = server_device(heap->server);
  device->table->pins->unpin(device, chunk->memory.base);
  arena_release(&chunk->memory);
  *chunk = end[-1];
  heap->chunk_count--;
  return true;
}

static void free_shared(CountedHeap *heap, void *memory, uint64_t size_bytes) {
  lock(heap);
  if (piece_bytes(size_bytes) < FIRST_CHUNK || !free_chunk(heap, memory))
    rt_gpu_heap_give(shared_of(heap), memory, size_bytes, 0);
  unlock(heap);
}

static void free_chunks(CountedHeap *heap) {
  while (heap->chunk_count) arena_release(&heap->chunks[--heap->chunk_count].memory);
  heap_free(&heap->owner->heap, heap->chunks);
  heap->chunks = NULL;
  heap->chunk_capacity = 0;
}

/* A new chunk has twice the requested size, so that most of it is used before the next one. */
static int RT_CALL ensure_room(RtAllocator *allocator, uint64_t size_bytes) {
  CountedHeap *heap = heap_of(allocator);
  const RtGpuHeap *shared = shared_of(heap);
  lock(heap);
  bool ok = pin_control(heap, server_device(heap->server)) &&
            (shared->capacity - shared->top >= size_bytes || add_chunk(heap, 2 * size_bytes));
  unlock(heap);
  return ok;
}

static void add_counts(RtAllocations *all, RtAllocations *more) {
  uint64_t peak = all->bytes + more->peak;
  if (all->peak < peak) all->peak = peak;
  all->alloc += more->alloc;
  all->free += more->free;
  all->header_alloc += more->header_alloc;
  all->header_free += more->header_free;
  all->bytes += more->bytes;
  all->acquires += more->acquires;
  all->releases += more->releases;
  *more = (RtAllocations){0};
}

/* Adds what tasks allocated and freed to the host's counts; each piece keeps the owner alive. */
static void RT_CALL count_gpu_memory(RtAllocator *allocator) {
  CountedHeap *heap = heap_of(allocator);
  int64_t pieces = (int64_t)allocator->gpu_pieces;
  add_counts(&allocator->statistics, &allocator->on_gpu);
  __atomic_fetch_add(&heap->budget->used, allocator->gpu_bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&heap->live, allocator->gpu_bytes, __ATOMIC_RELAXED);
  allocator->gpu_bytes = allocator->gpu_pieces = 0;
  for (; pieces > 0; pieces--) owner_retain(heap->owner);
  for (; pieces < 0; pieces++) owner_release(heap->owner);
}

static void RT_CALL forget_array(RtAllocator *allocator, RtCounted *counted) {
  Device *device = server_device(heap_of(allocator)->server);
  device->table->mirror->forget_array(device, counted);
}

static void begin_sharing(CountedHeap *heap, Device *device) {
  heap->is_shared = device->table->pins && device->table->mirror;
  if (!heap->is_shared) return;
  heap->rt->have_room = ensure_room;
  heap->rt->take_up = count_gpu_memory;
  heap->rt->forget = forget_array;
}

/* Ends sharing with the GPU; objects that are still held stay in place. */
static void end_sharing(CountedHeap *heap) {
  Device *device = server_device(heap->server);
  device->table->mirror->reach_arrays(device, true, NULL);
  for (uint32_t k = 0; k < heap->chunk_count; k++)
    device->table->pins->unpin(device, heap->chunks[k].memory.base);
  if (heap->control_is_pinned) device->table->pins->unpin(device, heap->rt);
}

/* -- any memory -------------------------------------------------------------------------------- */

/* Subtracts freed bytes; returns whether nothing is left. */
static bool uncharge(CountedHeap *heap, uint64_t size_bytes) {
  __atomic_fetch_sub(&heap->budget->used, size_bytes, __ATOMIC_RELAXED);
  return __atomic_sub_fetch(&heap->live, size_bytes, __ATOMIC_ACQ_REL) == 0;
}

static bool is_large(uint64_t size_bytes, int is_data) {
  return is_data && size_bytes >= COUNTED_LARGE;
}

static void *RT_CALL allocate(RtAllocator *allocator, uint64_t size_bytes, int is_data) {
  CountedHeap *heap = heap_of(allocator);
  if (!rt_budget_take(heap->budget, size_bytes)) return NULL;
  __atomic_fetch_add(&heap->live, size_bytes, __ATOMIC_RELAXED);
  void *memory = heap->is_shared                 ? allocate_shared(heap, size_bytes)
                 : is_large(size_bytes, is_data) ? allocate_large(heap, size_bytes)
                                                 : allocate_small(heap, size_bytes);
  if (memory) owner_retain(heap->owner);
  else uncharge(heap, size_bytes);
  return memory;
}

/* Frees memory; large memory was already freed when the runtime ended. */
static void free_own(CountedHeap *heap, void *memory, bool is_large) {
  if (!is_large) heap_free(&heap->owner->heap, (void *)*origin_of(memory));
  else if (heap->server) server_free_transient(heap->server, (MemoryBlock *)*origin_of(memory));
}

static void RT_CALL free_memory(RtAllocator *allocator, void *memory, uint64_t size_bytes,
                                int is_data) {
  CountedHeap *heap = heap_of(allocator);
  if (heap->is_shared) free_shared(heap, memory, size_bytes);
  bool is_last = uncharge(heap, size_bytes);
  if (heap->is_shared && is_last && !heap->server) free_chunks(heap);
  if (!heap->is_shared) free_own(heap, memory, is_large(size_bytes, is_data));
  owner_release(heap->owner); /* if this was the last reference, the heap is gone */
}

/* -- checking mode ----------------------------------------------------------------------------- */

static void RT_CALL retire(RtAllocator *allocator, void *memory, uint64_t size_bytes) {
  CountedHeap *heap = heap_of(allocator);
  if (!heap->server) {
    free_memory(allocator, memory, size_bytes, 0);
    return;
  }
  lock(heap);
  struct CountedRetired *at = &heap->retired[heap->next_retired++ % COUNTED_RETIRED], oldest = *at;
  *at = (struct CountedRetired){memory, size_bytes};
  unlock(heap);
  if (oldest.memory) free_memory(allocator, oldest.memory, oldest.size_bytes, 0);
}

static _Thread_local const char *thread_location;

const char *counted_set_thread_location(const char *place) {
  const char *before = thread_location;
  thread_location = place;
  return before;
}

static const char *RT_CALL find_location(RtAllocator *allocator) {
  return thread_location ? thread_location : heap_of(allocator)->location;
}

/* Writes a source location as "at FILE:LINE", "by histogram" or "somewhere". */
static void format_location(char out[80], const char *place) {
  bool is_known = place && place[0], has_line = is_known && strchr(place, ':');
  snprintf(out, 80, "%s%s",
           !is_known  ? "somewhere"
           : has_line ? "at "
                      : "by ",
           is_known ? place : "");
}

static void RT_CALL report(RtAllocator *allocator, RtCountedFault fault, const RtCounted *counted) {
  CountedHeap *heap = heap_of(allocator);
  char text[COUNTED_FAULT], made[80], ended[80], now[80];
  format_location(made, rt_counted_made(counted));
  format_location(ended, rt_counted_ended(counted));
  format_location(now, find_location(allocator));
  if (fault == RT_COUNTED_OVERRUN)
    snprintf(text, sizeof text, "counted memory made %s was written past its end", made);
  else
    snprintf(text, sizeof text, "counted memory made %s was %s %s, after its last release %s", made,
             fault == RT_COUNTED_RELEASED_TWICE ? "released" : "acquired", now, ended);
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

/* -- creation and end -------------------------------------------------------------------------- */

void counted_init(CountedHeap *heap, Owner *owner, Server *server, RtBudget *budget,
                  CountedMode mode) {
  heap->owner = owner;
  heap->server = server;
  heap->budget = budget;
  heap->rt = (RtAllocator *)align_up((uintptr_t)heap->control, COUNTED_PAGE);
  *heap->rt = (RtAllocator){.take = allocate,
                            .give = free_memory,
                            .report = report,
                            .retire = retire,
                            .place = find_location,
                            .host = heap,
                            .counts = mode != COUNTED_OFF,
                            .is_checked = mode == COUNTED_CHECKS};
  begin_sharing(heap, server_device(server));
}

bool counted_is_reachable(const CountedHeap *heap, const RtCounted *counted) {
  if (!heap->is_shared) return true;
  while (rt_counted_flags(counted) & RT_COUNTED_SLICE) counted = counted->info;
  uint32_t flags = rt_counted_flags(counted);
  return flags & (RT_COUNTED_OWN | RT_COUNTED_WHOLE) && !(flags & RT_COUNTED_LENT);
}

bool counted_contains(CountedHeap *heap, const void *at) {
  bool holds = false;
  if (!heap->is_shared) return false;
  lock(heap);
  for (uint32_t k = 0; k < heap->chunk_count && !holds; k++) {
    const Arena *memory = &heap->chunks[k].memory;
    holds = (uint64_t)((const uint8_t *)at - memory->base) < memory->reserved;
  }
  unlock(heap);
  return holds;
}

bool counted_reach(CountedHeap *heap, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                   DeviceUse use, Error *err) {
  if (!heap->is_shared || !heap->server) return true;
  Device *device = server_device(heap->server);
  return device->table->mirror->reach_array(device, counted, from, size_bytes, use, err);
}

bool counted_expose(CountedHeap *heap, Error *err) {
  if (!heap->is_shared || !heap->server) return true;
  Device *device = server_device(heap->server);
  return device->table->mirror->reach_arrays(device, true, err);
}

void counted_set_counting(CountedHeap *heap, bool counts) {
  heap->rt->generation++;
  heap->rt->statistics = (RtAllocations){0};
  __atomic_store_n(&heap->rt->counts, counts, __ATOMIC_RELAXED);
}

void counted_deinit(CountedHeap *heap) {
  if (!heap->owner) return; /* counted_init was not called */
  if (heap->is_shared) end_sharing(heap);
  heap->server = NULL;
  heap->rt->has_ended = 1;
  for (uint32_t k = 0; k < COUNTED_RETIRED; k++) {
    struct CountedRetired old = heap->retired[k];
    heap->retired[k] = (struct CountedRetired){0};
    if (old.memory) free_memory(heap->rt, old.memory, old.size_bytes, 0);
  }
  if (heap->is_shared && !__atomic_load_n(&heap->live, __ATOMIC_ACQUIRE)) free_chunks(heap);
}
