/* race.c - see race.h. */
#include "device/race.h"

static int64_t first_of(const Race *race) {
  return race->writer.iteration < race->other.iteration ? race->writer.iteration
                                                        : race->other.iteration;
}

static bool is_before(const Race *a, const Race *b) {
  if (first_of(a) != first_of(b)) return first_of(a) < first_of(b);
  if (a->what != b->what) return a->what < b->what;
  return (int64_t)a->element < (int64_t)b->element;
}

void race_scan(Race *first, const RtShadow *entries, uint64_t count, uint32_t epoch) {
  for (uint64_t k = 0; k < count; k++) {
    Race race = {.is_found = true, .what = entries[k].what, .element = entries[k].element};
    if (entries[k].state != epoch || !rt_race_of(&entries[k], &race.writer, &race.other)) continue;
    if (!first->is_found || is_before(&race, first)) *first = race;
  }
}

void race_report(const Race *race, RtContext *context, RtWorker *worker) {
  if (!race->is_found) return;
  uint64_t values[] = {(uint64_t)race->other.site, (uint64_t)race->writer.iteration,
                       (uint64_t)race->other.iteration, race->element};
  rt_fault(context, worker, race->writer.site, 4, values);
}
