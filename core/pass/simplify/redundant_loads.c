/* redundant_loads.c - redundant load elimination: an iteration does not read an element again that
 * it has read and not written since.
 *
 *   %a = mem.load alias=1 %p          %a = mem.load alias=1 %p
 *   mem.update alias=2 add %q, %a     mem.update alias=2 add %q, %a
 *   %b = mem.load alias=1 %p     =>
 *   mem.update alias=2 add %r, %b     mem.update alias=2 add %r, %a
 *
 * It is unspecified when writes of other iterations become visible, so the second read may return
 * the old value; but not across an atomic op with a result, which may be a lock. A load is
 * available in its region, from its position on, and in nested regions; a loop first invalidates
 * the loads that its body may change. LLVM does the same for scalar code, but not for masked
 * accesses in lanes, where removing loads also brings updates together. Applies to ranges only;
 * thanks to `fold`, equal addresses are one inst. */
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

/* Loads that are remembered at once; each new one is compared with all of them. */
enum { MOST_KNOWN = 64 };

typedef struct Loads {
  IrInst **with; /* by id: its replacement */
  IrInst *known[MOST_KNOWN];
  int count;
} Loads;

/* -- invalidation ------------------------------------------------------------------------------ */

/* May `inst` change what the load reads? */
static bool may_change(const IrInst *inst, const IrInst *load) {
  int effects = ir_effects(inst);
  if (ir_is_write(inst->op)) return !inst->alias || !load->alias || inst->alias == load->alias;
  if (effects & (IR_WRITE | IR_UPDATE_EFFECT | IR_DEACTIVATES)) return true;
  return effects & IR_ACTIVATES && !load->alias;
}

static bool forget_changed(void *data, IrInst *inst) {
  Loads *loads = data;
  int kept = 0;
  for (int i = 0; i < loads->count; i++)
    if (!may_change(inst, loads->known[i])) loads->known[kept++] = loads->known[i];
  loads->count = kept;
  return true;
}

/* -- the walk ---------------------------------------------------------------------------------- */

static const IrInst *resolved(const Loads *loads, const IrInst *inst) {
  return loads->with[inst->id] ? loads->with[inst->id] : inst;
}

static bool is_same(const Loads *loads, const IrInst *a, const IrInst *b) {
  return facts_same_operation(a, b) &&
         resolved(loads, a->operands[0]) == resolved(loads, b->operands[0]);
}

static void visit_load(Loads *loads, IrInst *inst) {
  DEBUG_ASSERT(!inst->shape && !inst->group, "`access_shapes`, which groups loads, runs later");
  for (int i = 0; i < loads->count; i++) {
    if (!is_same(loads, loads->known[i], inst)) continue;
    loads->with[inst->id] = loads->known[i];
    ir_delete(inst);
    return;
  }
  if (loads->count < MOST_KNOWN) loads->known[loads->count++] = inst;
}

static void visit_region(Loads *loads, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_MEM_LOAD) visit_load(loads, inst);
    else forget_changed(loads, inst);
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && inst->op != IR_IF) ir_walk(inst->regions[i], forget_changed, loads);
    for (int i = 0; i < IR_MAX_REGIONS; i++) {
      if (!inst->regions[i]) continue;
      Loads inside = *loads;
      visit_region(&inside, inst->regions[i]);
    }
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) ir_walk(inst->regions[i], forget_changed, loads);
  }
}

static void visit_body(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  if (!body) return;
  Loads loads = {.with = scratch_array(ctx->scratch, IrInst *, kernel->next_id)};
  visit_region(&loads, body);
  rewrite_operands(body, loads.with, kernel->next_id);
}

bool pass_redundant_loads(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE) continue;
    visit_body(ctx, kernel, task->body);
    visit_body(ctx, kernel, task->interior);
  }
  return true;
}
