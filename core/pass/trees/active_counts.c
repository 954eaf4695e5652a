/* active_counts.c - counts active bitmasked cells on a GPU: the runtime's count would run in one
 * thread, so a COUNT of the host region becomes a parallel loop over the cells.
 *
 *   %n = count l0     =>     %v = var; set %v, 0;  active l0 (..) { reduce add %v, 1 };  get %v
 *
 * Counts of nodes are kept up to date anyway, so they stay as they are. */
#include "pass/pass.h"
#include "pass/rewrite.h"

static bool counts_bits(const IrKernel *kernel, const IrInst *inst) {
  return inst->op == IR_COUNT && snode_has_bits(kernel->levels.items[inst->level].node);
}

static void replace_by_loop(IrKernel *kernel, IrInst *inst) {
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *sum = ir_var(&b, TYPE(I64));
  ir_set(&b, sum, ir_i64(&b, 0));
  IrInst *loop = ir_active(&b, inst->level);
  b = rewrite_into(&b, loop->regions[0]);
  ir_reduce(&b, IR_UPDATE_ADD, sum, ir_i64(&b, 1));
  rewrite_become(kernel, inst, IR_GET, 1, &sum);
}

/* Skips bodies of loops that may become parallel, because parallel loops cannot be nested. */
static void visit_region(IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_RANGE || inst->op == IR_ACTIVE) continue;
    if (counts_bits(kernel, inst)) replace_by_loop(kernel, inst);
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
      visit_region(kernel, inst->regions[k]);
  }
}

bool pass_active_counts(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (kernel->body) visit_region(kernel, kernel->body);
  return true;
}
