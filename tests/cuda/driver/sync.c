/* sync.c - barriers of a block, and collective instructions of a warp.
 *
 * An instruction with members waits until all members that have not ended have reached it: early
 * ones are parked there, and join when the others arrive. Each member may wait at a different
 * bar.warp.sync. */
#include "flow.h"
#include "result.h"

void block_check_barriers(Block *block) {
  for (uint32_t n = 0; n < BARRIERS; n++) {
    uint32_t expected = block->barriers[n].expected;
    if (!block->barriers[n].arrived) continue;
    if (block->barriers[n].arrived < (expected ? expected : block->live_threads)) continue;
    block->barriers[n].arrived = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) warp_release_barrier(block->warps[i], n);
    block->barriers[n].value = 0;
  }
}

void sync_barrier(Warp *warp, const Inst *inst) {
  uint32_t lane = (uint32_t)__builtin_ctz(warp->mask), mask = warp->mask;
  uint32_t number = SRC(uint32_t, inst->a)[lane];
  uint32_t expected = inst->b == PLACE_NONE ? 0 : SRC(uint32_t, inst->b)[lane];
  if (number >= BARRIERS || expected % LANES) {
    warp_fault(warp, inst, CUDA_ERROR_ILLEGAL_INSTRUCTION, "there is no barrier %u for %u threads",
               number, expected);
    return;
  }
  Block *block = warp->block;
  block->barriers[number].expected = expected;
  /* If a count is given, whole warps are counted: threads that have ended have arrived, too. */
  bool whole = expected && mask == warp->alive;
  block->barriers[number].arrived += whole ? LANES : (uint32_t)__builtin_popcount(mask);
  if (inst->count >= BARRIER_POPC) {
    uint32_t held = lanes_where(warp, inst->c);
    if (inst->negated) held ^= mask;
    if (inst->count == BARRIER_AND) held ^= mask; /* counts those where it does not hold */
    block->barriers[number].value += (uint32_t)__builtin_popcount(held);
  }
  if (inst->count != BARRIER_ARRIVE) warp_park(warp, GROUP_BARRIER, inst + 1, number);
  block_check_barriers(block);
}

void warp_release_barrier(Warp *warp, uint32_t number) {
  uint32_t value = warp->block->barriers[number].value;
  for (uint32_t i = 0; i < warp->group_count; i++) {
    Group *group = &warp->groups[i];
    if (group->state != GROUP_BARRIER || group->number != number) continue;
    group->state = GROUP_READY;
    const Inst *inst = group->pc - 1;
    if (inst->count < BARRIER_POPC) continue;
    for (uint32_t left = group->mask; left; left &= left - 1) {
      uint32_t l = (uint32_t)__builtin_ctz(left);
      char *d = group->frame->registers + inst->d;
      if (inst->count == BARRIER_POPC) ((uint32_t *)d)[l] = value;
      else ((uint8_t *)d)[l] = inst->count == BARRIER_AND ? value == 0 : value != 0;
    }
  }
}

/* Those of `lanes` that name the same members as the first of them. 0 after a fault: a lane is not
 * among its members. */
static uint32_t alike(Warp *warp, const Inst *inst, uint32_t place, uint32_t lanes,
                      uint32_t *members) {
  const uint32_t *named = SRC(uint32_t, place);
  uint32_t same = 0;
  *members = named[__builtin_ctz(lanes)];
  for (uint32_t left = lanes; left; left &= left - 1)
    if (named[__builtin_ctz(left)] == *members) same |= left & -left;
  if (!(same & ~*members)) return same;
  warp_fault(warp, inst, CUDA_ERROR_ILLEGAL_INSTRUCTION,
             "a lane is not among the members (0x%x) that it names", *members);
  return 0;
}

static void leave(Warp *warp, const Inst *inst, uint32_t lanes, GroupState state,
                  uint32_t members) {
  warp->groups[warp->group_count++] = (Group){inst, warp->frame, lanes, state, members};
}

/* The first lanes whose members have all arrived continue, then others of which that holds; the
 * rest wait for more. False if none can continue. */
static bool all_here(Warp *warp, const Inst *inst, uint32_t place) {
  uint32_t members, same, now = 0, mask = warp->mask;
  for (uint32_t left = mask; left; left &= ~same) {
    if (!(same = alike(warp, inst, place, left, &members))) return false;
    bool is_whole = !(members & warp->alive & ~same);
    if (is_whole && !now) {
      now = same;
      continue;
    }
    leave(warp, inst, same, is_whole ? GROUP_READY : GROUP_SYNC, members);
    if (is_whole) warp->stop = inst + 1; /* then they run */
  }
  if (now != mask) warp_set_mask(warp, now);
  return now;
}

/* Members that wait at any bar.warp.sync have arrived. */
static bool release(Warp *warp, uint32_t members, uint32_t here) {
  for (uint32_t i = 0; i < warp->group_count; i++)
    if (warp->groups[i].state == GROUP_SYNC_ANY) here |= warp->groups[i].mask;
  if (members & warp->alive & ~here) return false;
  for (uint32_t i = 0; i < warp->group_count; i++) {
    Group *group = &warp->groups[i];
    if (group->state != GROUP_SYNC_ANY || !(group->mask & members)) continue;
    group->state = GROUP_READY;
    group->pc++;
  }
  return true;
}

void sync_warp(Warp *warp, const Inst *inst) {
  uint32_t members, same, going = 0;
  for (uint32_t left = warp->mask; left; left &= ~same) {
    if (!(same = alike(warp, inst, inst->a, left, &members))) return;
    if (release(warp, members, same)) going |= same;
    else leave(warp, inst, same, GROUP_SYNC_ANY, members);
  }
  warp_set_mask(warp, going);
  if (going && warp->group_count) warp_go(warp, warp->pc);
}

void sync_active(Warp *warp, const Inst *inst) {
  uint32_t *d = DST(uint32_t, inst->d), mask = warp->mask;
  EACH_LANE(d[l] = mask);
}

/* The lane to read from, by the manual: segments of the upper bits of c, clamped at their end. */
#define SHUFFLE(KIND, FROM, INSIDE) \
  static void shuffle_##KIND(Warp *warp, const Inst *inst) { \
    if (!all_here(warp, inst, inst->u.places[0])) return; \
    uint32_t value[LANES], result[LANES]; \
    uint8_t inside[LANES]; \
    const uint32_t *b = SRC(uint32_t, inst->b), *c = SRC(uint32_t, inst->c); \
    memcpy(value, SRC(uint32_t, inst->a), sizeof value); \
    for (uint32_t left = warp->mask; left; left &= left - 1) { \
      uint32_t l = (uint32_t)__builtin_ctz(left); \
      uint32_t by = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31; \
      uint32_t last = (l & segment) | (clamp & ~segment), first = l & segment; \
      (void)first; \
      int32_t from = (int32_t)(FROM); \
      inside[l] = INSIDE; \
      result[l] = value[inside[l] ? from & 31 : (int32_t)l]; \
    } \
    uint32_t *d = DST(uint32_t, inst->d); \
    EACH_LANE(d[l] = result[l]); \
    if (inst->e == PLACE_NONE) return; \
    uint8_t *e = DST(uint8_t, inst->e); \
    EACH_LANE(e[l] = inside[l]); \
  }
SHUFFLE(up, l - by, from >= (int32_t)last)
SHUFFLE(down, l + by, from <= (int32_t)last)
SHUFFLE(bfly, l ^ by, from <= (int32_t)last)
SHUFFLE(idx, first | (by & ~segment), from <= (int32_t)last)

Run sync_shuffle(Slice kind) {
  return slice_is(kind, "up")     ? shuffle_up
         : slice_is(kind, "down") ? shuffle_down
         : slice_is(kind, "bfly") ? shuffle_bfly
         : slice_is(kind, "idx")  ? shuffle_idx
                                  : NULL;
}

#define VOTE(KIND, T, VALUE) \
  static void vote_##KIND(Warp *warp, const Inst *inst) { \
    if (!all_here(warp, inst, inst->c)) return; \
    uint32_t here = warp->mask, held = lanes_where(warp, inst->a) ^ (inst->negated ? here : 0); \
    (void)here; \
    T *d = DST(T, inst->d), value = (T)(VALUE); \
    EACH_LANE(d[l] = value); \
  }
VOTE(ballot, uint32_t, held)
VOTE(any, uint8_t, held != 0)
VOTE(all, uint8_t, held == here)
VOTE(uni, uint8_t, held == here || !held)

Run sync_vote(Slice kind) {
  return slice_is(kind, "ballot") ? vote_ballot
         : slice_is(kind, "any")  ? vote_any
         : slice_is(kind, "all")  ? vote_all
         : slice_is(kind, "uni")  ? vote_uni
                                  : NULL;
}

#define MATCH(T) \
  static void match_##T(Warp *warp, const Inst *inst) { \
    if (!all_here(warp, inst, inst->c)) return; \
    T a[LANES]; \
    memcpy(a, SRC(T, inst->a), sizeof a); \
    uint32_t same[LANES], here = warp->mask; \
    EACH_LANE(same[l] = 0; for (uint32_t k = 0; k < LANES; k++) same[l] |= \
                           (uint32_t)((here >> k & 1) && a[k] == a[l]) << k); \
    bool all = inst->count; \
    uint32_t *d = DST(uint32_t, inst->d); \
    EACH_LANE(d[l] = !all ? same[l] : same[l] == here ? here : 0); \
    if (inst->e == PLACE_NONE) return; \
    uint8_t *e = DST(uint8_t, inst->e); \
    EACH_LANE(e[l] = same[l] == here); \
  }
MATCH(uint32_t)
MATCH(uint64_t)

Run sync_match(Slice kind, uint32_t bytes) {
  if (!slice_is(kind, "any") && !slice_is(kind, "all")) return NULL;
  return bytes == 8 ? match_uint64_t : match_uint32_t;
}

#define REDUCE(KIND, T, VALUE) \
  static void reduce_##KIND(Warp *warp, const Inst *inst) { \
    if (!all_here(warp, inst, inst->c)) return; \
    const T *a = SRC(T, inst->a); \
    T A = a[__builtin_ctz(warp->mask)]; \
    for (uint32_t left = warp->mask & (warp->mask - 1); left; left &= left - 1) { \
      T B = a[__builtin_ctz(left)]; \
      A = (T)(VALUE); \
    } \
    T *d = DST(T, inst->d); \
    EACH_LANE(d[l] = A); \
  }
REDUCE(add, uint32_t, A + B)
REDUCE(and, uint32_t, A &B)
REDUCE(or, uint32_t, A | B)
REDUCE(xor, uint32_t, A ^ B)
REDUCE(min_u, uint32_t, A < B ? A : B)
REDUCE(max_u, uint32_t, A > B ? A : B)
REDUCE(min_s, int32_t, A < B ? A : B)
REDUCE(max_s, int32_t, A > B ? A : B)

Run sync_reduce(Slice kind, bool is_signed) {
  return slice_is(kind, "add")   ? reduce_add
         : slice_is(kind, "and") ? reduce_and
         : slice_is(kind, "or")  ? reduce_or
         : slice_is(kind, "xor") ? reduce_xor
         : slice_is(kind, "min") ? (is_signed ? reduce_min_s : reduce_min_u)
         : slice_is(kind, "max") ? (is_signed ? reduce_max_s : reduce_max_u)
                                 : NULL;
}
