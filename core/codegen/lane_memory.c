/* lane_memory.c - accesses of bodies whose lanes are only emitted: hands what their shapes, groups
 * and the mask say to vector_memory.c and its neighbours. */
#include "codegen/emit.h"

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

static LaneAccess access_of(Codegen *g, const IrInst *inst) {
  LaneAccess a = {.type = ir_accessed(inst),
                  .mask = lane_mask(g, g->mask),
                  .part = inst->part,
                  .parts = inst->parts,
                  .streams = inst->streams,
                  .prefetch = inst->prefetch,
                  .pairs = inst->pairs};
  bool is_linear = inst->shape == IR_SHAPE_RUN || inst->shape == IR_SHAPE_STRIDED;
  a.at = is_linear ? lane_base(g, inst->operands[0]) : value_of(g, inst->operands[0]);
  return a;
}

static uint32_t numbers_of(const IrGroup *group) {
  uint32_t numbers = 0;
  for (int i = 0; i < group->count; i++) numbers |= 1u << group->items[i]->part;
  return numbers;
}

static LaneRuns runs_of(Codegen *g, const IrGroup *group) {
  LaneRuns runs = {.items.items = scratch_array(g->scratch, LaneRun, group->count),
                   .mask = lane_mask(g, g->mask)};
  for (int i = 0; i < group->count; i++) {
    const IrInst *at = group->items[i];
    if (at->shape != IR_SHAPE_RUNS || at->run >= group->count) continue;
    LaneRun *run = &runs.items.items[at->run];
    if (at->run >= runs.items.count) runs.items.count = at->run + 1;
    run->type = ir_accessed(at);
    run->count = at->parts;
    run->op = (IrUpdate)at->imm;
    run->addresses[at->part] = at->operands[0];
    run->at[at->part] = value_of(g, at->operands[0]);
    if (at->op == IR_MEM_UPDATE)
      run->values[at->part] = value_broadcast(g, value_operand(g, at, 1), g->width);
  }
  bool is_sound = true;
  for (int i = 0; i < runs.items.count; i++)
    for (int k = 0; k < runs.items.items[i].count; k++)
      is_sound &= runs.items.items[i].addresses[k] != NULL;
  if (!is_sound) codegen_fail(g, group->items[0], "its group has incomplete runs");
  return runs;
}

void lane_update_runs(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  LaneRuns runs = runs_of(g, &group);
  if (!error_is_set(g->err)) vector_update_runs(g, &runs);
}

/* The first load of a group reads for all. */
static void load_group(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  if (group.items[0] != inst) return;
  if (inst->shape == IR_SHAPE_CELLS) {
    LLVMValueRef values[IR_MOST_RUN];
    LaneAccess a = access_of(g, inst);
    a.numbers = numbers_of(&group);
    vector_load_cells(g, &a, values);
    for (int i = 0; i < group.count; i++)
      value_set(g, group.items[i], values[group.items[i]->part]);
    return;
  }
  LaneRuns runs = runs_of(g, &group);
  if (error_is_set(g->err)) return;
  vector_load_runs(g, &runs);
  for (int i = 0; i < group.count; i++)
    value_set(g, group.items[i],
              runs.items.items[group.items[i]->run].values[group.items[i]->part]);
}

void lane_load(Codegen *g, const IrInst *inst) {
  if (!has_shape(g, inst)) return;
  if (inst->shape == IR_SHAPE_CELLS || inst->shape == IR_SHAPE_RUNS) return load_group(g, inst);
  LaneAccess a = access_of(g, inst);
  if (inst->shape == IR_SHAPE_STRIDED) {
    IrGroup group = ir_group(g->scratch, inst);
    a.numbers = numbers_of(&group);
  }
  value_set(g, inst, vector_load(g, &a));
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

static LLVMValueRef stored(Codegen *g, const IrInst *store) {
  LLVMValueRef value = value_broadcast(g, value_operand(g, store, 1), g->width);
  return value_to_memory(g, value, store->operands[1]->type);
}

/* Does a strided store, and those of its group that were deferred to it. */
static void store_strided(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  const IrInst *stores[IR_MOST_PARTS] = {0};
  LLVMValueRef values[IR_MOST_PARTS];
  LaneAccess a = access_of(g, inst);
  int count = 0;
  if (inst->deferred) return;
  for (int i = 0; i < group.count; i++) {
    const IrInst *at = group.items[i];
    if (at->op != IR_MEM_STORE) continue;
    stores[at->part] = at;
    a.numbers |= 1u << at->part;
    if (at == inst) break;
    if (!at->deferred) a.numbers = 0;
  }
  for (int part = 0; part < a.parts; part++)
    if (a.numbers >> part & 1) values[count++] = stored(g, stores[part]);
  int low = __builtin_ctz(a.numbers);
  a.at = value_byte_offset(g, a.at, (low - a.part) * (int64_t)type_size(a.type));
  a.part = low;
  vector_store(g, &a, values);
}

void lane_store(Codegen *g, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  if (lane_shape(g, ptr) == LANE_UNIFORM)
    return access_store(g, inst->operands[1]->type, value_of(g, ptr),
                        last_of(g, value_operand(g, inst, 1)), 1);
  if (!has_shape(g, inst)) return;
  if (inst->shape == IR_SHAPE_STRIDED) return store_strided(g, inst);
  LLVMValueRef value = stored(g, inst);
  LaneAccess a = access_of(g, inst);
  vector_store(g, &a, &value);
}
