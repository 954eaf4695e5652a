/* access.c - emits address ops, loads and stores. */
#include "codegen/emit.h"
#include "codegen/gpu/gpu.h"

static LLVMTypeRef address_type(Codegen *g, LLVMValueRef like) {
  return value_lanes(g->i64, value_width(like));
}

/* pointer + index * stride + imm. An index of at most 32 bits times a 32-bit stride cannot wrap in
 * 64 bits; the no-wrap flag lets LLVM see that addresses are linear in loop counters. */
static LLVMValueRef access_offset(Codegen *g, const IrInst *inst, LLVMValueRef pointer) {
  LLVMValueRef index = value_operand(g, inst, 1);
  Type type = inst->operand_count > 1 ? inst->operands[1]->type : TYPE(I64);
  if (!type_is_integer(type)) {
    codegen_fail(g, inst, "its index is not an integer");
    return pointer;
  }
  LLVMValueRef wide = value_extend(g, index, type);
  LLVMValueRef stride = value_integer(address_type(g, wide), inst->stride);
  LLVMValueRef bytes = type_bits(type) <= 32 ? LLVMBuildNSWMul(g->builder, wide, stride, "")
                                             : LLVMBuildMul(g->builder, wide, stride, "");
  LLVMValueRef place = LLVMBuildGEP2(g->builder, g->i8, pointer, &bytes, 1, "");
  return value_byte_offset(g, place, inst->imm);
}

/* PRIVATE_COPY: a GPU block has a copy of elements of a tree's root; a worker's private copy is at
 * a constant distance from the original. */
static void emit_private_copy(Codegen *g, const IrInst *inst) {
  ASSERT(inst->imm >= 0 && inst->imm < g->kernel->trees.count, "a tree of the kernel");
  if (g->part == CODEGEN_GPU_TASKS) {
    LLVMValueRef copy = g->f.trees[inst->imm].private_copy;
    if (!copy || inst->operands[0]->op != IR_TREE_ROOT)
      return codegen_fail(g, inst, "a block has no copy of it");
    return value_set(g, inst, copy);
  }
  LLVMValueRef bytes = context_private_copy(g, (int)inst->imm);
  value_set(g, inst, LLVMBuildGEP2(g->builder, g->i8, value_operand(g, inst, 0), &bytes, 1, ""));
}

static unsigned alignment_of(Type type) { return (unsigned)type_size(type); }

LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, value_memory_type(g, of.type), pointer, "");
  LLVMSetAlignment(value, alignment_of(of.type));
  return value_from_memory(g, alias_element(g, value, of.alias), of.type);
}

void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value) {
  LLVMValueRef store = LLVMBuildStore(g->builder, value_to_memory(g, value, of.type), pointer);
  LLVMSetAlignment(alias_element(g, store, of.alias), alignment_of(of.type));
}

static void emit_store(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0), value = value_operand(g, inst, 1);
  if (inst->operand_count < 2) return codegen_fail(g, inst, "an operand is missing");
  access_store(g, (Element){inst->operands[1]->type, inst->alias}, pointer, value);
}

/* For a GPU LLVM 19 has no acquire loads (llvm_bc/target.h). */
static void emit_load(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0);
  LLVMValueRef value = access_load(g, (Element){inst->type, inst->alias}, pointer);
  if (inst->acquires && LLVMIsALoadInst(value)) {
    bool is_gpu = g->part == CODEGEN_GPU_TASKS;
    LLVMSetOrdering(value, is_gpu ? LLVMAtomicOrderingMonotonic : LLVMAtomicOrderingAcquire);
    if (is_gpu) gpu_order_after(g);
  }
  value_set(g, inst, value);
}

void access_emit(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_TREE_ROOT: return value_set(g, inst, context_root(g, (int)inst->imm));
  case IR_PRIVATE_COPY: return emit_private_copy(g, inst);
  case IR_AMBIENT: return value_set(g, inst, context_ambient(g));
  case IR_OFFSET:
    if (type_rows(inst->type) > 1) return vector_offset(g, inst);
    return value_set(g, inst, access_offset(g, inst, value_operand(g, inst, 0)));
  case IR_MEM_LOAD: return emit_load(g, inst);
  default: return emit_store(g, inst);
  }
}
