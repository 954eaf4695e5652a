/* entry.c - CALL: some entries are expanded inline. LANES_CALL, a call for all lanes: slots are
 * gathered; one call of the runtime finds, or removes, the cells of a hash in all lanes. */
#include "codegen/memory.h"

/* -- slots ------------------------------------------------------------------------------------- */

/* rt_slot_find and rt_slot_live expanded inline, so that the arena's base is loaded once per task:
 * EMPTY and BUSY give the ambient, any other slot base + granule * handle (llvm_bc/rt.h). The slot
 * is read `unordered`: the read cannot tear, but LLVM may move it in a loop, since activations by
 * other iterations may become visible at any time or not at all. */
_Static_assert(RT_SLOT_EMPTY == 0 && RT_SLOT_BUSY == 1, "a slot above BUSY is live");

static LLVMValueRef load_slot(Codegen *g, LLVMValueRef slot) {
  LLVMValueRef value = build_load(g, g->i32, slot);
  LLVMSetAlignment(value, 4);
  LLVMSetOrdering(value, LLVMAtomicOrderingUnordered);
  return alias_element(g, value, ALIAS_SLOT);
}

/* of one slot, or of lanes of them */
static LLVMValueRef slot_is_live(Codegen *g, LLVMValueRef value) {
  return build_icmp(g, LLVMIntUGT, value, value_like(value, RT_SLOT_BUSY));
}

LLVMValueRef slot_node_at(Codegen *g, int tree, LLVMValueRef handle) {
  LLVMValueRef base = context_of(g, RT_TREE_BASE, tree);
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
  LLVMValueRef past =
      build_udiv(g, context_of(g, RT_TREE_RESERVED, tree), value_index(g, RT_GRANULE));
  LLVMValueRef handle = build_zext(g, value, value_lanes(g->i64, width));
  return build_and(g, live, build_icmp(g, LLVMIntULT, handle, value_broadcast(g, past, width)));
}

static LLVMValueRef slot_node(Codegen *g, int tree, LLVMValueRef value) {
  LLVMValueRef node = slot_node_at(g, tree, value), ambient = context_of(g, RT_AMBIENT, 0);
  return arith_select(g, is_here(g, tree, value), node, ambient);
}

/* The form for a GPU, inline for nodes that exist, as nearly all do. The slot's value may be stale;
 * then the runtime reads it again. */
static LLVMValueRef slot_ensure(Codegen *g, const IrInst *inst, LLVMValueRef slot) {
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

/* -- calls ------------------------------------------------------------------------------------- */

static LLVMValueRef call_one(Codegen *g, const IrInst *inst, const LLVMValueRef *operands) {
  Callee callee = {inst->tree, inst->imm};
  switch (inst->entry) {
  case RT_SLOT_FIND: return slot_node(g, inst->tree, load_slot(g, operands[0]));
  case RT_SLOT_LIVE: return slot_is_live(g, load_slot(g, operands[0]));
  case RT_TREE_LARGE: return context_of(g, RT_TREE_LARGE, inst->tree);
  case RT_SLOT_ENSURE:
    if (g->part == CODEGEN_GPU_TASKS) return slot_ensure(g, inst, operands[0]);
    /* fallthrough */
  default: return call_runtime(g, (RtEntry)inst->entry, callee, operands, inst->operand_count);
  }
}

void entry_call(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES];
  for (int k = 0; k < inst->operand_count; k++) operands[k] = value_operand(g, inst, k);
  LLVMValueRef result = call_one(g, inst, operands);
  if (!type_is_none(inst->type)) value_set(g, inst, result);
}

/* -- calls in lanes ---------------------------------------------------------------------------- */

/* Operands are scalars, or lanes. */
static LLVMValueRef operand_lanes(Codegen *g, const IrInst *call, int operand, int width) {
  return value_broadcast(g, value_operand(g, call, operand), width);
}

static LLVMValueRef coordinates_of(Codegen *g, const IrInst *call, int width) {
  LLVMTypeRef lanes = value_lanes(g->i64, width);
  int count = call->operand_count - 2;
  ASSERT(count > 0 && count <= RT_MAX_AXES, "a node, its coordinates, the mask");
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    build_store(g, operand_lanes(g, call, 1 + k, width),
                value_byte_offset(g, array, (int64_t)k * width * 8));
  return array;
}

static RtEntry form_of(const IrInst *inst) {
  switch (inst->entry) {
  case RT_HASH_AHEAD: return RT_HASH_STILL_LANES;
  case RT_HASH_ENSURE: return RT_HASH_ENSURE_LANES;
  case RT_HASH_CLEAR: return RT_HASH_CLEAR_LANES;
  default: return inst->stable_cell ? RT_HASH_STILL_LANES : RT_HASH_FIND_LANES;
  }
}

/* Cells of a hash; NULL: the call has no result. */
static LLVMValueRef hash_lanes(Codegen *g, const IrInst *call, LLVMValueRef mask, int width) {
  LLVMTypeRef lanes = value_lanes(g->pointer, width);
  LLVMValueRef nodes = block_variable(g, lanes, "nodes"), count = value_i32(g, width);
  LLVMValueRef coordinates = coordinates_of(g, call, width);
  Callee callee = {call->tree, call->imm};
  if (call->entry == RT_HASH_FETCH) {
    call_runtime(g, RT_HASH_FETCH_LANES, callee, (LLVMValueRef[]){count, coordinates}, 2);
    return NULL;
  }
  build_store(g, operand_lanes(g, call, 0, width), nodes);
  LLVMValueRef operands[] = {lanes_bits(g, mask), count, nodes, coordinates};
  call_runtime(g, form_of(call), callee, operands, 4);
  if (call->entry == RT_HASH_CLEAR) return NULL;
  LLVMValueRef cells = build_load(g, lanes, nodes), ambient = context_of(g, RT_AMBIENT, 0);
  if (call->entry != RT_HASH_LIVE) return cells;
  return build_icmp(g, LLVMIntNE, cells, value_broadcast(g, ambient, width));
}

void entry_call_lanes(Codegen *g, const IrInst *inst) {
  LLVMValueRef mask = value_operand(g, inst, inst->operand_count - 1), result;
  int width = value_width(mask);
  ASSERT(width > 1 && width <= 64, "the last operand is the mask; a word has a bit for each lane");
  if (inst->entry == RT_SLOT_FIND || inst->entry == RT_SLOT_LIVE) {
    LLVMValueRef slots = operand_lanes(g, inst, 0, width);
    result = alias_element(g, vector_gather(g, TYPE(U32), slots, mask), ALIAS_SLOT);
    result =
        inst->entry == RT_SLOT_LIVE ? slot_is_live(g, result) : slot_node(g, inst->tree, result);
  } else {
    result = hash_lanes(g, inst, mask, width);
  }
  if (result) value_set(g, inst, result);
}
