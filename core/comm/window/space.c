/* space.c - see space.h. */
#include "comm/window/space.h"

#include <string.h>

#include "base/bits.h"

void space_init(Space *space, Heap *heap, uint64_t size) {
  *space = (Space){.heap = heap, .size = size};
}

void space_deinit(Space *space) {
  heap_free(space->heap, space->cuts);
  *space = (Space){0};
}

/* Makes room for two more cuts, the most that one change adds. */
static bool ensure_room(Space *space) {
  if (space->count + 2 <= space->capacity) return true;
  int capacity = space->capacity ? 2 * space->capacity : 16;
  uint64_t *cuts = heap_resize(space->heap, space->cuts, (size_t)capacity * sizeof *cuts);
  if (!cuts) return false;
  space->cuts = cuts;
  space->capacity = capacity;
  return true;
}

/* Turns [from, to), which lies within segment k, into the other kind: adds two cuts, each of which
 * cancels with an existing cut at the same place. */
static void toggle_range(Space *space, int k, uint64_t from, uint64_t to) {
  uint64_t *cuts = space->cuts;
  bool at_low = k > 0 && cuts[k - 1] == from, at_high = k < space->count && cuts[k] == to;
  int first = at_low ? k - 1 : k, past = at_high ? k + 1 : k; /* the cuts to remove */
  uint64_t more[2];
  int added = 0;
  if (!at_low) more[added++] = from;
  if (!at_high) more[added++] = to;
  memmove(cuts + first + added, cuts + past, (size_t)(space->count - past) * sizeof *cuts);
  memcpy(cuts + first, more, (size_t)added * sizeof *cuts);
  space->count += added - (past - first);
}

static uint64_t end_of(const Space *space, int k) {
  return k < space->count ? space->cuts[k] : space->size;
}

uint64_t space_allocate(Space *space, uint64_t size_bytes, uint64_t align) {
  if (!ensure_room(space)) return SPACE_NONE;
  for (int k = 0; k <= space->count; k += 2) {
    uint64_t at = align_up(k ? space->cuts[k - 1] : 0, align), end = end_of(space, k);
    if (at >= end || end - at < size_bytes) continue;
    toggle_range(space, k, at, at + size_bytes);
    return at;
  }
  return SPACE_NONE;
}

bool space_free(Space *space, uint64_t at, uint64_t size_bytes) {
  if (!size_bytes || !ensure_room(space)) return false;
  for (int k = 1; k <= space->count; k += 2) {
    if (at < space->cuts[k - 1] || at >= end_of(space, k)) continue;
    if (size_bytes > end_of(space, k) - at) return false;
    toggle_range(space, k, at, at + size_bytes);
    return true;
  }
  return false;
}
