/* lane_call.c - dispatches calls of the runtime that have a vector form. */
#include "codegen/emit.h"

/* Prefetches for all lanes, since a prefetch is harmless in inactive ones. */
static bool emit_fetch(Codegen *g, const IrInst *inst) {
  LLVMValueRef places = value_operand(g, inst, 0);
  for (int lane = 0; lane < value_width(places); lane++) {
    LLVMValueRef operands[] = {value_lane(g, places, lane), value_operand(g, inst, 1)};
    call_runtime(g, RT_FETCH, (Callee){0}, operands, 2);
  }
  return true;
}

bool lane_call(Codegen *g, const IrInst *inst) {
  switch (inst->entry) {
  case RT_SLOT_FIND:
  case RT_SLOT_LIVE:
  case RT_SLOT_ENSURE: return lane_slot(g, inst);
  case RT_HASH_FETCH: return lane_hash_fetch(g, inst);
  case RT_HASH_FIND:
  case RT_HASH_AHEAD:
  case RT_HASH_LIVE:
  case RT_HASH_ENSURE: return lane_hash(g, inst);
  case RT_HASH_CLEAR: return lane_hash_clear(g, inst);
  case RT_MASK_ACTIVE:
  case RT_MASK_SET: return lane_mask_bits(g, inst);
  case RT_FETCH: return emit_fetch(g, inst);
  case RT_DYNAMIC_POP: return lane_pop(g, inst);
  case RT_DYNAMIC_CLEAR: return lane_clear_list(g, inst);
  default: return false;
  }
}
