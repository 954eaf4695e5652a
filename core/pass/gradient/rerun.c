/* rerun.c - keeps, before the adjoint, the backward slice of the primal from the taped values:
 *
 *     for t { for i { x[i] = f(x[i]) } }     kept, and tapes each x[i] that f reads
 *     for i { loss += x[i] }                 deleted
 *
 * If an element is read, the slice has all writes to its field. So after the slice has run, these
 * fields are as the launch left them, provided that the host restores their previous contents
 * first. All streams of random numbers are drawn, in the order in which the launch drew them. */
#include "pass/gradient/rerun.h"

#include "pass/gradient/slice.h"
#include "pass/rewrite.h"

typedef struct Rerun {
  Plans *plans;
  Slice slice;
} Rerun;

static bool add_taped(void *data, IrInst *inst) {
  Rerun *r = data;
  bool is_value = !inst->regions[0] && tape_has(&r->plans->tape, inst);
  if (is_value || inst->op == IR_RANDOM_STREAM) slice_add(&r->slice, inst);
  if (inst->op == IR_RETURN && inst->region->owner)
    plans_refuse(r->plans, inst,
                 "the derivative runs the kernel once more, which may not return early", NULL);
  return true;
}

const bool *rerun_find(Plans *plans) {
  IrRegion *body = plans->kernel->body;
  Rerun rerun = {plans, slice_of(plans->scratch, plans->kernel, body)};
  rerun.slice.is_rerun = true;
  ir_walk(body, add_taped, &rerun);
  if (rerun.slice.unrepeatable)
    plans_refuse(plans, rerun.slice.unrepeatable,
                 "the derivative needs elements before they are overwritten, and what is written "
                 "to them depends on an operation that cannot be repeated",
                 "divide the kernel in two, or write to another field");
  return rerun.slice.kept;
}

/* -- taping ------------------------------------------------------------------------------------ */

static IrInst *same_value(void *data, IrBuilder *b, const IrInst *value) {
  (void)data;
  (void)b;
  return (IrInst *)value;
}

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
