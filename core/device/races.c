/* races.c - see races.h. The table is reserved once, and takes memory as it is touched: 64 bytes
 * for each element of the loop that touches most, 256 MiB at most. Of several races the one of the
 * lowest iterations is told, of these the lowest element's. */
#include "device/races.h"

enum { ENTRIES = 1 << 22, FEWEST = 1 << 10 };

bool races_create(CpuDevice *cpu, Error *err) {
  const uint64_t size = sizeof(RtShadow);
  if (!arena_reserve(&cpu->shadow, ENTRIES * size, FEWEST * size, err)) return false;
  uint64_t capacity = FEWEST;
  while (2 * capacity * size <= cpu->shadow.reserved) capacity *= 2;
  cpu->races = (RtRaces){.entries = (RtShadow *)cpu->shadow.base, .capacity = capacity};
  return true;
}

void races_destroy(CpuDevice *cpu) {
  if (cpu->shadow.base) arena_release(&cpu->shadow);
}

void races_begin(CpuDevice *cpu) {
  cpu->races.epoch += 2;
  cpu->races.found = 0;
}

typedef struct Race {
  const RtShadow *entry;
  RtTouch writer, other;
} Race;

static int64_t first_of(const Race *race) {
  return race->writer.iteration < race->other.iteration ? race->writer.iteration
                                                        : race->other.iteration;
}

static bool is_before(const Race *a, const Race *b) {
  if (first_of(a) != first_of(b)) return first_of(a) < first_of(b);
  if (a->entry->what != b->entry->what) return a->entry->what < b->entry->what;
  return (int64_t)a->entry->element < (int64_t)b->entry->element;
}

static Race find_first(const RtRaces *races) {
  Race first = {0}, race;
  for (uint64_t k = 0; k < races->capacity; k++) {
    race.entry = &races->entries[k];
    if (race.entry->state != races->epoch || !rt_race_of(race.entry, &race.writer, &race.other))
      continue;
    if (!first.entry || is_before(&race, &first)) first = race;
  }
  return first;
}

void races_end(CpuDevice *cpu, DeviceLaunch *launch) {
  RtRaces *races = &cpu->races;
  launch->touches_lost += races->lost;
  races->lost = 0;
  if (!races->found || launch->context.error.kind != RT_OK) return;
  Race race = find_first(races);
  if (!race.entry) return;
  uint64_t values[] = {(uint64_t)race.other.site, (uint64_t)race.writer.iteration,
                       (uint64_t)race.other.iteration, race.entry->element};
  rt_fault(&launch->context, &cpu->workers[0], race.writer.site, 4, values);
}
