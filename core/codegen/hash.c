/* hash.c - cells of a hash in lanes: one call of the runtime finds those of all lanes. */
#include "codegen/emit.h"

static LLVMValueRef in_lanes(Codegen *g, const IrInst *inst, int operand) {
  return value_broadcast(g, value_operand(g, inst, operand), g->width);
}

static LLVMValueRef coordinates_of(Codegen *g, const IrInst *inst) {
  LLVMTypeRef lanes = value_lanes(g->i64, g->width);
  int count = inst->operand_count - 1;
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    LLVMBuildStore(g->builder, in_lanes(g, inst, 1 + k),
                   value_byte_offset(g, array, (int64_t)k * g->width * 8));
  return array;
}

bool lane_hash(Codegen *g, const IrInst *inst) {
  RtEntry entry = inst->entry == RT_HASH_ENSURE ? RT_HASH_ENSURE_LANES : RT_HASH_FIND_LANES;
  LLVMTypeRef lanes = value_lanes(g->pointer, g->width);
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  LLVMBuildStore(g->builder, in_lanes(g, inst, 0), nodes);
  LLVMValueRef operands[] = {lane_bits(g, g->mask), value_integer(g->i32, g->width), nodes,
                             coordinates_of(g, inst)};
  call_runtime(g, entry, (Callee){inst->tree, inst->imm}, operands, 4);
  LLVMValueRef cells = LLVMBuildLoad2(g->builder, lanes, nodes, "");
  if (inst->entry == RT_HASH_LIVE) {
    LLVMValueRef ambient = value_broadcast(g, context_ambient(g), g->width);
    cells = LLVMBuildICmp(g->builder, LLVMIntNE, cells, ambient, "");
  }
  value_set(g, inst, cells);
  return true;
}

bool lane_hash_fetch(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[] = {value_integer(g->i32, g->width), coordinates_of(g, inst)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){inst->tree, inst->imm}, operands, 2);
  return true;
}
