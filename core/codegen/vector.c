/* vector.c - ops of lanes, one by one (pass/vector/vectorise.c, lane_accesses.c). Masks are
 * operands. The constant mask of all lanes, by which whole vectors of iterations are emitted, makes
 * an access an ordinary one, and a conjunction its other operand, so that LLVM has less to fold.
 * Decision D-pass-70. */
#include "codegen/vector.h"

LLVMValueRef vector_shuffle(Codegen *g, const IrInst *inst) {
  const IrTable *table = &g->kernel->tables.items[inst->imm];
  int picks[IR_MAX_LANES];
  ASSERT(table->count == type_rows(inst->type), "a number for each lane");
  for (int i = 0; i < table->count; i++) picks[i] = (int)table->values[i];
  LLVMValueRef second = inst->operand_count > 1 ? value_operand(g, inst, 1) : NULL;
  return build_shuffle(g, value_operand(g, inst, 0), second, picks, table->count);
}

/* -- memory ------------------------------------------------------------------------------------ */

static LLVMValueRef mask_of(Codegen *g, const IrInst *access) {
  ASSERT(!access->shape, "`lane_accesses` has written what has a shape");
  return value_operand(g, access, access->operand_count - 1);
}

LLVMValueRef vector_load(Codegen *g, const IrInst *inst) {
  LLVMTypeRef lanes = value_memory_type(g, inst->type);
  LLVMValueRef at = value_operand(g, inst, 0), mask = mask_of(g, inst), others = NULL, value;
  int align = type_size(type_element(inst->type)) / (inst->pairs ? 2 : 1);
  if (inst->operand_count > 2)
    others = value_to_memory(g, value_operand(g, inst, 1), type_element(inst->type));
  if (value_is_vector(at) || !value_is_all(mask)) {
    value = lanes_take(g, lanes, at, align, mask, others);
  } else {
    value = build_load(g, lanes, at);
    LLVMSetAlignment(value, (unsigned)align);
  }
  return value_from_memory(g, alias_element(g, value, inst->alias), type_element(inst->type));
}

void vector_store(Codegen *g, const IrInst *inst) {
  LLVMValueRef at = value_operand(g, inst, 0), mask = mask_of(g, inst), values[IR_MOST_PARTS];
  Type lanes = inst->operands[1]->type, type = type_element(lanes);
  const StreamStore store = {at, values, inst->operand_count - 2, type, inst->alias};
  ASSERT(store.count > 0 && store.count <= IR_MOST_PARTS, "vectors to store");
  for (int i = 0; i < store.count; i++)
    values[i] = value_to_memory(g, value_operand(g, inst, i + 1), type);
  if (!value_is_vector(at) && value_is_all(mask)) return stream_store(g, &store, inst->streams);
  for (int i = 0; i < store.count; i++) {
    LLVMValueRef to = value_byte_offset(g, at, i * (int64_t)type_size(lanes));
    alias_element(g, lanes_put(g, values[i], to, type_size(type), mask), inst->alias);
  }
}

LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), value_width(pointers));
  return lanes_take(g, lanes, pointers, type_size(type), mask, NULL);
}

/* Emits addresses as a scalar base plus a vector of indices with a scale that the machine has: the
 * addressing mode of gathers. */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst) {
  const IrInst *base = inst->operands[0], *index = inst->operands[1];
  LLVMValueRef wide = value_extend(g, value_of(g, index), type_element(index->type));
  int stride = inst->stride, scale = stride == 2 || stride == 4 || stride == 8 ? stride : 1;
  LLVMValueRef pointer = value_byte_offset(g, value_of(g, base), inst->imm);
  if (scale != stride) {
    LLVMValueRef factor = value_like(wide, stride);
    wide =
        type_bits(index->type) <= 32 ? build_nsw_mul(g, wide, factor) : build_mul(g, wide, factor);
  }
  LLVMTypeRef unit = scale == 1 ? g->i8 : LLVMArrayType2(g->i8, (uint64_t)scale);
  return build_at(g, unit, pointer, wide);
}

/* -- one lane ---------------------------------------------------------------------------------- */

static LLVMValueRef lane_address(Codegen *g, LLVMTypeRef type, const IrInst *inst) {
  LLVMValueRef lane = value_operand(g, inst, 1);
  return build_at(g, type, value_operand(g, inst, 0), lane);
}

/* One lane of a variable, read where it is in memory, or of a value. */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst) {
  if (inst->operands[0]->op != IR_VAR)
    return build_extract(g, value_operand(g, inst, 0), value_operand(g, inst, 1));
  ASSERT(!type_is_bool(inst->type), "lanes of bools are bits, which have no address");
  LLVMTypeRef type = value_type(g, inst->type);
  return build_load(g, type, lane_address(g, type, inst));
}

void vector_lane_set(Codegen *g, const IrInst *inst) {
  LLVMValueRef value = value_operand(g, inst, 2);
  build_store(g, value, lane_address(g, LLVMTypeOf(value), inst));
}
