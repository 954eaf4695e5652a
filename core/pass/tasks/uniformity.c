/* uniformity.c - uniformity analysis, for a GPU: finds updates that reach the same element in all
 * iterations, perhaps with the same value, which the lanes of a warp combine; and bounds of ranges
 * that are the same constant in every launch, so that positions are divided by constants.
 *
 *   mem.update add alias=1 %p, %x                  ->    mem.update add alias=1 uniform %p, %x
 *   frame.set 4 %n, where %n is const 100          ->    bound slot=4 100 */
#include "ir/facts.h"
#include "pass/analysis/limits.h"
#include "pass/pass.h"

static bool mark_update(void *data, IrInst *inst) {
  if (inst->op != IR_MEM_UPDATE && inst->op != IR_MEM_RMW) return true;
  inst->uniform = facts_is_launch_invariant(inst->operands[0]);
  inst->uniform_value = facts_is_launch_invariant(inst->operands[1]);
  return true;
}

/* -- constant bounds --------------------------------------------------------------------------- */

static void record_constant_bounds(PassContext *ctx, const IrKernel *kernel, IrTask *task) {
  task->constants.count = 0;
  for (int32_t slot = task->bounds; slot < task->bounds + 2 * task->axis_count; slot++) {
    IrConstantBound bound = {.slot = slot};
    const IrInst *set = limits_set_once(kernel, slot);
    if (set && ir_is_const(set->operands[0], &bound.value))
      vec_push(ctx->scratch, &task->constants, bound);
  }
}

bool pass_uniformity(PassContext *ctx, IrKernel *kernel, Error *err) {
  ir_walk_kernel(kernel, mark_update, NULL);
  for (int i = 0; i < kernel->tasks.count; i++)
    if (kernel->tasks.items[i]->kind == TASK_RANGE)
      record_constant_bounds(ctx, kernel, kernel->tasks.items[i]);
  return true;
}
