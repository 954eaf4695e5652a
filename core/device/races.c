/* races.c - see races.h. The table is reserved once, and committed as it is touched: 64 bytes for
 * each element of the loop that touches most of them, at most 256 MiB. */
#include "device/races.h"

#include "device/race.h"

enum { MAX_ENTRIES = 1 << 22, MIN_ENTRIES = 1 << 10 };

bool races_create(CpuDevice *cpu, Error *err) {
  const uint64_t size = sizeof(RtShadow);
  if (!arena_reserve(&cpu->shadow, MAX_ENTRIES * size, MIN_ENTRIES * size, err)) return false;
  uint64_t capacity = MIN_ENTRIES;
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

void races_end(CpuDevice *cpu, DeviceLaunch *launch) {
  RtRaces *races = &cpu->races;
  Race race = {0};
  launch->touches_lost += races->lost;
  races->lost = 0;
  if (!races->found || launch->context.error.kind != RT_OK) return;
  race_scan(&race, races->entries, races->capacity, races->epoch);
  race_report(&race, &launch->context, &cpu->workers[0]);
}
