/* race.c - the race detector: which iterations of the running loop touched an element. With
 * debug = true kernels call rt_touch before each access; see core/lower/races.c.
 *
 * A table keeps, for each element, the two lowest iterations that wrote it plainly and the two
 * lowest that read or updated it. So the findings do not depend on the schedule or the number of
 * workers, and an element takes 64 bytes however often it is touched. Two iterations, one of them a
 * writer, are a race. Entries of earlier loops have another epoch and count as empty.
 *
 * An element may be in one of PROBES places; 64 neighbours of the field are also neighbours in the
 * table. An element for which all places are taken is only counted. Decision D-lower-05. */
#include "atomic.h"
#include "rt.h"

enum { PROBES = 16, LOCKED = 1 };

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static RtShadow *place_of(const RtRaces *races, int32_t what, uint64_t element, uint32_t probe) {
  uint64_t block = element >> 6, key = (uint64_t)(uint32_t)what << 8 | probe;
  uint64_t home = mixed(mixed(key) ^ block) << 6 | (element & 63);
  return &races->entries[home & (races->capacity - 1)];
}

/* Locks the entry and returns its state from before. */
static uint32_t lock(RtShadow *entry) {
  for (uint32_t round = 0;; round++) {
    uint32_t state = rt_load(&entry->state);
    if (!(state & LOCKED) && rt_swap(&entry->state, state, state | LOCKED)) return state;
    if (round) rt_target_wait(round);
  }
}

static void claim(RtShadow *entry, int32_t what, uint64_t element) {
  entry->what = what;
  entry->element = element;
  for (int k = 0; k < 4; k++) entry->sites[k] = -1;
}

/* Keeps the two lowest iterations of a pair, each with the first site of its accesses. */
static void keep(int64_t *iterations, int32_t *sites, int64_t iteration, int32_t site) {
  if (sites[0] >= 0 && iterations[0] == iteration) {
    if (site < sites[0]) sites[0] = site;
  } else if (sites[0] < 0 || iteration < iterations[0]) {
    iterations[1] = iterations[0];
    sites[1] = sites[0];
    iterations[0] = iteration;
    sites[0] = site;
  } else if (sites[1] < 0 || iteration < iterations[1]) {
    iterations[1] = iteration;
    sites[1] = site;
  } else if (iterations[1] == iteration && site < sites[1]) {
    sites[1] = site;
  }
}

int rt_race_of(const RtShadow *entry, RtTouch *writer, RtTouch *other) {
  int found = 0;
  if (entry->sites[0] < 0) return 0;
  if (entry->sites[2] >= 0 && entry->iterations[2] != entry->iterations[0]) found = 2;
  else if (entry->sites[2] >= 0 && entry->sites[3] >= 0) found = 3;
  else if (entry->sites[1] >= 0) found = 1;
  writer->iteration = entry->iterations[0];
  writer->site = entry->sites[0];
  other->iteration = entry->iterations[found];
  other->site = entry->sites[found];
  return found > 0;
}

void rt_touch(RtContext *context, int32_t site, int32_t what, int32_t writes, int64_t iteration,
              int64_t element) {
  RtRaces *races = context->races;
  RtTouch writer, other;
  if (!races) return;
  for (uint32_t probe = 0; probe < PROBES; probe++) {
    RtShadow *entry = place_of(races, what, (uint64_t)element, probe);
    uint32_t state = lock(entry);
    int first = writes ? 0 : 2;
    if (state != races->epoch) claim(entry, what, (uint64_t)element);
    int is_mine = entry->what == what && entry->element == (uint64_t)element;
    if (is_mine) keep(&entry->iterations[first], &entry->sites[first], iteration, site);
    if (is_mine && rt_race_of(entry, &writer, &other)) rt_store(&races->found, 1);
    rt_store_release(&entry->state, races->epoch);
    if (is_mine) return;
  }
  rt_add(&races->lost, 1);
}
