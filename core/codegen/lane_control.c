/* lane_control.c - control flow in lanes: an `if` whose condition varies runs both arms, each with
 * its mask; an arm of more than a few operations is skipped if none of its lanes is active.
 * Decision D-codegen-06. */
#include "codegen/emit.h"

/* -- guards ------------------------------------------------------------------------------------ */

static LaneGuard open_guard(Codegen *g) {
  LaneGuard guard = {LLVMGetInsertBlock(g->builder), block_new(g, "rest.end"), g->mask};
  LLVMBasicBlockRef some = block_new(g, "rest");
  block_branch(g, lane_any(g, g->mask), some, guard.end);
  block_enter(g, some);
  return guard;
}

void lane_unguard(Codegen *g, const LaneGuard *guard) {
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder);
  LLVMValueRef mask = lane_mask(g, g->mask);
  block_jump(g, guard->end);
  block_enter(g, guard->end);
  if (mask == guard->mask) return;
  g->mask = LLVMBuildPhi(g->builder, lane_mask_type(g), "mask");
  LLVMAddIncoming(g->mask, (LLVMValueRef[]){guard->mask, mask},
                  (LLVMBasicBlockRef[]){guard->from, from}, 2);
}

bool lane_guard(Codegen *g, const IrInst *inst, LaneGuard *guard) {
  if (!g->lanes[inst->id].thins || ir_lanes_is_light(g->lanes, inst->next)) return false;
  *guard = open_guard(g);
  return true;
}

/* -- if ---------------------------------------------------------------------------------------- */

enum { MOST_COPIED = 200 }; /* most insts of an arm that is copied for the case of all lanes */

typedef struct Gain {
  int insts, accesses;
  bool updates;
} Gain;

static bool note_gain(Gain *gain, const Codegen *g, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_access = inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE;
    gain->accesses += is_access && lane_shape(g, inst->operands[0]) == LANE_LINEAR;
    gain->updates |= inst->op == IR_MEM_UPDATE && inst->plain;
    if (++gain->insts > MOST_COPIED) return false;
    for (int i = 0; i < IR_MAX_REGIONS - inst->turned; i++)
      if (inst->regions[i] && !note_gain(gain, g, inst->regions[i])) return false;
  }
  return true;
}

/* Is a copy of the arm for the case that all lanes are active worth it? There, adjacent elements
 * need no mask, and if the body has few updates, they are unrolled, with addresses in registers
 * instead of memory. In most `if`s that keep indices inside, all lanes are active. Such copies do
 * not nest. */
static bool gains_without_mask(const Codegen *g, const IrRegion *arm) {
  Gain gain = {0};
  return !g->in_all && note_gain(&gain, g, arm) &&
         (gain.accesses || (gain.updates && g->has_few_updates));
}

static LLVMValueRef emit_guarded(Codegen *g, const IrRegion *arm, LLVMValueRef mask) {
  g->mask = mask;
  LaneGuard guard = open_guard(g);
  emit_region(g, arm);
  lane_unguard(g, &guard);
  return lane_mask(g, g->mask);
}

static LLVMValueRef emit_both_ways(Codegen *g, const IrRegion *arm, LLVMValueRef mask) {
  LLVMBasicBlockRef ways[] = {block_new(g, "all"), block_new(g, "some")}, ends[2],
                    end = block_new(g, "arm.end");
  LLVMValueRef masks[2];
  LLVMValueRef rest = LLVMBuildNot(g->builder, mask, "");
  block_branch(g, lane_any(g, rest), ways[1], ways[0]);
  block_enter(g, ways[0]);
  g->mask = NULL;
  g->in_all = true;
  emit_region(g, arm);
  g->in_all = false;
  masks[0] = lane_mask(g, g->mask);
  ends[0] = LLVMGetInsertBlock(g->builder);
  block_jump(g, end);
  block_enter(g, ways[1]);
  masks[1] = emit_guarded(g, arm, mask);
  ends[1] = LLVMGetInsertBlock(g->builder);
  block_jump(g, end);
  block_enter(g, end);
  LLVMValueRef after = LLVMBuildPhi(g->builder, lane_mask_type(g), "mask");
  LLVMAddIncoming(after, masks, ends, 2);
  return after;
}

/* Emits one arm; returns the mask at its end. */
static LLVMValueRef emit_arm(Codegen *g, const IrRegion *arm, LLVMValueRef mask) {
  g->mask = mask;
  if (!arm || !arm->first) return mask;
  if (ir_lanes_is_light(g->lanes, arm->first)) {
    emit_region(g, arm);
    return g->mask;
  }
  return gains_without_mask(g, arm) ? emit_both_ways(g, arm, mask) : emit_guarded(g, arm, mask);
}

static void if_varying(Codegen *g, const IrInst *inst, LLVMValueRef condition) {
  LLVMValueRef before = g->mask;
  LLVMValueRef yes = emit_arm(g, inst->regions[0], lane_both(g, before, condition));
  LLVMValueRef other = lane_both(g, before, LLVMBuildNot(g->builder, condition, ""));
  LLVMValueRef no = emit_arm(g, inst->regions[1], other);
  g->mask = g->lanes[inst->id].thins ? LLVMBuildOr(g->builder, yes, no, "") : before;
}

static void if_uniform(Codegen *g, const IrInst *inst, LLVMValueRef condition) {
  LLVMBasicBlockRef arms[] = {block_new(g, "then"), block_new(g, "else")}, ends[2],
                    end = block_new(g, "end");
  LLVMValueRef before = g->mask, masks[2];
  block_branch(g, condition, arms[0], arms[1]);
  for (int i = 0; i < 2; i++) {
    block_enter(g, arms[i]);
    g->mask = before;
    if (inst->regions[i]) emit_region(g, inst->regions[i]);
    masks[i] = lane_mask(g, g->mask);
    ends[i] = LLVMGetInsertBlock(g->builder);
    block_jump(g, end);
  }
  block_enter(g, end);
  g->mask = before;
  if (!g->lanes[inst->id].thins) return;
  g->mask = LLVMBuildPhi(g->builder, lane_mask_type(g), "mask");
  LLVMAddIncoming(g->mask, masks, ends, 2);
}

void lane_if(Codegen *g, const IrInst *inst) {
  LLVMValueRef condition = value_operand(g, inst, 0);
  if (value_is_vector(condition)) if_varying(g, inst, condition);
  else if_uniform(g, inst, condition);
}

/* -- exits ------------------------------------------------------------------------------------- */

void lane_vanish(Codegen *g, LLVMValueRef mask, int64_t target) {
  for (int64_t i = target + 1; i < g->exits.count; i++)
    if (g->exits.items[i].gone) lane_add(g, g->exits.items[i].gone, mask);
  g->mask = LLVMConstNull(lane_mask_type(g));
}

/* Emits an exit that lanes take while others stay: it only changes masks. False if all active lanes
 * leave: that is a jump. */
bool lane_exit(Codegen *g, const IrInst *inst) {
  int64_t target = g->exits.count - 1 - inst->imm;
  if (inst->imm < 0 || target < 0) return false;
  const Exit *exit = &g->exits.items[target];
  if (inst->op == IR_CONTINUE && exit->rejoin) lane_add(g, exit->rejoin, g->mask);
  if (!g->lanes[inst->id].diverges) return false;
  lane_vanish(g, g->mask, target);
  return true;
}

/* -- numeric for whose bounds differ by lane ------------------------------------------------- */

typedef struct LaneFor {
  Type type;
  LLVMValueRef begin, last, step; /* of all lanes */
  bool is_steady;                 /* its index is the same in all active lanes */
} LaneFor;

static LLVMValueRef at_most(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b) {
  return arith_binary(g, IR_LE, type, a, b);
}

/* Does the lane run another iteration at `index`? Not if a value is NaN. */
static LLVMValueRef goes_on(Codegen *g, const LaneFor *f, LLVMValueRef index) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(f->step));
  LLVMValueRef up = arith_binary(g, IR_GT, f->type, f->step, zero),
               down = arith_binary(g, IR_LT, f->type, f->step, zero);
  return LLVMBuildOr(g->builder,
                     LLVMBuildAnd(g->builder, up, at_most(g, f->type, index, f->last), ""),
                     LLVMBuildAnd(g->builder, down, at_most(g, f->type, f->last, index), ""), "");
}

/* Iterations after the first, unsigned: distance / |step|. A step of 0, which runs nothing, is
 * replaced by 1. */
static LLVMValueRef turns_after_first(Codegen *g, const LaneFor *f) {
  LLVMTypeRef type = LLVMTypeOf(f->step);
  LLVMValueRef zero = LLVMConstNull(type);
  LLVMValueRef up = arith_binary(g, IR_GT, f->type, f->step, zero);
  LLVMValueRef low = LLVMBuildSelect(g->builder, up, f->begin, f->last, ""),
               high = LLVMBuildSelect(g->builder, up, f->last, f->begin, "");
  LLVMValueRef size =
      LLVMBuildSelect(g->builder, up, f->step, LLVMBuildNeg(g->builder, f->step, ""), "");
  LLVMValueRef is_zero = LLVMBuildICmp(g->builder, LLVMIntEQ, size, zero, "");
  LLVMValueRef divisor = LLVMBuildSelect(g->builder, is_zero, value_integer(type, 1), size, "");
  return LLVMBuildUDiv(g->builder, LLVMBuildSub(g->builder, high, low, ""), divisor, "");
}

/* Removes the lanes without another iteration from `active`, which turns_emit has narrowed to those
 * that completed this one. */
static void keep(Codegen *g, const Turns *turns, LLVMValueRef condition) {
  LLVMValueRef active = LLVMBuildLoad2(g->builder, lane_mask_type(g), turns->active, "");
  LLVMBuildStore(g->builder, lane_both(g, active, condition), turns->active);
}

static void branch_if_any(Codegen *g, const Turns *turns, LLVMBasicBlockRef yes,
                          LLVMBasicBlockRef no) {
  LLVMValueRef active = LLVMBuildLoad2(g->builder, lane_mask_type(g), turns->active, "");
  block_branch(g, lane_any(g, active), yes, no);
}

static LLVMValueRef next_index(Codegen *g, const LaneFor *f, LLVMValueRef index,
                               LLVMValueRef step) {
  return type_is_float(f->type) ? LLVMBuildFAdd(g->builder, index, step, "")
                                : LLVMBuildAdd(g->builder, index, step, "");
}

static void for_side_by_side(Codegen *g, const IrInst *inst, const LaneFor *of) {
  const IrInst *param = inst->regions[0]->params.items[0];
  LaneFor f = *of;
  LLVMValueRef first = f.is_steady ? value_operand(g, inst, 0) : f.begin,
               step = f.is_steady ? value_operand(g, inst, 2) : f.step;
  bool is_float = type_is_float(f.type);
  LLVMValueRef left = is_float ? NULL : block_variable(g, LLVMTypeOf(f.begin), "left"),
               index = block_variable(g, LLVMTypeOf(first), "index"),
               counter = block_variable(g, g->i32, "turns");
  LLVMBasicBlockRef turn = block_new(g, "for"), again = block_new(g, "again"),
                    leave = block_new(g, "leave"), back = block_new(g, "back");
  Turns turns = turns_begin(g, inst);
  LLVMBuildStore(g->builder, first, index);
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), counter);
  if (left) LLVMBuildStore(g->builder, turns_after_first(g, &f), left);
  keep(g, &turns, goes_on(g, &f, f.begin));
  branch_if_any(g, &turns, turn, leave);
  block_enter(g, turn);
  value_set(g, param, LLVMBuildLoad2(g->builder, LLVMTypeOf(first), index, ""));
  turns_emit(g, &turns, leave, again);
  LLVMValueRef next = next_index(g, &f, value_of(g, param), step);
  LLVMBuildStore(g->builder, next, index);
  if (left) {
    LLVMValueRef rest = LLVMBuildLoad2(g->builder, LLVMTypeOf(f.begin), left, "");
    LLVMTypeRef type = LLVMTypeOf(rest);
    keep(g, &turns, LLVMBuildICmp(g->builder, LLVMIntNE, rest, LLVMConstNull(type), ""));
    LLVMBuildStore(g->builder, LLVMBuildSub(g->builder, rest, value_integer(type, 1), ""), left);
  } else {
    keep(g, &turns, goes_on(g, &f, value_broadcast(g, next, g->width)));
  }
  branch_if_any(g, &turns, back, leave);
  block_enter(g, back);
  control_back_edge(g, counter, turn);
  block_enter(g, leave);
  turns_end(g, &turns);
}

enum { MANY_TURNS = 32 }; /* iterations of one lane: more than two vectors */

/* If some lane has many iterations, runs the loop lane by lane, vectorised along it
 * (lane_turned.c). */
void lane_for(Codegen *g, const IrInst *inst) {
  const IrInst *param = inst->regions[0]->params.items[0];
  LaneFor f = {.type = inst->operands[0]->type, .is_steady = lane_shape(g, param) == LANE_UNIFORM};
  LLVMValueRef bounds[3];
  for (int i = 0; i < 3; i++) bounds[i] = value_broadcast(g, value_operand(g, inst, i), g->width);
  f.begin = bounds[0], f.last = bounds[1], f.step = bounds[2];
  if (!inst->turned) return for_side_by_side(g, inst, &f);
  LLVMBasicBlockRef turned = block_new(g, "turned"), beside = block_new(g, "beside"),
                    end = block_new(g, "for.end");
  LLVMValueRef turns = turns_after_first(g, &f);
  LLVMValueRef lanes = lane_both(g, g->mask, goes_on(g, &f, f.begin));
  LLVMValueRef many = LLVMBuildICmp(g->builder, LLVMIntUGE, turns,
                                    value_integer(LLVMTypeOf(turns), MANY_TURNS - 1), "");
  block_branch(g, lane_any(g, lane_both(g, lanes, many)), turned, beside);
  block_enter(g, turned);
  lane_turned(g, inst, lanes);
  block_jump(g, end);
  block_enter(g, beside);
  for_side_by_side(g, inst, &f);
  block_jump(g, end);
  block_enter(g, end);
}
