/* slice.c - see slice.h. */
#include "pass/gradient/slice.h"

#include "pass/gradient/derivative.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

Slice slice_of(Scratch *scratch, const IrKernel *kernel, const IrRegion *region) {
  return (Slice){.region = region, .kept = scratch_array(scratch, bool, kernel->next_id)};
}

static bool add_exit(void *data, IrInst *inst) {
  if (inst->op == IR_BREAK || inst->op == IR_CONTINUE) slice_add(data, inst);
  return true;
}

void slice_add_exits(Slice *s, IrRegion *region) { ir_walk(region, add_exit, s); }

typedef struct Writes {
  Slice *slice;
  int field;
} Writes;

static bool add_write(void *data, IrInst *inst) {
  const Writes *writes = data;
  Slice *s = writes->slice;
  if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE ||
      inst->operands[0]->field != writes->field)
    return true;
  s->is_overwritten = true;
  if (s->is_rerun) slice_add(s, inst);
  return true;
}

static void add_setters(Slice *s, const IrInst *storage) {
  for (const IrUse *use = storage->uses; use; use = use->next)
    if (use->user->op != IR_GET && use->user->op != IR_LOCAL_GET &&
        ir_is_inside(use->user, s->region))
      slice_add(s, use->user);
}

void slice_add(Slice *s, IrInst *inst) {
  bool is_inside = ir_is_inside(inst, s->region), is_storage = plan_is_storage(inst);
  if (inst->op == IR_PARAM || s->kept[inst->id] || (!is_inside && !is_storage)) return;
  s->kept[inst->id] = true;
  if (is_storage) add_setters(s, inst);
  if (!is_inside) return;
  bool is_unrepeatable = derivative_class(inst->op) == DERIVATIVE_UNREPEATABLE &&
                         !(s->is_rerun && inst->op == IR_RANDOM_STREAM);
  if (is_unrepeatable && !s->unrepeatable) s->unrepeatable = inst;
  s->is_reduced |= inst->op == IR_REDUCE;
  for (int k = 0; k < inst->operand_count; k++) slice_add(s, inst->operands[k]);
  for (IrInst *at = inst->region->owner; at && at != s->region->owner; at = at->region->owner) {
    slice_add(s, at);
    if (at->op != IR_IF) slice_add_exits(s, at->regions[0]);
  }
  if (inst->op != IR_LOAD || inst->operands[0]->op != IR_PLACE) return;
  Writes writes = {s, inst->operands[0]->field};
  ir_walk((IrRegion *)s->region, add_write, &writes);
}
