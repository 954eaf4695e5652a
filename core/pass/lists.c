/* lists.c - what a body does to lists of dynamic SNodes as a whole decides how its ops run.
 *
 *   locks    it both removes and adds elements: each op holds the list's lock (kind_dynamic.c)
 *   stages   append l0 %i, %v     =>   %row = call rt_dynamic_stage; mem.store %row, %v
 *            It appends, and neither reads the lists nor changes them in another way, nobody uses
 *            the slot, and many appends in a row are to one list: the list is that of all
 *            iterations, or of all those of the innermost serial loop around. That holds of every
 *            append to the level, as elements of one iteration keep their order. Then nobody can
 *            tell when elements are appended before the task's end, so a worker collects them and
 *            appends many at once (llvm_bc/node_dynamic.c). */
#include "pass/places.h"

enum { TAKES = 1, GIVES = 2, EMPTIES = 4, APPENDS = 8, LOOKS = 16, STAGES = 32, ACTS = 64 };

static void note(Lower *l, const SNode *node, intptr_t what) {
  intptr_t before = (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
  map_put_int(&l->lists, (uintptr_t)node, (void *)(before | what));
}

static intptr_t noted(Lower *l, const SNode *node) {
  return (intptr_t)map_find_int(&l->lists, (uintptr_t)node);
}

/* Lists above the node, and its own. */
static void note_look(Lower *l, const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has_lists(node)) note(l, node, LOOKS);
}

static void note_call(Lower *l, const EffectCall *call) {
  if (call->changes & EFFECT_POPS) note(l, call->node, TAKES);
  if (call->changes & (EFFECT_APPENDS | EFFECT_ACTIVATES)) note(l, call->node, GIVES);
  /* a list below it, too */
  if (call->changes & EFFECT_DEACTIVATES) note(l, snode_root(call->node->tree), EMPTIES);
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

bool lists_lock(Lower *l, const SNode *dynamic) {
  intptr_t done = noted(l, dynamic) | noted(l, snode_root(dynamic->tree));
  return (done & (TAKES | EMPTIES)) && done != TAKES;
}

/* -- staging ----------------------------------------------------------------------------------- */

static bool is_param(const IrInst *inst, const IrRegion *body) {
  for (int k = 0; k < body->params.count; k++)
    if (body->params.items[k] == inst) return true;
  return false;
}

/* Is it the same in all iterations of the loop whose body this is? */
static bool is_uniform(const IrInst *inst, const IrRegion *body) {
  if (is_param(inst, body)) return false;
  if (inst->op == IR_CONST || inst->op == IR_FRAME_GET || !ir_is_inside(inst, body)) return true;
  if (!(ir_effects(inst) & IR_PURE)) return false;
  for (int k = 0; k < inst->operand_count; k++)
    if (!is_uniform(inst->operands[k], body)) return false;
  return true;
}

static const IrRegion *innermost_body(const IrRegion *region) {
  while (region->owner && region->owner->op != IR_FOR && region->owner->op != IR_LOOP)
    region = region->owner->region;
  return region;
}

static bool may_wait(const IrKernel *kernel, const IrInst *append, const IrRegion *whole) {
  const SNode *node = kernel->levels.items[append->level].node;
  const IrRegion *body = innermost_body(append->region);
  for (int k = 0; k < node->rank - 1; k++)
    if (!is_uniform(append->operands[k], body)) return false;
  return !ir_use_count((IrRegion *)whole, append);
}

typedef struct Appends {
  const IrKernel *kernel;
  const SNode *node;
  const IrRegion *whole;
} Appends;

static bool is_no_obstacle(void *data, IrInst *inst) {
  const Appends *a = data;
  return inst->op != IR_APPEND || a->kernel->levels.items[inst->level].node != a->node ||
         may_wait(a->kernel, inst, a->whole);
}

/* Found at the first append, when none is lowered yet. */
static bool all_may_wait(Lower *l, const SNode *node) {
  IrRegion *bodies[] = {l->task->body, l->task->interior};
  for (int i = 0; i < 2; i++) {
    Appends a = {l->kernel, node, bodies[i]};
    if (bodies[i] && !ir_walk(bodies[i], is_no_obstacle, &a)) return false;
  }
  return true;
}

bool lists_stage(Lower *l, const IrInst *append) {
  const SNode *node = l->kernel->levels.items[append->level].node;
  if (!l->task || l->is_called || l->ctx->for_cuda) return false;
  intptr_t done = noted(l, node) | noted(l, snode_root(node->tree)), decided = STAGES | ACTS;
  if ((done & ~decided) != (GIVES | APPENDS)) return false;
  if (!(done & decided)) note(l, node, all_may_wait(l, node) ? STAGES : ACTS);
  return noted(l, node) & STAGES;
}
