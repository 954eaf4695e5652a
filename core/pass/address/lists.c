/* lists.c - chooses how ops on lists of dynamic SNodes run, from all that a body does to the lists.
 *
 *   locks    The body both removes and adds elements, or pops and empties: each op holds the list's
 *            lock (kind_dynamic.c), unless only one iteration changes that list (`plain`).
 *   buffers  append l0 %i, %v     =>   %row = call rt_dynamic_stage; mem.store %row, %v
 *            The body appends, neither reads the lists nor changes them in another way, and does
 *            not use the slots. This must hold for every append to the level, since elements of one
 *            iteration keep their order. Then the time of an append before the task's end cannot be
 *            observed, so a worker buffers the elements.
 *
 * Appends are staged if many consecutive ones are to one list: the same for all iterations, or for
 * all those of the innermost enclosing serial loop (llvm_bc/node_dynamic.c). Other appends go into
 * the worker's log, which is appended after the task; with a single worker they are appended at
 * once (node_dynamic_log.c): the code has both versions. */
#include "ir/facts.h"
#include "pass/address/lower_places.h"

enum {
  TAKES = 1,
  GIVES = 2,
  EMPTIES = 4,
  APPENDS = 8,
  LOOKS = 16,
  SHARES = 32 /* iterations may change the same list */,
  DECIDED = 64
};
enum { WAY_SHIFT = 7 }; /* from this bit on, a ListWay */

static void note(Lower *l, const SNode *node, intptr_t what) {
  DEBUG_ASSERT(what, "something is noted");
  intptr_t before = (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
  map_put_int(&l->lists, (uintptr_t)node, (void *)(before | what));
}

static intptr_t noted(Lower *l, const SNode *node) {
  return (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
}

/* Notes a read of the lists at and above the node. */
static void note_look(Lower *l, const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has_lists(node)) note(l, node, LOOKS);
}

static void note_call(Lower *l, const EffectCall *call) {
  if (call->changes & EFFECT_POPS) note(l, call->node, TAKES);
  if (call->changes & (EFFECT_APPENDS | EFFECT_ACTIVATES)) note(l, call->node, GIVES);
  /* it also empties lists below the cell, which any iteration may use */
  if (call->changes & EFFECT_DEACTIVATES)
    note(l, snode_root(call->node->tree), snode_has_lists(call->node) ? EMPTIES : EMPTIES | SHARES);
  if (call->changes && !call->inst->plain) note(l, call->node, SHARES);
  bool appends = call->op == IR_APPEND && !call->is_called;
  if (appends) note(l, call->node, APPENDS);
  note_look(l, appends ? call->node->parent : call->node);
}

void lists_survey(Lower *l, const Effects *effects) {
  for (int i = 0; effects && i < effects->calls.count; i++) note_call(l, &effects->calls.items[i]);
  for (int i = 0; effects && i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    const SNode *node = l->kernel->fields.items[access->field].node;
    if (access->verb & EFFECT_WRITES && node) note(l, node, GIVES);
    note_look(l, node);
  }
}

/* Ops of only one kind need no lock: pops compete only for the length, and clears all work towards
 * the front of the list. */
bool lists_lock(Lower *l, const SNode *dynamic) {
  intptr_t done = noted(l, dynamic) | noted(l, snode_root(dynamic->tree));
  intptr_t changes = done & (TAKES | GIVES | EMPTIES);
  return done & SHARES && (changes & (TAKES | EMPTIES)) && changes != TAKES && changes != EMPTIES;
}

bool lists_refill(Lower *l, const IrInst *deactivate, const SNode *dynamic) {
  return deactivate->plain && noted(l, dynamic) & APPENDS;
}

RtListWay lists_shared(Lower *l, const IrInst *call, const SNode *dynamic) {
  DEBUG_ASSERT(snode_has_lists(dynamic), "the call changes a list");
  bool is_host = !l->task && !l->is_called; /* one thread */
  if (is_host || call->plain) return RT_LIST_OWN;
  return lists_lock(l, dynamic) ? RT_LIST_LOCKED : RT_LIST_SHARED;
}

bool lists_change(Lower *l, const SNode *dynamic) {
  return (noted(l, dynamic) | noted(l, snode_root(dynamic->tree))) & (TAKES | GIVES | EMPTIES);
}

/* -- buffered appends -------------------------------------------------------------------------- */

static const IrRegion *innermost_body(const IrRegion *region) {
  while (region->owner && region->owner->op != IR_FOR && region->owner->op != IR_LOOP)
    region = region->owner->region;
  return region;
}

static ListWay way_of(const IrKernel *kernel, const IrInst *append, const IrRegion *whole) {
  const SNode *node = kernel->levels.items[append->level].node;
  const IrRegion *body = innermost_body(append->region);
  if (ir_use_count((IrRegion *)whole, append)) return LIST_AT_ONCE;
  for (int k = 0; k < node->rank - 1; k++)
    if (!facts_is_invariant(append->operands[k], body)) return LIST_LOGGED;
  return LIST_STAGED;
}

typedef struct Appends {
  const IrKernel *kernel;
  const SNode *node;
  const IrRegion *whole;
  ListWay way; /* of all those seen */
} Appends;

static bool add_append(void *data, IrInst *inst) {
  Appends *a = data;
  if (inst->op != IR_APPEND || a->kernel->levels.items[inst->level].node != a->node) return true;
  ListWay way = way_of(a->kernel, inst, a->whole);
  if (way < a->way) a->way = way;
  return a->way != LIST_AT_ONCE;
}

/* Called at the first append, when no append has been lowered yet. */
static ListWay way_of_all(Lower *l, const SNode *node) {
  DEBUG_ASSERT(l->task && !l->is_called, "only tasks buffer appends");
  IrRegion *bodies[] = {l->task->body, l->task->interior};
  Appends a = {.kernel = l->kernel, .node = node, .way = LIST_STAGED};
  for (int i = 0; i < 2; i++) {
    a.whole = bodies[i];
    if (bodies[i]) ir_walk(bodies[i], add_append, &a);
  }
  return a.way;
}

ListWay lists_way(Lower *l, const IrInst *append) {
  const SNode *node = l->kernel->levels.items[append->level].node;
  if (!l->task || l->is_called || !l->ctx->target.append_buffers) return LIST_AT_ONCE;
  intptr_t done = noted(l, node) | noted(l, snode_root(node->tree)), flags = SHARES - 1;
  if ((done & flags) != (GIVES | APPENDS)) return LIST_AT_ONCE;
  if (!(done & DECIDED)) note(l, node, DECIDED | (intptr_t)way_of_all(l, node) << WAY_SHIFT);
  return (ListWay)(noted(l, node) >> WAY_SHIFT);
}
