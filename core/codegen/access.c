/* access.c - address ops and memory: where an element is, slots of pointer SNodes, loads and stores.
 * A reader decodes a slot here rather than by rt_slot_find, so that the arena's base is one value of the task:
 * EMPTY and BUSY read as the ambient, else base + granule * handle (llvm_bc/rt.h). The slot is read `unordered`:
 * whole, and free to move in a loop, since what other iterations activate may be seen at any time or not at all. */
#include "codegen/emit.h"
#include "rt.h"

_Static_assert(RT_SLOT_EMPTY == 0 && RT_SLOT_BUSY == 1, "a slot above BUSY is live");

static LLVMTypeRef address_type(Codegen *g, LLVMValueRef like) { return value_lanes(g->i64, value_width(like)); }

/* pointer + index * stride + imm. An index of at most 32 bits times a 32-bit stride cannot wrap in 64 bits, which
 * tells LLVM how addresses follow loop counters. */
static void emit_offset(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0), index = value_operand(g, inst, 1);
  Type type = inst->operand_count > 1 ? inst->operands[1]->type : TYPE(I64);
  if (!type_is_integer(type)) {
    codegen_fail(g, inst, "its index is no integer");
    return value_set(g, inst, pointer);
  }
  LLVMValueRef wide = value_extend(g, index, type);
  LLVMValueRef stride = value_integer(address_type(g, wide), inst->stride);
  LLVMValueRef bytes = type_bits(type) <= 32 ? LLVMBuildNSWMul(g->builder, wide, stride, "")
                                             : LLVMBuildMul(g->builder, wide, stride, "");
  LLVMValueRef place = LLVMBuildGEP2(g->builder, g->i8, pointer, &bytes, 1, "");
  value_set(g, inst, value_byte_offset(g, place, inst->imm));
}

static void emit_own(Codegen *g, const IrInst *inst) {
  LLVMValueRef bytes = call_tree_own(g, (int)inst->imm);
  value_set(g, inst, LLVMBuildGEP2(g->builder, g->i8, value_operand(g, inst, 0), &bytes, 1, ""));
}

static LLVMValueRef slot_value(Codegen *g, LLVMValueRef slot) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, slot, "");
  LLVMSetAlignment(value, 4);
  LLVMSetOrdering(value, LLVMAtomicOrderingUnordered);
  return alias_slot(g, value);
}

static LLVMValueRef slot_is_live(Codegen *g, LLVMValueRef value) {
  return LLVMBuildICmp(g->builder, LLVMIntUGT, value, value_integer(g->i32, RT_SLOT_BUSY), "");
}

static LLVMValueRef slot_find(Codegen *g, const IrInst *inst, LLVMValueRef slot) {
  LLVMValueRef base = call_tree_base(g, inst->tree), ambient = call_ambient(g), value = slot_value(g, slot);
  LLVMValueRef bytes = LLVMBuildNUWMul(g->builder, LLVMBuildZExt(g->builder, value, g->i64, ""), value_index(g, RT_GRANULE), "");
  LLVMValueRef node = LLVMBuildGEP2(g->builder, g->i8, base, &bytes, 1, "");
  return LLVMBuildSelect(g->builder, slot_is_live(g, value), node, ambient, "");
}

static LLVMValueRef slot_call(Codegen *g, const IrInst *inst, const char *name, LLVMValueRef slot) {
  LLVMValueRef args[] = {g->rt_context, g->worker, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm), slot};
  return call_runtime(g, name, args, 5);
}

static LLVMValueRef slot_op(Codegen *g, const IrInst *inst, LLVMValueRef slot) {
  switch (inst->op) {
  case IR_SLOT_FIND: return slot_find(g, inst, slot);
  case IR_SLOT_ENSURE: return slot_call(g, inst, "rt_slot_ensure", slot);
  case IR_SLOT_LIVE: return slot_is_live(g, slot_value(g, slot));
  default: return slot_call(g, inst, "rt_slot_clear", slot);
  }
}

/* Lane by lane where the slot is a per-lane address. */
static void emit_slot(Codegen *g, const IrInst *inst) {
  LLVMValueRef slots = value_operand(g, inst, 0), result = NULL;
  int width = value_width(slots);
  for (int lane = 0; lane < width; lane++) {
    LLVMValueRef one = slot_op(g, inst, value_lane(g, slots, lane));
    if (width == 1 || inst->op == IR_SLOT_CLEAR) result = one;
    else {
      if (!result) result = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one), (unsigned)width));
      result = LLVMBuildInsertElement(g->builder, result, one, value_integer(g->i32, lane), "");
    }
  }
  if (inst->op != IR_SLOT_CLEAR) value_set(g, inst, result);
}

static unsigned alignment_of(Type type) { return (unsigned)type_size(type); }

LLVMValueRef access_load(Codegen *g, Type type, LLVMValueRef pointer, int lanes) {
  LLVMTypeRef memory = value_memory_type(g, type);
  int width = value_width(pointer);
  if (width > 1) { /* a gather */
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(value_type(g, type), (unsigned)width));
    for (int lane = 0; lane < width; lane++)
      all = LLVMBuildInsertElement(g->builder, all, access_load(g, type, value_lane(g, pointer, lane), 1),
                                   value_integer(g->i32, lane), "");
    return all;
  }
  LLVMValueRef value = LLVMBuildLoad2(g->builder, value_lanes(memory, lanes), pointer, "");
  LLVMSetAlignment(value, alignment_of(type));
  return value_from_memory(g, alias_element(g, value), type);
}

void access_store(Codegen *g, Type type, LLVMValueRef pointer, LLVMValueRef value, int lanes) {
  int width = value_width(pointer);
  if (width == 1 && lanes <= 1 && value_is_vector(value)) /* all lanes write one element: the last stays */
    value = value_lane(g, value, value_width(value) - 1);
  if (width > 1) {
    for (int lane = 0; lane < width; lane++)
      access_store(g, type, value_lane(g, pointer, lane), value_lane(g, value, lane), 1);
    return;
  }
  LLVMValueRef memory = value_to_memory(g, value_broadcast(g, value, lanes), type);
  LLVMSetAlignment(alias_element(g, LLVMBuildStore(g->builder, memory, pointer)), alignment_of(type));
}

/* `lanes` counts only where there are lanes: a scalar ROW of a vector body reads one element. */
static bool fits_lanes(Codegen *g, const IrInst *inst) {
  if (inst->lanes <= 1 || inst->lanes == g->width) return true;
  codegen_fail(g, inst, "its lanes are not those of the row");
  return false;
}

static void emit_store(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0), value = value_operand(g, inst, 1);
  if (inst->operand_count < 2 || !fits_lanes(g, inst)) return;
  access_store(g, inst->operands[1]->type, pointer, value, inst->lanes);
}

void access_emit(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_TREE_ROOT: return value_set(g, inst, call_tree_root(g, (int)inst->imm));
  case IR_OWN: return emit_own(g, inst);
  case IR_AMBIENT: return value_set(g, inst, call_ambient(g));
  case IR_OFFSET: return emit_offset(g, inst);
  case IR_SLOT_FIND: case IR_SLOT_ENSURE: case IR_SLOT_CLEAR: case IR_SLOT_LIVE: return emit_slot(g, inst);
  case IR_MEM_LOAD:
    if (fits_lanes(g, inst)) value_set(g, inst, access_load(g, inst->type, value_operand(g, inst, 0), inst->lanes));
    return;
  case IR_MEM_STORE: return emit_store(g, inst);
  default: call_runtime(g, "rt_outside", &g->worker, 1); /* OUTSIDE: counts per lane that reaches it */
  }
}
