/* call_emit.c - CALL: some entries are expanded inline. LANES_CALL, a call for all lanes: slots are
 * gathered; one call of the runtime finds, or removes, the cells of a hash in all lanes. */
#include "codegen/vector.h"

static LLVMValueRef emit(Codegen *g, const IrInst *inst, const LLVMValueRef *operands, int count) {
  switch (inst->entry) {
  case RT_SLOT_FIND: return slot_find(g, inst->tree, operands[0]);
  case RT_SLOT_LIVE: return slot_live(g, operands[0]);
  case RT_SLOT_ENSURE:
    if (g->part == CODEGEN_GPU_TASKS) return slot_ensure(g, inst, operands[0]);
    break;
  case RT_TREE_LARGE: return context_large(g, inst->tree);
  default: break;
  }
  Callee callee = {inst->tree, inst->imm};
  return call_runtime(g, (RtEntry)inst->entry, callee, operands, count);
}

void call_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES];
  for (int k = 0; k < inst->operand_count; k++) operands[k] = value_operand(g, inst, k);
  LLVMValueRef result = emit(g, inst, operands, inst->operand_count);
  if (!type_is_none(inst->type)) value_set(g, inst, result);
}

/* -- cells of a hash, in lanes ----------------------------------------------------------------- */

static LLVMValueRef coordinates_of(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->i64, c->width);
  int count = c->count - 1;
  ASSERT(count > 0 && count <= RT_MAX_AXES, "a node, then its coordinates");
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    build_store(g, call_operand_lanes(g, c, 1 + k),
                value_byte_offset(g, array, (int64_t)k * c->width * 8));
  return array;
}

static RtEntry form_of(const IrInst *inst) {
  switch (inst->entry) {
  case RT_HASH_AHEAD: return RT_HASH_STILL_LANES;
  case RT_HASH_ENSURE: return RT_HASH_ENSURE_LANES;
  case RT_HASH_CLEAR: return RT_HASH_CLEAR_LANES;
  default: return inst->lasting ? RT_HASH_STILL_LANES : RT_HASH_FIND_LANES;
  }
}

static void in_all(Codegen *g, const LaneCall *c, LLVMValueRef nodes) {
  ASSERT(c->width <= 64, "a word has a bit for each lane");
  build_store(g, call_operand_lanes(g, c, 0), nodes);
  LLVMValueRef operands[] = {lanes_bits(g, c->mask), value_i32(g, c->width), nodes,
                             coordinates_of(g, c)};
  call_runtime(g, form_of(c->inst), (Callee){c->inst->tree, c->inst->imm}, operands, 4);
}

static LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->pointer, c->width);
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  in_all(g, c, nodes);
  LLVMValueRef cells = build_load(g, lanes, nodes);
  if (c->inst->entry != RT_HASH_LIVE) return cells;
  return build_icmp(g, LLVMIntNE, cells, value_broadcast(g, context_ambient(g), c->width));
}

static void hash_clear_lanes(Codegen *g, const LaneCall *c) {
  in_all(g, c, block_variable(g, value_lanes(g->pointer, c->width), "nodes"));
}

static void hash_fetch_lanes(Codegen *g, const LaneCall *c) {
  LLVMValueRef operands[] = {value_i32(g, c->width), coordinates_of(g, c)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){c->inst->tree, c->inst->imm}, operands, 2);
}

/* -- for all lanes ----------------------------------------------------------------------------- */

static LLVMValueRef emit_lanes(Codegen *g, const LaneCall *c) {
  switch (c->inst->entry) {
  case RT_SLOT_FIND:
  case RT_SLOT_LIVE: {
    LLVMValueRef slots = call_operand_lanes(g, c, 0);
    LLVMValueRef handles = alias_slot(g, vector_gather(g, TYPE(U32), slots, c->mask));
    return c->inst->entry == RT_SLOT_LIVE ? slot_is_live(g, handles)
                                          : slot_node(g, c->inst->tree, handles);
  }
  case RT_HASH_CLEAR: hash_clear_lanes(g, c); return NULL;
  case RT_HASH_FETCH: hash_fetch_lanes(g, c); return NULL;
  default: return hash_lanes(g, c);
  }
}

void call_in_lanes(Codegen *g, const IrInst *inst) {
  LaneCall c = {.inst = inst, .count = inst->operand_count - 1};
  for (int k = 0; k < c.count; k++) c.operands[k] = value_operand(g, inst, k);
  c.mask = value_operand(g, inst, c.count);
  c.width = value_width(c.mask);
  ASSERT(c.count >= 0 && c.width > 1, "the last operand is the mask");
  LLVMValueRef result = emit_lanes(g, &c);
  if (result) value_set(g, inst, result);
}
