/* region.c - walks a region. Each op is emitted by emit.c, which knows all files of this room;
 * those of ops with regions walk them here. */
#include "codegen/region.h"

/* LLVM's compile time grows quadratically with a block's length, above all with its writes, each of
 * which is compared with every access around it. So a long block is split by a poll of the stop
 * word, a branch that no optimisation removes. */
enum { MOST_STRAIGHT = 4000, WRITE_WEIGHT = 16 };

static void cut_block(Codegen *g, const IrInst *inst) {
  g->f.straight += ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT) ? WRITE_WEIGHT : 1;
  if (g->f.straight < MOST_STRAIGHT) return;
  g->f.straight = 0;
  context_poll_stop(g);
}

void region_emit(Codegen *g, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst && !error_is_set(g->err); inst = inst->next) {
    g->emit(g, inst);
    cut_block(g, inst);
  }
}

void region_emit_value(Codegen *g, const IrInst *inst, const IrRegion *region) {
  if (inst->op == IR_PARAM || inst->region != region) return;
  for (int k = 0; k < inst->operand_count; k++) region_emit_value(g, inst->operands[k], region);
  g->emit(g, inst);
}
