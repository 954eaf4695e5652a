/* lists.c - chooses how ops on lists of dynamic SNodes run, from all that a body does to the lists.
 *
 *   locks    The body both removes and adds elements, or pops and empties: each op holds the list's
 *            lock (kind_dynamic.c), unless only one iteration changes that list (`nonatomic`).
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
  POPS = 1,
  ADDS = 2,
  CLEARS = 4,
  APPENDS = 8,
  READS = 16,
  SHARED = 32,  /* iterations may change the same list */
  RESOLVED = 64 /* the ListWay of the appends is known */
};
enum { WAY_SHIFT = 7 }; /* a ListWay is in the bits from this one on */

static void record(Lower *l, const SNode *node, intptr_t what) {
  intptr_t before = (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
  map_put_int(&l->lists, (uintptr_t)node, (void *)(before | what));
}

static intptr_t recorded(Lower *l, const SNode *node) {
  return (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
}

/* Records a read of the lists at and above the node. */
static void record_read(Lower *l, const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has_lists(node)) record(l, node, READS);
}

static void record_call(Lower *l, const EffectCall *call) {
  if (call->changes & EFFECT_POPS) record(l, call->node, POPS);
  if (call->changes & (EFFECT_APPENDS | EFFECT_ACTIVATES)) record(l, call->node, ADDS);
  /* it also empties lists below the cell, which any iteration may use */
  if (call->changes & EFFECT_DEACTIVATES)
    record(l, snode_root(call->node->tree), snode_has_lists(call->node) ? CLEARS : CLEARS | SHARED);
  if (call->changes && !call->inst->nonatomic) record(l, call->node, SHARED);
  bool appends = call->op == IR_APPEND && !call->is_called;
  if (appends) record(l, call->node, APPENDS);
  record_read(l, appends ? call->node->parent : call->node);
}

void lists_survey(Lower *l, const Effects *effects) {
  for (int i = 0; effects && i < effects->calls.count; i++)
    record_call(l, &effects->calls.items[i]);
  for (int i = 0; effects && i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    const SNode *node = l->kernel->fields.items[access->field].node;
    if (access->verb & EFFECT_WRITES && node) record(l, node, ADDS);
    record_read(l, node);
  }
}

/* Ops of only one kind need no lock: pops compete only for the length, and clears all work towards
 * the front of the list. */
bool lists_need_lock(Lower *l, const SNode *dynamic) {
  intptr_t done = recorded(l, dynamic) | recorded(l, snode_root(dynamic->tree));
  intptr_t changes = done & (POPS | ADDS | CLEARS);
  return done & SHARED && (changes & (POPS | CLEARS)) && changes != POPS && changes != CLEARS;
}

bool lists_also_append(Lower *l, const IrInst *deactivate, const SNode *dynamic) {
  return deactivate->nonatomic && recorded(l, dynamic) & APPENDS;
}

RtListWay lists_call_way(Lower *l, const IrInst *call, const SNode *dynamic) {
  DEBUG_ASSERT(snode_has_lists(dynamic), "the call changes a list");
  bool is_host = !l->task && !l->is_called; /* one thread */
  if (is_host || call->nonatomic) return RT_LIST_OWN;
  return lists_need_lock(l, dynamic) ? RT_LIST_LOCKED : RT_LIST_SHARED;
}

/* May the task change any of its lists? */
static bool may_change(Lower *l, const SNode *dynamic) {
  return (recorded(l, dynamic) | recorded(l, snode_root(dynamic->tree))) & (POPS | ADDS | CLEARS);
}

/* -- buffered appends -------------------------------------------------------------------------- */

static const IrRegion *innermost_body(const IrRegion *region) {
  while (region->owner && region->owner->op != IR_FOR && region->owner->op != IR_LOOP)
    region = region->owner->region;
  return region;
}

static ListWay way_of_append(const IrKernel *kernel, const IrInst *append, const IrRegion *whole) {
  const SNode *node = kernel->levels.items[append->level].node;
  const IrRegion *body = innermost_body(append->region);
  if (ir_use_count(whole, append)) return LIST_AT_ONCE;
  for (int k = 0; k < node->rank - 1; k++)
    if (!facts_is_invariant(append->operands[k], body)) return LIST_LOGGED;
  return LIST_STAGED;
}

/* Called at the first append, when no append has been lowered yet. */
static ListWay way_of_all_appends(Lower *l, const SNode *node) {
  DEBUG_ASSERT(l->task && !l->is_called, "only tasks buffer appends");
  const IrRegion *bodies[] = {l->task->body, l->task->interior};
  ListWay least = LIST_STAGED;
  for (int i = 0; i < 2 && bodies[i]; i++)
    for (IrInst *inst = bodies[i]->first; inst; inst = ir_following(inst, bodies[i])) {
      if (inst->op != IR_APPEND || l->kernel->levels.items[inst->level].node != node) continue;
      ListWay way = way_of_append(l->kernel, inst, bodies[i]);
      if (way < least) least = way;
    }
  return least;
}

ListWay lists_way(Lower *l, const IrInst *append) {
  const SNode *node = l->kernel->levels.items[append->level].node;
  if (!l->task || l->is_called || !l->ctx->target.append_buffers) return LIST_AT_ONCE;
  intptr_t done = recorded(l, node) | recorded(l, snode_root(node->tree)), flags = SHARED - 1;
  if ((done & flags) != (ADDS | APPENDS)) return LIST_AT_ONCE;
  if (!(done & RESOLVED))
    record(l, node, RESOLVED | (intptr_t)way_of_all_appends(l, node) << WAY_SHIFT);
  return (ListWay)(recorded(l, node) >> WAY_SHIFT);
}

/* -- loops along a list ------------------------------------------------------------------------ */

/* Makes a serial loop along a list look up each chunk of the list once.
 *
 *   for %k = 0, .. { load place f0 %i, %k }  =>  for %k = 0, .. {
 *                                                  if %k % chunk == 0 { set %node, look-up }
 *                                                  mem.load %node + %k % chunk
 *                                                }
 *
 * The look-up is at the start of the body, so every iteration has its chunk's node, whatever else
 * the body does; in lanes one test serves all, since all lanes count from 0. Outside the shape
 * %node is the ambient, so the load itself needs no test; the look-up has a test of its own, since
 * the branch that proves the place inside may be further down. This requires that the task changes
 * no list of the SNode, so that looked-up chunks stay valid, and that the loop's iterations run in
 * order. Decision D-pass-16. */

/* Elements of a chunk below which looking up the chunk costs as much as looking up each element. */
enum { LEAST_CHUNK = 4 };

static const SNode *list_of(const Lower *l, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  bool is_list = field->array < 0 && !field->place && snode_has_lists(field->node);
  return is_list && field->node->chunk >= LEAST_CHUNK ? field->node : NULL;
}

static bool counts_from_zero(const IrInst *loop) {
  int64_t begin;
  return !loop->independent && facts_step(loop) == 1 && ir_is_const(loop->operands[0], &begin) &&
         begin == 0;
}

/* Does the access go along a list by the loop's own index, and is the list loop-invariant? */
static bool goes_along(Lower *l, const IrInst *loop, const IrInst *access) {
  const IrInst *place = access->op == IR_LOAD ? access->operands[0] : NULL;
  if (!place || place->op != IR_PLACE || place->in_visited_node) return false;
  const SNode *list = list_of(l, place);
  if (!list || may_change(l, list)) return false;
  int own = snode_axis_position(list, list->axes[0]);
  if (own != list->rank - 1 || place->operands[own] != ir_index(loop)) return false;
  for (int k = 0; k < own; k++)
    if (place->operands[k]->op != IR_CONST && ir_is_inside(place->operands[k], loop->regions[0]))
      return false;
  return true;
}

static bool is_same_list(const Lower *l, const IrInst *a, const IrInst *b) {
  return list_of(l, a) == list_of(l, b) &&
         facts_same_values(a->operand_count, a->operands, b->operands) &&
         l->kernel->fields.items[a->field].tree == l->kernel->fields.items[b->field].tree;
}

/* -- the look-up ------------------------------------------------------------------------------- */

/* Copies constants, since they may be defined inside the loop, after the look-up. */
static void copy_indices(IrBuilder *b, const IrInst *place, IrInst **indices) {
  for (int k = 0; k < place->operand_count; k++) {
    IrInst *index = place->operands[k];
    int64_t value;
    bool is_const = ir_is_const(index, &value);
    indices[k] = is_const ? ir_const_int(b, index->type, value) : index;
  }
}

static void set_chunk(Lower *l, IrBuilder *b, IrInst *node, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *list = field->node;
  IrInst *indices[SNODE_MAX_AXES];
  copy_indices(b, place, indices);
  IrInst *inside = address_inside(b, list, indices);
  IrInst *branch = inside ? ir_if(b, inside) : NULL;
  IrBuilder there = branch ? rewrite_inside(l->kernel, branch->regions[0], place) : *b;
  Address at = address_from_root(&there, field->tree, list, indices);
  ir_set(&there, node, address_node(&at, list));
  if (!branch) return;
  there = rewrite_inside(l->kernel, branch->regions[1], place);
  ir_set(&there, node, ir_emit(&there, IR_AMBIENT, TYPE(PTR), 0, NULL));
}

static IrInst *cache_chunk(Lower *l, IrInst *loop, const IrInst *place) {
  DEBUG_ASSERT(loop->op == IR_FOR && list_of(l, place), "the loop goes along a list");
  IrBuilder before = rewrite_before(l->kernel, loop);
  IrInst *node = ir_var(&before, TYPE(PTR)), *index = ir_index(loop);
  IrBuilder b = rewrite_before(l->kernel, loop->regions[0]->first);
  IrInst *cell = address_modulo(&b, index, list_of(l, place)->chunk);
  IrInst *is_new = ir_binary_const(&b, IR_EQ, cell, 0);
  b = rewrite_inside(l->kernel, ir_if(&b, is_new)->regions[0], place);
  set_chunk(l, &b, node, place);
  ir_note(l->kernel, place->line, "the loop looks each chunk of the list up once");
  return node;
}

void lists_cache_chunks(Lower *l, IrInst *loop) {
  if (!l->task || l->is_called || !l->ctx->target.append_buffers || !counts_from_zero(loop)) return;
  const IrRegion *body = loop->regions[0];
  VEC(IrInst *) places = {0};
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (goes_along(l, loop, inst)) vec_push(l->kernel->scratch, &places, inst->operands[0]);
  for (int k = 0; k < places.count; k++) {
    IrInst *place = places.items[k], *node = NULL;
    for (int j = 0; j < k && !node; j++)
      if (is_same_list(l, place, places.items[j]))
        node = map_find_int(&l->walks, (uintptr_t)places.items[j]);
    if (!node) node = cache_chunk(l, loop, place);
    map_put_int(&l->walks, (uintptr_t)place, node);
  }
}

IrInst *lists_chunk_address(Lower *l, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  IrInst *node = access->op == IR_LOAD ? map_find_int(&l->walks, (uintptr_t)place) : NULL;
  if (!node) return NULL;
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *list = field->node;
  const SNodeComponent *into = &list->components[field->component];
  IrInst *cell = address_modulo(b, place->operands[list->rank - 1], list->chunk);
  return ir_offset(b, ir_get(b, node), cell, (int64_t)into->stride, (int64_t)into->offset);
}
