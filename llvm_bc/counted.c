/* counted.c - the creation, growth and end of counted memory; see counted.h.
 * Invariant: a live object's `capacity` is the size allocated for its data, however much is in
 * use. */
#include "counted.h"

#include "atomic.h"
#include "heap_gpu.h"
#include "node.h"

static uint64_t check_bytes(int is_checked) { return is_checked ? sizeof(RtCountedCheck) : 0; }
static uint64_t canary_bytes(int is_checked) { return is_checked ? RT_COUNTED_CANARY : 0; }
static int is_checked(const RtCounted *counted) {
  return (rt_counted_flags(counted) & RT_COUNTED_CHECKED) != 0;
}
static RtCountedCheck *check_of(const RtCounted *counted) {
  return (RtCountedCheck *)(void *)((uint8_t *)counted - sizeof(RtCountedCheck));
}

/* -- statistics -------------------------------------------------------------------------------- */

static void note_bytes(RtAllocations *all, uint64_t bytes) {
  uint64_t live = rt_add_long(&all->bytes, bytes) + bytes, peak = rt_load_long(&all->peak);
  while (live > peak && !rt_swap_long(&all->peak, peak, live)) peak = rt_load_long(&all->peak);
}

/* Host and GPU have separate statistics, since their atomics are not atomic to each other. */
static RtAllocations *statistics_of(RtAllocator *allocator) {
  return RT_ALONE ? &allocator->on_gpu : &allocator->statistics;
}

/* An object is counted for as long as it exists, or not at all, even if statistics are switched on
 * or off meanwhile. */
static void note_made(RtCounted *counted, uint64_t pieces) {
  RtAllocator *allocator = counted->allocator;
  if (!rt_load(&allocator->counts)) return;
  counted->flags =
      (counted->flags & RT_COUNTED_FLAGS) | RT_COUNTED_NOTED | allocator->generation << 16;
  RtAllocations *all = statistics_of(allocator);
  rt_add_long(&all->alloc, pieces);
  rt_add_long(&all->header_alloc, 1);
  note_bytes(all, counted->capacity);
}

int rt_counted_is_noted(const RtCounted *counted) {
  return rt_counted_flags(counted) & RT_COUNTED_NOTED &&
         rt_counted_flags(counted) >> 16 == (counted->allocator->generation & 0xFFFF);
}

static void note_freed(RtCounted *counted, uint64_t pieces) {
  RtAllocations *all = statistics_of(counted->allocator);
  if (!rt_counted_is_noted(counted)) return;
  counted->flags &= ~(uint32_t)RT_COUNTED_NOTED;
  rt_add_long(&all->free, pieces);
  rt_add_long(&all->header_free, 1);
  rt_subtract_long(&all->bytes, counted->capacity);
}

static uint64_t pieces_of(const RtCounted *counted) {
  return rt_counted_flags(counted) & RT_COUNTED_OWN ? 2 : 1;
}

/* -- checks ------------------------------------------------------------------------------------ */

static void fill(uint8_t *bytes, uint8_t value, uint64_t count) {
  for (uint64_t k = 0; k < count; k++) bytes[k] = value;
}

static uint8_t canary_byte(uint64_t k) { return (uint8_t)(0xA5 + 17 * k); }

static void put_canary(RtCounted *counted) {
  for (uint64_t k = 0; k < RT_COUNTED_CANARY; k++)
    counted->data[counted->capacity + k] = canary_byte(k);
}

static int has_canary(const RtCounted *counted) {
  return is_checked(counted) && !counted->allocator->has_ended &&
         rt_counted_flags(counted) & (RT_COUNTED_WHOLE | RT_COUNTED_OWN) &&
         !(rt_counted_flags(counted) & RT_COUNTED_LENT) && counted->data;
}

int rt_counted_is_intact(const RtCounted *counted) {
  if (!has_canary(counted)) return 1;
  for (uint64_t k = 0; k < RT_COUNTED_CANARY; k++)
    if (counted->data[counted->capacity + k] != canary_byte(k)) return 0;
  return 1;
}

const char *rt_counted_made(const RtCounted *counted) {
  return is_checked(counted) ? (const char *)check_of(counted)->made : "";
}

const char *rt_counted_ended(const RtCounted *counted) {
  return is_checked(counted) ? (const char *)check_of(counted)->ended : "";
}

/* Records the calling thread's place in the program, in whole words, since two threads may record
 * the end of one object at the same time. */
static void note_place(RtAllocator *allocator, uint64_t to[8]) {
  const char *place = !RT_ALONE && allocator->place ? allocator->place(allocator) : 0;
  uint64_t words[8] = {0};
  for (int k = 0; place && place[k] && k < 63; k++) ((char *)words)[k] = place[k];
  for (int k = 0; k < 8; k++) rt_store_long(&to[k], words[k]);
}

static void begin_check(RtCounted *counted) {
  RtCountedCheck *check = check_of(counted);
  note_place(counted->allocator, check->made);
  rt_store_long(&check->ended[0], 0);
}

/* A GPU cannot call the host's functions, so it does not report faults. */
static void report(RtCounted *counted, RtCountedFault fault) {
  RtAllocator *allocator = counted->allocator;
  if (!RT_ALONE && allocator->report) allocator->report(allocator, fault, counted);
}

static void note_reference(RtAllocator *allocator, int32_t fault) {
  RtAllocations *all = statistics_of(allocator);
  if (rt_load(&allocator->counts))
    rt_add_long(fault == RT_COUNTED_RELEASED_TWICE ? &all->releases : &all->acquires, 1);
}

/* Does an object whose count is zero wait for the task's end (counted_wait.c), or is it about to? A
 * thread that has read its address from memory may acquire it until then. */
static int may_wait(const RtCounted *counted) {
  return rt_counted_flags(counted) & RT_COUNTED_WAITS ||
         (rt_counted_flags(counted) & RT_COUNTED_SHARED && rt_load(&counted->allocator->deferring));
}

int32_t rt_counted_look(RtCounted *counted, int32_t fault) {
  uint64_t count = rt_load_long((uint64_t *)&counted->count);
  if (counted->magic == RT_COUNTED_LIVE && (count || may_wait(counted))) {
    note_reference(counted->allocator, fault);
    if (count == 1 && fault == RT_COUNTED_RELEASED_TWICE)
      note_place(counted->allocator, check_of(counted)->ended);
    return 1;
  }
  report(counted, (RtCountedFault)fault);
  return 0;
}

/* -- creation ---------------------------------------------------------------------------------- */

static RtCounted *make_header(RtAllocator *allocator, uint64_t data_bytes, uint32_t flags) {
  int checked = allocator->is_checked != 0;
  uint8_t *memory =
      rt_memory_take(allocator, check_bytes(checked) + sizeof(RtCounted) + data_bytes, 0);
  if (!memory) return 0;
  RtCounted *counted = (RtCounted *)(void *)(memory + check_bytes(checked));
  *counted = (RtCounted){.count = 1,
                         .allocator = allocator,
                         .flags = flags | (checked ? RT_COUNTED_CHECKED : 0),
                         .magic = RT_COUNTED_LIVE};
  if (checked) begin_check(counted);
  return counted;
}

static void free_header(RtCounted *counted) {
  RtAllocator *allocator = counted->allocator;
  int checked = is_checked(counted);
  uint64_t bytes = check_bytes(checked) + sizeof *counted;
  if (counted->flags & RT_COUNTED_WHOLE) bytes += counted->capacity + canary_bytes(checked);
  uint8_t *memory = (uint8_t *)counted - check_bytes(checked);
  if (!RT_ALONE && checked && allocator->retire) allocator->retire(allocator, memory, bytes);
  else rt_memory_give(allocator, memory, bytes, 0);
}

static int is_too_large(uint64_t bytes) { return bytes >> 60 != 0; }

RtCounted *rt_counted_new(RtAllocator *allocator, uint64_t size_bytes) {
  uint64_t canary = canary_bytes(allocator->is_checked != 0);
  if (is_too_large(size_bytes)) return 0;
  RtCounted *counted = make_header(allocator, size_bytes + canary, RT_COUNTED_WHOLE);
  if (!counted) return 0;
  counted->data = (uint8_t *)(counted + 1);
  counted->size_bytes = counted->capacity = size_bytes;
  if (canary) {
    fill(counted->data, RT_COUNTED_NEW, size_bytes);
    put_canary(counted);
  }
  note_made(counted, 1);
  return counted;
}

static uint8_t *take_data(RtCounted *counted, uint64_t capacity) {
  RtAllocator *allocator = counted->allocator;
  if (is_too_large(capacity)) return 0;
  uint64_t bytes = capacity + canary_bytes(is_checked(counted));
  uint8_t *data = rt_memory_take(allocator, bytes ? bytes : 1, 1);
  if (data && is_checked(counted)) fill(data, RT_COUNTED_NEW, capacity);
  return data;
}

static void give_data(RtCounted *counted, uint8_t *data, uint64_t capacity) {
  RtAllocator *allocator = counted->allocator;
  if (is_checked(counted) && !allocator->has_ended) fill(data, RT_COUNTED_OLD, capacity);
  uint64_t bytes = capacity + canary_bytes(is_checked(counted));
  rt_memory_give(allocator, data, bytes ? bytes : 1, 1);
}

RtCounted *rt_counted_grow_new(RtAllocator *allocator, uint64_t capacity) {
  RtCounted *counted = make_header(allocator, 0, RT_COUNTED_OWN);
  if (!counted) return 0;
  counted->data = take_data(counted, capacity);
  if (!counted->data) {
    free_header(counted);
    return 0;
  }
  counted->capacity = capacity;
  if (is_checked(counted)) put_canary(counted);
  note_made(counted, 2);
  return counted;
}

RtCounted *rt_counted_external(RtAllocator *allocator, void *data, uint64_t size_bytes,
                               RtCountedEnd *end, void *info) {
  RtCounted *counted = make_header(allocator, 0, 0);
  if (!counted) return 0;
  counted->data = data;
  counted->size_bytes = size_bytes;
  counted->end = end;
  counted->info = info;
  note_made(counted, 1);
  return counted;
}

void rt_counted_lend(RtCountedLent *lent, RtAllocator *allocator, void *data, uint64_t size_bytes,
                     int is_own, RtCountedEnd *end, void *info) {
  uint32_t checked = allocator->is_checked ? RT_COUNTED_CHECKED : 0;
  lent->counted = (RtCounted){.count = 1,
                              .end = end,
                              .info = info,
                              .data = data,
                              .size_bytes = size_bytes,
                              .allocator = allocator,
                              .capacity = is_own ? size_bytes : 0,
                              .flags = RT_COUNTED_LENT | RT_COUNTED_PINNED | checked |
                                       (is_own ? RT_COUNTED_OWN : 0),
                              .magic = RT_COUNTED_LIVE};
  if (checked) begin_check(&lent->counted);
  note_made(&lent->counted, pieces_of(&lent->counted));
}

void rt_counted_unlend(RtCountedLent *lent) {
  RtCounted *counted = &lent->counted;
  note_freed(counted, pieces_of(counted));
  counted->data = 0;
  counted->size_bytes = counted->capacity = 0;
  if (!rt_load_long((uint64_t *)&counted->count)) counted->magic = RT_COUNTED_DEAD;
}

/* -- growth ------------------------------------------------------------------------------------ */

/* While a task runs other threads may be about to read the old data. It then becomes an object of
 * its own with count zero, which waits for the task's end. 0 if there is no memory for that. */
static int make_rest(const RtCounted *counted, RtCounted **rest) {
  *rest = 0;
  if (!rt_load(&counted->allocator->deferring)) return 1;
  *rest = make_header(counted->allocator, 0, RT_COUNTED_OWN | RT_COUNTED_SHARED);
  return *rest != 0;
}

static void drop_data(RtCounted *counted, RtCounted *rest, uint8_t *old, uint64_t capacity) {
  if (!rest) {
    give_data(counted, old, capacity);
    return;
  }
  rest->data = old;
  rest->capacity = capacity;
  rest->count = 0;
  rt_counted_end(rest, 1);
}

int rt_counted_reserve(RtCounted *counted, uint64_t capacity) {
  RtAllocator *allocator = counted->allocator;
  uint64_t before = counted->capacity;
  if (capacity <= before) return 1;
  if ((rt_counted_flags(counted) & (RT_COUNTED_OWN | RT_COUNTED_LENT)) != RT_COUNTED_OWN) return 0;
  RtCounted *rest;
  if (!make_rest(counted, &rest)) return 0;
  uint8_t *data = take_data(counted, capacity), *old = counted->data;
  if (!data) {
    if (rest) free_header(rest);
    return 0;
  }
  if (!rt_counted_is_intact(counted)) report(counted, RT_COUNTED_OVERRUN);
  rt_memory_copy(data, old, counted->size_bytes);
  drop_data(counted, rest, old, before);
  rt_store_release_long((uint64_t *)(void *)&counted->data, (uint64_t)(uintptr_t)data);
  counted->capacity = capacity;
  if (is_checked(counted)) put_canary(counted);
  if (rt_counted_is_noted(counted)) {
    RtAllocations *all = statistics_of(allocator);
    rt_add_long(&all->alloc, 1);
    rt_add_long(&all->free, 1);
    note_bytes(all, capacity - before);
  }
  return 1;
}

void rt_counted_resize(RtCounted *counted, uint64_t size_bytes) {
  counted->size_bytes = size_bytes < counted->capacity ? size_bytes : counted->capacity;
}

/* -- end --------------------------------------------------------------------------------------- */

static void free_counted(RtCounted *counted) {
  RtAllocator *allocator = counted->allocator;
  if (!RT_ALONE && counted->flags & RT_COUNTED_COPIED && allocator->forget)
    allocator->forget(allocator, counted);
  if (!rt_counted_is_intact(counted)) report(counted, RT_COUNTED_OVERRUN);
  note_freed(counted, pieces_of(counted));
  counted->magic = RT_COUNTED_DEAD;
  if (counted->flags & RT_COUNTED_OWN) give_data(counted, counted->data, counted->capacity);
  else if (is_checked(counted) && counted->flags & RT_COUNTED_WHOLE)
    fill(counted->data, RT_COUNTED_OLD, counted->capacity);
  free_header(counted);
}

void rt_counted_end(RtCounted *counted, int64_t before) {
  if (before < 1) {
    __atomic_fetch_add(&counted->count, 1, __ATOMIC_RELAXED);
    report(counted, RT_COUNTED_RELEASED_TWICE);
    return;
  }
  if (rt_counted_waits(counted)) return;
  uint32_t is_lent = counted->flags & RT_COUNTED_LENT;
  if (counted->flags & (RT_COUNTED_ITEMS | RT_COUNTED_SLICE)) rt_array_end(counted);
  else if (!RT_ALONE && counted->end) /* on a GPU such an object would have waited */
    counted->end(counted->data, counted->size_bytes, counted->info);
  if (!is_lent) free_counted(counted);
}
