/* vectorise_loops.c - loops in a body in lanes, and exits.
 *
 * A loop that all lanes leave together stays as it is. One that they leave in different iterations
 * (it diverges) keeps the lanes that run the next iteration in a variable, which its head tests:
 *
 *     rejoin = mask
 *     loop
 *       mask = rejoin;  break unless any(mask);  rejoin = none
 *       the region                 `break` removes lanes from the mask, `continue` moves them
 *       rejoin = rejoin | mask     to rejoin
 *     mask = that before the loop, without the lanes that left for an outer one
 *
 * A FOR whose bounds differ by lane is such a LOOP, with a variable for the index and one for the
 * remaining iterations. */
#include "ir/facts.h"
#include "pass/rewrite.h"
#include "pass/vector/vectorise.h"

/* variable |= mask */
static void add_lanes(Vectoriser *v, IrInst *var, IrInst *mask) {
  ir_set(&v->b, var, ir_binary(&v->b, IR_BOR, ir_get(&v->b, var), mask));
}

/* -- exits ------------------------------------------------------------------------------------- */

void vectorise_leave(Vectoriser *v, int target) {
  for (int i = target + 1; i < v->frames.count; i++)
    if (v->frames.items[i].exited) add_lanes(v, v->frames.items[i].exited, v->mask);
  v->mask = vectorise_all(v, false);
}

/* Emits an exit. If other lanes stay, it changes only masks. */
void vectorise_exit(Vectoriser *v, const IrInst *exit) {
  int target = v->frames.count - 1 - (int)exit->imm;
  ASSERT(exit->imm >= 0 && target >= 0, "an exit leaves loops of the body");
  const VectorFrame *frame = &v->frames.items[target];
  if (exit->op == IR_CONTINUE && frame->rejoin) add_lanes(v, frame->rejoin, v->mask);
  if (!v->facts[exit->id].diverges) {
    IrInst *copy = vectorise_copy(v, exit, exit->type, NULL);
    if (v->found && target == 0) copy->op = IR_BREAK; /* the found lanes run next */
    return;
  }
  vectorise_leave(v, target);
}

/* -- loops ------------------------------------------------------------------------------------- */

/* Opens the region of a loop that diverges: only lanes that are in it run. */
static void begin_divergent_iteration(Vectoriser *v, const VectorFrame *frame, IrInst *more) {
  v->mask = ir_get(&v->b, frame->rejoin);
  if (more) v->mask = ir_binary(&v->b, IR_MASK_AND, v->mask, ir_get(&v->b, more));
  IrInst *any = ir_if(&v->b, ir_unary(&v->b, IR_MASK_ANY, v->mask));
  IrBuilder none = rewrite_inside(v->kernel, any->regions[1], NULL);
  ir_break(&none, 0);
  ir_set(&v->b, frame->rejoin, vectorise_all(v, false));
}

typedef struct Trips { /* variables of a FOR whose bounds differ by lane */
  IrInst *index, *left, *more;
  int64_t step;
} Trips;

/* The distance from one number to another that is not below it, unsigned. */
static IrInst *unsigned_distance(Vectoriser *v, IrInst *low, IrInst *high, Type type,
                                 int64_t step) {
  static const ScalarKind unsigned_kinds[] = {
      [1] = TYPE_U8, [2] = TYPE_U16, [4] = TYPE_U32, [8] = TYPE_U64};
  Type counts = ir_lanes_type(type_scalar(unsigned_kinds[type_size(type)]), v->width);
  IrInst *far = ir_convert(&v->b, ir_binary(&v->b, IR_SUB, high, low), counts);
  if (step == 1) return far;
  return ir_binary(&v->b, IR_FLOORDIV, far, ir_const_int(&v->b, counts, step));
}

static Trips begin_trips(Vectoriser *v, const IrInst *loop) {
  Trips trips = {0};
  Type type = loop->operands[0]->type;
  IrInst *begin = vectorise_lanes(v, loop->operands[0]),
         *last = vectorise_lanes(v, loop->operands[1]);
  bool is_steady = vectorise_shape(v, ir_index(loop)) == LANE_UNIFORM;
  trips.step = facts_step(loop);
  ASSERT(trips.step, "the survey accepts only constant steps");
  bool up = trips.step > 0 || !type_is_signed(type);
  IrInst *low = up ? begin : last, *high = up ? last : begin;
  int64_t size = up ? trips.step : -trips.step;
  trips.more = ir_variable(&v->b, ir_binary(&v->b, IR_LE, low, high));
  trips.left = ir_variable(&v->b, unsigned_distance(v, low, high, type, size));
  trips.index = ir_variable(&v->b, is_steady ? vectorise_scalar(v, loop->operands[0]) : begin);
  return trips;
}

/* Reads the index, and advances to the next iteration. */
static void next_trip(Vectoriser *v, const IrInst *loop, const Trips *trips) {
  const IrInst *param = ir_index(loop);
  IrInst *left = ir_get(&v->b, trips->left), *index = ir_get(&v->b, trips->index);
  IrInst *zero = ir_const_int(&v->b, left->type, 0), *one = ir_const_int(&v->b, left->type, 1);
  ir_set(&v->b, trips->more, ir_binary(&v->b, IR_NE, left, zero));
  ir_set(&v->b, trips->left, ir_binary(&v->b, IR_SUB, left, one));
  IrInst *step = ir_const_int(&v->b, index->type, trips->step);
  ir_set(&v->b, trips->index, ir_binary(&v->b, IR_ADD, index, step));
  if (type_is_vector(index->type)) ir_map_put(v->lanes, param, index);
  else ir_map_put(v->scalar, param, index);
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* A loop over the bits of a word that all lanes share. */
static IrInst *write_bits(Vectoriser *v, const IrInst *loop) {
  const IrInst *param = ir_index(loop);
  IrInst *copy = ir_bits(&v->b, vectorise_scalar(v, loop->operands[0]), param->type);
  ir_map_put(v->scalar, param, ir_index(copy));
  return copy;
}

/* A LOOP, or a FOR whose bounds all lanes share, with an empty region. */
static IrInst *write_loop(Vectoriser *v, const IrInst *loop) {
  if (loop->op == IR_LOOP) return ir_loop(&v->b);
  if (loop->op == IR_BITS) return write_bits(v, loop);
  IrInst *copy =
      ir_for(&v->b, vectorise_scalar(v, loop->operands[0]), vectorise_scalar(v, loop->operands[1]),
             vectorise_scalar(v, loop->operands[2]));
  copy->no_unroll = loop->no_unroll;
  ir_map_put(v->scalar, ir_index(loop), ir_index(copy));
  return copy;
}

static void write_for_all_lanes(Vectoriser *v, const IrInst *loop) {
  const LaneFact *fact = &v->facts[loop->id];
  bool has_trips = loop->op == IR_FOR && !ir_lanes_are_uniform(v->facts, loop);
  IrInst *before = v->mask;
  VectorFrame frame = {0};
  Trips trips = {0};
  ASSERT(fact->diverges || !has_trips, "lanes leave a loop whose bounds differ one by one");
  if (fact->diverges) frame.rejoin = ir_variable(&v->b, v->mask);
  if (fact->loses_lanes) frame.exited = ir_variable(&v->b, vectorise_all(v, false));
  if (has_trips) trips = begin_trips(v, loop);
  RootSums sums = vectorise_begin_root_sums(v, loop);
  IrInst *copy = has_trips ? ir_loop(&v->b) : write_loop(v, loop);
  bool needs_mask = v->needs_mask;
  VectorScope scope = vectorise_enter(v, copy->regions[0]);
  if (frame.rejoin) begin_divergent_iteration(v, &frame, trips.more);
  if (has_trips) next_trip(v, loop, &trips);
  v->needs_mask = frame.rejoin != NULL;
  vec_push(v->scratch, &v->frames, frame);
  vectorise_rest(v, loop->regions[0]->first);
  v->frames.count--;
  v->needs_mask = needs_mask;
  if (frame.rejoin && !vectorise_ends_with_exit(copy->regions[0]))
    add_lanes(v, frame.rejoin, v->mask);
  vectorise_end(v, scope);
  v->mask = before;
  vectorise_end_root_sums(v, &sums);
  if (frame.exited)
    v->mask = ir_binary(&v->b, IR_MASK_AND, before,
                        ir_unary(&v->b, IR_BNOT, ir_get(&v->b, frame.exited)));
}

/* -- long loops of single lanes ---------------------------------------------------------------- */

/* A loop that is long in some lane runs for one lane after the other, with its own iterations as
 * lanes (D-pass-07):
 *
 *     lane         0  1  2 ..         iteration  0  1  2 ..
 *     iteration 0: a  d  g      =>    lane 0:    a  b  c
 *     iteration 1: b  e  -            lane 1:    d  e  f
 *     iteration 2: c  f  -            lane 2:    g  -  -
 *
 * Values of a lane that the loop uses are read from variables, and sums of the loop are written
 * there. These are separate from the variables of the body, which stay in registers. */
enum { MANY_TRIPS = 32 /* iterations of one lane: more than two vectors */ };

typedef struct OuterValue { /* a value from outside the loop that differs by lane */
  const IrInst *inst;
  IrInst *lanes; /* of a VAR: the variable of the body */
  IrInst *all;   /* a variable of its lanes, or of their bytes */
  IrInst *own;   /* of a VAR: the variable of the lane that runs */
  bool is_set;   /* a VAR that the loop sets */
} OuterValue;

typedef struct PerLane {
  Vectoriser *v;
  const IrRegion *body;
  IrMap *map; /* the values that the loop of one lane uses */
  VEC(OuterValue) outers;
} PerLane;

static void add_outer(PerLane *t, const IrInst *inst, bool is_set) {
  Vectoriser *v = t->v;
  if (ir_is_inside(inst, t->body)) return;
  if (vectorise_shape(v, inst) == LANE_UNIFORM) {
    ir_map_put(t->map, inst, vectorise_scalar(v, inst));
    return;
  }
  for (int i = 0; i < t->outers.count; i++)
    if (t->outers.items[i].inst == inst) {
      t->outers.items[i].is_set |= is_set;
      return;
    }
  OuterValue outer = {.inst = inst, .lanes = vectorise_lanes(v, inst), .is_set = is_set};
  IrInst *value = inst->op == IR_VAR ? ir_get(&v->b, outer.lanes) : outer.lanes;
  Type type = ir_lanes_type(vectorise_memory_type(inst->type), v->width);
  outer.all = ir_variable(&v->b, ir_convert(&v->b, value, type));
  vec_push(v->scratch, &t->outers, outer);
}

static void enter_lane(PerLane *t, IrInst *lane) {
  Vectoriser *v = t->v;
  for (int i = 0; i < t->outers.count; i++) {
    OuterValue *outer = &t->outers.items[i];
    Type type = outer->inst->type;
    IrInst *one = ir_convert(&v->b, ir_lane_get(&v->b, outer->all, lane), type);
    bool is_var = outer->inst->op == IR_VAR;
    outer->own = is_var ? ir_variable(&v->b, one) : one;
    ir_map_put(t->map, outer->inst, outer->own);
  }
}

static void leave_lane(const PerLane *t, IrInst *lane) {
  Vectoriser *v = t->v;
  for (int i = 0; i < t->outers.count; i++) {
    const OuterValue *outer = &t->outers.items[i];
    if (!outer->is_set) continue;
    IrInst *one = ir_get(&v->b, outer->own);
    ir_lane_set(&v->b, outer->all, lane,
                ir_convert(&v->b, one, vectorise_memory_type(outer->inst->type)));
  }
}

static void read_back_variables(const PerLane *t) {
  Vectoriser *v = t->v;
  for (int i = 0; i < t->outers.count; i++) {
    const OuterValue *outer = &t->outers.items[i];
    if (outer->is_set)
      ir_set(&v->b, outer->lanes, ir_convert(&v->b, ir_get(&v->b, outer->all), outer->lanes->type));
  }
}

/* The loop of one lane, with its iterations in lanes. */
static void write_loop_of_lane(PerLane *t, const IrInst *loop) {
  Vectoriser *v = t->v;
  IrInst *operands[3];
  for (int k = 0; k < 3; k++) operands[k] = ir_mapped(t->map, loop->operands[k]);
  IrInst *copy = vectorise_copy(v, loop, loop->type, operands);
  copy->per_lane = false;
  copy->regions[0] = ir_copy_region(v->kernel, loop->regions[1], copy, t->map);
  vectorise_serial(v->scratch, v->kernel, copy);
}

static void write_lane_by_lane(Vectoriser *v, const IrInst *loop, IrInst *lanes) {
  PerLane t = {.v = v, .body = loop->regions[1], .map = ir_map(v->scratch, v->kernel)};
  for (const IrInst *inst = t.body->first; inst; inst = ir_following(inst, t.body))
    for (int k = 0; k < inst->operand_count; k++)
      add_outer(&t, inst->operands[k], inst->op == IR_SET && k == 0);
  for (int k = 0; k < 3; k++) add_outer(&t, loop->operands[k], false);
  IrInst *each = ir_bits(&v->b, ir_unary(&v->b, IR_MASK_BITS, lanes), TYPE(U64));
  IrInst *lane = ir_index(each);
  VectorScope scope = vectorise_enter(v, each->regions[0]);
  enter_lane(&t, lane);
  write_loop_of_lane(&t, loop);
  leave_lane(&t, lane);
  vectorise_end(v, scope);
  read_back_variables(&t);
}

static void write_per_lane(Vectoriser *v, const IrInst *loop) {
  IrInst *begin = vectorise_lanes(v, loop->operands[0]),
         *last = vectorise_lanes(v, loop->operands[1]);
  IrInst *lanes = ir_binary(&v->b, IR_MASK_AND, v->mask, ir_binary(&v->b, IR_LE, begin, last));
  IrInst *far = unsigned_distance(v, begin, last, loop->operands[0]->type, 1);
  IrInst *are_many = ir_binary_const(&v->b, IR_GE, far, MANY_TRIPS - 1);
  IrInst *choice =
      ir_if(&v->b, ir_unary(&v->b, IR_MASK_ANY, ir_binary(&v->b, IR_MASK_AND, lanes, are_many)));
  VectorScope scope = vectorise_enter(v, choice->regions[0]);
  write_lane_by_lane(v, loop, lanes);
  vectorise_end(v, scope);
  vectorise_enter(v, choice->regions[1]);
  write_for_all_lanes(v, loop);
  vectorise_end(v, scope);
}

void vectorise_loop(Vectoriser *v, const IrInst *loop) {
  if (loop->per_lane) write_per_lane(v, loop);
  else write_for_all_lanes(v, loop);
}
