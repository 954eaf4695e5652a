/* slot.c - rt_slot_find and rt_slot_live expanded inline, so that the arena's base is loaded once
 * per task: EMPTY and BUSY give the ambient, any other slot base + granule * handle (llvm_bc/rt.h).
 * The slot is read `unordered`: the read cannot tear, but LLVM may move it in a loop, since
 * activations by other iterations may become visible at any time or not at all. */
#include "codegen/emit.h"

_Static_assert(RT_SLOT_EMPTY == 0 && RT_SLOT_BUSY == 1, "a slot above BUSY is live");

static LLVMValueRef load_slot(Codegen *g, LLVMValueRef slot) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, slot, "");
  LLVMSetAlignment(value, 4);
  LLVMSetOrdering(value, LLVMAtomicOrderingUnordered);
  return alias_slot(g, value);
}

/* of one slot, or of a vector of them */
static LLVMValueRef is_live(Codegen *g, LLVMValueRef value) {
  LLVMValueRef busy = value_integer(LLVMTypeOf(value), RT_SLOT_BUSY);
  return LLVMBuildICmp(g->builder, LLVMIntUGT, value, busy, "");
}

static LLVMValueRef node_at_handle(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef base = context_base(g, tree);
  LLVMTypeRef wide = value_lanes(g->i64, value_width(value));
  LLVMValueRef handle = LLVMBuildZExt(g->builder, value, wide, "");
  LLVMValueRef bytes = LLVMBuildNUWMul(g->builder, handle, value_integer(wide, RT_GRANULE), "");
  return LLVMBuildGEP2(g->builder, g->i8, base, &bytes, 1, "");
}

/* Is the node live, and mapped in this process? Another process's tree may get nodes beyond the
 * part of its memory that is mapped here. */
static LLVMValueRef is_here(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef live = is_live(g, value);
  if (!g->kernel->is_bounded) return live;
  LLVMTypeRef wide = value_lanes(g->i64, value_width(value));
  LLVMValueRef past =
      LLVMBuildUDiv(g->builder, context_reserved(g, tree), value_integer(g->i64, RT_GRANULE), "");
  LLVMValueRef handle = LLVMBuildZExt(g->builder, value, wide, "");
  LLVMValueRef is_mapped = LLVMBuildICmp(g->builder, LLVMIntULT, handle,
                                         value_broadcast(g, past, value_width(value)), "");
  return LLVMBuildAnd(g->builder, live, is_mapped, "");
}

static LLVMValueRef node_of(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef node = node_at_handle(g, tree, value), ambient = context_ambient(g);
  return arith_select(g, is_here(g, tree, value), node, ambient);
}

LLVMValueRef slot_live(Codegen *g, LLVMValueRef slot) { return is_live(g, load_slot(g, slot)); }

LLVMValueRef slot_find(Codegen *g, int tree, LLVMValueRef slot) {
  return node_of(g, tree, load_slot(g, slot));
}

/* The form for a GPU, inline for nodes that exist, as nearly all do. The slot's value may be stale;
 * then the runtime reads it again. */
LLVMValueRef slot_ensure(Codegen *g, const IrInst *inst, LLVMValueRef slot) {
  ASSERT(g->part == CODEGEN_GPU_TASKS && !value_is_vector(slot), "one slot of a GPU's thread");
  LLVMValueRef handle = load_slot(g, slot), found = node_at_handle(g, inst->tree, handle);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), absent = block_new(g, "absent"),
                    end = block_new(g, "ensured");
  block_branch(g, is_live(g, handle), end, absent);
  block_enter(g, absent);
  Callee callee = {inst->tree, inst->imm};
  LLVMValueRef made = value_node(g, call_runtime(g, RT_SLOT_ENSURE, callee, &slot, 1));
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  block_jump(g, end);
  block_enter(g, end);
  LLVMValueRef node = LLVMBuildPhi(g->builder, g->pointer, "node");
  LLVMAddIncoming(node, (LLVMValueRef[]){found, made}, (LLVMBasicBlockRef[]){from, back}, 2);
  return node;
}

/* Finds nodes that exist, as nearly all do, in all lanes at once; creates the others lane by
 * lane. */
static LLVMValueRef ensure_slots(Codegen *g, const LaneCall *c, LLVMValueRef handles) {
  ASSERT(value_width(handles) == value_width(c->mask), "a handle for each lane");
  LLVMValueRef found = node_of(g, c->inst->tree, handles);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), some = block_new(g, "absent"),
                    end = block_new(g, "ensured");
  LLVMValueRef absent = LLVMBuildNot(g->builder, is_live(g, handles), "");
  absent = LLVMBuildAnd(g->builder, absent, c->mask, "");
  block_branch(g, vector_any(g, absent), some, end);
  block_enter(g, some);
  LLVMValueRef all = arith_select(g, absent, call_each(g, c, absent), found);
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  block_jump(g, end);
  block_enter(g, end);
  LLVMValueRef nodes = LLVMBuildPhi(g->builder, LLVMTypeOf(found), "");
  LLVMAddIncoming(nodes, (LLVMValueRef[]){found, all}, (LLVMBasicBlockRef[]){from, back}, 2);
  return nodes;
}

LLVMValueRef slot_lanes(Codegen *g, const LaneCall *c) {
  LLVMValueRef slots = call_operand_lanes(g, c, 0);
  LLVMValueRef handles = alias_slot(g, vector_gather(g, TYPE(U32), slots, c->mask));
  switch (c->inst->entry) {
  case RT_SLOT_LIVE: return is_live(g, handles);
  case RT_SLOT_ENSURE: return ensure_slots(g, c, handles);
  default: return node_of(g, c->inst->tree, handles);
  }
}
