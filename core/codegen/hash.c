/* hash.c - vectorised access to cells of a hash: one call of the runtime finds, or removes, the
 * cells of all lanes. */
#include "codegen/vector.h"

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

LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->pointer, c->width);
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  in_all(g, c, nodes);
  LLVMValueRef cells = build_load(g, lanes, nodes);
  if (c->inst->entry != RT_HASH_LIVE) return cells;
  return build_icmp(g, LLVMIntNE, cells, value_broadcast(g, context_ambient(g), c->width));
}

void hash_clear_lanes(Codegen *g, const LaneCall *c) {
  in_all(g, c, block_variable(g, value_lanes(g->pointer, c->width), "nodes"));
}

void hash_fetch_lanes(Codegen *g, const LaneCall *c) {
  LLVMValueRef operands[] = {value_i32(g, c->width), coordinates_of(g, c)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){c->inst->tree, c->inst->imm}, operands, 2);
}
