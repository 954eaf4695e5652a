/* warp.c - groups of lanes: which one runs, where they diverge and reconverge (see exec.h). */
#include "exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "result.h"

/* If no group has changed during so many slices, a lane is probably spinning. */
enum { IDLE_SLICES = 16, SLICES_PER_TURN = 64 };

uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

void warp_fault(Warp *warp, const Inst *inst, int result, const char *format, ...) {
  Grid *grid = warp->grid;
  warp->budget = 0;
  if (grid->result) return;
  grid->result = result;
  va_list list;
  va_start(list, format);
  vsnprintf(grid->error, sizeof grid->error, format, list);
  va_end(list);
  const Block *block = warp->block;
  Slice kernel = grid->function->name;
  Slice at = warp->frame ? warp->frame->function->name : kernel;
  fprintf(stderr, "device: %.*s: %.*s, line %u of its PTX, block (%u, %u, %u), thread %u: %s\n",
          (int)kernel.length, kernel.at, (int)at.length, at.at, inst ? inst->line : 0, block->x,
          block->y, block->z,
          warp->number * LANES + (warp->mask ? (uint32_t)__builtin_ctz(warp->mask) : 0),
          grid->error);
}

Frame *frame_open(const Function *function, Frame *parent, uint32_t mask) {
  Frame *frame = function->idle;
  if (frame) {
    ((Function *)function)->idle = frame->parent;
  } else {
    frame = calloc(1, sizeof *frame);
    if (!frame) abort();
    frame->registers = aligned_alloc(64, (function->register_bytes + 127) & ~(size_t)63);
    if (!frame->registers) abort();
    memset(frame->registers, 0, function->register_bytes);
  }
  frame->function = function;
  frame->parent = parent;
  frame->live = mask;
  frame->depth = parent ? parent->depth + 1 : 0;
  frame->local_base = parent ? parent->local_base + parent->function->local_bytes : 0;
  return frame;
}

/* Lanes that return leave only their current frame; lanes that end leave all frames. */
void frame_leave(Frame *frame, uint32_t mask) {
  if (!(frame->live &= ~mask)) {
    frame->parent = frame->function->idle;
    ((Function *)frame->function)->idle = frame;
  }
}

void warp_forget_frames(Function *function) {
  while (function->idle) {
    Frame *frame = function->idle;
    function->idle = frame->parent;
    free(frame->registers);
    free(frame);
  }
}

void warp_set_mask(Warp *warp, uint32_t mask) {
  warp->mask = mask;
  warp->lanes = (uint32_t)__builtin_popcount(mask);
}

static void set_frame(Warp *warp, Frame *frame) {
  warp->frame = frame;
  warp->base[0] = frame->registers;
  warp->base[1] = frame->function->constants;
}

/* Where the current group must stop: the next instruction at which another group waits. */
static void set_stop(Warp *warp) {
  warp->stop = NULL;
  for (uint32_t i = 0; i < warp->group_count; i++) {
    const Group *group = &warp->groups[i];
    if (group->frame != warp->frame || group->state == GROUP_BARRIER) continue;
    if (group->pc < warp->pc) continue;
    if (!warp->stop || group->pc < warp->stop) warp->stop = group->pc;
  }
}

static void join_here(Warp *warp) {
  for (uint32_t i = warp->group_count; i-- > 0;) {
    const Group *group = &warp->groups[i];
    if (group->pc != warp->pc || group->frame != warp->frame || group->state == GROUP_BARRIER)
      continue;
    warp_set_mask(warp, warp->mask | group->mask);
    warp->idle_slices = 0;
    warp->groups[i] = warp->groups[--warp->group_count];
  }
}

/* The group in the deepest call runs first, then that at the lowest instruction; otherwise `turn`
 * is the next position in the list. False if all wait. */
static bool pick(Warp *warp, bool by_turn) {
  uint32_t best = LANES;
  for (uint32_t k = 0; k < warp->group_count; k++) {
    uint32_t i = by_turn ? (warp->turn + k) % warp->group_count : k;
    const Group *group = &warp->groups[i], *than = &warp->groups[best % LANES];
    if (group->state != GROUP_READY) continue;
    if (best == LANES ||
        (!by_turn && (group->frame->depth > than->frame->depth ||
                      (group->frame->depth == than->frame->depth && group->pc < than->pc))))
      best = i;
  }
  if (best == LANES) return false;
  if (by_turn) warp->turn = best + 1;
  Group group = warp->groups[best];
  warp->groups[best] = warp->groups[--warp->group_count];
  warp->pc = group.pc;
  warp_set_mask(warp, group.mask);
  set_frame(warp, group.frame);
  join_here(warp);
  set_stop(warp);
  return true;
}

void warp_park(Warp *warp, GroupState state, const Inst *pc, uint32_t number) {
  if (!warp->mask) return;
  warp->groups[warp->group_count++] = (Group){pc, warp->frame, warp->mask, state, number};
  warp_set_mask(warp, 0);
}

static void wake_all(Warp *warp) {
  for (uint32_t i = 0; i < warp->group_count; i++)
    if (warp->groups[i].state == GROUP_PAUSED) warp->groups[i].state = GROUP_READY;
}

bool warp_pause(Warp *warp) {
  bool any = false;
  join_here(warp); /* groups that already sleep here */
  warp_park(warp, GROUP_PAUSED, warp->pc, 0);
  for (uint32_t i = 0; i < warp->group_count; i++) any |= warp->groups[i].state == GROUP_READY;
  if (!any) wake_all(warp);
  return any;
}

/* Another group is earlier in this frame, or deeper: it runs first, except in the slices that go to
 * each group in turn. */
static void look_around(Warp *warp) {
  if (warp->is_turn) {
    set_stop(warp);
    return;
  }
  for (uint32_t i = 0; i < warp->group_count; i++) {
    const Group *group = &warp->groups[i];
    if (group->state != GROUP_READY) continue;
    if (group->frame->depth < warp->frame->depth) continue;
    if (group->frame->depth == warp->frame->depth && group->pc >= warp->pc) continue;
    warp_park(warp, GROUP_READY, warp->pc, 0);
    pick(warp, false);
    return;
  }
  set_stop(warp);
}

void warp_go(Warp *warp, const Inst *pc) {
  warp->pc = pc;
  if (warp->group_count) look_around(warp);
}

void warp_split(Warp *warp, uint32_t mask, const Inst *pc) {
  warp->groups[warp->group_count++] = (Group){pc, warp->frame, mask, GROUP_READY, 0};
  warp->idle_slices = 0;
  warp_set_mask(warp, warp->mask & ~mask);
  look_around(warp);
}

void warp_enter(Warp *warp, Frame *frame, const Inst *pc) {
  set_frame(warp, frame);
  warp_go(warp, pc);
}

void warp_end_lanes(Warp *warp, uint32_t mask) {
  for (Frame *frame = warp->frame; frame;) {
    Frame *parent = frame->parent;
    frame_leave(frame, mask);
    frame = parent;
  }
  warp->alive &= ~mask;
  warp->block->live_threads -= (uint32_t)__builtin_popcount(mask);
  warp_set_mask(warp, warp->mask & ~mask);
  for (uint32_t i = 0; i < warp->group_count; i++) /* groups that waited for them test again */
    if (warp->groups[i].state == GROUP_SYNC || warp->groups[i].state == GROUP_SYNC_ANY)
      warp->groups[i].state = GROUP_READY;
  if (!warp->alive) warp->block->live_warps--;
  block_check_barriers(warp->block);
}

/* Returns the frames of a warp that a fault has ended, each once. */
void warp_abandon(Warp *warp) {
  for (uint32_t i = 0; i <= warp->group_count && warp->alive; i++) {
    Frame *frame = i < warp->group_count ? warp->groups[i].frame : warp->frame;
    while (frame && frame->live) {
      Frame *parent = frame->parent;
      frame_leave(frame, UINT32_MAX);
      frame = parent;
    }
  }
}

void warp_start(Warp *warp, Grid *grid, Block *block, uint32_t number, uint32_t threads) {
  char *local = warp->local;
  *warp = (Warp){.local = local, .grid = grid, .block = block, .number = number};
  warp->alive = threads >= LANES ? UINT32_MAX : (1u << threads) - 1;
  Frame *frame = frame_open(grid->function, NULL, warp->alive);
  set_frame(warp, frame);
  warp->pc = grid->function->code;
  warp_set_mask(warp, warp->alive);
}

bool warp_run(Warp *warp, int64_t budget) {
  warp->near_size = 0;
  if (!warp->alive) return false;
  warp->is_turn = false;
  wake_all(warp);
  if (warp->mask && warp->group_count) { /* its slice ran out */
    warp->is_turn = warp->idle_slices++ >= IDLE_SLICES || ++warp->slices % SLICES_PER_TURN == 0;
    if (warp->is_turn) warp->idle_slices = 0;
    warp_park(warp, GROUP_READY, warp->pc, 0);
    if (!pick(warp, warp->is_turn)) return false;
  } else if (!warp->mask && !pick(warp, false)) {
    return false;
  }
  warp->budget = budget;
  uint64_t instructions = 0, threads = 0;
  while (warp->budget > 0) {
    if (warp->pc == warp->stop) {
      join_here(warp);
      look_around(warp);
    }
    const Inst *inst = warp->pc;
    warp->pc = inst + 1;
    warp->budget--;
    instructions++;
    threads += warp->lanes;
    inst->run(warp, inst);
    if (!warp->mask && (warp->grid->result || !pick(warp, false))) break;
  }
  warp->warp_instructions += instructions;
  warp->thread_instructions += threads;
  return true;
}
