/* vectorise_calls.c - calls of the runtime in a body in lanes. An entry that has a form in lanes
 * (HAS_LANES in llvm_bc/entry.def) is called once for all; others are called lane by lane, except
 * where one call serves all lanes:
 *
 *     %n: ptr = call rt_slot_find t0 %slots     =>     %n: ptrx8 = lanes.call rt_slot_find t0
 *                                                                  %slots, %mask                */
#include "pass/vector/vectorise.h"

/* One call for all lanes, if any is active. */
static void write_once(Vectoriser *v, const IrInst *call) {
  IrInst *any = ir_if(&v->b, vectorise_any(v, v->mask));
  IrRegion *outside = v->b.region;
  int made = v->made.count;
  v->b.region = any->regions[0];
  vectorise_copy_scalar(v, call);
  v->b.region = outside;
  vectorise_forget(v, made);
}

static void write_lanes(Vectoriser *v, const IrInst *call) {
  int count = call->operand_count;
  IrInst **operands = scratch_array(v->scratch, IrInst *, count + 1);
  for (int i = 0; i < count; i++) operands[i] = vectorise_shared(v, call->operands[i]);
  operands[count] = v->mask;
  Type type = type_is_none(call->type) ? call->type : ir_lanes_type(call->type, v->width);
  IrInst *lanes = vectorise_emit(v, IR_LANES_CALL, type, count + 1, operands);
  ir_call_name(lanes, (RtEntry)call->entry, call->tree, (int)call->imm);
  lanes->lasting = call->lasting;
  ir_map_put(v->lanes, call, lanes);
}

/* Slots are gathered, so a single one has no form in lanes. */
static bool has_lanes(const IrInst *call, bool is_uniform) {
  return ir_entries[call->entry].flags & IR_HAS_LANES &&
         !(is_uniform && call->entry == RT_SLOT_ENSURE);
}

void vectorise_call(Vectoriser *v, const IrInst *call) {
  bool is_uniform = ir_lanes_are_uniform(v->facts, call), has_result = !type_is_none(call->type);
  int effects = ir_effects(call);
  if (vectorise_lookup(v, call, is_uniform)) return;
  if (is_uniform && has_result && effects & IR_READ) vectorise_copy_scalar(v, call);
  else if (is_uniform && !has_result && effects & IR_TOPOLOGY) write_once(v, call);
  else if (has_lanes(call, is_uniform)) write_lanes(v, call);
  else vectorise_each(v, call);
}
