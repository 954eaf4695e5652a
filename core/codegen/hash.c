/* hash.c - cells of a hash, by calls of the runtime: the coordinates go to it as an array on the stack, which is gone
 * again where rt_hash_find inlines (llvm_bc/node_hash.c). */
#include "codegen/emit.h"

static LLVMValueRef coordinates_of(Codegen *g, const IrInst *inst, int lane) {
  int count = inst->operand_count - 1;
  LLVMValueRef array = block_variable(g, LLVMArrayType2(g->i64, (uint64_t)count), "coordinates");
  for (int axis = 0; axis < count; axis++) {
    LLVMValueRef value = value_operand(g, inst, 1 + axis);
    if (value_is_vector(value)) value = value_lane(g, value, lane);
    LLVMBuildStore(g->builder, value, value_byte_offset(g, array, axis * 8));
  }
  return array;
}

static LLVMValueRef hash_op(Codegen *g, const IrInst *inst, int lane) {
  LLVMValueRef above = value_operand(g, inst, 0), array = coordinates_of(g, inst, lane);
  LLVMValueRef tree = value_integer(g->i32, inst->tree), manager = value_integer(g->i32, inst->imm);
  if (value_is_vector(above)) above = value_lane(g, above, lane);
  LLVMValueRef reads[] = {g->rt_context, tree, manager, above, array};
  LLVMValueRef writes[] = {g->rt_context, g->worker, tree, manager, above, array};
  switch (inst->op) {
  case IR_HASH_FIND: return call_runtime(g, "rt_hash_find", reads, 5);
  case IR_HASH_ENSURE: return call_runtime(g, "rt_hash_ensure", writes, 6);
  case IR_HASH_LIVE:
    return LLVMBuildTrunc(g->builder, call_runtime(g, "rt_hash_live", reads, 5), g->bool_type, "");
  default: return call_runtime(g, "rt_hash_clear", writes, 6);
  }
}

static int width_of(Codegen *g, const IrInst *inst) {
  int width = 1;
  for (int k = 0; k < inst->operand_count; k++) {
    int here = value_width(value_operand(g, inst, k));
    if (here > width) width = here;
  }
  return width;
}

/* Lane by lane where an operand differs by lane. */
void hash_emit(Codegen *g, const IrInst *inst) {
  if (inst->operand_count < 2 || inst->operand_count > 1 + SNODE_MAX_AXES)
    return codegen_fail(g, inst, "it needs a coordinate per axis");
  int width = width_of(g, inst);
  LLVMValueRef result = NULL;
  for (int lane = 0; lane < width; lane++) {
    LLVMValueRef one = hash_op(g, inst, lane);
    if (inst->op == IR_HASH_CLEAR) continue;
    if (width == 1) result = one;
    else {
      if (!result) result = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one), (unsigned)width));
      result = LLVMBuildInsertElement(g->builder, result, one, value_integer(g->i32, lane), "");
    }
  }
  if (result) value_set(g, inst, result);
}
