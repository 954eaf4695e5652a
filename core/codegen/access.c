/* access.c - emits address ops, loads and stores. */
#include "codegen/memory.h"

static LLVMTypeRef address_type(Codegen *g, LLVMValueRef like) {
  return value_lanes(g->i64, value_width(like));
}

/* pointer + index * stride + imm. An index of at most 32 bits times a 32-bit stride cannot wrap in
 * 64 bits; the no-wrap flag lets LLVM see that addresses are linear in loop counters. */
LLVMValueRef access_offset(Codegen *g, const IrInst *inst) {
  Type type = inst->operands[1]->type;
  ASSERT(type_is_integer(type), "an index is an integer");
  LLVMValueRef wide = value_extend(g, value_operand(g, inst, 1), type);
  LLVMValueRef stride = value_integer(address_type(g, wide), inst->stride);
  LLVMValueRef bytes =
      type_bits(type) <= 32 ? build_nsw_mul(g, wide, stride) : build_mul(g, wide, stride);
  LLVMValueRef place = build_at(g, g->i8, value_operand(g, inst, 0), bytes);
  return value_byte_offset(g, place, inst->imm);
}

/* PRIVATE_COPY: a GPU block has a copy of elements of a tree's root; a worker's private copy is at
 * a constant distance from the original. */
void access_private_copy(Codegen *g, const IrInst *inst) {
  ASSERT(inst->imm >= 0 && inst->imm < g->kernel->trees.count, "a tree of the kernel");
  if (g->part == CODEGEN_GPU_TASKS) {
    LLVMValueRef copy = g->f.trees[inst->imm].private_copy;
    if (!copy || inst->operands[0]->op != IR_TREE_ROOT)
      return codegen_fail(g, inst, "a block has no copy of it");
    return value_set(g, inst, copy);
  }
  LLVMValueRef bytes = context_private_copy(g, (int)inst->imm);
  value_set(g, inst, build_at(g, g->i8, value_operand(g, inst, 0), bytes));
}

static unsigned alignment_of(Type type) { return (unsigned)type_size(type); }

LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer) {
  LLVMValueRef value = build_load(g, value_memory_type(g, of.type), pointer);
  LLVMSetAlignment(value, alignment_of(of.type));
  return value_from_memory(g, alias_element(g, value, of.alias), of.type);
}

void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value) {
  LLVMValueRef store = build_store(g, value_to_memory(g, value, of.type), pointer);
  LLVMSetAlignment(alias_element(g, store, of.alias), alignment_of(of.type));
}

/* For a GPU LLVM 19 has no acquire loads (llvm_bc/target.h). */
void access_emit_load(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0);
  LLVMValueRef value = access_load(g, (Element){inst->type, inst->alias}, pointer);
  if (inst->acquires && LLVMIsALoadInst(value)) {
    bool is_gpu = g->part == CODEGEN_GPU_TASKS;
    LLVMSetOrdering(value, is_gpu ? LLVMAtomicOrderingMonotonic : LLVMAtomicOrderingAcquire);
    if (is_gpu) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  }
  value_set(g, inst, value);
}
