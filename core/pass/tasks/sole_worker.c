/* sole_worker.c - where one worker runs all iterations, no update of an element of a tree has to be
 * atomic: it becomes load, op, store (`sole`). Unlike `plain` ones, such updates may collide, so
 * lanes run them one after the other, and their order is still that of iterations.
 *
 *   mem.update add alias=1 %p, %x     ->     mem.update add sole alias=1 %p, %x
 *
 * Updates of arrays stay atomic, since other threads may have wrapped the same memory. Decision
 * D-pass-76. */
#include "pass/pass.h"

static bool mark(void *data, IrInst *inst) {
  const IrKernel *kernel = data;
  bool is_update = inst->op == IR_MEM_UPDATE || inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS;
  bool is_of_tree = inst->alias > 0 && kernel->fields.items[inst->alias - 1].node;
  if (is_update && is_of_tree && !inst->plain) inst->sole = true;
  return true;
}

bool pass_sole_worker(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->has_one_worker) ir_walk_kernel(kernel, mark, kernel);
  return true;
}
