/* vectorise_each.c - updates, and all other insts without a form in lanes, which run for one active
 * lane after the other.
 *
 *     mem.update add %at, %v     =>     %values: f32x8 = var
 *                                       set %values, %v
 *                                       %bits: u64 = mask.bits %mask
 *                                       bits %bits (%lane: u64) {
 *                                         %one: f32 = lane.get %values, %lane
 *                                         mem.update add %at, %one
 *                                       }
 *
 * Operands are in variables, since a vector register has no address. Updates of a group
 * (ir/access.h) share one loop, so redundant loads between them are removed. If all lanes are
 * active and there are few updates, the loop is unrolled, and operands stay in registers. */
#include "pass/rewrite.h"
#include "pass/vector/vectorise.h"

/* A value that the loop reads or computes. */
typedef struct EachValue {
  const IrInst *inst; /* of the scalar body */
  IrInst *all;        /* that of all lanes, or of lane 0; a variable of lanes; NULL: computed */
  IrInst *one;        /* in the lane that is being written; NULL: not read yet */
} EachValue;

typedef struct Each {
  VEC(EachValue) values;
  IrInst *lane;
} Each;

static EachValue *find_value(Each *each, const IrInst *inst) {
  for (int i = 0; i < each->values.count; i++)
    if (each->values.items[i].inst == inst) return &each->values.items[i];
  return NULL;
}

static IrInst *variable_of_lanes(Vectoriser *v, IrInst *lanes) {
  Type type = ir_lanes_type(vectorise_memory_type(type_element(lanes->type)), v->width);
  return ir_variable(&v->b, ir_convert(&v->b, lanes, type));
}

static void add_operand(Vectoriser *v, Each *each, const IrInst *operand) {
  if (find_value(each, operand)) return;
  bool varies = vectorise_shape(v, operand) == LANE_VARYING;
  IrInst *all =
      varies ? variable_of_lanes(v, vectorise_lanes(v, operand)) : vectorise_scalar(v, operand);
  vec_push(v->scratch, &each->values, ((EachValue){.inst = operand, .all = all}));
}

/* base + lane * step */
static IrInst *linear_value_of_lane(Vectoriser *v, IrInst *base, int64_t step, IrInst *lane) {
  if (type_is(base->type, TYPE_PTR)) return ir_offset(&v->b, base, lane, step, 0);
  IrInst *far = ir_times(&v->b, lane, step);
  return ir_binary(&v->b, IR_ADD, base, ir_convert(&v->b, far, base->type));
}

/* The value in the lane that is being written. It is read as late as possible, since there may be
 * more operands than registers. */
static IrInst *value_in_lane(Vectoriser *v, Each *each, const IrInst *inst) {
  EachValue *value = find_value(each, inst);
  LaneShape shape = vectorise_shape(v, inst);
  if (value->one) return value->one;
  if (shape == LANE_UNIFORM) return value->all;
  if (shape == LANE_LINEAR)
    return value->one = linear_value_of_lane(v, value->all, v->facts[inst->id].step, each->lane);
  IrInst *one = ir_lane_get(&v->b, value->all, each->lane);
  return value->one = ir_convert(&v->b, one, inst->type);
}

static IrInst *write_for_lane(Vectoriser *v, Each *each, const IrInst *inst) {
  IrInst **operands = scratch_array(v->scratch, IrInst *, inst->operand_count);
  for (int k = 0; k < inst->operand_count; k++)
    operands[k] = value_in_lane(v, each, inst->operands[k]);
  IrInst *one = vectorise_copy(v, inst, inst->type, operands);
  vectorise_forget_shape(one);
  return find_value(each, inst)->one = one;
}

typedef VEC(const IrInst *) EachInsts;

static Each add_operands(Vectoriser *v, const EachInsts *insts) {
  Each each = {0};
  for (int i = 0; i < insts->count; i++) {
    const IrInst *inst = insts->items[i];
    for (int k = 0; k < inst->operand_count; k++) add_operand(v, &each, inst->operands[k]);
    if (!find_value(&each, inst)) vec_push(v->scratch, &each.values, ((EachValue){.inst = inst}));
  }
  return each;
}

/* Writes the insts for each lane of a word of bits, in their order in each lane; only the last may
 * have a result. */
static IrInst *write_each(Vectoriser *v, const EachInsts *insts, IrInst *word) {
  ASSERT(insts->count > 0, "at least one inst is written for each lane");
  const IrInst *last = vec_last(insts);
  Type result = vectorise_memory_type(last->type);
  Each each = add_operands(v, insts);
  IrInst *results = type_is_none(result) ? NULL : ir_var(&v->b, ir_lanes_type(result, v->width));
  IrInst *loop = ir_bits(&v->b, word, TYPE(U64));
  each.lane = ir_index(loop);
  VectorScope scope = vectorise_enter(v, loop->regions[0]);
  for (int i = 0; i < insts->count; i++) write_for_lane(v, &each, insts->items[i]);
  if (results) {
    IrInst *one = ir_convert(&v->b, value_in_lane(v, &each, last), result);
    ir_lane_set(&v->b, results, each.lane, one);
  }
  vectorise_end(v, scope);
  if (results)
    ir_map_put(v->lanes, last,
               ir_convert(&v->b, ir_get(&v->b, results), ir_lanes_type(last->type, v->width)));
  return loop;
}

void vectorise_each(Vectoriser *v, const IrInst *inst) {
  EachInsts insts = {0};
  vec_push(v->scratch, &insts, inst);
  write_each(v, &insts, ir_unary(&v->b, IR_MASK_BITS, v->mask));
}

/* Reports the fault of the first active lane and deactivates all active ones: each could have been
 * the first. The other lanes continue to the end of this vector; then the launch stops. */
void vectorise_fault(Vectoriser *v, const IrInst *fault) {
  EachInsts insts = {0};
  vec_push(v->scratch, &insts, fault);
  IrInst *bits = ir_unary(&v->b, IR_MASK_BITS, v->mask);
  IrInst *each =
      write_each(v, &insts, ir_binary(&v->b, IR_BAND, bits, ir_unary(&v->b, IR_NEG, bits)));
  each->regions[0]->last->of_lane = true;
  vectorise_leave(v, 0);
}

/* -- updates ----------------------------------------------------------------------------------- */

enum { SHORT_LOOP = 8, FEW_UPDATES = 8 };

bool vectorise_has_few_updates(const IrRegion *body) {
  int count = 0;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    count += inst->op == IR_MEM_UPDATE && inst->nonatomic;
  return count <= FEW_UPDATES;
}

/* Is the loop short enough to be unrolled? Atomic updates are not, since they are loops themselves,
 * nor are updates in a region with many of them, which would take long to compile. */
static bool may_unroll(const EachInsts *insts) {
  int updates = 0;
  for (const IrInst *at = insts->items[0]->region->first; at; at = at->next)
    updates += at->op == IR_MEM_UPDATE;
  for (int i = 0; i < insts->count; i++)
    if (insts->items[i]->op == IR_MEM_UPDATE && !insts->items[i]->nonatomic &&
        !insts->items[i]->single_worker)
      return false;
  return updates <= FEW_UPDATES && insts->count <= SHORT_LOOP;
}

/* All lanes update one element: their values are combined first. */
static void write_combined(Vectoriser *v, const IrInst *update) {
  ASSERT(ir_lanes_combine(update), "values of all lanes combine to one");
  const IrInst *by = update->operands[1];
  IrInst *none = ir_identity(&v->b, (IrUpdate)update->imm, ir_lanes_type(by->type, v->width));
  IrInst *lanes = ir_select(&v->b, v->mask, vectorise_lanes(v, by), none);
  IrInst *all = ir_lanes_reduce(&v->b, (IrUpdate)update->imm, lanes);
  IrInst *operands[] = {vectorise_scalar(v, update->operands[0]), all};
  VectorScope scope = vectorise_enter_if(v, ir_unary(&v->b, IR_MASK_ANY, v->mask));
  vectorise_forget_shape(vectorise_copy(v, update, update->type, operands));
  vectorise_end(v, scope);
}

/* Does each lane compute the address of its update? Not where integers are updated: in straight
 * code Zen 4 predicts that operands with the same index register have the same address, and
 * recovers slowly. D-codegen-34. */
static bool computes_address(const Vectoriser *v, const IrInst *update) {
  const IrInst *address = update->operands[0];
  return address->op == IR_OFFSET && vectorise_shape(v, address) == LANE_VARYING &&
         !type_is_integer(update->operands[1]->type);
}

/* A group is written at its last update. */
void vectorise_update(Vectoriser *v, const IrInst *update) {
  EachInsts insts = {0};
  IrGroup group = ir_group(v->scratch, update);
  if (update->deferred) return;
  for (int i = 0; i < group.count; i++) {
    const IrInst *at = group.items[i], *address = at->operands[0];
    LaneShape shape = vectorise_shape(v, address);
    if (shape == LANE_UNIFORM && ir_lanes_combine(at)) {
      write_combined(v, at);
    } else if (at->shape != IR_SHAPE_RUNS) {
      if (computes_address(v, at)) vec_push(v->scratch, &insts, address);
      vec_push(v->scratch, &insts, at);
    }
  }
  vectorise_update_runs(v, &group);
  if (!insts.count) return;
  write_each(v, &insts, ir_unary(&v->b, IR_MASK_BITS, v->mask))->unrolled = may_unroll(&insts);
}
