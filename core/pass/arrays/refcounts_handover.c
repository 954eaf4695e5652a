/* refcounts_handover.c - transfers a guard's reference to memory, instead of counting a new one for
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
#include "pass/pass.h"

#include "pass/arrays/refcounts.h"

typedef struct HandOver {
  const IrInst *array, *guard, *disown;
  int *order; /* by id: position of the inst in the text */
  int next;
  bool is_filled;
} HandOver;

static bool number_inst(void *data, IrInst *inst) {
  HandOver *h = data;
  h->order[inst->id] = h->next++;
  return true;
}

static bool is_within(const IrRegion *inner, const IrRegion *outer) {
  while (inner && inner != outer) inner = inner->owner ? inner->owner->region : NULL;
  return inner == outer;
}

static bool is_past(const HandOver *h, const IrInst *inst) {
  return h->order[inst->id] > h->order[h->disown->id];
}

/* May the guard be released by `inst`? Before the place only on a path that leaves the function. */
static bool may_release(const HandOver *h, const IrInst *inst) {
  if (is_past(h, inst)) return true;
  return ir_effects(inst->region->last) & IR_EXIT && !is_within(h->disown->region, inst->region);
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
  operand = ir_before_offsets(operand);
  bool is_place = ir_is_call(operand, RT_ARRAY_AT) || ir_is_call(operand, RT_ARRAY_READ) ||
                  ir_is_call(operand, RT_ARRAY_POP);
  return is_place ? operand->operands[0] : operand;
}

static bool fits_use(const HandOver *h, const IrInst *inst) {
  bool is_seen = ir_is_count(inst->op) || inst->op == IR_INVOKE || inst->op == IR_CALL ||
                 inst->op == IR_OFFSET || inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE ||
                 inst->op == IR_MEM_UPDATE;
  return is_seen && (!is_past(h, inst) || inst == h->disown->next);
}

static bool fits_inst(void *data, IrInst *inst) {
  HandOver *h = data;
  if (refcounts_uses_guard(inst, h->guard) && !fits_guard(h, inst)) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (array_of(inst->operands[i]) == h->array && !fits_use(h, inst)) return false;
  return true;
}

static bool is_in_its_loops(const HandOver *h) {
  for (const IrRegion *at = h->disown->region; at->owner; at = at->owner->region)
    if (at->owner->op != IR_IF && !is_within(h->array->region, at)) return false;
  return true;
}

static bool find_guard(void *data, IrInst *inst) {
  HandOver *h = data;
  bool fills = (inst->op == IR_OWN || inst->op == IR_ACQUIRE) && inst->operands[1] == h->array &&
               inst->operands[0] != h->disown->operands[0];
  if (fills) h->guard = inst->operands[0];
  return !fills;
}

static bool is_for_memory(const IrInst *inst) {
  const IrInst *before = inst->previous, *after = inst->next;
  return inst->op == IR_DISOWN && before && before->op == IR_ACQUIRE &&
         before->operands[0] == inst->operands[0] && after &&
         ir_is_call(after, RT_ARRAY_EXCHANGE) && after->operands[1] == before->operands[1];
}

typedef struct Places {
  Scratch *scratch;
  VEC(IrInst *) found;
} Places;

static bool collect_place(void *data, IrInst *inst) {
  Places *places = data;
  if (is_for_memory(inst)) vec_push(places->scratch, &places->found, inst);
  return true;
}

int refcounts_hand_over(Scratch *scratch, const IrKernel *kernel, IrRegion *body) {
  Places places = {.scratch = scratch};
  int handed = 0;
  ir_walk(body, collect_place, &places);
  if (!places.found.count) return 0;
  HandOver h = {.order = scratch_array(scratch, int, kernel->next_id)};
  ir_walk(body, number_inst, &h);
  for (int k = 0; k < places.found.count; k++) {
    IrInst *disown = places.found.items[k], *acquire = disown->previous;
    DEBUG_ASSERT(acquire->op == IR_ACQUIRE, "is_for_memory has found both");
    h.disown = disown;
    h.array = acquire->operands[1];
    h.guard = NULL;
    h.is_filled = false;
    ir_walk(body, find_guard, &h);
    if (!h.guard || !is_in_its_loops(&h) || !ir_walk(body, fits_inst, &h)) continue;
    ir_set_operand(disown, 0, (IrInst *)h.guard);
    ir_delete(acquire);
    handed++;
  }
  return handed;
}
