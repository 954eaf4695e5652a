/* slot.c - rt_slot_find and rt_slot_live expanded inline, so that the arena's base is one value of
 * the task: EMPTY and BUSY read as the ambient, else base + granule * handle (llvm_bc/rt.h). The
 * slot is read `unordered`: untorn, but free to move in a loop, since activations by other
 * iterations may be seen at any time or not at all. */
#include "codegen/emit.h"

_Static_assert(RT_SLOT_EMPTY == 0 && RT_SLOT_BUSY == 1, "a slot above BUSY is live");

static LLVMValueRef load_slot(Codegen *g, LLVMValueRef slot) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, slot, "");
  LLVMSetAlignment(value, 4);
  LLVMSetOrdering(value, LLVMAtomicOrderingUnordered);
  return alias_slot(g, value);
}

static LLVMValueRef is_live(Codegen *g, LLVMValueRef value) {
  return LLVMBuildICmp(g->builder, LLVMIntUGT, value, value_integer(g->i32, RT_SLOT_BUSY), "");
}

LLVMValueRef slot_live(Codegen *g, LLVMValueRef slot) { return is_live(g, load_slot(g, slot)); }

LLVMValueRef slot_find(Codegen *g, int tree, LLVMValueRef slot) {
  LLVMValueRef base = context_base(g, tree), ambient = context_ambient(g);
  LLVMValueRef value = load_slot(g, slot);
  LLVMValueRef wide = LLVMBuildZExt(g->builder, value, g->i64, "");
  LLVMValueRef bytes = LLVMBuildNUWMul(g->builder, wide, value_index(g, RT_GRANULE), "");
  LLVMValueRef node = LLVMBuildGEP2(g->builder, g->i8, base, &bytes, 1, "");
  return LLVMBuildSelect(g->builder, is_live(g, value), node, ambient, "");
}
