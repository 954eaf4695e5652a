/* vector.c - ops of lanes, one by one (pass/vector/vectorise.c). Masks are operands. The constant
 * mask of all lanes, by which whole vectors of iterations are emitted, makes an access an ordinary
 * one, and a conjunction its other operand, so that LLVM has less to fold.
 * Decision D-pass-70. */
#include "codegen/emit.h"

LLVMValueRef vector_step(Codegen *g, LLVMValueRef base, Type type, int64_t step, int width) {
  if (type_is(type, TYPE_PTR)) {
    LLVMValueRef steps = value_staircase(g->i64, width, step);
    return LLVMBuildGEP2(g->builder, g->i8, base, &steps, 1, "");
  }
  return LLVMBuildAdd(g->builder, value_broadcast(g, base, width),
                      value_staircase(LLVMTypeOf(base), width, step), "");
}

static LLVMValueRef step_of(Codegen *g, const IrInst *inst, LLVMValueRef base) {
  return vector_step(g, base, type_element(inst->type), inst->imm, type_rows(inst->type));
}

/* -- masks ------------------------------------------------------------------------------------- */

/* A select, since the condition of an inactive lane may be poison. */
LLVMValueRef vector_both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition) {
  if (value_is_all(mask)) return condition;
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(mask));
  return LLVMBuildSelect(g->builder, mask, condition, none, "");
}

static LLVMValueRef bits_of(Codegen *g, LLVMValueRef mask) {
  LLVMTypeRef bits = LLVMIntTypeInContext(g->context, (unsigned)value_width(mask));
  return LLVMBuildBitCast(g->builder, mask, bits, "");
}

LLVMValueRef vector_any(Codegen *g, LLVMValueRef mask) {
  if (value_is_all(mask)) return value_integer(g->bool_type, 1);
  LLVMValueRef bits = bits_of(g, mask);
  return LLVMBuildICmp(g->builder, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

LLVMValueRef vector_bits(Codegen *g, LLVMValueRef mask) {
  int width = value_width(mask);
  if (value_is_all(mask)) return value_index(g, (int64_t)(UINT64_MAX >> (64 - width)));
  LLVMValueRef bits = bits_of(g, mask);
  return width < 64 ? LLVMBuildZExt(g->builder, bits, g->i64, "") : bits;
}

/* -- shuffles ---------------------------------------------------------------------------------- */

static LLVMValueRef splice(Codegen *g, const IrInst *inst, LLVMValueRef low) {
  LLVMValueRef lanes[IR_MAX_LANES];
  int width = type_rows(inst->type);
  ASSERT(width <= IR_MAX_LANES, "a vector has so many lanes at most");
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, inst->imm + i);
  return LLVMBuildShuffleVector(g->builder, low, value_operand(g, inst, 1),
                                LLVMConstVector(lanes, (unsigned)width), "");
}

/* -- memory ------------------------------------------------------------------------------------ */

/* What the inst says of an access to elements of `type` in lanes. */
static LaneAccess access_of(Codegen *g, const IrInst *inst, Type lanes) {
  LaneAccess a = {.type = type_element(lanes),
                  .alias = inst->alias,
                  .at = value_operand(g, inst, 0),
                  .mask = value_operand(g, inst, inst->operand_count - 1),
                  .part = inst->part,
                  .parts = inst->parts,
                  .numbers = (uint32_t)inst->numbers,
                  .streams = inst->streams,
                  .prefetch = inst->prefetch,
                  .pairs = inst->pairs};
  ASSERT(value_width(a.mask) == type_rows(lanes), "a bit of the mask for each lane");
  return a;
}

static void lanes_store(Codegen *g, const IrInst *inst) {
  LaneAccess a = access_of(g, inst, inst->operands[1]->type);
  LLVMValueRef values[IR_MOST_PARTS];
  for (int i = 0; i < inst->operand_count - 2; i++)
    values[i] = value_to_memory(g, value_operand(g, inst, i + 1), inst->operands[i + 1]->type);
  if (a.parts) a.part = __builtin_ctz(a.numbers);
  vector_store(g, &a, values);
}

/* Each number that is read has a variable. */
static void lanes_load_cells(Codegen *g, const IrInst *inst) {
  const LaneAccess a = access_of(g, inst, inst->operands[1]->type);
  LLVMValueRef values[IR_MOST_RUN];
  vector_load_cells(g, &a, values);
  for (int number = 0, i = 1; number < a.parts; number++)
    if (a.numbers >> number & 1)
      LLVMBuildStore(g->builder, values[number], value_operand(g, inst, i++));
}

static LaneRun run_of(Codegen *g, const IrInst *inst, int number) {
  LaneRun run = {.type = type_element(inst->operands[inst->parts]->type),
                 .alias = inst->alias,
                 .count = inst->parts,
                 .adjacent = inst->adjacent,
                 .like = number - inst->like,
                 .distance = inst->distance,
                 .op = (IrUpdate)inst->imm};
  for (int k = 0; k < run.count; k++) {
    run.at[k] = value_operand(g, inst, k);
    run.values[k] = value_operand(g, inst, run.count + k);
  }
  return run;
}

/* Loads or updates the runs of a group, at its last one. */
static void lanes_runs(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  LaneRuns runs = {.mask = value_operand(g, inst, inst->operand_count - 1)};
  if (inst->deferred) return;
  for (int i = 0; i < group.count; i++)
    vec_push(g->scratch, &runs.items, run_of(g, group.items[i], i));
  if (inst->op == IR_LANES_UPDATE) return vector_update_runs(g, &runs);
  vector_load_runs(g, &runs);
  for (int i = 0; i < group.count; i++)
    for (int k = 0; k < group.items[i]->parts; k++)
      LLVMBuildStore(g->builder, runs.items.items[i].values[k],
                     value_operand(g, group.items[i], group.items[i]->parts + k));
}

static void lanes_load(Codegen *g, const IrInst *inst) {
  if (inst->shape == IR_SHAPE_RUNS) return lanes_runs(g, inst);
  if (inst->shape == IR_SHAPE_CELLS) return lanes_load_cells(g, inst);
  const LaneAccess a = access_of(g, inst, inst->type);
  value_set(g, inst, vector_load(g, &a));
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
  switch (inst->op) {
  case IR_SPLAT: return value_set(g, inst, value_broadcast(g, first, type_rows(inst->type)));
  case IR_STEP: return value_set(g, inst, step_of(g, inst, first));
  case IR_SPLICE: return value_set(g, inst, splice(g, inst, first));
  case IR_LANE_GET: return value_set(g, inst, lane_get(g, inst, first));
  case IR_LANE_SET: return lane_set(g, inst);
  case IR_LANES_REDUCE: return value_set(g, inst, reduce(g, inst, first));
  case IR_LANES_CALL: return call_in_lanes(g, inst);
  case IR_LANES_LOAD: return lanes_load(g, inst);
  case IR_LANES_STORE: return lanes_store(g, inst);
  case IR_LANES_UPDATE: return lanes_runs(g, inst);
  case IR_RSQRT:
  case IR_RSQRT_CUBE: return root_reciprocal(g, inst);
  case IR_MASK_AND: return value_set(g, inst, vector_both(g, first, value_operand(g, inst, 1)));
  case IR_MASK_ANY: return value_set(g, inst, vector_any(g, first));
  case IR_MASK_OF_BITS:
    return value_set(g, inst, lane_mask_of_bits(g, first, type_rows(inst->type)));
  case IR_MASK_BITS: return value_set(g, inst, vector_bits(g, first));
  default: codegen_fail(g, inst, "it is no op of lanes");
  }
}
