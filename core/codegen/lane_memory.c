/* lane_memory.c - memory access in lanes: adjacent elements are one vector, others are gathered and
 * scattered; inactive lanes access nothing. */
#include "codegen/emit.h"

static LLVMTypeRef memory_lanes(Codegen *g, Type type) {
  return value_lanes(value_memory_type(g, type), g->width);
}

/* Are the lanes' addresses as the shape says? It comes from bytes, which may be wrong. */
static bool has_shape(Codegen *g, const IrInst *inst) {
  const LaneFact *fact = &g->lanes[inst->operands[0]->id];
  int64_t size = type_size(ir_accessed(inst)), step = inst->shape == IR_SHAPE_RUN ? 1 : inst->parts;
  bool is_linear = inst->shape == IR_SHAPE_RUN || inst->shape == IR_SHAPE_STRIDED,
       is_varying = inst->shape == IR_SHAPE_CELLS || inst->shape == IR_SHAPE_RUNS;
  if (is_linear ? fact->shape == LANE_LINEAR && fact->step == step * size
                : !is_varying || fact->shape == LANE_VARYING)
    return true;
  codegen_fail(g, inst, "its lanes are not at addresses of its shape");
  return false;
}

static LLVMValueRef alignment(Codegen *g, Type type) {
  return value_integer(g->i32, type_size(type));
}

static LLVMValueRef load_run(Codegen *g, Type type, LLVMValueRef base) {
  LLVMTypeRef lanes = memory_lanes(g, type);
  if (g->mask) {
    LLVMValueRef args[] = {base, alignment(g, type), g->mask, LLVMConstNull(lanes)};
    return call_overloaded(g, "llvm.masked.load", lanes, g->pointer, args, 4);
  }
  LLVMValueRef value = LLVMBuildLoad2(g->builder, lanes, base, "");
  LLVMSetAlignment(value, (unsigned)type_size(type));
  return value;
}

LLVMValueRef lane_gather(Codegen *g, Type type, LLVMValueRef pointers) {
  int width = value_width(pointers);
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), width);
  LLVMValueRef mask = g->mask ? g->mask : LLVMConstAllOnes(value_lanes(g->bool_type, width));
  LLVMValueRef args[] = {pointers, alignment(g, type), mask, LLVMConstNull(lanes)};
  return call_overloaded(g, "llvm.masked.gather", lanes, LLVMTypeOf(pointers), args, 4);
}

void lane_load(Codegen *g, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  if (!has_shape(g, inst) || lane_load_strided(g, inst)) return;
  if (inst->shape == IR_SHAPE_CELLS) return lane_load_cell(g, inst);
  if (inst->shape == IR_SHAPE_RUNS) return lane_load_runs(g, inst);
  LLVMValueRef value = inst->shape == IR_SHAPE_RUN ? load_run(g, inst->type, lane_base(g, ptr))
                                                   : lane_gather(g, inst->type, value_of(g, ptr));
  value_set(g, inst, value_from_memory(g, alias_element(g, value), inst->type));
}

static void store_run(Codegen *g, Type type, LLVMValueRef base, LLVMValueRef memory, bool streams) {
  if (g->mask) {
    LLVMValueRef args[] = {memory, base, alignment(g, type), g->mask};
    alias_element(g,
                  call_overloaded(g, "llvm.masked.store", LLVMTypeOf(memory), g->pointer, args, 4));
    return;
  }
  StreamStore store = {
      .base = base, .vectors = &memory, .count = 1, .type = type, .is_element = true};
  stream_store(g, &store, streams);
}

/* The value to store if all lanes write one element: that of the last active lane, as in sequential
 * order. */
static LLVMValueRef last_of(Codegen *g, LLVMValueRef value) {
  if (!value_is_vector(value)) return value;
  if (!g->mask) return value_lane(g, value, g->width - 1);
  LLVMTypeRef bits = LLVMIntTypeInContext(g->context, (unsigned)g->width);
  LLVMValueRef args[] = {LLVMBuildBitCast(g->builder, g->mask, bits, ""),
                         LLVMConstInt(g->bool_type, 1, false)};
  LLVMValueRef above = call_intrinsic(g, "llvm.ctlz", bits, args, 2);
  LLVMValueRef lane = LLVMBuildSub(g->builder, value_integer(bits, g->width - 1), above, "");
  return LLVMBuildExtractElement(g->builder, value, lane, "");
}

void lane_store(Codegen *g, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  Type type = inst->operands[1]->type;
  LLVMValueRef value = value_operand(g, inst, 1);
  if (lane_shape(g, ptr) == LANE_UNIFORM)
    return access_store(g, type, value_of(g, ptr), last_of(g, value), 1);
  if (!has_shape(g, inst) || lane_store_strided(g, inst)) return;
  LLVMValueRef memory = value_to_memory(g, value_broadcast(g, value, g->width), type);
  if (inst->shape == IR_SHAPE_RUN)
    return store_run(g, type, lane_base(g, ptr), memory, inst->streams);
  LLVMValueRef pointers = value_of(g, ptr);
  LLVMValueRef args[] = {memory, pointers, alignment(g, type), lane_mask(g, g->mask)};
  alias_element(g, call_overloaded(g, "llvm.masked.scatter", LLVMTypeOf(memory),
                                   LLVMTypeOf(pointers), args, 4));
}

void lane_update_run(Codegen *g, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0], *by = inst->operands[1];
  if (!has_shape(g, inst)) return;
  LLVMValueRef base = lane_base(g, ptr), old = alias_element(g, load_run(g, by->type, base)),
               value = value_broadcast(g, value_of(g, by), g->width);
  old = value_from_memory(g, old, by->type);
  LLVMValueRef result = arith_update(g, (IrUpdate)inst->imm, by->type, old, value);
  store_run(g, by->type, base, value_to_memory(g, result, by->type), false);
}

/* Emits addresses as a scalar base plus a vector of indices with a scale that the machine has: the
 * addressing mode of gathers. */
void lane_offset(Codegen *g, const IrInst *inst) {
  const IrInst *base = inst->operands[0], *index = inst->operands[1];
  LLVMValueRef wide = value_extend(g, value_of(g, index), index->type);
  int stride = inst->stride, scale = stride == 2 || stride == 4 || stride == 8 ? stride : 1;
  LLVMValueRef pointer = value_byte_offset(g, value_of(g, base), inst->imm);
  if (scale != stride) {
    LLVMValueRef factor = value_integer(LLVMTypeOf(wide), stride);
    wide = type_bits(index->type) <= 32 ? LLVMBuildNSWMul(g->builder, wide, factor, "")
                                        : LLVMBuildMul(g->builder, wide, factor, "");
  }
  LLVMTypeRef unit = scale == 1 ? g->i8 : LLVMArrayType2(g->i8, (uint64_t)scale);
  value_set(g, inst, LLVMBuildGEP2(g->builder, unit, pointer, &wide, 1, ""));
}
