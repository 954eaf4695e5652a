/* locks.c - writes to elements of arrays to which other iterations may append: growing moves
 * the elements, and a write to where they were would be lost.
 *
 *     %p = call rt_array_at %a ..        call rt_array_lock %a
 *     mem.store %p ..                    %p = call rt_array_at %a ..
 *                                        mem.store %p ..
 *                                        call rt_array_unlock %a
 *
 * An append holds the lock while it grows (array_slow.c). Which arrays are one is not known: so all
 * those with elements of one size, in the loops of a kernel that append to such, but for arrays
 * that an iteration alone knows. Readers need no lock: what was moved stays until the loop ends.
 *
 * needs: tasks     keeps: all else */
#include "pass/pass.h"

#include "ir/task.h"
#include "pass/counts.h"

typedef struct Locks {
  IrKernel *kernel;
  Scratch *scratch;
  VEC(int64_t) sizes;        /* of elements that are appended */
  VEC(IrInst *) places;      /* elements that are written */
} Locks;

static bool is_append(const IrInst *inst) { return ir_is_call(inst, RT_ARRAY_APPEND); }

static bool has_size(const Locks *l, const IrInst *size) {
  for (int i = 0; i < l->sizes.count; i++)
    if (size->op != IR_CONST || l->sizes.items[i] == size->imm) return true;
  return false;
}

static bool note_append(void *data, IrInst *inst) {
  Locks *l = data;
  if (!is_append(inst) || counts_is_private(inst->operands[0])) return true;
  vec_push(l->scratch, &l->sizes, inst->operands[1]->imm);
  return true;
}

/* An append's own element is written while it is locked. */
static bool note_place(void *data, IrInst *inst) {
  Locks *l = data;
  if (ir_is_call(inst, RT_ARRAY_AT) && !is_append(inst->operands[1]) &&
      has_size(l, inst->operands[2]) && !counts_is_private(inst->operands[0]))
    vec_push(l->scratch, &l->places, inst);
  return true;
}

static bool is_through(const IrInst *inst, const IrInst *place) {
  for (int i = 0; i < inst->operand_count; i++)
    if (ir_before_offsets(inst->operands[i]) == place) return true;
  return false;
}

static void call(const Locks *l, RtEntry entry, IrInst *before, IrInst *place) {
  IrBuilder b = {.kernel = l->kernel, .region = place->region, .before = before,
                 .line = place->line};
  ir_call(&b, entry, 0, 0, 1, &place->operands[0]);
}

/* What uses the place is in its region, as it is lowered. */
static void lock(const Locks *l, IrInst *place) {
  IrInst *last = place;
  for (IrInst *inst = place->next; inst; inst = inst->next)
    if (is_through(inst, place)) last = inst;
  call(l, RT_ARRAY_LOCK, place, place);
  call(l, RT_ARRAY_UNLOCK, last->next, place);
}

bool pass_locks(PassContext *ctx, IrKernel *kernel, Error *err) {
  Locks l = {.kernel = kernel, .scratch = ctx->scratch};
  const bool *is_parallel = counts_find_parallel(ctx->scratch, kernel);
  for (int pass = 0; pass < 2; pass++) {
    IrVisit *visit = pass ? note_place : note_append;
    for (int i = 0; i < kernel->tasks.count; i++) ir_walk(kernel->tasks.items[i]->body, visit, &l);
    for (int i = 0; i < kernel->functions.count; i++)
      if (is_parallel[i]) ir_walk(kernel->functions.items[i]->body, visit, &l);
    if (!l.sizes.count) return true;
  }
  for (int i = 0; i < l.places.count; i++) lock(&l, l.places.items[i]);
  return true;
}
