/* vector.c - ops of lanes, one by one (pass/vector/vectorise.c). Masks are operands. The constant
 * mask of all lanes, by which whole vectors of iterations are emitted, makes an access an ordinary
 * one, and a conjunction its other operand, so that LLVM has less to fold.
 * Decision D-pass-70. */
#include "codegen/vector.h"

/* -- shuffles ---------------------------------------------------------------------------------- */

LLVMValueRef vector_splice(Codegen *g, const IrInst *inst) {
  int lanes[IR_MAX_LANES], width = type_rows(inst->type);
  ASSERT(width <= IR_MAX_LANES, "a vector has so many lanes at most");
  for (int i = 0; i < width; i++) lanes[i] = (int)inst->imm + i;
  return build_shuffle(g, value_operand(g, inst, 0), value_operand(g, inst, 1), lanes, width);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* What the inst says of an access to elements of `type` in lanes. */
static LaneAccess access_of(Codegen *g, const IrInst *inst, Type lanes) {
  LaneAccess a = {.inst = inst,
                  .type = type_element(lanes),
                  .at = value_operand(g, inst, 0),
                  .mask = value_operand(g, inst, inst->operand_count - 1),
                  .part = inst->part};
  ASSERT(value_width(a.mask) == type_rows(lanes), "a bit of the mask for each lane");
  return a;
}

void vector_emit_store(Codegen *g, const IrInst *inst) {
  LaneAccess a = access_of(g, inst, inst->operands[1]->type);
  LLVMValueRef values[IR_MOST_PARTS];
  for (int i = 0; i < inst->operand_count - 2; i++)
    values[i] = value_to_memory(g, value_operand(g, inst, i + 1), inst->operands[i + 1]->type);
  if (inst->parts) a.part = __builtin_ctz(access_numbers(&a));
  vector_store(g, &a, values);
}

/* Each number that is read has a variable. */
static void lanes_load_cells(Codegen *g, const IrInst *inst) {
  const LaneAccess a = access_of(g, inst, inst->operands[1]->type);
  LLVMValueRef values[IR_MOST_RUN];
  vector_load_cells(g, &a, values);
  for (int number = 0, i = 1; number < inst->parts; number++)
    if (inst->numbers >> number & 1) build_store(g, values[number], value_operand(g, inst, i++));
}

static LaneRun run_of(Codegen *g, const IrInst *inst, int number) {
  LaneRun run = {.inst = inst,
                 .type = type_element(inst->operands[inst->parts]->type),
                 .count = inst->parts,
                 .like = number - inst->like};
  for (int k = 0; k < run.count; k++) {
    run.at[k] = value_operand(g, inst, k);
    run.values[k] = value_operand(g, inst, run.count + k);
  }
  return run;
}

/* Loads or updates the runs of a group, at its last one. */
void vector_emit_runs(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  LaneRuns runs = {.mask = value_operand(g, inst, inst->operand_count - 1), .gaps = inst->gaps};
  if (inst->deferred) return;
  for (int i = 0; i < group.count; i++)
    vec_push(g->scratch, &runs.items, run_of(g, group.items[i], i));
  if (inst->op == IR_LANES_UPDATE) return vector_update_runs(g, &runs);
  vector_load_runs(g, &runs);
  for (int i = 0; i < group.count; i++)
    for (int k = 0; k < group.items[i]->parts; k++)
      build_store(g, runs.items.items[i].values[k],
                  value_operand(g, group.items[i], group.items[i]->parts + k));
}

void vector_emit_load(Codegen *g, const IrInst *inst) {
  if (inst->shape == IR_SHAPE_RUNS) return vector_emit_runs(g, inst);
  if (inst->shape == IR_SHAPE_CELLS) return lanes_load_cells(g, inst);
  const LaneAccess a = access_of(g, inst, inst->type);
  value_set(g, inst, vector_load(g, &a));
}

static LLVMValueRef lane_address(Codegen *g, LLVMTypeRef type, const IrInst *inst) {
  LLVMValueRef lane = value_operand(g, inst, 1);
  return build_at(g, type, value_operand(g, inst, 0), lane);
}

/* One lane of a variable, read where it is in memory, or of a value. */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst) {
  if (inst->operands[0]->op != IR_VAR)
    return build_extract(g, value_operand(g, inst, 0), value_operand(g, inst, 1));
  ASSERT(!type_is_bool(inst->type), "lanes of bools are bits, which have no address");
  LLVMTypeRef type = value_type(g, inst->type);
  return build_load(g, type, lane_address(g, type, inst));
}

void vector_lane_set(Codegen *g, const IrInst *inst) {
  LLVMValueRef value = value_operand(g, inst, 2);
  build_store(g, value, lane_address(g, LLVMTypeOf(value), inst));
}
