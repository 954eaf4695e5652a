/* space_test.c - allocation by first fit, compared with a bitmap of units. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "comm/window/space.h"

enum { UNITS = 2048, UNIT = 4096, HELD = 256 };

typedef struct Held {
  uint64_t at, size;
} Held;

typedef struct Oracle {
  bool taken[UNITS];
  Held held[HELD];
  int count;
} Oracle;

static int first_fit(const Oracle *oracle, int units, int align) {
  for (int at = 0; at + units <= UNITS; at += align) {
    int k = 0;
    while (k < units && !oracle->taken[at + k]) k++;
    if (k == units) return at;
  }
  return -1;
}

static void mark(Oracle *oracle, uint64_t at, uint64_t size, bool taken) {
  for (uint64_t k = at / UNIT; k < (at + size) / UNIT; k++) oracle->taken[k] = taken;
}

static bool cuts_rise(const Space *space) {
  for (int k = 1; k < space->count; k++)
    if (space->cuts[k - 1] >= space->cuts[k]) return false;
  return true;
}

static bool take_one(Oracle *oracle, Space *space) {
  int units = 1 + rand() % (rand() % 8 ? 12 : 200), align = 1 << rand() % 10;
  int expected = first_fit(oracle, units, align);
  uint64_t at = space_allocate(space, (uint64_t)units * UNIT, (uint64_t)align * UNIT);
  if (expected < 0) return at == SPACE_NONE;
  if (at != (uint64_t)expected * UNIT) return false;
  mark(oracle, at, (uint64_t)units * UNIT, true);
  oracle->held[oracle->count++] = (Held){at, (uint64_t)units * UNIT};
  return true;
}

static bool give_one(Oracle *oracle, Space *space) {
  int k = rand() % oracle->count;
  Held held = oracle->held[k];
  oracle->held[k] = oracle->held[--oracle->count];
  mark(oracle, held.at, held.size, false);
  return space_free(space, held.at, held.size);
}

static void run_against_the_map(void) {
  Heap heap;
  heap_init(&heap, 0);
  Space space;
  space_init(&space, &heap, (uint64_t)UNITS * UNIT);
  static Oracle oracle;
  bool ok = true;
  srand(17);
  for (int k = 0; ok && k < 1000000; k++) {
    bool takes = oracle.count < HELD && (!oracle.count || rand() % 2);
    ok = (takes ? take_one : give_one)(&oracle, &space) && cuts_rise(&space);
  }
  CHECK(ok);
  while (oracle.count) CHECK(give_one(&oracle, &space));
  CHECK_INT(space.count, 0);
  space_deinit(&space);
  CHECK_INT(heap.live_bytes, 0);
}

static void give_what_is_not_taken(void) {
  Heap heap;
  heap_init(&heap, 0);
  Space space;
  space_init(&space, &heap, 10 * UNIT);
  CHECK_INT(space_allocate(&space, 4 * UNIT, UNIT), 0);
  CHECK(!space_free(&space, 0, 5 * UNIT));
  CHECK(!space_free(&space, 4 * UNIT, UNIT));
  CHECK(space_free(&space, UNIT, UNIT));
  CHECK(!space_free(&space, UNIT, UNIT)); /* twice */
  CHECK_INT(space_allocate(&space, 7 * UNIT, UNIT), SPACE_NONE);
  CHECK_INT(space_allocate(&space, 6 * UNIT, UNIT), 4 * UNIT);
  CHECK_INT(space_allocate(&space, UNIT, UNIT), UNIT);
  CHECK_INT(space_allocate(&space, UNIT, UNIT), SPACE_NONE);
  space_deinit(&space);
}

int main(void) {
  TEST("an allocation gets the first place that fits, as in a bitmap") run_against_the_map();
  TEST("a range that is not allocated, or only in part, cannot be freed") give_what_is_not_taken();
  return check_report();
}
