/* slot.c - rt_slot_find and rt_slot_live expanded inline, so that the arena's base is loaded once
 * per task: EMPTY and BUSY give the ambient, any other slot base + granule * handle (llvm_bc/rt.h).
 * The slot is read `unordered`: the read cannot tear, but LLVM may move it in a loop, since
 * activations by other iterations may become visible at any time or not at all. */
#include "codegen/memory.h"

_Static_assert(RT_SLOT_EMPTY == 0 && RT_SLOT_BUSY == 1, "a slot above BUSY is live");

static LLVMValueRef load_slot(Codegen *g, LLVMValueRef slot) {
  LLVMValueRef value = build_load(g, g->i32, slot);
  LLVMSetAlignment(value, 4);
  LLVMSetOrdering(value, LLVMAtomicOrderingUnordered);
  return alias_slot(g, value);
}

/* of one slot, or of a vector of them */
LLVMValueRef slot_is_live(Codegen *g, LLVMValueRef value) {
  return build_icmp(g, LLVMIntUGT, value, value_like(value, RT_SLOT_BUSY));
}

LLVMValueRef slot_node_at(Codegen *g, int tree, LLVMValueRef handle) {
  LLVMValueRef base = context_base(g, tree);
  LLVMTypeRef wide = value_lanes(g->i64, value_width(handle));
  LLVMValueRef bytes =
      build_nuw_mul(g, build_zext(g, handle, wide), value_integer(wide, RT_GRANULE));
  return build_at(g, g->i8, base, bytes);
}

/* Is the node live, and mapped in this process? Another process's tree may get nodes beyond the
 * part of its memory that is mapped here. */
static LLVMValueRef is_here(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef live = slot_is_live(g, value);
  if (!g->kernel->is_bounded) return live;
  int width = value_width(value);
  LLVMValueRef past = build_udiv(g, context_reserved(g, tree), value_index(g, RT_GRANULE));
  LLVMValueRef handle = build_zext(g, value, value_lanes(g->i64, width));
  return build_and(g, live, build_icmp(g, LLVMIntULT, handle, value_broadcast(g, past, width)));
}

LLVMValueRef slot_node(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef node = slot_node_at(g, tree, value), ambient = context_ambient(g);
  return arith_select(g, is_here(g, tree, value), node, ambient);
}

LLVMValueRef slot_live(Codegen *g, LLVMValueRef slot) {
  return slot_is_live(g, load_slot(g, slot));
}

LLVMValueRef slot_find(Codegen *g, int tree, LLVMValueRef slot) {
  return slot_node(g, tree, load_slot(g, slot));
}

/* The form for a GPU, inline for nodes that exist, as nearly all do. The slot's value may be stale;
 * then the runtime reads it again. */
LLVMValueRef slot_ensure(Codegen *g, const IrInst *inst, LLVMValueRef slot) {
  ASSERT(g->part == CODEGEN_GPU_TASKS && !value_is_vector(slot), "one slot of a GPU's thread");
  LLVMValueRef handle = load_slot(g, slot), found = slot_node_at(g, inst->tree, handle);
  LLVMBasicBlockRef from = block_here(g), absent = block_new(g, "absent"),
                    end = block_new(g, "ensured");
  block_enter_unless(g, slot_is_live(g, handle), absent, end);
  Callee callee = {inst->tree, inst->imm};
  LLVMValueRef made = value_node(g, call_runtime(g, RT_SLOT_ENSURE, callee, &slot, 1));
  LLVMBasicBlockRef back = block_here(g);
  block_follow(g, end);
  return build_either(g, found, from, made, back);
}
