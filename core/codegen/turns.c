/* turns.c - one iteration of a loop: its region, its exits, and in lanes the masks of a divergent
 * loop.
 *
 *     active = entry                           only if lanes leave in different iterations
 *     turn:   rejoin = none; the region        `break` removes lanes from the mask,
 *     again:  active = rejoin | mask           `continue` moves them to rejoin
 *             leave unless any is active
 *     leave:  mask = entry, less the lanes that left for an outer loop */
#include "codegen/emit.h"

static LLVMValueRef mask_variable(Codegen *g, LLVMValueRef mask) {
  LLVMValueRef variable = block_variable(g, lane_mask_type(g), "mask");
  LLVMBuildStore(g->builder, mask, variable);
  return variable;
}

static LLVMValueRef mask_of(Codegen *g, LLVMValueRef variable) {
  return LLVMBuildLoad2(g->builder, lane_mask_type(g), variable, "");
}

Turns turns_begin(Codegen *g, const IrInst *inst) {
  Turns turns = {.inst = inst, .entry = g->mask};
  if (!g->lanes) return turns;
  const LaneFact *fact = &g->lanes[inst->id];
  LLVMValueRef none = LLVMConstNull(lane_mask_type(g));
  if (fact->diverges) turns.active = mask_variable(g, lane_mask(g, g->mask));
  if (fact->diverges || fact->rejoins) turns.rejoin = mask_variable(g, none);
  if (fact->thins) turns.gone = mask_variable(g, none);
  return turns;
}

void turns_emit(Codegen *g, const Turns *turns, LLVMBasicBlockRef leave, LLVMBasicBlockRef again) {
  if (turns->active) g->mask = mask_of(g, turns->active);
  if (turns->rejoin) LLVMBuildStore(g->builder, LLVMConstNull(lane_mask_type(g)), turns->rejoin);
  vec_push(g->scratch, &g->exits, ((Exit){leave, again, turns->rejoin, turns->gone}));
  emit_region(g, turns->inst->regions[0]);
  g->exits.count--;
  if (turns->rejoin) lane_add(g, turns->rejoin, g->mask);
  block_jump(g, again);
  block_enter(g, again);
  g->mask = turns->entry;
  if (!turns->active) return;
  LLVMValueRef left = mask_of(g, turns->rejoin);
  LLVMBuildStore(g->builder, left, turns->active);
  LLVMBasicBlockRef more = block_new(g, "more");
  block_branch(g, lane_any(g, left), more, leave);
  block_enter(g, more);
}

void turns_end(Codegen *g, const Turns *turns) {
  g->mask = turns->entry;
  if (!turns->gone) return;
  LLVMValueRef stay = LLVMBuildNot(g->builder, mask_of(g, turns->gone), "");
  g->mask = lane_both(g, turns->entry, stay);
}
