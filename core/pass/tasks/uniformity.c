/* uniformity.c - uniformity analysis, for a GPU: which updates reach the same element in all
 * iterations, and with the same value, so that the lanes of a warp may do it together; and which
 * bounds of ranges are the same constant in every launch, so that no position is divided by an
 * extent that only the launch knows.
 *
 *   mem.update add alias=1 %p, %x                  ->    mem.update add alias=1 uniform %p, %x
 *   frame.set 4 %n, where %n is const 100          ->    bound slot=4 100 */
#include "ir/facts.h"
#include "pass/pass.h"

static bool mark(void *data, IrInst *inst) {
  (void)data;
  if (inst->op != IR_MEM_UPDATE && inst->op != IR_MEM_RMW) return true;
  inst->uniform = facts_is_of_launch(inst->operands[0]);
  inst->uniform_value = facts_is_of_launch(inst->operands[1]);
  return true;
}

/* -- constant bounds --------------------------------------------------------------------------- */

typedef struct Settings { /* by slot */
  int *counts;
  const IrInst **values; /* of the last FRAME_SET */
} Settings;

static bool note_setting(void *data, IrInst *inst) {
  Settings *settings = data;
  if (inst->op != IR_FRAME_SET) return true;
  settings->counts[inst->imm]++;
  settings->values[inst->imm] = inst->operands[0];
  return true;
}

static void note_bounds(PassContext *ctx, const Settings *settings, IrTask *task) {
  task->constants.count = 0;
  for (int32_t slot = task->bounds; slot < task->bounds + 2 * task->axis_count; slot++) {
    IrConstantBound bound = {.slot = slot};
    if (settings->counts[slot] == 1 && ir_is_const(settings->values[slot], &bound.value))
      vec_push(ctx->scratch, &task->constants, bound);
  }
}

bool pass_uniformity(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)err;
  Settings settings = {.counts = scratch_array(ctx->scratch, int, kernel->frame_slots + 1),
                       .values =
                           scratch_array(ctx->scratch, const IrInst *, kernel->frame_slots + 1)};
  ir_walk_kernel(kernel, mark, NULL);
  ir_walk_kernel(kernel, note_setting, &settings);
  for (int i = 0; i < kernel->tasks.count; i++)
    if (kernel->tasks.items[i]->kind == TASK_RANGE)
      note_bounds(ctx, &settings, kernel->tasks.items[i]);
  return true;
}
