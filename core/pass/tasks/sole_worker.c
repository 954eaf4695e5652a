/* sole_worker.c - where one worker runs all iterations, no update of an element of a tree has to be
 * atomic: it becomes load, op, store (`sole`). Unlike `plain` ones, such updates may collide, so
 * lanes run them one after the other, and their order is still that of iterations.
 *
 *   mem.update add alias=1 %p, %x     ->     mem.update add sole alias=1 %p, %x
 *
 * Updates of arrays stay atomic, since other threads may have wrapped the same memory. With
 * more workers, the pass only notes that there are such updates: one worker without atomics may be
 * faster than all with them, which the tuner finds out. Decision D-pass-76. */
#include "pass/pass.h"

typedef struct Sole {
  IrKernel *kernel;
  bool has_one_worker;
} Sole;

static bool mark(void *data, IrInst *inst) {
  const Sole *s = data;
  bool is_update = inst->op == IR_MEM_UPDATE || inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS;
  bool is_of_tree = inst->alias > 0 && s->kernel->fields.items[inst->alias - 1].node;
  if (!is_update || !is_of_tree || inst->plain) return true;
  s->kernel->shares_updates = true;
  inst->sole = s->has_one_worker;
  return true;
}

bool pass_sole_worker(PassContext *ctx, IrKernel *kernel, Error *err) {
  Sole s = {kernel, ctx->has_one_worker};
  ir_walk_kernel(kernel, mark, &s);
  return true;
}
