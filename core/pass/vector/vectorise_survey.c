/* vectorise_survey.c - which bodies the pass `vectorise` takes: those of which it can say all. What
 * is missing is listed in D-pass-70. */
#include "pass/vector/vectorise.h"

typedef struct Survey {
  bool is_straight; /* the body of a ROW with `width` */
  const LaneFact *facts;
  bool fails;
} Survey;

static LaneShape surveyed(const Survey *s, const IrInst *inst) {
  return (LaneShape)s->facts[inst->id].shape;
}

/* The trip count of lanes that differ is computed only for a constant step. */
static bool can_loop(const Survey *s, const IrInst *loop) {
  int64_t step;
  if (loop->op == IR_LOOP) return true;
  return ir_lanes_are_uniform(s->facts, loop) ||
         (type_is_integer(loop->operands[0]->type) && ir_is_const(loop->operands[2], &step) &&
          step != 0 && step != INT64_MIN && (step == 1 || !loop->turned));
}

static bool is_said(Survey *s, const IrInst *inst) {
  switch (inst->op) {
  case IR_VAR: return !inst->owns;
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return !s->is_straight;
  case IR_GET:
  case IR_SET:
  case IR_IF:
  case IR_REDUCE:
  case IR_BREAK:
  case IR_CONTINUE: return true;
  case IR_LOOP:
  case IR_FOR: return can_loop(s, inst);
  case IR_BITS: return ir_lanes_are_uniform(s->facts, inst);
  case IR_MEM_LOAD: return true;
  case IR_MEM_STORE: return !s->is_straight || inst->lanes > 1;
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_CALL:
  case IR_FAULT: return !s->is_straight;
  case IR_ROW_LOAD:
    return surveyed(s, inst->operands[0]) == LANE_UNIFORM &&
           surveyed(s, inst->operands[1]) == LANE_UNIFORM;
  case IR_LANE:
  case IR_ROW_ACTIVE: return true;
  case IR_CURSOR:
  case IR_GATHERED: return false;
  default: return (ir_effects(inst) & IR_PURE) != 0;
  }
}

static bool survey(void *data, IrInst *inst) {
  Survey *s = data;
  s->fails = !is_said(s, inst);
  return !s->fails;
}

bool vectorise_can_say(const LaneBody *body, const LaneFact *facts) {
  Survey s = {.facts = facts, .is_straight = body->is_straight};
  ir_walk((IrRegion *)body->region, survey, &s);
  return !s.fails;
}
