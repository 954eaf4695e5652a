/* hoist_checks.c - removes bounds checks from serial loops by one check before the loop.
 *
 *   for 0, %n (%k) { load place f0 %i, %k }   =>   if %i and 0 and %n are inside {
 *                                                    for 0, %n (%k) { load place f0 inside .. }
 *                                                  } else { the loop as it was }
 *
 * The bounds of a numeric `for` are known before it runs, so one check there, or a loop split into
 * three, serves all its iterations: window.h. Nests with a loop-carried dependence are skewed:
 * skew.h. Inner loops come first; a loop around one that was copied stays as it is. In a task that
 * has an interior, only the interior changes: the checked body runs only at the rim. Short loops
 * have been unrolled by now. */
#include "pass/pass.h"
#include "pass/loops/skew.h"

/* A RUN must not be copied, since each task is run from one place; a `rolled` loop is a cold
 * copy. */
static bool may_copy(void *data, IrInst *inst) {
  (void)data;
  return inst->op != IR_RUN && inst->op != IR_REMEMBER;
}

/* Only loops outside tasks are skewed: iterations of tasks run in parallel anyway. */
static bool may_skew(const BodyLimits *at) { return !at->task; }

/* Did it change a loop in the region? */
static bool visit_region(const BodyLimits *at, IrRegion *region) {
  bool has_changed = false;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool inner = false;
    if (inst->op == IR_FOR && inst->rolled) continue;
    if (inst->op == IR_FOR && may_skew(at) && skew_nest(at, inst)) {
      has_changed = true;
      continue;
    }
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) inner |= visit_region(at, inst->regions[i]);
    has_changed |= inner;
    if (inner || inst->op != IR_FOR || !type_is_integer(inst->operands[0]->type)) continue;
    if (ir_walk(inst->regions[0], may_copy, NULL)) has_changed |= window_loop(at, inst, NULL);
  }
  return has_changed;
}

bool pass_hoist_checks(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)ctx, (void)err;
  BodyLimits at = limits_of_body(kernel, NULL, kernel->body);
  visit_region(&at, kernel->body);
  at.body = NULL;
  for (int i = 0; i < kernel->functions.count; i++)
    visit_region(&at, kernel->functions.items[i]->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    IrRegion *body = task->interior ? task->interior : task->body;
    at = limits_of_body(kernel, task, body);
    visit_region(&at, body);
  }
  return true;
}
