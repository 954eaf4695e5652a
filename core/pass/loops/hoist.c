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

#include "ir/facts.h"
#include "pass/rewrite.h"

typedef struct Hoist {
  IrKernel *kernel;
  IrInst *nest;
  bool (*runs)(const IrInst *loop);
  int32_t field; /* of the read in question */
} Hoist;

static void leave(const Hoist *h, IrInst *inst) {
  DEBUG_ASSERT(ir_effects(inst) & (IR_PURE | IR_READ), "what moves only computes or reads");
  if (inst->op == IR_PARAM || !ir_is_inside(inst, h->nest->regions[0])) return;
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
  return !ir_is_shared(h->kernel, h->field) &&
         facts_is_invariant(load->operands[0], h->nest->regions[0]) &&
         ir_walk(h->nest->regions[0], keeps, h);
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
