/* refcounts.c - removes redundant reference counting: an ACQUIRE, and the RELEASEs that end it,
 * where another reference keeps the array alive throughout.
 *
 *     acquire %g %a         H       one rule for all shapes: on every path from H, a block of D,
 *     if c { .. release %g  D       whose first release is that of %g, precedes any other release;
 *     } else { .. release %g } D    and H dominates D and S, the blocks between
 *
 * S is the set of blocks reachable from H without entering D. The pair is removed if H is in
 * neither set; if in S, in H after the acquire, and in D before its release nothing is released (by
 * a RELEASE, or a call that overwrites arrays held by arrays) and nothing else uses %g; and if no
 * block of S and D has a predecessor outside of S and H. The end of a function releases its guards,
 * so paths that end there, or in a FAULT, need no release of their own: the guard is empty then.
 * After a first attempt, releases move to the end of their block, as far as their guards allow, so
 * that a block's releases follow all uses in it; then the pass tries again.
 *
 * Other holders are the caller (of an argument), or a guard of this function that is not released
 * meanwhile. An array that was read from another array's memory is held by that array: in the host
 * region, and in tasks that overwrite no such elements, where nothing else changes it; elsewhere if
 * the other array is private, that is, visible to this function only. Functions that it calls do
 * not change a private array, so they do not end the references that it holds.
 * The caller keeps its references until the function ends, so a guard that only ever holds such
 * arrays is redundant, whatever is released meanwhile.
 *
 * needs: tasks     keeps: all else */
#include "pass/pass.h"

#include "ir/task.h"
#include "pass/arrays/refcounts.h"

typedef struct Block Block;
typedef VEC(Block *) Blocks;
struct Block {
  Blocks next, before;
  VEC(IrInst *) events; /* ops that count, and calls that release; in order */
  IrInst *end;          /* releases may be inserted before it; NULL: at the end of `region` */
  IrRegion *region;
  int seen, in_d; /* number of the last acquire that visited it, or had it in D */
};

typedef struct Loop {
  Block *again, *leave;
} Loop;

typedef struct Counts {
  IrKernel *kernel;
  Scratch *scratch;
  Blocks blocks;
  VEC(Loop) loops;
  bool is_quiet; /* no other thread changes the arrays that arrays hold */
  bool is_task;
  bool *keeps;         /* by function: calls of it release nothing that the caller holds */
  bool from_private;   /* the current acquire is of an element of a private array */
  int number;          /* of the current acquire */
  int before, removed; /* acquires of the kernel */
} Counts;

/* -- effects of an inst ------------------------------------------------------------------------ */

static bool is_mutator(const IrInst *inst) {
  return ir_is_call(inst, RT_ARRAY_EXCHANGE) || ir_is_call(inst, RT_ARRAY_POP) ||
         ir_is_call(inst, RT_ARRAY_CLEAR);
}

/* May the inst end the other holder's reference to the current array? */
static bool releases(const Counts *c, const IrInst *inst) {
  switch (inst->op) {
  case IR_RELEASE:
  case IR_DISOWN:
  case IR_RUN: return true;
  case IR_INVOKE: return !c->keeps[inst->imm] && !c->from_private;
  default: return is_mutator(inst);
  }
}

static bool changes_guard(const IrInst *inst, const IrInst *guard) {
  return (ir_is_refcount(inst->op) && inst->operands[0] == guard) ||
         (inst->op == IR_MOVE && inst->operands[1] == guard) || inst->op == IR_INVOKE;
}

/* An INVOKE stores its results into the guards among its operands. */
bool refcounts_uses_guard(const IrInst *inst, const IrInst *guard) {
  if (inst->op != IR_INVOKE) return changes_guard(inst, guard);
  for (int i = 0; i < inst->operand_count; i++)
    if (inst->operands[i] == guard) return true;
  return false;
}

static bool overwrites_none(const Counts *c, const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (is_mutator(inst) || (inst->op == IR_INVOKE && !c->keeps[inst->imm])) return false;
  return true;
}

/* A function releases its own references; it can end its caller's only by overwriting or removing
 * elements of arrays. */
static void find_keepers(Counts *c) {
  int count = c->kernel->functions.count;
  bool changes = true;
  c->keeps = scratch_array(c->scratch, bool, count);
  for (int i = 0; i < count; i++) c->keeps[i] = true;
  while (changes) {
    changes = false;
    for (int i = 0; i < count; i++) {
      if (!c->keeps[i] || overwrites_none(c, c->kernel->functions.items[i]->body)) continue;
      c->keeps[i] = false;
      changes = true;
    }
  }
}

bool refcounts_tasks_call(const IrKernel *kernel) {
  for (int i = 0; i < kernel->tasks.count; i++)
    if (ir_has_op(kernel->tasks.items[i]->body, IR_INVOKE)) return true;
  return false;
}

/* -- blocks ------------------------------------------------------------------------------------ */

static Block *new_block(Counts *c, IrRegion *region) {
  Block *block = scratch_new(c->scratch, Block);
  *block = (Block){.region = region};
  vec_push(c->scratch, &c->blocks, block);
  return block;
}

static void link_blocks(Counts *c, Block *from, Block *to) {
  if (!from) return;
  vec_push(c->scratch, &from->next, to);
  vec_push(c->scratch, &to->before, from);
}

static Block *add_region(Counts *c, Block *at, IrRegion *region);

static Block *begin_block(Counts *c, Block *from, IrRegion *region) {
  Block *block = new_block(c, region);
  link_blocks(c, from, block);
  return block;
}

static Block *add_if(Counts *c, Block *at, IrInst *inst) {
  Block *after = new_block(c, inst->region);
  for (int i = 0; i < 2; i++)
    link_blocks(c, add_region(c, begin_block(c, at, inst->regions[i]), inst->regions[i]), after);
  return after;
}

/* Adds any op with a region that may run any number of times. */
static Block *add_loop(Counts *c, Block *at, IrInst *inst) {
  Block *again = begin_block(c, at, inst->regions[0]), *after = new_block(c, inst->region);
  bool is_endless = inst->op == IR_LOOP;
  again->end = inst->regions[0]->first;
  vec_push(c->scratch, &c->loops, ((Loop){again, after}));
  link_blocks(c, add_region(c, begin_block(c, again, inst->regions[0]), inst->regions[0]), again);
  c->loops.count--;
  if (!is_endless) link_blocks(c, again, after);
  return after;
}

static bool is_event(const Counts *c, const IrInst *inst) {
  return ir_is_refcount(inst->op) || inst->op == IR_INVOKE || releases(c, inst);
}

/* Returns NULL: no block follows. */
static Block *add_exit(Counts *c, Block *at, IrInst *inst) {
  int levels = c->loops.count - 1 - (int)inst->imm;
  DEBUG_ASSERT(at && !at->next.count, "a block that an exit ends has no successor yet");
  at->end = inst;
  if (inst->op != IR_RETURN && levels >= 0)
    link_blocks(c, at,
                inst->op == IR_BREAK ? c->loops.items[levels].leave : c->loops.items[levels].again);
  return NULL;
}

static Block *add_region(Counts *c, Block *at, IrRegion *region) {
  for (IrInst *inst = region->first; inst && at; inst = inst->next) {
    if (ir_effects(inst) & IR_EXIT) return add_exit(c, at, inst);
    if (inst->op == IR_FAULT) {
      at->end = inst;
      return NULL;
    }
    if (is_event(c, inst)) vec_push(c->scratch, &at->events, inst);
    if (!inst->regions[0]) continue;
    at->end = inst;
    at = inst->op == IR_IF ? add_if(c, at, inst) : add_loop(c, at, inst);
    at->region = region;
  }
  return at;
}

/* -- releases at the end of their block -------------------------------------------------------- */

static bool may_wait(const Block *block, int k) {
  const IrInst *guard = block->events.items[k]->operands[0];
  for (int i = k + 1; i < block->events.count; i++)
    if (refcounts_uses_guard(block->events.items[i], guard)) return false;
  return true;
}

static void move_to_end(Block *block, IrInst *inst) {
  DEBUG_ASSERT(inst->op == IR_RELEASE, "only a release can wait");
  if (inst->next == block->end) return;
  if (block->end) ir_move_before(block->end, inst);
  else ir_move_into(inst->region, inst);
}

static void move_releases_to_end(Counts *c, Block *block) {
  VEC(IrInst *) first = {0}, last = {0};
  for (int k = 0; k < block->events.count; k++) {
    IrInst *inst = block->events.items[k];
    bool waits = inst->op == IR_RELEASE && may_wait(block, k) &&
                 (!block->end || block->end->region == inst->region);
    if (waits) vec_push(c->scratch, &last, inst);
    else vec_push(c->scratch, &first, inst);
  }
  for (int k = 0; k < last.count; k++) move_to_end(block, last.items[k]);
  block->events.count = 0;
  for (int k = 0; k < first.count; k++) vec_push(c->scratch, &block->events, first.items[k]);
  for (int k = 0; k < last.count; k++) vec_push(c->scratch, &block->events, last.items[k]);
}

/* -- other holders ----------------------------------------------------------------------------- */

/* Does the use keep the array's address, and those of its elements, inside this function? */
static bool is_kept(const IrInst *user) {
  bool gets_out = ir_is_call(user, RT_ARRAY_EXCHANGE) || ir_is_call(user, RT_ARRAY_SLICE);
  return ir_is_refcount(user->op) ||
         (user->op == IR_CALL && user->entry >= RT_ARRAY_NEW && !gets_out);
}

bool refcounts_is_private(const IrInst *array) {
  if (!ir_is_call(array, RT_ARRAY_NEW)) return false;
  for (const IrUse *use = array->uses; use; use = use->next)
    if (!is_kept(use->user)) return false;
  return true;
}

bool refcounts_shows_order(const IrInst *inst) {
  bool changes = ir_is_call(inst, RT_ARRAY_APPEND) || ir_is_call(inst, RT_ARRAY_POP);
  return ir_is_order_dependent(inst) || (changes && !refcounts_is_private(inst->operands[0]));
}

bool refcounts_reaches(const IrInst *inst) {
  switch (ir_is_array_call(inst) ? inst->entry : RT_ARRAY_NEW) {
  case RT_ARRAY_READ:
  case RT_ARRAY_AT:
  case RT_ARRAY_APPEND:
  case RT_ARRAY_POP:
  case RT_ARRAY_CLEAR: return !refcounts_is_private(inst->operands[0]);
  default: return false;
  }
}

static bool record_use(void *data, IrInst *inst) {
  RefcountsUse *use = data;
  use->any |= ir_is_array_call(inst) || ir_is_refcount(inst->op);
  use->elements |= refcounts_reaches(inst);
  return true;
}

RefcountsUse refcounts_use(const IrKernel *kernel, IrRegion *body) {
  RefcountsUse use = {0};
  ir_walk_called(kernel, body, record_use, &use);
  return use;
}

static bool is_of_private(const IrInst *array) {
  if (array->op != IR_MEM_LOAD) return false;
  const IrInst *at = ir_base_address(array->operands[0]);
  return ir_is_call(at, RT_ARRAY_READ) && refcounts_is_private(at->operands[0]);
}

static bool is_held(const Counts *c, const IrInst *array) {
  switch (array->op) {
  case IR_ARG:
  case IR_PARAM:
  case IR_FRAME_GET:
  case IR_GET: return true;
  case IR_CALL: return true; /* a call that makes an array, for a guard of this function */
  case IR_SELECT: return is_held(c, array->operands[1]) && is_held(c, array->operands[2]);
  case IR_MEM_LOAD: return c->is_quiet || is_of_private(array);
  default: return false;
  }
}

static void drop_event(Block *block, int k) {
  DEBUG_ASSERT(k >= 0 && k < block->events.count, "the block has such an event");
  ir_delete(block->events.items[k]);
  for (int i = k + 1; i < block->events.count; i++)
    block->events.items[i - 1] = block->events.items[i];
  block->events.count--;
}

/* -- references of the caller ------------------------------------------------------------------ */

static bool is_of_caller(const Counts *c, const IrInst *array) {
  return array->op == IR_ARG || array->op == IR_PARAM || (array->op == IR_FRAME_GET && c->is_task);
}

/* Is `inst` redundant for a guard that only holds arrays of the caller? */
static bool is_redundant(const Counts *c, const IrInst *inst, const IrInst *guard) {
  if (!refcounts_uses_guard(inst, guard)) return true;
  return inst->op == IR_RELEASE || (inst->op == IR_ACQUIRE && is_of_caller(c, inst->operands[1]));
}

static bool holds_only_callers(const Counts *c, const IrInst *guard) {
  for (int b = 0; b < c->blocks.count; b++) {
    const Block *block = c->blocks.items[b];
    for (int k = 0; k < block->events.count; k++)
      if (!is_redundant(c, block->events.items[k], guard)) return false;
  }
  return true;
}

static bool drop_guard(Counts *c, const IrInst *guard) {
  for (int b = 0; b < c->blocks.count; b++) {
    Block *block = c->blocks.items[b];
    for (int k = 0; k < block->events.count; k++) {
      if (!refcounts_uses_guard(block->events.items[k], guard)) continue;
      c->removed += block->events.items[k]->op == IR_ACQUIRE;
      drop_event(block, k--);
    }
  }
  return true;
}

static bool prune_callers(Counts *c) {
  for (int b = 0; b < c->blocks.count; b++) {
    const Block *block = c->blocks.items[b];
    for (int k = 0; k < block->events.count; k++) {
      const IrInst *inst = block->events.items[k];
      if (inst->op == IR_ACQUIRE && is_of_caller(c, inst->operands[1]) &&
          holds_only_callers(c, inst->operands[0]))
        return drop_guard(c, inst->operands[0]);
    }
  }
  return false;
}

/* -- the rule ---------------------------------------------------------------------------------- */

/* The first event of the block, from `first` on, that releases anything or uses the guard; the
 * number of events if there is none. */
static int next_relevant(const Counts *c, const Block *block, int first, const IrInst *guard) {
  int k = first;
  while (k < block->events.count && !releases(c, block->events.items[k]) &&
         !refcounts_uses_guard(block->events.items[k], guard))
    k++;
  return k;
}

static bool is_release_of(const Block *block, int k, const IrInst *guard) {
  return k < block->events.count && block->events.items[k]->op == IR_RELEASE &&
         block->events.items[k]->operands[0] == guard;
}

/* Releases at the end of a block may be reordered, so the guard's own may count as the first. */
static int find_in_block(const Counts *c, const Block *block, int first, const IrInst *guard) {
  int k = next_relevant(c, block, first, guard);
  while (k < block->events.count && block->events.items[k]->op == IR_RELEASE) {
    if (is_release_of(block, k, guard)) return k;
    k++;
  }
  return -1;
}

typedef struct Paths {
  Blocks between, ends;
  bool is_good;
} Paths;

static void follow_paths(Counts *c, Paths *way, Block *block, const Block *head,
                         const IrInst *guard) {
  if (!way->is_good || block->seen == c->number) return;
  block->seen = c->number;
  if (block == head) {
    way->is_good = false;
    return;
  }
  int k = find_in_block(c, block, 0, guard);
  if (k >= 0) {
    block->in_d = c->number;
    vec_push(c->scratch, &way->ends, block);
    return;
  }
  vec_push(c->scratch, &way->between, block);
  if (next_relevant(c, block, 0, guard) < block->events.count) way->is_good = false;
  for (int i = 0; i < block->next.count; i++)
    follow_paths(c, way, block->next.items[i], head, guard);
}

static bool comes_from(const Counts *c, const Blocks *blocks, const Block *head) {
  for (int i = 0; i < blocks->count; i++)
    for (int k = 0; k < blocks->items[i]->before.count; k++) {
      const Block *from = blocks->items[i]->before.items[k];
      if (from != head && (from->seen != c->number || from->in_d == c->number)) return false;
    }
  return true;
}

static bool prune_region(Counts *c, Block *head, int k) {
  DEBUG_ASSERT(head->events.items[k]->op == IR_ACQUIRE, "a pair begins with what it acquires");
  IrInst *acquire = head->events.items[k], *guard = acquire->operands[0];
  Paths way = {.is_good = next_relevant(c, head, k + 1, guard) == head->events.count};
  c->number++;
  for (int i = 0; i < head->next.count; i++)
    follow_paths(c, &way, head->next.items[i], head, guard);
  if (!way.is_good || !comes_from(c, &way.between, head) || !comes_from(c, &way.ends, head))
    return false;
  for (int i = 0; i < way.ends.count; i++)
    drop_event(way.ends.items[i], find_in_block(c, way.ends.items[i], 0, guard));
  drop_event(head, k);
  c->removed++;
  return true;
}

static bool prune_block(Counts *c, Block *block, int k) {
  int end = find_in_block(c, block, k + 1, block->events.items[k]->operands[0]);
  if (end < 0) return false;
  drop_event(block, end);
  drop_event(block, k);
  c->removed++;
  return true;
}

static bool prune_pairs(Counts *c) {
  bool changed = false;
  for (int b = 0; b < c->blocks.count; b++)
    for (int k = 0; k < c->blocks.items[b]->events.count; k++) {
      Block *block = c->blocks.items[b];
      const IrInst *inst = block->events.items[k];
      if (inst->op != IR_ACQUIRE || !is_held(c, inst->operands[1])) continue;
      c->from_private = is_of_private(inst->operands[1]);
      if (!prune_block(c, block, k) && !prune_region(c, block, k)) continue;
      changed = true;
      k--;
    }
  return changed;
}

/* -- references that memory takes over --------------------------------------------------------- */

/* Transfers a guard's reference to memory, instead of counting a new one for
 * the memory and releasing the guard's unused one later.
 *
 *     own %g %a                           own %g %a
 *     acquire %t %a                       ..
 *     disown %t                           disown %g
 *     rt_array_exchange %place, %a        rt_array_exchange %place, %a
 *     release %g                          release %g         finds nothing
 *
 * This requires that %a is the only array that %g ever holds, that nothing empties %g before this
 * place, and that nothing uses %a after it. "After" is the order of the text, since each loop
 * around this place is also around %a. No variable holds %a, so all of its uses are visible.
 * Decision D-pass-31. */

typedef struct HandOver {
  const IrInst *array, *guard, *disown;
  int *order; /* by id: position of the inst in the text */
  bool is_filled;
} HandOver;

static bool is_past(const HandOver *h, const IrInst *inst) {
  return h->order[inst->id] > h->order[h->disown->id];
}

/* May the guard be released by `inst`? Before the place only on a path that leaves the function. */
static bool may_release(const HandOver *h, const IrInst *inst) {
  if (is_past(h, inst)) return true;
  return ir_effects(inst->region->last) & IR_EXIT && !ir_is_inside(h->disown, inst->region);
}

static bool fits_guard(HandOver *h, const IrInst *inst) {
  bool was_filled = h->is_filled;
  if (inst->op == IR_RELEASE) return may_release(h, inst);
  h->is_filled = true;
  return (inst->op == IR_OWN || inst->op == IR_ACQUIRE) && inst->operands[1] == h->array &&
         !was_filled && !is_past(h, inst);
}

/* The array of an operand; the address of an element counts as a use of its array. */
static const IrInst *array_of(const IrInst *operand) {
  operand = ir_base_address(operand);
  bool is_place = ir_is_call(operand, RT_ARRAY_AT) || ir_is_call(operand, RT_ARRAY_READ) ||
                  ir_is_call(operand, RT_ARRAY_POP);
  return is_place ? operand->operands[0] : operand;
}

static bool fits_use(const HandOver *h, const IrInst *inst) {
  bool is_seen = ir_is_refcount(inst->op) || inst->op == IR_INVOKE || inst->op == IR_CALL ||
                 inst->op == IR_OFFSET || inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE ||
                 inst->op == IR_MEM_UPDATE;
  return is_seen && (!is_past(h, inst) || inst == h->disown->next);
}

static bool fits_insts(HandOver *h, const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (refcounts_uses_guard(inst, h->guard) && !fits_guard(h, inst)) return false;
    for (int i = 0; i < inst->operand_count; i++)
      if (array_of(inst->operands[i]) == h->array && !fits_use(h, inst)) return false;
  }
  return true;
}

static bool is_in_its_loops(const HandOver *h) {
  for (const IrRegion *at = h->disown->region; at->owner; at = at->owner->region)
    if (at->owner->op != IR_IF && !ir_is_inside(h->array, at)) return false;
  return true;
}

/* Another guard that holds the array; NULL: there is none. */
static const IrInst *find_guard(const HandOver *h, const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if ((inst->op == IR_OWN || inst->op == IR_ACQUIRE) && inst->operands[1] == h->array &&
        inst->operands[0] != h->disown->operands[0])
      return inst->operands[0];
  return NULL;
}

static bool is_for_memory(const IrInst *inst) {
  const IrInst *before = inst->previous, *after = inst->next;
  return inst->op == IR_DISOWN && before && before->op == IR_ACQUIRE &&
         before->operands[0] == inst->operands[0] && after &&
         ir_is_call(after, RT_ARRAY_EXCHANGE) && after->operands[1] == before->operands[1];
}

static int hand_over(Scratch *scratch, const IrKernel *kernel, IrRegion *body) {
  VEC(IrInst *) places = {0};
  int handed = 0, count = 0;
  HandOver h = {.order = scratch_array(scratch, int, kernel->next_id)};
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    h.order[inst->id] = count++;
    if (is_for_memory(inst)) vec_push(scratch, &places, inst);
  }
  for (int k = 0; k < places.count; k++) {
    IrInst *disown = places.items[k], *acquire = disown->previous;
    DEBUG_ASSERT(acquire->op == IR_ACQUIRE, "is_for_memory has found both");
    h.disown = disown;
    h.array = acquire->operands[1];
    h.guard = find_guard(&h, body);
    h.is_filled = false;
    if (!h.guard || !is_in_its_loops(&h) || !fits_insts(&h, body)) continue;
    ir_set_operand(disown, 0, (IrInst *)h.guard);
    ir_delete(acquire);
    handed++;
  }
  return handed;
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void prune_function(Counts *c, IrRegion *body, bool is_task, bool is_quiet) {
  int count = 0;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    count += inst->op == IR_ACQUIRE;
  if (!count) return;
  c->before += count;
  c->blocks.count = c->loops.count = 0;
  c->is_task = is_task;
  c->is_quiet = is_quiet;
  c->from_private = false;
  add_region(c, new_block(c, body), body);
  ASSERT(!c->loops.count, "every loop was left");
  while (prune_pairs(c)) {}
  for (int b = 0; b < c->blocks.count; b++) move_releases_to_end(c, c->blocks.items[b]);
  do
    while (prune_pairs(c)) {}
  while (prune_callers(c));
  c->removed += hand_over(c->scratch, c->kernel, body);
}

static void note_counts(const Counts *c) {
  if (!c->before) return;
  const IrInst *first = c->kernel->body->first;
  while (first && !first->line) first = first->next;
  ir_note(c->kernel, first ? first->line : 1, "%d of %d references need no counting", c->removed,
          c->before);
}

bool pass_refcounts(PassContext *ctx, IrKernel *kernel, Error *err) {
  Counts c = {.kernel = kernel, .scratch = ctx->scratch};
  find_keepers(&c);
  prune_function(&c, kernel->body, false, true);
  bool is_quiet = true, tasks_call = refcounts_tasks_call(kernel);
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrRegion *body = kernel->tasks.items[i]->body;
    bool keeps = overwrites_none(&c, body);
    prune_function(&c, body, true, keeps);
    is_quiet &= keeps;
  }
  for (int i = 0; i < kernel->functions.count; i++)
    prune_function(&c, kernel->functions.items[i]->body, false, is_quiet || !tasks_call);
  note_counts(&c);
  return true;
}
