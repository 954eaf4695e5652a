/* sole_worker.c - removes atomics from updates of trees if one worker runs all iterations: sums are
 * then as in a private copy (`nonatomic`). Other updates, and all under `deterministic`, run one
 * after the other in lanes (`single_worker`), in the order that they have with more workers.
 *
 *   mem.update add alias=1 %p, %x     ->     mem.update add nonatomic alias=1 %p, %x
 *   mem.rmw add alias=1 %p, %x        ->     mem.rmw add single_worker alias=1 %p, %x
 *
 * Updates of arrays stay atomic, since other threads may have wrapped the same memory. With
 * more workers, the pass only notes that there are such updates: one worker without atomics may be
 * faster than all with them, which the tuner measures. Decision D-pass-76. */
#include "pass/pass.h"

typedef struct Sole {
  IrKernel *kernel;
  bool has_one_worker, keeps_order;
} Sole;

static bool mark_update(void *data, IrInst *inst) {
  const Sole *s = data;
  bool is_update = inst->op == IR_MEM_UPDATE || inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS;
  bool is_of_tree = inst->alias > 0 && s->kernel->fields.items[inst->alias - 1].node;
  if (!is_update || !is_of_tree || inst->nonatomic) return true;
  s->kernel->shares_updates = true;
  bool is_sum = inst->imm == IR_UPDATE_ADD || inst->imm == IR_UPDATE_SUB,
       may_regroup = inst->op == IR_MEM_UPDATE && is_sum && !s->keeps_order;
  if (may_regroup) inst->nonatomic = s->has_one_worker;
  else inst->single_worker = s->has_one_worker;
  return true;
}

bool pass_sole_worker(PassContext *ctx, IrKernel *kernel, Error *err) {
  Sole s = {kernel, ctx->has_one_worker, ctx->keeps_order};
  ir_walk_kernel(kernel, mark_update, &s);
  return true;
}
