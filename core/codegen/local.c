/* local.c - LOCAL_ARRAY: an array in the function's frame. In lanes it has a number of each lane at
 * every index, side by side, so that an index that all lanes share reads and writes a vector:
 *
 *     index 0        index 1
 *     a0 a1 a2 a3    b0 b1 b2 b3    ..
 *
 * An index outside reads zero and writes nothing: one comparison, unsigned. */
#include "codegen/vector.h"

static LLVMTypeRef array_type(Codegen *g, const IrInst *array) {
  return LLVMArrayType2(value_memory_type(g, array->type), (uint64_t)array->imm);
}

void local_array(Codegen *g, const IrInst *inst) {
  LLVMTypeRef type = array_type(g, inst);
  LLVMValueRef array = block_variable(g, type, "array");
  LLVMBuildMemSet(g->builder, array, value_integer(g->i8, 0), LLVMSizeOf(type),
                  LLVMGetAlignment(array));
  value_set(g, inst, array);
}

enum { LINE = 64 };

void local_stack(Codegen *g, const IrInst *inst) {
  LLVMTypeRef type = LLVMArrayType2(g->i8, (uint64_t)inst->imm);
  LLVMValueRef memory = block_variable(g, type, "stack");
  LLVMSetAlignment(memory, LINE);
  value_set(g, inst, memory);
}

LLVMValueRef local_zeros(Codegen *g) {
  LLVMTypeRef type = LLVMArrayType2(g->i64, IR_ZERO_BYTES / 8);
  if (!g->f.zeros) g->f.zeros = block_variable_of(g, LLVMConstNull(type), "zeros");
  return g->f.zeros;
}

typedef struct Local {
  LLVMValueRef array, index, inside; /* inside: NULL if that is certain */
  Type type;                         /* of the array */
  int lanes;                         /* of the index */
} Local;

static Local local_of(Codegen *g, const IrInst *inst) {
  const IrInst *array = inst->operands[0];
  ASSERT(array->op == IR_LOCAL_ARRAY && array->imm > 0, "an array of the function's frame");
  Local local = {
      .array = value_operand(g, inst, 0), .index = value_operand(g, inst, 1), .type = array->type};
  Type type = type_element(inst->operands[1]->type);
  if (type_bits(type) < 32)
    local.index = arith_convert(g, type, type_is_signed(type) ? TYPE(I32) : TYPE(U32), local.index);
  local.lanes = value_width(local.index);
  LLVMTypeRef wide = value_lanes(g->i64, local.lanes);
  if (!inst->inside || local.lanes > 1)
    local.inside = build_icmp(g, LLVMIntULT, local.index, value_like(local.index, array->imm));
  local.index = LLVMBuildIntCast2(g->builder, local.index, wide, false, "");
  return local;
}

/* The address of the number, in lanes of each; for a shared index that of the vector. */
static LLVMValueRef address(Codegen *g, const Local *local) {
  int width = type_rows(local->type);
  bool is_each = local->lanes > 1;
  Type type = is_each ? type_element(local->type) : local->type;
  LLVMValueRef index = local->index;
  if (is_each && width > 1)
    index = build_add(g, build_mul(g, index, value_like(index, width)),
                      value_staircase(g->i64, width, 1));
  return build_at(g, value_memory_type(g, type), local->array, index);
}

static LLVMValueRef load(Codegen *g, const Local *local) {
  if (local->lanes > 1)
    return vector_gather(g, type_element(local->type), address(g, local), local->inside);
  return build_load(g, value_memory_type(g, local->type), address(g, local));
}

/* Enters a block that runs if the index is inside; returns the one that follows it, or NULL. */
static LLVMBasicBlockRef enter_inside(Codegen *g, const Local *local) {
  if (!local->inside || local->lanes > 1) return NULL;
  return block_if(g, local->inside, "inside", "after");
}

void local_get(Codegen *g, const IrInst *inst) {
  Local local = local_of(g, inst);
  LLVMBasicBlockRef from = block_here(g), after = enter_inside(g, &local);
  LLVMValueRef value = load(g, &local);
  if (after) {
    LLVMBasicBlockRef inside = block_here(g);
    block_follow(g, after);
    value = build_either(g, LLVMConstNull(LLVMTypeOf(value)), from, value, inside);
  }
  value_set(g, inst, value_from_memory(g, value, type_element(inst->type)));
}

void local_set(Codegen *g, const IrInst *inst) {
  Local local = local_of(g, inst);
  LLVMValueRef value = value_to_memory(g, value_operand(g, inst, 2), type_element(local.type));
  LLVMBasicBlockRef after = enter_inside(g, &local);
  LLVMValueRef at = address(g, &local);
  if (local.lanes > 1) lanes_put(g, value, at, type_size(type_element(local.type)), local.inside);
  else build_store(g, value, at);
  if (after) block_follow(g, after);
}
