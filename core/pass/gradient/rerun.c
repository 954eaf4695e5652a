/* rerun.c - a backward slice of the primal from the values that are logged, which stays in front of
 * the adjoint:
 *
 *     for t { for i { x[i] = f(x[i]) } }     kept, and logs each x[i] that f reads
 *     for i { loss += x[i] }                 deleted
 *
 * A read element keeps all writes to its field. So when it has run, such fields are as the launch
 * left them; the host puts them back to what they were before. Streams of random numbers are all
 * drawn, in the order in which the launch drew them. */
#include "pass/gradient/rerun.h"

#include "pass/gradient/slice.h"
#include "pass/rewrite.h"

typedef struct Rerun {
  Plans *plans;
  Slice slice;
} Rerun;

static bool add_logged(void *data, IrInst *inst) {
  Rerun *r = data;
  bool is_value = !inst->regions[0] && log_has(&r->plans->log, inst);
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
  ir_walk(body, add_logged, &rerun);
  if (rerun.slice.lost)
    plans_refuse(plans, rerun.slice.lost,
                 "the derivative needs elements before they are overwritten, and what is written "
                 "to them depends on an operation that cannot be repeated",
                 "divide the kernel in two, or write to another field");
  return rerun.slice.kept;
}

/* -- logging ----------------------------------------------------------------------------------- */

static IrInst *itself(void *data, IrBuilder *b, const IrInst *value) {
  (void)data;
  (void)b;
  return (IrInst *)value;
}

/* Gives the loop's array an element where each iteration begins. */
static void grow_array(const LogPlace *at, IrInst *loop) {
  IrRegion *body = loop->regions[0];
  IrBuilder first = {at->b->kernel, body, body->first, loop->line, loop->column};
  log_append(&(LogPlace){at->log, &first, at->value_of, at->data}, loop);
}

/* `top`: of the function in which the region is. */
static void log_region(Plans *p, IrRegion *region, IrRegion *top) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool is_parallel = ir_is_unordered(inst);
    bool is_logged = log_has(&p->log, inst);
    IrBuilder b = {p->kernel, region, inst->regions[0] ? inst : next, inst->line, inst->column};
    LogPlace at = {&p->log, &b, itself, NULL};
    if (is_logged && inst->regions[0]) log_create(&at, top, inst);
    else if (is_logged) log_write(&at, inst, inst);
    if (inst->op != IR_IF && !is_logged) continue;
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
      log_region(p, inst->regions[k],
                 is_parallel && top == p->kernel->body ? inst->regions[k] : top);
    /* last, as the walk must not meet insts that the primal does not have */
    if (is_logged && inst->regions[0] && p->log.grows[inst->id]) grow_array(&at, inst);
  }
}

void rerun_make(Plans *p) {
  ASSERT(p->rerun && p->log.is_used && p->log.root, "the host region's array is made before");
  rewrite_keep(p->kernel->body, p->rerun);
  log_region(p, p->kernel->body, p->kernel->body);
}
