/* quick.c - see part.h: undoes the decisions of the pass `lanes` for baseline code, since
 * vectorised code takes most of a kernel's compile time. */
#include "ir/task.h"
#include "jit/part.h"

static bool shows_no_order(void *data, IrInst *inst) {
  (void)data;
  return !ir_shows_order(inst);
}

static bool run_alone(void *data, IrInst *inst) {
  (void)data;
  bool has_lanes = inst->op == IR_FOR || inst->op == IR_BITS;
  if (has_lanes || (inst->op == IR_ROW && inst->width <= 1)) inst->lanes = 0;
  inst->streams = false;
  return true;
}

static void run_task_alone(IrTask *task, bool keeps_order) {
  if (keeps_order && !ir_walk(task->body, shows_no_order, NULL)) return;
  ir_walk(task->body, run_alone, NULL);
  if (task->interior) ir_walk(task->interior, run_alone, NULL);
  task->lanes = task->traffic = 0;
  task->rim_scalar = false;
  if (task->counts) run_task_alone(task->counts, keeps_order);
}

void quick_run_alone(IrKernel *kernel, bool keeps_order) {
  for (int i = 0; i < kernel->tasks.count; i++) run_task_alone(kernel->tasks.items[i], keeps_order);
}
