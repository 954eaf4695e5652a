/* vector.c - ops of lanes, one by one (pass/vector/vectorise.c). Masks are operands. The constant
 * mask of all lanes, by which whole vectors of iterations are emitted, makes an access an ordinary
 * one, and a conjunction its other operand, so that LLVM has less to fold.
 * Decision D-pass-70. */
#include "codegen/emit.h"

/* 0, step, 2 * step .. */
static LLVMValueRef staircase(LLVMTypeRef type, int width, int64_t step) {
  LLVMValueRef lanes[IR_MAX_LANES];
  ASSERT(width > 1 && width <= IR_MAX_LANES, "lanes of a vector");
  for (int i = 0; i < width; i++) lanes[i] = value_integer(type, i * step);
  return LLVMConstVector(lanes, (unsigned)width);
}

static LLVMValueRef step(Codegen *g, const IrInst *inst, LLVMValueRef base) {
  int width = type_rows(inst->type);
  if (type_is(type_element(inst->type), TYPE_PTR)) {
    LLVMValueRef steps = staircase(g->i64, width, inst->imm);
    return LLVMBuildGEP2(g->builder, g->i8, base, &steps, 1, "");
  }
  return LLVMBuildAdd(g->builder, value_broadcast(g, base, width),
                      staircase(LLVMTypeOf(base), width, inst->imm), "");
}

/* -- masks ------------------------------------------------------------------------------------- */

/* A select, since the condition of an inactive lane may be poison. */
static LLVMValueRef both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition) {
  if (value_is_all(mask)) return condition;
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(mask));
  return LLVMBuildSelect(g->builder, mask, condition, none, "");
}

static LLVMValueRef bits_of(Codegen *g, LLVMValueRef mask) {
  LLVMTypeRef bits = LLVMIntTypeInContext(g->context, (unsigned)value_width(mask));
  return LLVMBuildBitCast(g->builder, mask, bits, "");
}

static LLVMValueRef any(Codegen *g, LLVMValueRef mask) {
  if (value_is_all(mask)) return value_integer(g->bool_type, 1);
  LLVMValueRef bits = bits_of(g, mask);
  return LLVMBuildICmp(g->builder, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

static LLVMValueRef wide_bits(Codegen *g, LLVMValueRef mask) {
  int width = value_width(mask);
  if (value_is_all(mask)) return value_index(g, (int64_t)(UINT64_MAX >> (64 - width)));
  LLVMValueRef bits = bits_of(g, mask);
  return width < 64 ? LLVMBuildZExt(g->builder, bits, g->i64, "") : bits;
}

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct Access {
  Type element;
  LLVMTypeRef lanes; /* in memory */
  LLVMValueRef at, mask, alignment;
} Access;

static Access access_of(Codegen *g, const IrInst *inst, Type type) {
  Type element = type_element(type);
  Access a = {.element = element, .lanes = value_memory_type(g, type)};
  a.at = value_operand(g, inst, 0);
  a.mask = value_operand(g, inst, inst->operand_count - 1);
  a.alignment = value_integer(g->i32, type_size(element));
  ASSERT(value_width(a.mask) == type_rows(type), "a bit of the mask for each lane");
  return a;
}

static LLVMValueRef load(Codegen *g, const Access *a) {
  LLVMValueRef none = LLVMConstNull(a->lanes);
  if (value_is_vector(a->at)) {
    LLVMValueRef args[] = {a->at, a->alignment, a->mask, none};
    return call_overloaded(g, "llvm.masked.gather", a->lanes, LLVMTypeOf(a->at), args, 4);
  }
  if (!value_is_all(a->mask)) {
    LLVMValueRef args[] = {a->at, a->alignment, a->mask, none};
    return call_overloaded(g, "llvm.masked.load", a->lanes, g->pointer, args, 4);
  }
  LLVMValueRef value = LLVMBuildLoad2(g->builder, a->lanes, a->at, "");
  LLVMSetAlignment(value, (unsigned)type_size(a->element));
  return value;
}

static void lanes_load(Codegen *g, const IrInst *inst) {
  Access a = access_of(g, inst, inst->type);
  LLVMValueRef value = alias_element(g, load(g, &a));
  value_set(g, inst, value_from_memory(g, value, a.element));
}

static void lanes_store(Codegen *g, const IrInst *inst) {
  Access a = access_of(g, inst, inst->operands[1]->type);
  LLVMValueRef value = value_to_memory(g, value_operand(g, inst, 1), a.element);
  LLVMValueRef args[] = {value, a.at, a.alignment, a.mask};
  if (!value_is_vector(a.at) && value_is_all(a.mask)) {
    StreamStore store = {
        .base = a.at, .vectors = &value, .count = 1, .type = a.element, .is_element = true};
    return stream_store(g, &store, inst->streams);
  }
  const char *how = value_is_vector(a.at) ? "llvm.masked.scatter" : "llvm.masked.store";
  alias_element(g, call_overloaded(g, how, a.lanes, LLVMTypeOf(a.at), args, 4));
}

static LLVMValueRef lane_address(Codegen *g, LLVMTypeRef type, const IrInst *inst) {
  LLVMValueRef lane = value_operand(g, inst, 1);
  return LLVMBuildGEP2(g->builder, type, value_operand(g, inst, 0), &lane, 1, "");
}

/* One lane of a variable, read where it is in memory, or of a value. */
static LLVMValueRef lane_get(Codegen *g, const IrInst *inst, LLVMValueRef from) {
  if (inst->operands[0]->op != IR_VAR)
    return LLVMBuildExtractElement(g->builder, from, value_operand(g, inst, 1), "");
  ASSERT(!type_is_bool(inst->type), "lanes of bools are bits, which have no address");
  LLVMTypeRef type = value_type(g, inst->type);
  return LLVMBuildLoad2(g->builder, type, lane_address(g, type, inst), "");
}

static void lane_set(Codegen *g, const IrInst *inst) {
  LLVMValueRef value = value_operand(g, inst, 2);
  LLVMBuildStore(g->builder, value, lane_address(g, LLVMTypeOf(value), inst));
}

static LLVMValueRef reduce(Codegen *g, const IrInst *inst, LLVMValueRef lanes) {
  return reduce_lanes(g, (IrUpdate)inst->imm, inst->type, lanes, NULL);
}

void vector_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef first = value_operand(g, inst, 0);
  ASSERT(!g->lanes && !g->mask && g->width == 1, "ops of lanes need no state of lanes");
  switch (inst->op) {
  case IR_SPLAT: return value_set(g, inst, value_broadcast(g, first, type_rows(inst->type)));
  case IR_STEP: return value_set(g, inst, step(g, inst, first));
  case IR_LANE_GET: return value_set(g, inst, lane_get(g, inst, first));
  case IR_LANE_SET: return lane_set(g, inst);
  case IR_LANES_REDUCE: return value_set(g, inst, reduce(g, inst, first));
  case IR_LANES_LOAD: return lanes_load(g, inst);
  case IR_LANES_STORE: return lanes_store(g, inst);
  case IR_MASK_AND: return value_set(g, inst, both(g, first, value_operand(g, inst, 1)));
  case IR_MASK_ANY: return value_set(g, inst, any(g, first));
  case IR_MASK_BITS: return value_set(g, inst, wide_bits(g, first));
  default: codegen_fail(g, inst, "it is no op of lanes");
  }
}
