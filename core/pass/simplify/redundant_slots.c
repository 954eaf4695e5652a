/* redundant_slots.c - removes repeated look-ups that ensure a node: once per iteration suffices.
 *
 *   %n = call rt_slot_ensure %s      %n = call rt_slot_ensure %s
 *   mem.store %n + 0                 mem.store %n + 0
 *   %m = call rt_slot_ensure %s  =>
 *   mem.store %m + 4                 mem.store %n + 4
 *
 * If the body deactivates nothing in the tree, an ensured node exists for the rest of the
 * iteration, so a later look-up finds the same node. Look-ups that only find are left to LLVM,
 * which knows when nothing in between can change the slot. A result is available in its region,
 * from its position on, and in nested regions. Equal slots are one inst, thanks to `fold`. Cells of
 * a hash are identified by the parent node and the coordinates. A table look-up is too opaque for
 * LLVM to merge, so if the body activates nothing in the tree, a found cell is not looked up again
 * either. */
#include "pass/analysis/effects.h"
#include "pass/rewrite.h"

enum { MOST_FOUND = 64 }; /* cells of hashes that are compared with each new one */

typedef struct Slots {
  IrKernel *kernel;
  const unsigned *trees; /* the body's effects on each tree */
  IrInst **ensured;      /* by id of a slot's address: the visible inst that ensured it */
  IrInst **with;         /* by id: its replacement */
  VEC(int) entered;      /* addresses in `ensured`, to be removed when their region ends */
  VEC(IrInst *) found;   /* cells of hashes, likewise */
} Slots;

static IrInst *resolved(const Slots *s, IrInst *inst) {
  return s->with[inst->id] ? s->with[inst->id] : inst;
}

static void visit_slot(Slots *s, IrInst *inst) {
  DEBUG_ASSERT(inst->operand_count == 1, "a slot is named by its address");
  const IrInst *address = resolved(s, inst->operands[0]);
  IrInst *known = s->ensured[address->id];
  if (known && known->tree == inst->tree) {
    s->with[inst->id] = known;
    ir_delete(inst);
  } else if (ir_is_call(inst, RT_SLOT_ENSURE) && !known) {
    s->ensured[address->id] = inst;
    vec_push(s->kernel->scratch, &s->entered, address->id);
  }
}

static bool is_same_cell(const Slots *s, const IrInst *a, const IrInst *b) {
  if (a->tree != b->tree || a->imm != b->imm || a->operand_count != b->operand_count) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (resolved(s, a->operands[i]) != resolved(s, b->operands[i])) return false;
  return true;
}

static void visit_key(Slots *s, IrInst *inst) {
  for (int i = s->found.count - 1; i >= 0; i--) {
    if (!is_same_cell(s, s->found.items[i], inst)) continue;
    s->with[inst->id] = s->found.items[i];
    ir_delete(inst);
    return;
  }
  if (s->found.count < MOST_FOUND &&
      (ir_is_call(inst, RT_HASH_ENSURE) || !(s->trees[inst->tree] & EFFECT_ACTIVATES)))
    vec_push(s->kernel->scratch, &s->found, inst);
}

/* Does the node of its result exist until the iteration ends? */
static bool stays(const Slots *s, const IrInst *inst) {
  return !(s->trees[inst->tree] & EFFECT_DEACTIVATES);
}

static void visit_region(Slots *s, IrRegion *region) {
  int before = s->entered.count, found = s->found.count;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool is_slot = ir_is_call(inst, RT_SLOT_ENSURE) || ir_is_call(inst, RT_SLOT_FIND);
    bool is_key = ir_is_call(inst, RT_HASH_ENSURE) || ir_is_call(inst, RT_HASH_FIND);
    if (is_slot && stays(s, inst)) visit_slot(s, inst);
    if (is_key && stays(s, inst)) visit_key(s, inst);
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) visit_region(s, inst->regions[i]);
  }
  DEBUG_ASSERT(s->entered.count >= before && s->found.count >= found, "regions only add");
  while (s->entered.count > before) s->ensured[s->entered.items[--s->entered.count]] = NULL;
  s->found.count = found;
}

static void visit_body(Slots *s, IrRegion *body) {
  if (!body) return;
  visit_region(s, body);
  rewrite_operands(body, s->with, s->kernel->next_id);
}

bool pass_redundant_slots(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    Slots s = {.kernel = kernel,
               .trees = effects_of(ctx, kernel, task)->trees,
               .ensured = scratch_array(ctx->scratch, IrInst *, kernel->next_id),
               .with = scratch_array(ctx->scratch, IrInst *, kernel->next_id)};
    visit_body(&s, task->body);
    visit_body(&s, task->interior);
  }
  return true;
}
