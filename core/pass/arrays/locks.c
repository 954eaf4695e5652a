/* locks.c - locks writes to elements of arrays to which other iterations may append: growing moves
 * the elements, so a write to their old address would be lost.
 *
 *     %p = call rt_array_at %a ..        call rt_array_lock %a
 *     mem.store %p ..                    %p = call rt_array_at %a ..
 *                                        mem.store %p ..
 *                                        call rt_array_unlock %a
 *
 * An append holds the lock while the array grows (array_slow.c). The pass cannot know which arrays
 * are the same, so it locks all arrays whose elements have the size of an appended one, except
 * arrays that only one iteration can reach. Readers need no lock: the old elements stay in memory
 * until the loop ends.
 *
 * needs: tasks     keeps: all else
 * Decision D-pass-30. */
#include "pass/pass.h"

#include "ir/task.h"
#include "pass/arrays/refcounts.h"

typedef struct Locks {
  IrKernel *kernel;
  Scratch *scratch;
  VEC(int64_t) sizes;   /* of elements that are appended */
  VEC(IrInst *) places; /* elements that are written */
} Locks;

static bool is_append(const IrInst *inst) { return ir_is_call(inst, RT_ARRAY_APPEND); }

static bool has_size(const Locks *l, const IrInst *size) {
  for (int i = 0; i < l->sizes.count; i++)
    if (size->op != IR_CONST || l->sizes.items[i] == size->imm) return true;
  return false;
}

static bool record_append(void *data, IrInst *inst) {
  Locks *l = data;
  if (!is_append(inst) || refcounts_is_private(inst->operands[0])) return true;
  DEBUG_ASSERT(inst->operands[1]->op == IR_CONST, "the size of an element is a constant");
  vec_push(l->scratch, &l->sizes, inst->operands[1]->imm);
  return true;
}

/* Records elements that are written, except an append's own, which is written under the lock. */
static bool record_place(void *data, IrInst *inst) {
  Locks *l = data;
  if (ir_is_call(inst, RT_ARRAY_AT) && !is_append(inst->operands[1]) &&
      has_size(l, inst->operands[2]) && !refcounts_is_private(inst->operands[0]))
    vec_push(l->scratch, &l->places, inst);
  return true;
}

static bool uses_place(const IrInst *inst, const IrInst *place) {
  for (int i = 0; i < inst->operand_count; i++)
    if (ir_base_address(inst->operands[i]) == place) return true;
  return false;
}

static void call_on_array(const Locks *l, RtEntry entry, IrInst *before, IrInst *place) {
  IrBuilder b = {
      .kernel = l->kernel, .region = place->region, .before = before, .line = place->line};
  ir_call(&b, entry, 0, 0, 1, &place->operands[0]);
}

/* Locks from the place to its last use; lowering puts all uses into the region of the place. */
static void lock_place(const Locks *l, IrInst *place) {
  DEBUG_ASSERT(ir_is_call(place, RT_ARRAY_AT), "only elements that are written are locked");
  IrInst *last = place;
  for (IrInst *inst = place->next; inst; inst = inst->next)
    if (uses_place(inst, place)) last = inst;
  call_on_array(l, RT_ARRAY_LOCK, place, place);
  call_on_array(l, RT_ARRAY_UNLOCK, last->next, place);
}

bool pass_locks(PassContext *ctx, IrKernel *kernel, Error *err) {
  Locks l = {.kernel = kernel, .scratch = ctx->scratch};
  bool tasks_call = refcounts_tasks_call(kernel);
  for (int pass = 0; pass < 2; pass++) {
    IrVisit *visit = pass ? record_place : record_append;
    for (int i = 0; i < kernel->tasks.count; i++) ir_walk(kernel->tasks.items[i]->body, visit, &l);
    for (int i = 0; i < kernel->functions.count && tasks_call; i++)
      ir_walk(kernel->functions.items[i]->body, visit, &l);
    if (!l.sizes.count) return true;
  }
  for (int i = 0; i < l.places.count; i++) lock_place(&l, l.places.items[i]);
  return true;
}
