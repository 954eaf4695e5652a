/* slice.c - backward slices, see slice.h; and the slice of the primal that its adjoint runs once
 * more. */
#include "pass/gradient/slice.h"

#include "pass/gradient/derivative.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

Slice slice_of(const IrKernel *kernel, const IrRegion *region) {
  return (Slice){.region = region, .kept = scratch_array(kernel->scratch, bool, kernel->next_id)};
}

void slice_add_exits(Slice *s, const IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region))
    if (inst->op == IR_BREAK || inst->op == IR_CONTINUE) slice_add(s, inst);
}

static void add_writes(Slice *s, int field) {
  for (IrInst *inst = s->region->first; inst; inst = ir_following(inst, s->region)) {
    if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE ||
        inst->operands[0]->field != field)
      continue;
    s->is_overwritten = true;
    if (s->is_rerun) slice_add(s, inst);
  }
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
  if (inst->op == IR_LOAD && inst->operands[0]->op == IR_PLACE)
    add_writes(s, inst->operands[0]->field);
}

/* -- running the primal once more -------------------------------------------------------------- */

/* Keeps, before the adjoint, the backward slice of the primal from the taped values:
 *
 *     for t { for i { x[i] = f(x[i]) } }     kept, and tapes each x[i] that f reads
 *     for i { loss += x[i] }                 deleted
 *
 * If an element is read, the slice has all writes to its field. So after the slice has run, these
 * fields are as the launch left them, provided that the host restores their previous contents
 * first. All streams of random numbers are drawn, in the order in which the launch drew them. */

const bool *rerun_find(Plans *plans) {
  const IrRegion *body = plans->kernel->body;
  Slice slice = slice_of(plans->kernel, body);
  slice.is_rerun = true;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_value = !inst->regions[0] && tape_has(&plans->tape, inst);
    if (is_value || inst->op == IR_RANDOM_STREAM) slice_add(&slice, inst);
    if (inst->op == IR_RETURN && inst->region->owner)
      plans_refuse(plans, inst,
                   "the derivative runs the kernel once more, which may not return early", NULL);
  }
  if (slice.unrepeatable)
    plans_refuse(plans, slice.unrepeatable,
                 "the derivative needs elements before they are overwritten, and what is written "
                 "to them depends on an operation that cannot be repeated",
                 "divide the kernel in two, or write to another field");
  return slice.kept;
}

static IrInst *same_value(void *data, IrBuilder *b, const IrInst *value) { return (IrInst *)value; }

/* Appends an element to the loop's array at the beginning of each iteration. */
static void grow_array(const TapePlace *at, IrInst *loop) {
  IrRegion *body = loop->regions[0];
  IrBuilder first = {at->b->kernel, body, body->first, loop->line, loop->column};
  tape_append(&(TapePlace){at->tape, &first, at->value_of, at->data}, loop);
}

/* `top`: the outermost region of the function that contains the region. */
static void tape_region(Plans *p, IrRegion *region, IrRegion *top) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool is_parallel = ir_is_unordered(inst);
    bool is_taped = tape_has(&p->tape, inst);
    IrBuilder b = {p->kernel, region, inst->regions[0] ? inst : next, inst->line, inst->column};
    TapePlace at = {&p->tape, &b, same_value, NULL};
    if (is_taped && inst->regions[0]) tape_create(&at, top, inst);
    else if (is_taped) tape_write(&at, inst, inst);
    if (inst->op != IR_IF && !is_taped) continue;
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
      tape_region(p, inst->regions[k],
                  is_parallel && top == p->kernel->body ? inst->regions[k] : top);
    /* last, since the walk must not meet insts that the primal does not have */
    if (is_taped && inst->regions[0] && p->tape.grows[inst->id]) grow_array(&at, inst);
  }
}

void rerun_make(Plans *p) {
  ASSERT(p->rerun && p->tape.is_used && p->tape.root, "the host region's array is made before");
  rewrite_keep(p->kernel->body, p->rerun);
  tape_region(p, p->kernel->body, p->kernel->body);
}
