/* lanes_cost.c - estimates the cost of a body, scalar and vectorised. Depending on the shapes of
 * its values (ir/lanes.h), an op costs, for all lanes together, about
 *
 *     uniform                 as much as in one iteration
 *     varying                 one operation per vector register that its type fills
 *     neighbouring elements   one access per vector register
 *     numbers of `aos` cells  the same, and a transposition
 *     other elements          one access per lane, and the packing
 *     no vector form          as much as in all scalar iterations, and some overhead
 *
 * Both estimates use the same guesses of how often an inst runs in one iteration; a
 * vector runs it if any lane does. So a vector executes an arm unless all lanes skip it, and a loop
 * as often as the lane with the largest trip count; ops that are emitted lane by lane run only for
 * active lanes. A scalar iteration pays for each mispredicted branch; a vector pays once for all
 * lanes.
 *
 *     bounds                        trip count
 *     constants                     known
 *     values of the launch          LONG: usually extents
 *     what a pass expects           that number (`trips`): lists of several cells
 *     last <= begin + a constant    that constant plus 1: `max(i - 1, 0), min(i + 1, n - 1)`
 *     anything else, `while`        SHORT: neighbours in a cell, pixels of a triangle
 *
 * The two arms of an `if` are equally likely, unless the tuner tries code for rare branches; for
 * bounds checks that passes add, the first arm is almost certain. */
#include "ir/access.h"
#include "ir/address.h"
#include "ir/facts.h"
#include "pass/loops/loops.h"
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"

/* a scalar op is 1 */
enum {
  MISS = 40,          /* a mispredicted branch */
  DIVERGENCE = 8,     /* the masks of a divergent loop, per iteration */
  START = 20,         /* the first and the last vector of a serial loop */
  VECTOR = 2,         /* an op on a vector register */
  COMBINE = 10,       /* combining the values of all lanes */
  IN_ORDER = 6,       /* per lane, adding to a sum that keeps its order */
  GATHER = 5,         /* per lane */
  GATHER_NARROW = 12, /* per lane, for elements of fewer bits than machines gather */
  GATHER_FAR = 10,    /* per lane, for elements in different cache lines */
  /* per lane, where each lane rereads data of its own that exceed the L1 cache in total; elements
   * in so deep a nest of serial loops are reread, as those of matrices are */
  GATHER_MISS = 20,
  L1_BYTES = 32768,
  REUSE_DEPTH = 3,
  LINEAR_PER_SPLIT = 3, /* vectors in which a piecewise linear index is linear, per other vector */
  LINE = 64,            /* bytes */
  RUN_LOAD = 3,
  RUN_UPDATE = 2,   /* per lane, for an element of a run */
  MASKED = 64,      /* vector bytes of machines with masked loads */
  CELL = 4,         /* adjacent numbers per lane: those after the first cost little */
  MOST_PARTS = 16,  /* largest stride, in numbers, for which full vectors are read */
  SIMPLE_PARTS = 2, /* largest stride that LLVM's vectoriser handles as well */
  ONE_BY_ONE = 10,  /* overhead per lane of an op without a vector form */
  UNPACK = 12,      /* per lane, for its address and its operand */
  CALL = 40,        /* a call of the runtime */
  HASH = 30,        /* a look-up by coordinates; per lane, if several lanes do it at once: */
  HASH_LANE = 12,
  LIST = 20, /* a pop; per lane, if lanes share their list: */
  LIST_LANE = 10,
  LOCAL = 2, /* an access to a local array, and the check of its index */
  /* per lane, where indices differ by lane: loads often read what was just written, so gathers
   * wait for scatters, which some machines execute lane by lane */
  LOCAL_LANE = 32,
  JUST_WRITTEN = 100,   /* insts after which scatters have completed */
  MOST_LOCAL = 1 << 14, /* bytes of a local array of all lanes */
  MATHS = 48,           /* a mathematical function, in doubles */
  LATENCY = 8,          /* from a float operand to the result */
  MOST_CHAINED = 200,   /* insts of a body that is searched for chains */
  RARE_PATH = 2,        /* per lane, for the rare slow path of a call that may activate */
  DIVISION = 8,
  ATOMIC = 20
};

/* Guesses of how much longer than an average lane the slowest one runs: in a divergent loop, and in
 * one that is nested in another; WAIT_EXCHANGE: where lanes exchange elements one after another. */
static const double WAIT = 1.75, WAIT_NESTED = 1.25;
static const double WAIT_EXCHANGE = 3;

/* -- the cost of an inst ----------------------------------------------------------------------- */

static const LaneFact *fact(const LaneSurvey *s, const IrInst *inst) { return &s->facts[inst->id]; }

static bool is_uniform(const LaneSurvey *s, const IrInst *inst) {
  return fact(s, inst)->shape == LANE_UNIFORM;
}

/* Vector registers that a value of the type fills. */
static int registers(const LaneSurvey *s, Type type) {
  int bytes = s->width * (type_is_bool(type) ? 1 : type_size(type));
  return bytes > s->vector_bytes ? bytes / s->vector_bytes : 1;
}

static int call_cost(const IrInst *inst) {
  switch (inst->entry) {
  case RT_OUTSIDE:
  case RT_ARRAY_OUTSIDE: return 0; /* rare */
  case RT_TREE_LARGE: return 0;    /* once in a task */
  case RT_FETCH:
  case RT_HASH_FETCH: return 1;
  case RT_SLOT_FIND:
  case RT_SLOT_LIVE:
  case RT_SLOT_ENSURE: return 4;
  case RT_HASH_FIND:
  case RT_HASH_AHEAD:
  case RT_HASH_LIVE:
  case RT_HASH_ENSURE:
  case RT_HASH_CLEAR: return HASH;
  case RT_MASK_ACTIVE:
  case RT_MASK_SET:
  case RT_MASK_BITS: return 6;
  case RT_DYNAMIC_POP:
  case RT_DYNAMIC_APPEND: return LIST;
  default: return CALL;
  }
}

/* `single_worker` ones cost as much, so that lanes are chosen as with more workers. D-pass-76. */
static bool is_locked(const IrInst *inst) { return !inst->nonatomic; }

static int op_cost(const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST:
  case IR_FRAME_GET:
  case IR_TREE_ROOT:
  case IR_AMBIENT:
  case IR_PARAM: return 0;
  case IR_DIV:
  case IR_DIV_ROOT:
  case IR_DIV_CUBE:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_SQRT: return DIVISION;
  case IR_CALL: return call_cost(inst);
  case IR_RANDOM: return CALL;
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return LOCAL;
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS: return is_locked(inst) ? ATOMIC : 4;
  default: return ir_op_info[inst->op].flags & IR_SLOW ? MATHS : 1;
  }
}

static const double LONG = 64, SHORT = 5, FAILED_CHECK = 1.0 / 64, RARE = 1.0 / 16;

enum { DEEPEST = 6, FEW = 8 /* operations that LLVM executes rather than branch around */ };

/* -- trip counts ------------------------------------------------------------------------------- */

/* Is high <= low + *by, unless an operation wraps? */
static bool differ_by_at_most(const IrInst *low, const IrInst *high, int64_t *by, int depth) {
  int64_t above, below;
  const IrInst *top = facts_split_constant(high, &above),
               *bottom = facts_split_constant(low, &below);
  *by = above - below;
  if (top == bottom) return true;
  if (depth == DEEPEST) return false;
  bool is_least = top->op == IR_MIN, is_most = bottom->op == IR_MAX;
  for (int i = 0; i < 2 && (is_least || is_most); i++) {
    int64_t rest;
    if (!differ_by_at_most(is_least ? bottom : bottom->operands[i],
                           is_least ? top->operands[i] : top, &rest, depth + 1))
      continue;
    *by += rest;
    return true;
  }
  return false;
}

TripGuess lanes_guess_trips(const IrInst *loop) {
  int64_t known = facts_trip_count(loop), by;
  if (known > 0) return (TripGuess){.trips = (double)known, .is_known = true, .is_even = true};
  if (loop->op != IR_FOR) return (TripGuess){.trips = SHORT};
  if (loop->trips) return (TripGuess){.trips = (double)loop->trips};
  const IrInst *begin = loop->operands[0], *last = loop->operands[1];
  if (facts_step(loop) == 1 && differ_by_at_most(begin, last, &by, 0) && by >= 0 &&
      by < (int64_t)LONG)
    return (TripGuess){.trips = (double)by + 1, .is_even = true};
  bool is_fixed = facts_is_launch_invariant(begin) && facts_is_launch_invariant(last);
  return (TripGuess){.trips = is_fixed ? LONG : SHORT};
}

bool lanes_is_long(const IrInst *loop, int64_t trips) {
  int64_t by;
  ASSERT(loop->op == IR_FOR, "a numeric loop has bounds");
  return lanes_guess_trips(loop).trips >= (double)trips ||
         (differ_by_at_most(loop->operands[0], loop->operands[1], &by, 0) && by >= trips);
}

/* -- arms -------------------------------------------------------------------------------------- */

double lanes_guess_arm(const PassContext *ctx, const IrInst *inst, int arm) {
  ASSERT(inst->op == IR_IF && (arm == 0 || arm == 1), "an arm of an `if`");
  if (facts_is_bounds_check(inst->operands[0])) return arm == 0 ? 1 : FAILED_CHECK;
  bool is_rare = ctx->rare_branches && !inst->regions[1]->first;
  return !is_rare ? 0.5 : arm == 0 ? RARE : 1 - RARE;
}

static int cost_of_arm(const IrRegion *arm) {
  int all = 0;
  for (const IrInst *inst = arm ? arm->first : NULL; inst && all <= FEW; inst = inst->next) {
    bool is_light = inst->op == IR_VAR || inst->op == IR_GET || inst->op == IR_SET;
    if (!is_light) all += ir_effects(inst) & IR_PURE ? op_cost(inst) : FEW + 1;
  }
  return all;
}

bool lanes_is_predictable(const IrInst *inst) {
  return facts_is_bounds_check(inst->operands[0]) ||
         (cost_of_arm(inst->regions[0]) <= FEW && cost_of_arm(inst->regions[1]) <= FEW);
}

/* -- the cost of an inst in lanes -------------------------------------------------------------- */

/* The expected number of active lanes. */
static double active_lanes(const LaneSurvey *s) {
  double all = s->width;
  return s->often < s->visits ? all * s->often / s->visits : all;
}

static bool is_contiguous(const LaneSurvey *s, const IrInst *ptr, Type type) {
  return fact(s, ptr)->shape == LANE_LINEAR && fact(s, ptr)->step == type_size(type);
}

/* Is the number loaded together with an earlier one of its cell (lane_cells.c)? */
static bool loads_neighbour(const IrInst *inst, Type type) {
  const IrInst *ptr = inst->operands[0];
  int64_t reach = CELL * type_size(type), bytes;
  if (inst->op != IR_MEM_LOAD || type_size(type) < 4) return false;
  for (const IrInst *at = inst->previous; at; at = at->previous) {
    bool is_load = at->op == IR_MEM_LOAD;
    if (is_load && ir_differ_by_constant(ptr, at->operands[0], &bytes) && bytes < reach &&
        bytes > -reach)
      return true;
    if (!is_load && !(ir_effects(at) & IR_PURE)) return false;
  }
  return false;
}

/* Is the element adjacent to that of an access before or after it, in each lane
 * (lane_runs.c)? */
static bool is_in_run(const IrInst *inst) {
  IrAddress own, other;
  if (!ir_address(inst, &own)) return false;
  for (int back = 0; back < 2; back++)
    for (const IrInst *at = inst; at; at = back ? at->previous : at->next) {
      if (at != inst && ir_address(at, &other) &&
          (ir_address_follows(&own, &other) || ir_address_follows(&other, &own)))
        return true;
      if (at->op != inst->op && at->op != IR_SET && !(ir_effects(at) & IR_PURE)) break;
    }
  return false;
}

/* In a loop over nodes: does an inner loop iterate over the cells of each lane's node? */
static bool goes_through_node(const LaneSurvey *s, const IrInst *ptr) {
  while (ptr->op == IR_OFFSET) ptr = ptr->operands[0];
  return ptr->op == IR_PARAM && s->often > 1;
}

/* How many insts of the body are executed after the first one and before the second one, which
 * belongs to an iteration that is `iterations` later? */
static int64_t insts_between(const IrInst *first, const IrInst *second, int64_t iterations) {
  int64_t count = 0, from = 0, to = 0;
  for (const IrInst *at = first->region->first; at; at = at->next, count++) {
    if (at == first) from = count;
    if (at == second) to = count;
  }
  return iterations * count + to - from;
}

/* Does the load read, in a serial loop, an element that an earlier iteration of the loop has just
 * written, or may have? */
static bool waits_for_store(const LaneSurvey *s, const IrInst *inst) {
  if (inst->op != IR_MEM_LOAD || s->often <= 1 || !inst->alias) return false;
  for (const IrInst *at = inst->region->first; at; at = at->next) {
    int64_t iterations;
    bool never;
    if (at->op != IR_MEM_STORE || at->alias != inst->alias) continue;
    if (!facts_reads_after(inst, at, &iterations, &never)) return true;
    if (!never && insts_between(at, inst, iterations) < JUST_WRITTEN) return true;
  }
  return false;
}

/* The number of serial loops around the inst. */
static int depth_of(const LaneSurvey *s, const IrInst *inst) {
  int depth = 0;
  for (const IrRegion *at = inst->region; at != s->region; at = at->owner->region)
    depth += rewrite_is_loop(at->owner->op);
  return depth;
}

static int64_t access_cost(LaneSurvey *s, const IrInst *inst, Type type) {
  const IrInst *ptr = inst->operands[0];
  if (is_uniform(s, ptr)) return 1;
  if (is_contiguous(s, ptr, type)) return VECTOR * registers(s, type);
  bool is_linear = fact(s, ptr)->shape == LANE_LINEAR;
  int64_t parts = is_linear ? fact(s, ptr)->step / type_size(type) : 0;
  s->is_simple &= is_linear && parts <= SIMPLE_PARTS;
  if (parts > 1 && parts <= MOST_PARTS)
    return (VECTOR * (parts + 1) / 2 + VECTOR) * registers(s, type);
  if (loads_neighbour(inst, type)) return VECTOR * 2 * registers(s, type); /* also if they wait */
  if (waits_for_store(s, inst)) return (int64_t)LOCAL_LANE * s->width;
  if (s->vector_bytes >= MASKED && is_in_run(inst)) return (int64_t)RUN_LOAD * s->width;
  if (piecewise_is_run(s->facts, s->region, ptr))
    return (LINEAR_PER_SPLIT * VECTOR * registers(s, type) + (int64_t)GATHER * s->width) /
           (LINEAR_PER_SPLIT + 1);
  s->gathers = true;
  bool is_far =
      is_linear ? fact(s, ptr)->step >= 4 * LINE : s->scattered > 0 || goes_through_node(s, ptr);
  bool misses =
      is_linear && fact(s, ptr)->step * s->width > L1_BYTES && depth_of(s, inst) >= REUSE_DEPTH;
  bool is_narrow = type_size(type) < 4;
  int64_t cost = misses ? GATHER_MISS : is_narrow ? GATHER_NARROW : is_far ? GATHER_FAR : GATHER;
  return cost * s->width;
}

static bool follows_update(const IrInst *inst) {
  const IrInst *at = inst->previous;
  while (at && ir_effects(at) & IR_PURE) at = at->previous;
  return at && at->op == IR_MEM_UPDATE;
}

static bool is_division(const IrInst *inst) {
  return (inst->op == IR_FLOORDIV || inst->op == IR_MOD) && type_is_integer(inst->type);
}

/* Machines have no vector division of integers. Integers of up to 32 bits are divided in doubles,
 * longer ones lane by lane; LLVM's vectoriser splits all of them, unless the divisor is uniform. */
static bool is_long_division(const IrInst *inst) {
  int64_t by;
  return is_division(inst) && type_bits(inst->type) > 32 && !ir_is_const(inst->operands[1], &by);
}

static bool is_computed_in_doubles(const IrInst *inst) {
  return op_cost(inst) == MATHS || is_division(inst);
}

static bool is_activation(const IrInst *call) { return (ir_effects(call) & IR_ACTIVATES) != 0; }

/* Does the SET add to a sum that keeps the order of iterations? */
static bool is_in_order(const LaneSurvey *s, const IrInst *set) {
  const IrInst *loop = s->region->owner;
  return loop && loop->op == IR_FOR && loop->reduces &&
         ir_lanes_add_in_order(s->kernel, s->region, set);
}

/* The cost of one execution for all lanes together. */
static double vector_cost_of(LaneSurvey *s, const IrInst *inst) {
  int cost = op_cost(inst);
  switch (inst->op) {
  case IR_MEM_LOAD: return access_cost(s, inst, inst->type);
  case IR_MEM_STORE: return access_cost(s, inst, inst->operands[1]->type);
  case IR_MEM_UPDATE: /* several share one walk over the lanes */
    if (inst->nonatomic && is_contiguous(s, inst->operands[0], inst->operands[1]->type))
      return 3.0 * VECTOR * registers(s, inst->operands[1]->type);
    s->is_simple = false;
    if (is_uniform(s, inst->operands[0]) && ir_lanes_combine(inst))
      return cost + COMBINE * registers(s, inst->operands[1]->type);
    if (inst->nonatomic && is_in_run(inst)) return RUN_UPDATE * active_lanes(s);
    return active_lanes(s) * (cost + (follows_update(inst) ? 1
                                      : inst->nonatomic    ? UNPACK
                                                           : ONE_BY_ONE));
  case IR_TABLE_GET:
    if (is_uniform(s, inst)) return cost;
    s->is_simple = false;
    return (int64_t)GATHER * s->width;
  case IR_LOCAL_GET:
  case IR_LOCAL_SET:
    if (is_uniform(s, inst->operands[0]) && is_uniform(s, inst->operands[1])) return cost;
    s->is_simple = false;
    if (!is_uniform(s, inst->operands[1])) return LOCAL_LANE * active_lanes(s);
    return (int64_t)LOCAL + VECTOR * registers(s, inst->operands[0]->type);
  case IR_SET:
    if (is_in_order(s, inst)) return (double)IN_ORDER * s->width;
    break;
  case IR_PICK: /* blends */
    return (int64_t)VECTOR * inst->operand_count * registers(s, inst->type);
  case IR_FAULT: s->is_simple = false; return 0; /* once */
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_PRINT: s->is_simple = false; return active_lanes(s) * (cost + ONE_BY_ONE);
  case IR_CALL:
    s->is_simple = false;
    if (is_uniform(s, inst) && (ir_effects(inst) & IR_READ)) return cost;
    if (cost == HASH) return HASH + (int64_t)HASH_LANE * s->width;
    if (inst->entry == RT_DYNAMIC_POP)
      return LIST + (is_uniform(s, inst->operands[0]) ? COMBINE : LIST_LANE * active_lanes(s));
    if (inst->entry == RT_FETCH) return 2 * s->width;
    if (inst->entry == RT_HASH_FETCH) return HASH + (int64_t)(HASH_LANE * s->width / 2);
    if (ir_entries[inst->entry].flags & IR_HAS_LANES) /* a gather, and perhaps a rare slow path */
      return (int64_t)(GATHER + (is_activation(inst) ? RARE_PATH : 0)) * s->width + 4 * VECTOR;
    return cost ? active_lanes(s) * (cost + ONE_BY_ONE) : 0;
  default: break;
  }
  if (fact(s, inst)->shape != LANE_VARYING) return cost;
  if (is_division(inst) && fact(s, inst->operands[1])->shape != LANE_UNIFORM) s->is_simple = false;
  if (inst->op == IR_SQRT && s->kernel->fast_math) s->is_simple = false; /* llvm_bc/roots.c */
  if (is_long_division(inst)) return (int64_t)s->width * (cost + 2);
  Type type = is_computed_in_doubles(inst) ? TYPE(F64)
              : type_is_none(inst->type)   ? TYPE(F32)
                                           : inst->type;
  return (int64_t)VECTOR * cost * registers(s, type);
}

/* -- obstacles --------------------------------------------------------------------------------- */

/* Can the call's operands differ by lane: does it neither hold a lock nor depend on other lanes? */
static bool may_differ_by_lane(const IrInst *call) {
  int64_t how = RT_LIST_LOCKED;
  if (call->entry == RT_DYNAMIC_POP && ir_is_const(call->operands[1], &how))
    return how != RT_LIST_LOCKED;
  if (call->entry == RT_DYNAMIC_ENSURE && ir_is_const(call->operands[3], &how))
    return how != RT_LIST_LOCKED;
  return call->entry == RT_DYNAMIC_APPEND && ir_is_const(call->operands[3], &how) &&
         how == RT_LIST_OWN;
}

/* The trip count of lanes that differ is computed only for a constant step. */
static bool has_known_step(const LaneSurvey *s, const IrInst *loop) {
  int64_t step = facts_step(loop);
  return ir_lanes_are_uniform(s->facts, loop) || (step && step != INT64_MIN);
}

/* Why `vectorise` cannot write the inst as ops of lanes. D-pass-70 lists what is missing. */
static const char *obstacle_of(const LaneSurvey *s, const IrInst *inst) {
  if (ir_is_refcount(inst->op)) return "it holds arrays of its own";
  switch (inst->op) {
  case IR_FOR:
    return has_known_step(s, inst) ? NULL
                                   : "the bounds of its loop differ, and its step is not constant";
  case IR_INVOKE: return "it calls a function that calls itself";
  case IR_LOCAL_ARRAY:
    if (is_uniform(s, inst) || inst->imm * type_size(inst->type) * s->width <= MOST_LOCAL)
      return NULL;
    return "lanes would have large local arrays";
  case IR_BITS:
    return is_uniform(s, inst->operands[0]) ? NULL : "it walks cells that differ by iteration";
  case IR_CALL:
    if (ir_entries[inst->entry].flags & IR_ONCE && !may_differ_by_lane(inst))
      return "it changes lists";
    if (inst->entry == RT_TOUCH) return "it is checked for races";
    for (int i = 0; i < inst->operand_count; i++)
      if (inst->operands[i]->op == IR_VAR) return "a call gives several numbers";
    return NULL;
  case IR_PRINT: return "it prints";
  case IR_GRID:
  case IR_ROW: return "it visits cells of leaves";
  case IR_CHUNK_CURSOR: return "it takes numbers that were counted before";
  case IR_ROW_LOAD:
    return is_uniform(s, inst->operands[0]) && is_uniform(s, inst->operands[1])
               ? NULL
               : "it reads rows that differ by iteration";
  default: return NULL;
  }
}

/* -- the survey -------------------------------------------------------------------------------- */

static void survey_region(LaneSurvey *s, const IrRegion *region);

/* Are two numbers of data compared for equality, perhaps after another condition (`and`)? */
static bool is_equality(const IrInst *value) {
  int64_t number;
  if (value->op == IR_EQ) return !ir_is_const(value->operands[1], &number);
  if (value->op != IR_GET) return false;
  const IrInst *var = value->operands[0];
  for (const IrInst *at = var; at && at != value; at = ir_following(at, var->region))
    if (at->op == IR_SET && at->operands[0] == var && at->operands[1]->op == IR_EQ)
      return is_equality(at->operands[1]);
  return false;
}

/* Does the branch end its loop unless two numbers are equal? They seldom are, so this is
 * predicted; when they are, the loop counts a misprediction. */
static bool ends_unless_equal(const IrInst *inst) {
  const IrInst *last = inst->regions[1] ? inst->regions[1]->last : NULL;
  return last && last->op == IR_BREAK && is_equality(inst->operands[0]);
}

static void survey_arms(LaneSurvey *s, const IrInst *inst) {
  ASSERT(s->often >= 0 && s->visits >= 0, "parts of a body run a number of times");
  double often = s->often, visits = s->visits, on = active_lanes(s);
  bool differs = fact(s, inst)->diverges;
  bool is_sure = s->alternate && s->alternate->operands[0] == inst->operands[0];
  s->is_simple = false;
  bool is_steady = !differs && s->loops == 0; /* as in the iteration before */
  if (!is_sure && !is_steady && !ends_unless_equal(inst) && !lanes_is_predictable(inst)) {
    s->scalar_cost += often * MISS / 2;
    if (!differs) s->vector_cost += visits * MISS / 2;
  }
  bool waits = ir_is_call(inst->operands[0], RT_TREE_LARGE); /* for memory, in lanes or not */
  for (int i = 0; i < 2; i++) {
    double share = is_sure ? i == 0
                   : waits ? 0
                           : lanes_guess_arm(s->ctx, inst, i),
           any = differs ? share * on : share;
    s->often = often * share;
    s->visits = visits * (any < 1 ? any : 1);
    if (inst->regions[i]) survey_region(s, inst->regions[i]);
  }
  s->often = often;
  s->visits = visits;
}

LaneSurvey lanes_survey_loop(const PassContext *ctx, const IrKernel *kernel, const IrInst *loop,
                             int width) {
  LaneBody body = ir_lanes_of(loop, width);
  LaneSurvey s = lanes_survey(ctx, kernel, &body);
  TripGuess guess = lanes_guess_trips(loop);
  if (s.alternate) guess.trips /= 2;
  int64_t known = ((int64_t)guess.trips + width - 1) / width;
  double some = guess.trips / width + 0.5, vectors = guess.is_known ? (double)known : some;
  if (vectors < 1) vectors = 1;
  s.scalar_cost = s.scalar_cost / width * guess.trips + (guess.is_even ? 0 : MISS);
  s.vector_cost = s.vector_cost * vectors + START;
  return s;
}

/* The scalar estimate of an inner loop is at most that of vectorising the inner loop by itself. */
static void survey_inner(LaneSurvey *s, const IrInst *loop, double before) {
  bool may_sum = loop->reduces && sums_only(s->ctx->scratch, s->kernel, loop);
  if (loop->op != IR_FOR || (!loop->independent && !may_sum)) return;
  LaneSurvey inner = lanes_survey_loop(s->ctx, s->kernel, loop, s->width);
  double alone = before + s->often * inner.vector_cost;
  if (!inner.obstacle && alone < s->scalar_cost) s->scalar_cost = alone;
}

/* How much longer than an average lane the slowest one runs. While the last lanes read, gathers of
 * few lanes are still faster than their branches; exchanges are not. */
static double wait_factor(const LaneSurvey *s, const IrInst *loop) {
  if (s->waiting) return WAIT_NESTED;
  for (const IrInst *at = loop->regions[0]->first; at; at = ir_following(at, loop->regions[0]))
    if ((at->op == IR_MEM_RMW || at->op == IR_MEM_CAS) && !at->nonatomic) return WAIT_EXCHANGE;
  return WAIT;
}

/* The latency of the float operations that lead from a variable of the loop to its next value,
 * directly in the body; 0: there are none. */
static double chain_of(const LaneSurvey *s, const IrRegion *body, const IrInst *var) {
  double *ready = scratch_array(s->ctx->scratch, double, s->kernel->next_id), longest = 0;
  for (const IrInst *inst = body->first; inst; inst = inst->next) {
    double start = 0;
    if (inst->op == IR_GET) {
      ready[inst->id] = inst->operands[0] == var ? LATENCY : 0;
      continue;
    }
    for (int i = 0; i < inst->operand_count; i++)
      if (ready[inst->operands[i]->id] > start) start = ready[inst->operands[i]->id];
    if (inst->op == IR_SET && inst->operands[0] == var) longest = start - LATENCY;
    bool computes = start > 0 && type_is_float(inst->type) && inst->op != IR_MEM_LOAD;
    int cost = op_cost(inst);
    if (computes) ready[inst->id] = start + (cost > LATENCY ? cost : LATENCY);
  }
  return longest;
}

/* The least time of an iteration of a long loop, if each one waits for the one before. Shorter
 * loops overlap with what follows them. */
static double longest_chain(const LaneSurvey *s, const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  double longest = 0;
  if (loop->op != IR_FOR || lanes_guess_trips(loop).trips < LONG) return 0;
  if (rewrite_count((IrRegion *)body) > MOST_CHAINED) return 0;
  for (const IrInst *set = body->first; set; set = set->next) {
    if (set->op != IR_SET || ir_is_inside(set->operands[0], body)) continue;
    double chain = chain_of(s, body, set->operands[0]);
    if (chain > longest) longest = chain;
  }
  return longest;
}

/* Lanes of a divergent loop wait for the one with the largest trip count. In a loop nested in such
 * a loop, the remaining lanes are mostly alike, or have waited already. */
static void survey_loop(LaneSurvey *s, const IrInst *inst) {
  double often = s->often, visits = s->visits, alone = s->scalar_cost;
  ASSERT(inst->regions[0], "a loop has a body");
  TripGuess guess = lanes_guess_trips(inst);
  bool differs = fact(s, inst)->diverges, waits = differs && !guess.is_even;
  double wait = waits ? wait_factor(s, inst) : 1;
  s->is_simple = false;
  if (!guess.is_even) {
    s->scalar_cost += often * MISS;
    s->vector_cost += visits * MISS;
  }
  s->often = inst->no_unroll ? 0 : often * guess.trips; /* rolled: rare */
  s->visits = inst->no_unroll ? 0 : visits * guess.trips * wait;
  bool scatters = waits && inst->op == IR_FOR && !inst->reduces && !inst->independent;
  s->loops++;
  s->waiting += waits;
  s->scattered += scatters;
  if (differs) s->vector_cost += s->visits * DIVERGENCE;
  survey_region(s, inst->regions[0]);
  s->loops--;
  s->waiting -= waits;
  s->scattered -= scatters;
  double wait_of_each = longest_chain(s, inst) * s->often - (s->scalar_cost - alone);
  if (wait_of_each > 0) s->scalar_wait += wait_of_each;
  s->often = often;
  s->visits = visits;
  if (!inst->no_unroll) survey_inner(s, inst, alone);
}

static void survey_inst(LaneSurvey *s, const IrInst *inst) {
  const char *obstacle = obstacle_of(s, inst);
  if (obstacle && !s->obstacle) s->obstacle = obstacle, s->line = inst->line;
  if (inst->op == IR_LOOP || inst->op == IR_FOR || inst->op == IR_BITS) return survey_loop(s, inst);
  s->fetches |= ir_is_call(inst, RT_FETCH);
  bool is_update = inst->op == IR_MEM_UPDATE || inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS;
  s->is_atomic |= is_update && is_locked(inst);
  s->scalar_cost += op_cost(inst) * s->often;
  s->vector_cost += vector_cost_of(s, inst) * s->visits;
  if (inst->op == IR_IF) survey_arms(s, inst);
}

static void survey_region(LaneSurvey *s, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) survey_inst(s, inst);
}

static bool reads_other_element(const IrInst *load, const IrInst *store) {
  return load->op == IR_MEM_LOAD && load->alias && load->alias == store->alias &&
         load->operands[0] != store->operands[0];
}

/* Does the body of a simple loop write an element of a field, and read others of it? LLVM cannot
 * know that iterations are independent. */
static bool reads_elsewhere(const IrRegion *body) {
  for (const IrInst *store = body->first; store; store = store->next)
    for (const IrInst *at = body->first; store->op == IR_MEM_STORE && at; at = at->next)
      if (reads_other_element(at, store)) return true;
  return false;
}

LaneSurvey lanes_survey(const PassContext *ctx, const IrKernel *kernel, const LaneBody *body) {
  ASSERT(body->width > 1 && body->width <= IR_MAX_LANES, "lanes are several");
  LaneSurvey s = {.ctx = ctx,
                  .kernel = kernel,
                  .region = body->region,
                  .width = body->width,
                  .vector_bytes = ctx->vector_bytes,
                  .often = 1,
                  .visits = 1,
                  .is_simple = true};
  s.facts = ir_lanes(ctx->scratch, kernel, body);
  s.alternate = ir_lanes_alternate(body->region);
  survey_region(&s, body->region);
  s.is_simple = s.is_simple && !reads_elsewhere(body->region);
  s.scalar_cost *= s.width;
  s.scalar_wait *= s.width;
  if (s.fetches && s.is_atomic && !s.obstacle)
    s.obstacle = "elements are fetched ahead of their use";
  return s;
}
