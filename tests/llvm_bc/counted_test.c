/* counted_test.c - counted memory by itself: statistics, checks, many threads. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "counted.h"

enum { THREADS = 2, TURNS = 1000000, KEPT = 64 };

static RtAllocator allocator;
static int refuse_at; /* the allocation that fails; 0: none */
static int taken, given;
static int ends;
static void *end_data, *end_info;
static uint64_t end_bytes;
static RtCountedFault fault;
static int faults;
static char fault_where[64], fault_ended[64];
static const char *place;
static void *kept[KEPT];
static int kept_count;

static void *take(RtAllocator *unused, uint64_t size_bytes, int is_data) {
  (void)unused;
  (void)is_data;
  if (refuse_at && !--refuse_at) return NULL;
  __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
  return aligned_alloc(64, (size_t)(size_bytes + 63) / 64 * 64);
}

static void give(RtAllocator *unused, void *memory, uint64_t size_bytes, int is_data) {
  (void)unused;
  (void)is_data;
  (void)size_bytes;
  __atomic_fetch_add(&given, 1, __ATOMIC_RELAXED);
  free(memory);
}

static void report(RtAllocator *unused, RtCountedFault what, const RtCounted *counted) {
  (void)unused;
  fault = what;
  faults++;
  snprintf(fault_where, sizeof fault_where, "%s", rt_counted_made(counted));
  snprintf(fault_ended, sizeof fault_ended, "%s", rt_counted_ended(counted));
}

static const char *find_place(RtAllocator *unused) {
  (void)unused;
  return place;
}

static void retire(RtAllocator *unused, void *memory, uint64_t size_bytes) {
  (void)unused;
  (void)size_bytes;
  given++;
  kept[kept_count++] = memory;
}

static void begin(uint32_t counts, uint32_t is_checked) {
  allocator = (RtAllocator){.take = take,
                            .give = give,
                            .report = report,
                            .retire = retire,
                            .place = find_place,
                            .counts = counts,
                            .is_checked = is_checked};
  taken = given = ends = faults = refuse_at = 0;
  fault_where[0] = fault_ended[0] = 0;
  place = NULL;
}

static void on_end(void *data, uint64_t size_bytes, void *info) {
  __atomic_fetch_add(&ends, 1, __ATOMIC_RELAXED);
  end_data = data;
  end_bytes = size_bytes;
  end_info = info;
}

static void *hold_and_release(void *argument) {
  for (int k = 0; k < TURNS; k++) {
    rt_acquire(argument);
    rt_release(argument);
  }
  rt_release(argument);
  return NULL;
}

static void check_zero(void) {
  const RtAllocations *all = &allocator.statistics;
  CHECK_INT(all->alloc, all->free);
  CHECK_INT(all->header_alloc, all->header_free);
  CHECK_INT(all->bytes, 0);
  CHECK_INT(taken, given);
}

int main(void) {
  const RtAllocations *all = &allocator.statistics;

  TEST("a header is one cache line, and data is aligned to one") {
    begin(1, 0);
    RtCounted *counted = rt_counted_new(&allocator, 100);
    CHECK_INT((uintptr_t)counted->data % 64, 0);
    CHECK_INT(counted->size_bytes, 100);
    CHECK_INT(counted->count, 1);
    rt_release(counted);
    check_zero();
  }

  TEST("an object in one piece is one allocation and one header") {
    begin(1, 0);
    RtCounted *counted = rt_counted_new(&allocator, 100);
    CHECK_INT(all->alloc, 1);
    CHECK_INT(all->header_alloc, 1);
    CHECK_INT(all->bytes, 100);
    CHECK_INT(all->free + all->header_free, 0);
    rt_release(counted);
    check_zero();
    CHECK_INT(all->peak, 100);
  }

  TEST("a growable object is two allocations and one header, and one more each time it moves") {
    begin(1, 0);
    RtCounted *counted = rt_counted_grow_new(&allocator, 16);
    CHECK_INT(all->alloc, 2);
    CHECK_INT(all->header_alloc, 1);
    memcpy(counted->data, "0123456789abcdef", 16);
    rt_counted_resize(counted, 16);
    CHECK(rt_counted_reserve(counted, 8));
    CHECK_INT(all->alloc, 2);
    CHECK(rt_counted_reserve(counted, 1000));
    CHECK_INT(all->alloc, 3);
    CHECK_INT(all->bytes, 1000);
    CHECK(!memcmp(counted->data, "0123456789abcdef", 16));
    CHECK_INT(counted->size_bytes, 16);
    rt_release(counted);
    check_zero();
  }

  TEST("an external object is a header, and its destructor is called once") {
    begin(1, 0);
    int memory[4], info;
    RtCounted *counted = rt_counted_external(&allocator, memory, sizeof memory, on_end, &info);
    CHECK(counted->data == (uint8_t *)memory);
    CHECK_INT(all->alloc, 1);
    CHECK_INT(all->header_alloc, 1);
    CHECK_INT(all->bytes, 0);
    CHECK(!rt_counted_reserve(counted, 100));
    rt_acquire(counted);
    rt_release(counted);
    CHECK_INT(ends, 0);
    rt_release(counted);
    CHECK_INT(ends, 1);
    CHECK(end_data == memory && end_info == &info && end_bytes == sizeof memory);
    check_zero();
  }

  TEST("a lent header is counted, and belongs to its lender") {
    begin(1, 0);
    RtCountedLent lent;
    char memory[64];
    rt_counted_lend(&lent, &allocator, memory, sizeof memory, 1, on_end, NULL);
    CHECK_INT(all->alloc, 2);
    CHECK_INT(all->bytes, 64);
    rt_release(&lent.counted);
    CHECK_INT(ends, 1);
    rt_counted_unlend(&lent);
    rt_counted_unlend(&lent);
    check_zero();
  }

  TEST("nothing is counted when it is off, and objects made then are never counted") {
    begin(0, 0);
    RtCounted *counted = rt_counted_new(&allocator, 100);
    CHECK_INT(all->alloc + all->header_alloc + all->bytes, 0);
    allocator.counts = 1;
    rt_release(counted);
    CHECK_INT(all->free + all->header_free, 0);
    RtCounted *other = rt_counted_new(&allocator, 10);
    allocator.counts = 0;
    rt_release(other);
    check_zero();
    CHECK_INT(all->alloc, 1);
  }

  TEST("restarted statistics do not count earlier objects") {
    begin(1, 0);
    RtCounted *old = rt_counted_new(&allocator, 100);
    allocator.generation++;
    allocator.statistics = (RtAllocations){0};
    RtCounted *counted = rt_counted_new(&allocator, 10);
    rt_release(old);
    CHECK_INT(all->free, 0);
    CHECK_INT(all->bytes, 10);
    rt_release(counted);
    check_zero();
  }

  TEST("NULL is acquired and released without effect") {
    begin(1, 1);
    rt_acquire(NULL);
    rt_release(NULL);
    CHECK_INT(faults, 0);
  }

  TEST("a failed allocation leaks nothing") {
    for (uint32_t checks = 0; checks < 2; checks++) {
      begin(1, checks);
      refuse_at = 1;
      CHECK(!rt_counted_new(&allocator, 10));
      refuse_at = 2;
      CHECK(!rt_counted_grow_new(&allocator, 10));
      CHECK(!rt_counted_new(&allocator, UINT64_MAX - 8));
      RtCounted *counted = rt_counted_grow_new(&allocator, 10);
      refuse_at = 1;
      CHECK(!rt_counted_reserve(counted, 100));
      CHECK(!rt_counted_reserve(counted, UINT64_MAX - 8));
      CHECK_INT(counted->capacity, 10);
      rt_release(counted);
      check_zero();
    }
  }

  TEST("checked: new and freed data are recognisable") {
    begin(1, 1);
    RtCounted *counted = rt_counted_new(&allocator, 100);
    uint8_t *data = counted->data;
    CHECK_INT(data[0], RT_COUNTED_NEW);
    CHECK_INT(data[99], RT_COUNTED_NEW);
    CHECK_INT((uintptr_t)data % 64, 0);
    rt_release(counted);
    CHECK_INT(data[0], RT_COUNTED_OLD);
    CHECK_INT(data[99], RT_COUNTED_OLD);
    RtCounted *growable = rt_counted_grow_new(&allocator, 10);
    CHECK_INT(growable->data[9], RT_COUNTED_NEW);
    rt_release(growable);
    check_zero();
    CHECK_INT(faults, 0);
  }

  TEST("checked: a byte written past the data is reported, with where it was made") {
    begin(1, 1);
    place = "heat.lua:12";
    RtCounted *counted = rt_counted_new(&allocator, 100);
    place = "other.lua:1";
    CHECK(rt_counted_is_intact(counted));
    counted->data[100] = 0;
    CHECK(!rt_counted_is_intact(counted));
    rt_release(counted);
    CHECK_INT(faults, 1);
    CHECK_INT(fault, RT_COUNTED_OVERRUN);
    CHECK_TEXT(fault_where, "heat.lua:12");
    RtCounted *growable = rt_counted_grow_new(&allocator, 10);
    growable->data[12] = 1;
    CHECK(rt_counted_reserve(growable, 20));
    CHECK_INT(faults, 2);
    rt_release(growable);
    CHECK_INT(faults, 2);
    check_zero();
  }

  TEST("checked: a release or an acquire too many is reported, and has no effect") {
    begin(1, 1);
    place = "heat.lua:12";
    RtCounted *counted = rt_counted_new(&allocator, 100);
    rt_acquire(counted);
    place = "wave.lua:3";
    rt_release(counted);
    place = "main.lua:40";
    rt_release(counted);
    place = "other.lua:1";
    rt_release(counted);
    CHECK_INT(faults, 1);
    CHECK_INT(fault, RT_COUNTED_RELEASED_TWICE);
    CHECK_TEXT(fault_where, "heat.lua:12");
    CHECK_TEXT(fault_ended, "main.lua:40");
    rt_acquire(counted);
    CHECK_INT(faults, 2);
    CHECK_INT(fault, RT_COUNTED_ACQUIRED_DEAD);
    check_zero();
  }

  TEST("checked: what another thread is about to put among those that wait may be acquired") {
    begin(1, 1);
    RtCounted *counted = rt_counted_new(&allocator, 8);
    counted->end = on_end;
    counted->flags |= RT_COUNTED_SHARED;
    allocator.deferring = 1;
    counted->count--; /* its last release, part of which has run */
    rt_acquire(counted);
    rt_release(counted);
    rt_counted_end(counted, 1); /* the rest of it */
    CHECK_INT(faults + ends, 0);
    rt_release(counted); /* one too many */
    CHECK_INT(faults, 1);
    CHECK_INT(fault, RT_COUNTED_RELEASED_TWICE);
    allocator.deferring = 0;
    rt_counted_settle(&allocator);
    CHECK_INT(ends, 1);
    check_zero();
  }

  TEST("while a task runs, data grows only if its old memory can wait to be freed") {
    begin(1, 0);
    RtCounted *counted = rt_counted_grow_new(&allocator, 8);
    uint8_t *data = counted->data;
    allocator.deferring = 1;
    for (int k = 1; k <= 2; k++) {
      refuse_at = k;
      CHECK(!rt_counted_reserve(counted, 100));
      CHECK(counted->data == data && counted->capacity == 8);
    }
    int before = given;
    CHECK(rt_counted_reserve(counted, 100));
    CHECK(counted->data != data);
    CHECK_INT(given, before);
    allocator.deferring = 0;
    rt_counted_settle(&allocator);
    rt_release(counted);
    check_zero();
  }

  TEST("what should wait while no memory is left for the list of it stays, and ends another time") {
    begin(1, 0);
    RtCounted *counted = rt_counted_new(&allocator, 8);
    counted->end = on_end;
    counted->flags |= RT_COUNTED_SHARED;
    allocator.deferring = refuse_at = 1;
    rt_release(counted);
    rt_counted_settle(&allocator);
    CHECK_INT(ends, 0);
    CHECK_INT(all->alloc - all->free, 1);
    rt_acquire(counted); /* by a thread that read its address before */
    rt_release(counted);
    allocator.deferring = 0;
    rt_counted_settle(&allocator);
    CHECK_INT(ends, 1);
    check_zero();
  }

  TEST("two threads acquire and release a million times: the count is exact, and it ends once") {
    for (uint32_t checks = 0; checks < 2; checks++) {
      begin(1, checks);
      int memory = 0;
      RtCounted *counted = rt_counted_external(&allocator, &memory, 4, on_end, NULL);
      pthread_t threads[THREADS];
      for (int k = 0; k < THREADS; k++) rt_acquire(counted);
      for (int k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, hold_and_release, counted);
      for (int k = 0; k < TURNS; k++) {
        rt_acquire(counted);
        rt_release(counted);
      }
      rt_release(counted); /* the last one reports it */
      for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
      CHECK_INT(ends, 1);
      CHECK_INT(faults, 0);
      check_zero();
    }
  }

  for (int k = 0; k < kept_count; k++) free(kept[k]);
  return check_report();
}
