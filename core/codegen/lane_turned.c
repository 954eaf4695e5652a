/* lane_turned.c - exchanges the vectorised dimension of a serial loop in a vectorised body: runs
 * the loop for one lane after the other, with the loop's iterations in lanes. Values of the lane
 * that the loop uses are passed through memory, as are the variables to which it adds, in both
 * directions.
 *
 *     lane         0  1  2 ..         iteration  0  1  2 ..
 *     iteration 0: a  d  g      =>    lane 0:    a  b  c
 *     iteration 1: b  e  -            lane 1:    d  e  f
 *     iteration 2: c  f  -            lane 2:    g  -  -
 *
 * Decision D-pass-07. */
#include "codegen/emit.h"

typedef struct Outer { /* a value from outside the loop that differs by lane */
  const IrInst *inst;
  LLVMValueRef all;    /* its entry of g->values */
  LLVMValueRef memory; /* its lanes, in memory, so that a VAR itself stays in registers */
  LLVMValueRef own;    /* of a VAR: the variable of the current lane */
  bool is_set;         /* a VAR that the loop sets */
} Outer;

typedef struct Turned {
  Codegen *g;
  const IrRegion *body;
  VEC(Outer) outers;
} Turned;

static void put_lanes(Codegen *g, Outer *outer) {
  Type type = outer->inst->type;
  LLVMTypeRef lanes = value_lanes(value_type(g, type), g->width);
  LLVMValueRef value =
      outer->own ? LLVMBuildLoad2(g->builder, lanes, outer->all, "") : value_of(g, outer->inst);
  outer->memory = block_variable(g, value_lanes(value_memory_type(g, type), g->width), "lanes");
  LLVMBuildStore(g->builder, value_to_memory(g, value, type), outer->memory);
}

static Outer *find_outer(Turned *t, const IrInst *inst) {
  Codegen *g = t->g;
  if (ir_is_inside(inst, t->body) || lane_shape(g, inst) == LANE_UNIFORM) return NULL;
  for (int i = 0; i < t->outers.count; i++)
    if (t->outers.items[i].inst == inst) return &t->outers.items[i];
  Outer outer = {.inst = inst, .all = lane_base(g, inst)};
  if (inst->op == IR_VAR) outer.own = block_variable(g, value_type(g, inst->type), "own");
  put_lanes(g, &outer);
  vec_push(g->scratch, &t->outers, outer);
  return &vec_last(&t->outers);
}

static bool find_outers(void *data, IrInst *inst) {
  for (int k = 0; k < inst->operand_count; k++) {
    Outer *outer = find_outer(data, inst->operands[k]);
    if (outer && inst->op == IR_SET && k == 0) outer->is_set = true;
  }
  return true;
}

static LLVMValueRef place_of(Codegen *g, const Outer *outer, LLVMValueRef lane) {
  LLVMTypeRef type = value_memory_type(g, outer->inst->type);
  return LLVMBuildGEP2(g->builder, type, outer->memory, &lane, 1, "");
}

static void enter_lane(Turned *t, LLVMValueRef lane) {
  Codegen *g = t->g;
  for (int i = 0; i < t->outers.count; i++) {
    const Outer *outer = &t->outers.items[i];
    Type type = outer->inst->type;
    LLVMValueRef value =
        LLVMBuildLoad2(g->builder, value_memory_type(g, type), place_of(g, outer, lane), "");
    value = value_from_memory(g, value, type);
    if (outer->own) LLVMBuildStore(g->builder, value, outer->own);
    value_set(g, outer->inst, outer->own ? outer->own : value);
  }
}

static void leave_lane(Turned *t, LLVMValueRef lane) {
  Codegen *g = t->g;
  for (int i = 0; i < t->outers.count; i++) {
    const Outer *outer = &t->outers.items[i];
    Type type = outer->inst->type;
    value_set(g, outer->inst, outer->all);
    if (!outer->is_set) continue;
    LLVMValueRef own = LLVMBuildLoad2(g->builder, value_type(g, type), outer->own, "");
    LLVMBuildStore(g->builder, value_to_memory(g, own, type), place_of(g, outer, lane));
  }
}

static void take_lanes(Turned *t) {
  Codegen *g = t->g;
  for (int i = 0; i < t->outers.count; i++) {
    const Outer *outer = &t->outers.items[i];
    Type type = outer->inst->type;
    if (!outer->is_set) continue;
    LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), g->width);
    LLVMValueRef all = LLVMBuildLoad2(g->builder, lanes, outer->memory, "");
    LLVMBuildStore(g->builder, value_from_memory(g, all, type), outer->all);
  }
}

void lane_turned(Codegen *g, const IrInst *loop, LLVMValueRef lanes) {
  Turned t = {.g = g, .body = loop->regions[1]};
  const LaneFact *facts = g->lanes;
  LLVMValueRef mask = g->mask;
  int width = g->width;
  bool has_few_updates = g->has_few_updates, in_all = g->in_all;
  ir_walk(loop->regions[1], find_outers, &t);
  for (int k = 0; k < 2; k++) find_outer(&t, loop->operands[k]);
  SetBits bits = bits_begin(g, lane_bits(g, lanes));
  enter_lane(&t, bits.position);
  g->lanes = NULL;
  g->mask = NULL;
  g->width = 1;
  g->in_all = false;
  loop_in_lanes(g, loop, value_operand(g, loop, 0), value_operand(g, loop, 1));
  g->lanes = facts;
  g->mask = mask;
  g->width = width;
  g->has_few_updates = has_few_updates;
  g->in_all = in_all;
  leave_lane(&t, bits.position);
  bits_end(g, &bits);
  take_lanes(&t);
}
