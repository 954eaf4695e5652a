/* lane.c - emits a vectorised body: `width` iterations at a time, one per lane (ir/lanes.h). A
 * uniform value is one number, a linear one is kept as lane 0's number, a varying one is a vector;
 * g->mask holds the active lanes. Arithmetic runs in all lanes, since every op is defined for all
 * values; memory accesses and calls run only if a lane is active, and only for active lanes. Ops
 * without a vector form are emitted lane by lane. */
#include "codegen/emit.h"

LaneShape lane_shape(const Codegen *g, const IrInst *inst) {
  return (LaneShape)g->lanes[inst->id].shape;
}

LLVMValueRef lane_base(Codegen *g, const IrInst *inst) {
  bool before = g->wants_base;
  g->wants_base = true;
  LLVMValueRef base = value_of(g, inst);
  g->wants_base = before;
  return base;
}

/* -- masks ------------------------------------------------------------------------------------- */

LLVMTypeRef lane_mask_type(Codegen *g) { return value_lanes(g->bool_type, g->width); }

LLVMValueRef lane_mask(Codegen *g, LLVMValueRef mask) {
  return mask ? mask : LLVMConstAllOnes(lane_mask_type(g));
}

LLVMValueRef lane_mask_of_bits(Codegen *g, LLVMValueRef bits, int width) {
  LLVMValueRef lanes[IR_MAX_LANES];
  if (width > 32) {
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)width);
    return LLVMBuildBitCast(g->builder, LLVMBuildIntCast2(g->builder, bits, narrow, false, ""),
                            value_lanes(g->bool_type, width), "");
  }
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, (int64_t)1 << i);
  LLVMValueRef each = LLVMConstVector(lanes, (unsigned)width);
  LLVMValueRef all = LLVMBuildIntCast2(g->builder, bits, g->i32, false, "");
  LLVMValueRef own = LLVMBuildAnd(g->builder, value_broadcast(g, all, width), each, "");
  return LLVMBuildICmp(g->builder, LLVMIntNE, own, LLVMConstNull(LLVMTypeOf(own)), "");
}

LLVMValueRef lane_both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition) {
  return vector_both(g, lane_mask(g, mask), value_broadcast(g, condition, g->width));
}

LLVMValueRef lane_bits(Codegen *g, LLVMValueRef mask) { return vector_bits(g, lane_mask(g, mask)); }

LLVMValueRef lane_any(Codegen *g, LLVMValueRef mask) { return vector_any(g, lane_mask(g, mask)); }

void lane_add(Codegen *g, LLVMValueRef variable, LLVMValueRef mask) {
  LLVMValueRef old = LLVMBuildLoad2(g->builder, lane_mask_type(g), variable, "");
  LLVMBuildStore(g->builder, LLVMBuildOr(g->builder, old, lane_mask(g, mask), ""), variable);
}

/* -- lane by lane ------------------------------------------------------------------------------ */

typedef struct LaneOperand { /* an operand, of which each lane gets its own number */
  const IrInst *inst;
  LLVMValueRef value; /* uniform; linear: lane 0's; varying: an array in memory */
  LLVMValueRef all;   /* its entry of g->values, restored afterwards */
  bool is_set;        /* already read in the lane being emitted */
} LaneOperand;

static LLVMValueRef lane_array(Codegen *g, Type type) {
  return block_variable(g, value_lanes(value_memory_type(g, type), g->width), "lanes");
}

static LLVMValueRef element(Codegen *g, Type type, LLVMValueRef array, LLVMValueRef lane) {
  return LLVMBuildGEP2(g->builder, value_memory_type(g, type), array, &lane, 1, "");
}

static LaneOperand operand_begin(Codegen *g, const IrInst *inst) {
  LaneOperand operand = {.inst = inst, .all = lane_base(g, inst)};
  operand.value = operand.all;
  if (inst->op == IR_VAR || lane_shape(g, inst) != LANE_VARYING) return operand;
  operand.value = lane_array(g, inst->type);
  LLVMBuildStore(g->builder, value_to_memory(g, value_of(g, inst), inst->type), operand.value);
  return operand;
}

static LLVMValueRef operand_of_lane(Codegen *g, const LaneFact *fact, const LaneOperand *operand,
                                    LLVMValueRef lane) {
  Type type = operand->inst->type;
  if (operand->inst->op == IR_VAR || fact->shape == LANE_UNIFORM) return operand->value;
  if (fact->shape == LANE_VARYING) {
    LLVMValueRef memory = LLVMBuildLoad2(g->builder, value_memory_type(g, type),
                                         element(g, type, operand->value, lane), "");
    return value_from_memory(g, memory, type);
  }
  LLVMValueRef far = LLVMBuildMul(g->builder, lane, value_index(g, fact->step), "");
  if (type_is(type, TYPE_PTR)) return LLVMBuildGEP2(g->builder, g->i8, operand->value, &far, 1, "");
  return LLVMBuildAdd(g->builder, operand->value, arith_convert(g, TYPE(I64), type, far), "");
}

enum { SHORT_RUN = 8 };

typedef struct LaneWalk { /* insts that are emitted lane by lane, in their order */
  const IrInst *const *insts;
  int count;
  VEC(LaneOperand) operands; /* the values from earlier code that they use */
  LLVMValueRef *all;         /* g->values of the insts: an address may have other users */
} LaneWalk;

static bool is_given(const LaneWalk *walk, const IrInst *value) {
  for (int i = 0; i < walk->operands.count; i++)
    if (walk->operands.items[i].inst == value) return true;
  for (int i = 0; i < walk->count; i++)
    if (walk->insts[i] == value) return true;
  return false;
}

static LaneWalk walk_begin(Codegen *g, const IrInst *const *insts, int count) {
  LaneWalk walk = {
      .insts = insts, .count = count, .all = scratch_array(g->scratch, LLVMValueRef, count)};
  for (int i = 0; i < count; i++) walk.all[i] = g->values[insts[i]->id];
  for (int i = 0; i < count; i++)
    for (int k = 0; k < insts[i]->operand_count; k++)
      if (!is_given(&walk, insts[i]->operands[k]))
        vec_push(g->scratch, &walk.operands, operand_begin(g, insts[i]->operands[k]));
  return walk;
}

/* Loads those operands of `at` that no earlier inst has used in this lane. As late as possible,
 * since there may be more operands than registers. */
static void fetch_operands(Codegen *g, const LaneFact *lanes, LaneWalk *walk, const IrInst *at,
                           LLVMValueRef lane) {
  for (int k = 0; k < at->operand_count; k++)
    for (int i = 0; i < walk->operands.count; i++) {
      LaneOperand *operand = &walk->operands.items[i];
      if (operand->inst != at->operands[k] || operand->is_set) continue;
      value_set(g, operand->inst, operand_of_lane(g, &lanes[operand->inst->id], operand, lane));
      operand->is_set = true;
    }
}

/* Emits the insts in scalar form, for one lane; returns the last one's result. */
static LLVMValueRef emit_lane(Codegen *g, LaneWalk *walk, LLVMValueRef lane) {
  const LaneFact *lanes = g->lanes;
  int width = g->width;
  for (int i = 0; i < walk->operands.count; i++) walk->operands.items[i].is_set = false;
  g->lanes = NULL;
  g->width = 1;
  for (int i = 0; i < walk->count; i++) {
    fetch_operands(g, lanes, walk, walk->insts[i], lane);
    emit_op(g, walk->insts[i]);
  }
  g->lanes = lanes;
  g->width = width;
  for (int i = 0; i < walk->operands.count; i++)
    value_set(g, walk->operands.items[i].inst, walk->operands.items[i].all);
  LLVMValueRef result = g->values[walk->insts[walk->count - 1]->id];
  for (int i = 0; i < walk->count; i++) g->values[walk->insts[i]->id] = walk->all[i];
  return result;
}

/* Are the insts short enough to be unrolled over all lanes? Atomic updates are not, since they are
 * loops themselves, nor are updates in a region with many of them, which would take long to
 * compile. */
static bool is_short(const IrInst *const *insts, int count) {
  int updates = 0;
  for (const IrInst *at = insts[0]->region->first; at; at = at->next)
    updates += at->op == IR_MEM_UPDATE;
  if (updates > LANE_FEW_UPDATES) return false;
  for (int i = 0; i < count; i++)
    if (insts[i]->op != IR_OFFSET && !(insts[i]->op == IR_MEM_UPDATE && insts[i]->plain))
      return false;
  return count <= SHORT_RUN;
}

/* Of several insts, only the last may have a result that other insts use. */
void lane_walk(Codegen *g, const IrInst *const *insts, int count) {
  const IrInst *last = insts[count - 1];
  bool has_result = !type_is_none(last->type);
  LaneWalk walk = walk_begin(g, insts, count);
  LLVMValueRef results = has_result ? lane_array(g, last->type) : NULL;
  LLVMTypeRef all = has_result ? value_lanes(value_memory_type(g, last->type), g->width) : NULL;
  if (results) LLVMBuildStore(g->builder, LLVMConstNull(all), results);
  if (!g->mask && is_short(insts, count)) {
    for (int lane = 0; lane < g->width; lane++) emit_lane(g, &walk, value_index(g, lane));
    return;
  }
  SetBits bits = bits_begin(g, lane_bits(g, g->mask));
  LLVMValueRef result = emit_lane(g, &walk, bits.position);
  if (results)
    LLVMBuildStore(g->builder, value_to_memory(g, result, last->type),
                   element(g, last->type, results, bits.position));
  bits_end(g, &bits);
  if (results)
    value_set(g, last,
              value_from_memory(g, LLVMBuildLoad2(g->builder, all, results, ""), last->type));
}

void lane_each(Codegen *g, const IrInst *inst) { lane_walk(g, &inst, 1); }

/* Reports the fault of the first active lane and deactivates all active ones: each could have been
 * the first. The other lanes continue to the end of this vector; then the launch stops. */
static void lane_fault(Codegen *g, const IrInst *inst) {
  LLVMValueRef bits = lane_bits(g, g->mask);
  LLVMValueRef first = LLVMBuildAnd(g->builder, bits, LLVMBuildNeg(g->builder, bits, ""), "");
  LLVMValueRef mask = lane_mask(g, g->mask);
  g->mask = lane_mask_of_bits(g, first, g->width);
  g->fault_stays = true;
  lane_each(g, inst);
  g->fault_stays = false;
  lane_vanish(g, mask, 0);
}

/* -- updates ----------------------------------------------------------------------------------- */

/* Do all lanes update one element, so that their values can be combined first? */
static bool is_united(Codegen *g, const IrInst *update) {
  return lane_shape(g, update->operands[0]) == LANE_UNIFORM && ir_lanes_unite(update);
}

static void update_united(Codegen *g, const IrInst *inst) {
  LLVMBasicBlockRef some = block_new(g, "some"), end = block_new(g, "united");
  Type type = inst->operands[1]->type;
  LLVMValueRef value = value_broadcast(g, value_operand(g, inst, 1), g->width);
  value = reduce_lanes(g, (IrUpdate)inst->imm, type, value, g->mask);
  if (g->mask) block_branch(g, lane_any(g, g->mask), some, end);
  else block_jump(g, some);
  block_enter(g, some);
  atomic_update(g, inst, value_operand(g, inst, 0), value);
  block_jump(g, end);
  block_enter(g, end);
}

/* Does the updates of a group, at its last one: those that are done lane by lane by one loop over
 * the lanes, with their addresses. */
static void lane_update(Codegen *g, const IrInst *inst) {
  VEC(const IrInst *) each = {0};
  IrGroup group = ir_group(g->scratch, inst);
  bool has_runs = false;
  if (inst->deferred) return;
  for (int i = 0; i < group.count; i++) {
    const IrInst *at = group.items[i], *address = at->operands[0];
    has_runs |= at->shape == IR_SHAPE_RUNS;
    if (is_united(g, at)) {
      update_united(g, at);
    } else if (at->shape != IR_SHAPE_RUNS) {
      if (address->op == IR_OFFSET && lane_shape(g, address) == LANE_VARYING)
        vec_push(g->scratch, &each, address);
      vec_push(g->scratch, &each, at);
    }
  }
  if (has_runs) lane_update_runs(g, inst);
  if (each.count) lane_walk(g, each.items, each.count);
}

/* -- the walk ---------------------------------------------------------------------------------- */

static bool are_uniform(const Codegen *g, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (lane_shape(g, inst->operands[i]) != LANE_UNIFORM) return false;
  return true;
}

bool lane_emit(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_IF: lane_if(g, inst); return true;
  case IR_FOR:
    if (are_uniform(g, inst)) return false;
    lane_for(g, inst);
    return true;
  case IR_BREAK:
  case IR_CONTINUE: return lane_exit(g, inst);
  case IR_MEM_LOAD:
    if (are_uniform(g, inst)) return false;
    lane_load(g, inst);
    return true;
  case IR_MEM_STORE: lane_store(g, inst); return true;
  case IR_OFFSET:
    if (lane_shape(g, inst) != LANE_VARYING) return false;
    vector_offset(g, inst);
    return true;
  case IR_CALL:
    if (are_uniform(g, inst) && (ir_effects(inst) & IR_READ)) return false;
    if (!lane_call(g, inst)) lane_each(g, inst);
    return true;
  case IR_MEM_UPDATE: lane_update(g, inst); return true;
  case IR_FAULT: lane_fault(g, inst); return true;
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_PRINT: lane_each(g, inst); return true;
  case IR_INVOKE:
  case IR_GRID:
  case IR_ROW: codegen_fail(g, inst, "it has no form in lanes"); return true;
  default: return false;
  }
}
