/* hoist.c - hoists reads whose place is the same in all iterations of a nest.
 *
 *   for 0, 2, 1 (%a) {                        %v = load place f0 %p
 *     %v = load place f0 %p              =>   for 0, 2, 1 (%a) {
 *     update add (place f1 %q + %a), %v         update add (place f1 %q + %a), %v
 *   }                                         }
 *
 * LLVM does this in scalar code. Here it happens before a nest gets several versions, each of which
 * would read for itself, and under a mask in lanes. Fields that the nest writes stay, and nothing
 * moves if the nest may contain a lock or deactivates cells. */
#include "pass/loops/hoist.h"

#include "pass/rewrite.h"

enum { DEEPEST = 12 };

typedef struct Hoist {
  IrKernel *kernel;
  IrInst *nest;
  bool (*runs)(const IrInst *loop);
  int32_t field; /* of the read in question */
} Hoist;

static bool is_within(const Hoist *h, const IrInst *inst) {
  for (const IrRegion *region = inst->region; region && region->owner;
       region = region->owner->region)
    if (region->owner == h->nest) return true;
  return false;
}

/* Can the inst be computed before the nest? */
static bool can_leave(const Hoist *h, const IrInst *inst, int depth) {
  if (inst->op == IR_PARAM) {
    const IrInst *loop = inst->region ? inst->region->owner : NULL;
    return loop != h->nest && !(loop && is_within(h, loop));
  }
  if (!is_within(h, inst)) return true;
  if (!(ir_effects(inst) & IR_PURE) || inst->op == IR_GET || depth > DEEPEST) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!can_leave(h, inst->operands[i], depth + 1)) return false;
  return true;
}

static void leave(const Hoist *h, IrInst *inst) {
  if (inst->op == IR_PARAM || !is_within(h, inst)) return;
  for (int i = 0; i < inst->operand_count; i++) leave(h, inst->operands[i]);
  ir_remove(inst);
  ir_insert_before(h->nest, inst);
}

/* Does the inst preserve the field's elements? */
static bool keeps(void *data, IrInst *inst) {
  const Hoist *h = data;
  if (inst->op == IR_RMW || inst->op == IR_CAS) return false;
  if (rewrite_is_write(inst->op)) return inst->operands[0]->field != h->field;
  return !(ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT | IR_ACTIVATES | IR_DEACTIVATES));
}

static bool is_steady(Hoist *h, const IrInst *load) {
  h->field = load->operands[0]->field;
  int32_t array = h->kernel->fields.items[h->field].array;
  if (array >= 0 && h->kernel->arrays.items[array].is_shared) return false;
  return can_leave(h, load->operands[0], 0) && ir_walk(h->nest->regions[0], keeps, h);
}

static void visit(Hoist *h, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (ir_effects(inst) & IR_EXIT) return;
    if (inst->op == IR_FOR && h->runs(inst)) visit(h, inst->regions[0]);
    if (inst->op != IR_LOAD || !is_steady(h, inst)) continue;
    leave(h, inst);
  }
}

void hoist_reads(IrKernel *kernel, IrInst *nest, bool (*runs)(const IrInst *loop)) {
  Hoist h = {.kernel = kernel, .nest = nest, .runs = runs};
  visit(&h, nest->regions[0]);
}
