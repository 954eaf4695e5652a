/* lanes.c - see lanes.h. Walks the body until a fixed point: facts only ever become more varying.
 *
 * Version numbers identify sets of active lanes: insts of one version run in the same lanes. Each
 * arm of a divergent `if`, the code after a divergent exit, and an iteration of a divergent loop
 * have a version of their own. */
#include "ir/lanes.h"

#include "ir/task.h"

typedef struct LaneFrame { /* a loop, or the body, that exits may leave */
  int version;             /* at the start of an iteration */
} LaneFrame;

enum { NO_EXIT = 1 << 30 };

typedef struct LaneWalk {
  Scratch *scratch;
  const IrKernel *kernel;
  const LaneBody *body;
  LaneFact *facts;
  int *versions; /* of VARs, by id */
  VEC(LaneFrame) frames;
  int version, versions_made;
  int lowest; /* outermost frame that a divergent exit leaves; NO_EXIT: none */
  bool changed;
} LaneWalk;

static LaneFact *fact(const LaneWalk *w, const IrInst *inst) { return &w->facts[inst->id]; }

static bool is_uniform(const LaneWalk *w, const IrInst *inst) {
  return fact(w, inst)->shape == LANE_UNIFORM;
}

static bool are_uniform(const LaneWalk *w, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (!is_uniform(w, inst->operands[i])) return false;
  return true;
}

static void set_shape(LaneWalk *w, const IrInst *inst, LaneShape shape) {
  LaneFact *own = fact(w, inst);
  if ((int)own->shape >= (int)shape) return;
  own->shape = (uint8_t)shape;
  w->changed = true;
}

static void set_flag(LaneWalk *w, bool *flag, bool holds) {
  if (*flag || !holds) return;
  *flag = w->changed = true;
}

/* -- values ------------------------------------------------------------------------------------ */

/* The step of an operand, 0 if it is uniform; false if it is varying. */
static bool step_of(const LaneWalk *w, const IrInst *inst, int64_t *step) {
  const LaneFact *own = fact(w, inst);
  *step = own->shape == LANE_LINEAR ? own->step : 0;
  return own->shape != LANE_VARYING;
}

/* Does the value stay linear when it is converted to an i64? An increasing index of an element
 * cannot have wrapped between lane 0 and a lane that uses it, since there it would be far below
 * zero, and so outside the shape (`in_bounds`: pass/address/address.c). */
static bool stays_linear(const LaneFact *from, const IrInst *inst, Type type) {
  if (type_bits(type) == 64) return true;
  if (!type_is_signed(type) || type_bits(type) < 32 || from->step < 0) return false;
  return from->is_exact || inst->in_bounds || inst->op == IR_OFFSET;
}

static bool convert_step(const LaneWalk *w, const IrInst *inst, LaneFact *out) {
  const IrInst *a = inst->operands[0];
  const LaneFact *from = fact(w, a);
  if (!type_is_integer(a->type) || !type_is_integer(inst->type) || type_bits(inst->type) < 32 ||
      from->shape == LANE_VARYING)
    return false;
  out->step = from->step;
  out->is_exact =
      from->is_exact && type_is_signed(inst->type) && type_bits(inst->type) >= type_bits(a->type);
  return type_bits(inst->type) <= type_bits(a->type) || stays_linear(from, inst, a->type);
}

static bool product_step(const LaneWalk *w, const IrInst *inst, LaneFact *out) {
  for (int i = 0; i < 2; i++) {
    int64_t factor, step;
    if (!ir_is_const(inst->operands[1 - i], &factor) || !step_of(w, inst->operands[i], &step))
      continue;
    if (inst->op == IR_SHL && (i == 1 || factor < 0 || factor > 31)) continue;
    if (inst->op == IR_SHL) factor = (int64_t)1 << factor;
    return !__builtin_mul_overflow(step, factor, &out->step);
  }
  return false;
}

static bool offset_step(const LaneWalk *w, const IrInst *inst, LaneFact *out) {
  int64_t base, index;
  if (!step_of(w, inst->operands[0], &base) || !step_of(w, inst->operands[1], &index)) return false;
  const LaneFact *own = fact(w, inst->operands[1]);
  if (own->shape == LANE_LINEAR && !stays_linear(own, inst, inst->operands[1]->type)) return false;
  return !__builtin_mul_overflow(index, (int64_t)inst->stride, &index) &&
         !__builtin_add_overflow(base, index, &out->step);
}

/* -- high and low bits ------------------------------------------------------------------------- */

enum { DEEPEST = 8, ALL_ZERO = 63 };

static int min_int(int a, int b) { return a < b ? a : b; }

static int zeros_below(const LaneWalk *w, const IrInst *inst, int depth);

/* Low zero bits of a parameter: the iteration's index, or a coordinate of a leaf's first cell. */
static int zeros_of_param(const LaneWalk *w, const IrInst *param) {
  int width = 0;
  if (w->body->is_aligned && param == w->body->region->params.items[w->body->varying] &&
      !ir_lanes_alternate(w->body->region))
    while (w->body->width >> (width + 1)) width++;
  for (int t = 0; t < w->kernel->tasks.count; t++) {
    const IrTask *task = w->kernel->tasks.items[t];
    if (task->kind != TASK_LEAVES || task->body != param->region) continue;
    for (int k = 0; k < task->axis_count && 1 + k < task->body->params.count; k++)
      if (task->body->params.items[1 + k] == param && task->factors[k] > 0)
        return __builtin_ctz((unsigned)task->factors[k]);
  }
  return width;
}

static int zeros_of_product(const LaneWalk *w, const IrInst *inst, int depth) {
  int a = zeros_below(w, inst->operands[0], depth);
  if (inst->op == IR_MUL) return min_int(a + zeros_below(w, inst->operands[1], depth), ALL_ZERO);
  int64_t count;
  bool is_known =
      ir_is_const(inst->operands[1], &count) && count >= 0 && count < type_bits(inst->type);
  return is_known ? min_int(a + (int)count, ALL_ZERO) : a;
}

/* The number of low bits of a value that are known to be 0 in lane 0. */
static int zeros_below(const LaneWalk *w, const IrInst *inst, int depth) {
  int64_t number;
  if (depth == DEEPEST || !type_is_integer(inst->type)) return 0;
  if (ir_is_const(inst, &number)) return number ? __builtin_ctzll((uint64_t)number) : ALL_ZERO;
  switch (inst->op) {
  case IR_PARAM: return zeros_of_param(w, inst);
  case IR_CONVERT: return zeros_below(w, inst->operands[0], depth + 1);
  case IR_MUL:
  case IR_SHL: return zeros_of_product(w, inst, depth + 1);
  case IR_ADD:
  case IR_SUB:
    return min_int(zeros_below(w, inst->operands[0], depth + 1),
                   zeros_below(w, inst->operands[1], depth + 1));
  default: return 0;
  }
}

/* The number of low bits that differ between lanes, if they are all zero in lane 0, so that no lane
 * carries into higher bits. */
static bool find_own_bits(const LaneWalk *w, const IrInst *inst, int *bits) {
  const LaneFact *own = fact(w, inst);
  if (own->shape != LANE_LINEAR || own->step < 0 || !type_is_integer(inst->type)) return false;
  int64_t span = own->step * (w->body->width - 1);
  for (*bits = 0; span >> *bits; ++*bits) {}
  return *bits < type_bits(inst->type) - 1 && zeros_below(w, inst, 0) >= *bits;
}

/* The number of bits that a right shift removes (*is_high), or that a mask leaves; -1: neither. */
static int kept_bits(const IrInst *inst, bool *is_high) {
  int64_t number;
  *is_high = inst->op == IR_SHR || inst->op == IR_SAR || inst->op == IR_FLOORDIV;
  if (inst->operand_count != 2 || !ir_is_const(inst->operands[1], &number) || number < 0) return -1;
  switch (inst->op) {
  case IR_SHR:
  case IR_SAR: return number < type_bits(inst->type) ? (int)number : -1;
  case IR_BAND:
    if (number == INT64_MAX) return -1;
    number++;
    /* fallthrough */
  case IR_FLOORDIV:
  case IR_MOD:
    return number > 0 && !(number & (number - 1)) ? __builtin_ctzll((uint64_t)number) : -1;
  default: return -1;
  }
}

/* Does the inst extract high bits that all lanes share, or low ones that no step changes? */
static bool extracts_uniform_bits(const LaneWalk *w, const IrInst *inst) {
  bool is_high;
  int bits, kept = kept_bits(inst, &is_high);
  if (kept < 0) return false;
  const LaneFact *from = fact(w, inst->operands[0]);
  if (!is_high) return from->shape == LANE_LINEAR && !(from->step & ((INT64_C(1) << kept) - 1));
  return find_own_bits(w, inst->operands[0], &bits) && kept >= bits;
}

static bool low_step(const LaneWalk *w, const IrInst *inst, LaneFact *out) {
  bool is_high;
  int bits, kept = kept_bits(inst, &is_high);
  if (is_high || kept < 0 || !find_own_bits(w, inst->operands[0], &bits) || kept < bits)
    return false;
  out->step = fact(w, inst->operands[0])->step;
  out->is_exact = kept < type_bits(inst->type) - 1;
  return true;
}

/* Is the value that of lane 0 plus a step per lane? */
static bool find_step(const LaneWalk *w, const IrInst *inst, LaneFact *out) {
  int64_t a = 0, b = 0;
  if (inst->op == IR_OFFSET) return offset_step(w, inst, out);
  if (inst->op == IR_PRIVATE_COPY) return step_of(w, inst->operands[0], &out->step);
  if (!type_is_integer(inst->type)) return false;
  switch (inst->op) {
  case IR_CONVERT: return convert_step(w, inst, out);
  case IR_MUL:
  case IR_SHL: return type_bits(inst->type) >= 32 && product_step(w, inst, out);
  case IR_BAND:
  case IR_MOD: return type_bits(inst->type) >= 32 && low_step(w, inst, out);
  case IR_ADD:
  case IR_SUB:
    if (type_bits(inst->type) < 32 || !step_of(w, inst->operands[0], &a) ||
        !step_of(w, inst->operands[1], &b))
      return false;
    return inst->op == IR_ADD ? !__builtin_add_overflow(a, b, &out->step)
                              : !__builtin_sub_overflow(a, b, &out->step);
  default: return false;
  }
}

enum { LARGEST_STEP = 1 << 24, MOST_LANES = 64 };
_Static_assert((int64_t)LARGEST_STEP *MOST_LANES <= IR_LANES_SPAN, "steps of linear values");

static void visit_pure(LaneWalk *w, const IrInst *inst) {
  LaneFact found = {0}, *own = fact(w, inst);
  if (are_uniform(w, inst)) return;
  if (own->shape == LANE_UNIFORM && extracts_uniform_bits(w, inst)) return;
  bool is_linear = own->shape != LANE_VARYING && find_step(w, inst, &found) &&
                   found.step <= LARGEST_STEP && found.step >= -LARGEST_STEP;
  if (is_linear && own->shape == LANE_LINEAR && own->step == found.step) return;
  if (!is_linear || own->shape == LANE_LINEAR) return set_shape(w, inst, LANE_VARYING);
  own->step = found.step;
  own->is_exact = found.is_exact;
  set_shape(w, inst, LANE_LINEAR);
}

/* -- control ----------------------------------------------------------------------------------- */

static void visit_region(LaneWalk *w, const IrRegion *region);

static int new_version(LaneWalk *w) { return ++w->versions_made; }

/* Accounts for the exits inside `inst`, before which `lowest` was `outer`: lanes may be missing
 * after it. */
static void end_of_exits(LaneWalk *w, const IrInst *inst, int version, int outer) {
  bool loses_lanes = w->lowest < w->frames.count;
  set_flag(w, &fact(w, inst)->loses_lanes, loses_lanes);
  w->lowest = w->lowest < outer ? w->lowest : outer;
  w->version = loses_lanes ? new_version(w) : version;
}

static void visit_if(LaneWalk *w, const IrInst *inst) {
  int version = w->version, outer = w->lowest;
  set_flag(w, &fact(w, inst)->diverges, !is_uniform(w, inst->operands[0]));
  w->lowest = NO_EXIT;
  for (int i = 0; i < IR_MAX_REGIONS; i++) {
    w->version = fact(w, inst)->diverges ? new_version(w) : version;
    if (inst->regions[i]) visit_region(w, inst->regions[i]);
  }
  end_of_exits(w, inst, version, outer);
}

static void visit_iterations(LaneWalk *w, const IrInst *inst) {
  int version = w->version, outer = w->lowest;
  LaneFact *own = fact(w, inst);
  w->lowest = NO_EXIT;
  w->version = own->diverges ? new_version(w) : version;
  DEBUG_ASSERT(w->frames.count > 0, "the body is the outermost frame");
  vec_push(w->scratch, &w->frames, (LaneFrame){w->version});
  visit_region(w, inst->regions[0]);
  w->frames.count--;
  DEBUG_ASSERT(w->version <= w->versions_made, "versions are numbered as they are made");
  set_flag(w, &own->diverges, w->lowest < w->frames.count);
  end_of_exits(w, inst, version, outer);
}

static void visit_for(LaneWalk *w, const IrInst *inst) {
  const IrInst *index = inst->regions[0]->params.items[0];
  set_flag(w, &fact(w, inst)->diverges, !are_uniform(w, inst));
  if (!is_uniform(w, inst->operands[0]) || !is_uniform(w, inst->operands[2]))
    set_shape(w, index, LANE_VARYING);
  visit_iterations(w, inst);
}

/* The loop that an exit leaves `levels` frames out; NULL for the body. */
static const IrInst *loop_of(const LaneWalk *w, const IrInst *exit, int64_t levels) {
  for (const IrRegion *in = exit->region; in && in != w->body->region && in->owner;
       in = in->owner->region) {
    IrOp op = in->owner->op;
    if ((op == IR_LOOP || op == IR_FOR || op == IR_BITS) && levels-- == 0) return in->owner;
  }
  return NULL;
}

static void visit_exit(LaneWalk *w, const IrInst *inst) {
  int64_t frame = w->frames.count - 1 - inst->imm;
  if (frame < 0) return; /* the verifier reports it */
  bool differs = w->version != w->frames.items[frame].version;
  set_flag(w, &fact(w, inst)->diverges, differs);
  if (!differs) return;
  const IrInst *loop = inst->op == IR_BREAK ? loop_of(w, inst, inst->imm) : NULL;
  int target = (int)frame;
  if (loop) set_flag(w, &fact(w, loop)->diverges, true);
  w->lowest = target < w->lowest ? target : w->lowest;
}

/* A fault ends the iterations of the active lanes, and soon after the launch. */
static void visit_fault(LaneWalk *w, const IrInst *inst) {
  set_flag(w, &fact(w, inst)->diverges, true);
  w->lowest = 0;
}

bool ir_lanes_add_in_order(const IrKernel *kernel, const IrRegion *body, const IrInst *set) {
  const IrInst *var = set->operands[0];
  return type_is_float(var->type) && !kernel->fast_math && !ir_is_inside(var, body);
}

int ir_lanes_sum_so_far(const IrInst *set) {
  const IrInst *sum = set->operands[1];
  int most = sum->op == IR_ADD ? 2 : sum->op == IR_SUB ? 1 : 0;
  for (int k = 0; k < most; k++)
    if (sum->operands[k]->op == IR_GET && sum->operands[k]->operands[0] == set->operands[0])
      return k;
  return -1;
}

static void visit_set(LaneWalk *w, const IrInst *inst) {
  const IrInst *var = inst->operands[0];
  DEBUG_ASSERT(var->op == IR_VAR, "a SET names a variable");
  if (w->body->reduces && ir_lanes_add_in_order(w->kernel, w->body->region, inst)) return;
  bool is_partial = w->body->reduces && !ir_is_inside(var, w->body->region);
  set_flag(w, &fact(w, inst)->diverges, is_partial || w->version != w->versions[var->id]);
  if (fact(w, inst)->diverges || !is_uniform(w, inst->operands[1])) set_shape(w, var, LANE_VARYING);
}

/* If all lanes write one number at one index, the array still has the same numbers in all lanes. */
static void visit_local_set(LaneWalk *w, const IrInst *inst) {
  const IrInst *array = inst->operands[0];
  set_flag(w, &fact(w, inst)->diverges, w->version != w->versions[array->id]);
  if (fact(w, inst)->diverges || !is_uniform(w, inst->operands[1]) ||
      !is_uniform(w, inst->operands[2]))
    set_shape(w, array, LANE_VARYING);
}

/* -- the walk ---------------------------------------------------------------------------------- */

static void visit_inst(LaneWalk *w, const IrInst *inst) {
  switch (inst->op) {
  case IR_VAR:
  case IR_LOCAL_ARRAY: w->versions[inst->id] = w->version; return;
  case IR_LOCAL_SET: return visit_local_set(w, inst);
  case IR_SET: return visit_set(w, inst);
  case IR_IF: return visit_if(w, inst);
  case IR_FOR: return visit_for(w, inst);
  case IR_LOOP: return visit_iterations(w, inst);
  case IR_BITS:
    if (!are_uniform(w, inst)) set_shape(w, inst->regions[0]->params.items[0], LANE_VARYING);
    set_flag(w, &fact(w, inst)->diverges, !are_uniform(w, inst));
    return visit_iterations(w, inst);
  case IR_BREAK:
  case IR_CONTINUE: return visit_exit(w, inst);
  case IR_FAULT: return visit_fault(w, inst);
  case IR_GET:
  case IR_LOCAL_GET:
  case IR_MEM_LOAD:
  case IR_CALL:
    if (!are_uniform(w, inst)) set_shape(w, inst, LANE_VARYING);
    if (inst->op == IR_CALL && !type_is_none(inst->type) && !(ir_effects(inst) & IR_READ))
      set_shape(w, inst, LANE_VARYING);
    return;
  case IR_MEM_RMW:
  case IR_MEM_CAS:
  case IR_ROW_LOAD: return set_shape(w, inst, LANE_VARYING);
  case IR_ROW_ACTIVE: return;
  case IR_LANE_FIRST: return; /* uniform */
  default:
    if (ir_effects(inst) & IR_PURE) visit_pure(w, inst);
  }
}

static void visit_region(LaneWalk *w, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) visit_inst(w, inst);
}

LaneBody ir_lanes_of(const IrInst *loop, int width) {
  DEBUG_ASSERT((loop->op == IR_FOR || loop->op == IR_BITS || loop->op == IR_ROW) && width > 0,
               "iterations of a loop with an index are lanes");
  int64_t first = 0;
  const IrInst *begin = loop->op == IR_FOR                          ? loop->operands[0]
                        : loop->op == IR_ROW && ir_row_bounds(loop) ? ir_row_bounds(loop)[0]
                                                                    : NULL;
  bool is_known = !begin || ir_is_const(begin, &first);
  return (LaneBody){.region = loop->regions[0],
                    .width = width,
                    .is_aligned = is_known && first >= 0 && first % width == 0,
                    .reduces = loop->reduces};
}

LaneBody ir_lanes_of_task(const IrTask *task, const IrRegion *body, int width) {
  int varying = task->kind == TASK_NODES ? -1 : task->axis_count - 1;
  return (LaneBody){.region = body, .varying = varying, .width = width};
}

const IrInst *ir_lanes_alternate(const IrRegion *body) {
  const IrInst *inst = body->first;
  while (inst && inst->op != IR_ALTERNATE) inst = inst->next;
  return inst;
}

static void init_params(LaneWalk *w) {
  const IrRegion *region = w->body->region;
  if (w->body->varying >= 0) {
    *fact(w, region->params.items[w->body->varying]) = (LaneFact){
        .shape = LANE_LINEAR, .is_exact = true, .step = ir_lanes_alternate(region) ? 2 : 1};
    return;
  }
  for (int k = 0; k < region->params.count; k++)
    fact(w, region->params.items[k])->shape = LANE_VARYING;
}

const LaneFact *ir_lanes(Scratch *scratch, const IrKernel *kernel, const LaneBody *body) {
  ASSERT(body->varying < body->region->params.count,
         "the index that differs by lane is a parameter");
  LaneWalk w = {.scratch = scratch,
                .kernel = kernel,
                .body = body,
                .facts = scratch_array(scratch, LaneFact, kernel->next_id),
                .versions = scratch_array(scratch, int, kernel->next_id)};
  init_params(&w);
  do {
    w.changed = false;
    w.version = w.versions_made = 0;
    w.lowest = NO_EXIT;
    w.frames.count = 0;
    vec_push(scratch, &w.frames, (LaneFrame){0});
    visit_region(&w, body->region);
  } while (w.changed);
  return w.facts;
}

IrInst *ir_lanes_mask(const IrRegion *body) {
  IrInst *last = body->params.count ? vec_last(&body->params) : NULL;
  return last && type_is_bool(last->type) && type_is_vector(last->type) ? last : NULL;
}

/* -- light code -------------------------------------------------------------------------------- */

enum { CHEAP = 24 /* operations that are cheaper than a branch that may be mispredicted */ };
_Static_assert(IR_FLOOR < IR_SQRT && IR_SQRT < IR_EXP && IR_EXP < IR_FMOD, "the rows of functions");

static bool is_function(IrOp op) { return (op >= IR_FLOOR && op <= IR_FMOD) || op == IR_POW; }

static int cost_of_region(const LaneFact *facts, const IrInst *first);

static int cost_of(const LaneFact *facts, const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST:
  case IR_VAR:
  case IR_LOCAL_ARRAY:
  case IR_GET:
  case IR_FRAME_GET:
  case IR_TREE_ROOT: return 0;
  case IR_SET:
  case IR_REDUCE:
  case IR_OFFSET: return 1;
  case IR_BREAK:
  case IR_CONTINUE: return facts[inst->id].diverges ? 1 : CHEAP + 1;
  case IR_MEM_LOAD:
  case IR_MEM_STORE: return facts[inst->operands[0]->id].shape == LANE_LINEAR ? 4 : CHEAP + 1;
  case IR_IF:
    if (!facts[inst->id].diverges) return CHEAP + 1;
    return cost_of_region(facts, inst->regions[0]->first) +
           cost_of_region(facts, inst->regions[1]->first) + 2;
  case IR_DIV:
  case IR_DIV_ROOT:
  case IR_DIV_CUBE:
  case IR_SQRT:
  case IR_FLOORDIV:
  case IR_MOD: return 8;
  default: return ir_effects(inst) & IR_PURE && !is_function(inst->op) ? 1 : CHEAP + 1;
  }
}

static int cost_of_region(const LaneFact *facts, const IrInst *first) {
  int cost = 0;
  for (const IrInst *inst = first; inst && cost <= CHEAP; inst = inst->next)
    cost += cost_of(facts, inst);
  return cost;
}

bool ir_lanes_are_uniform(const LaneFact *facts, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (facts[inst->operands[i]->id].shape != LANE_UNIFORM) return false;
  return true;
}

bool ir_lanes_is_cheap(const LaneFact *facts, const IrInst *first) {
  return cost_of_region(facts, first) <= CHEAP;
}

bool ir_lanes_combine(const IrInst *update) {
  DEBUG_ASSERT(update->operand_count == 2, "an update has an address and a value");
  Type type = update->operands[1]->type;
  if (update->op != IR_MEM_UPDATE || !type_is_scalar(type_shape(type))) return false;
  if (type_is_float(type) && type_size(type) < 4) return false; /* f16 sums would lose digits */
  if (!type_is_float(type) && !type_is_integer(type)) return false;
  return ir_update_combines((IrUpdate)update->imm);
}
