/* guards.c - see guards.h. The sum of a shifted index is computed in 32 bits, so intermediate
 * results may wrap; but inside the interior the mathematical sum is a valid index, which has the
 * same bits. So the sum is rewritten in 64 bits there, which shows LLVM and lanes that addresses
 * are linear in the parameter. Comparisons keep the 32-bit sum, since they observe whether it has
 * wrapped. */
#include "pass/loops/guards.h"

#include "pass/address/address.h"
#include "base/bits.h"
#include "pass/rewrite.h"

/* -- values of the launch ---------------------------------------------------------------------- */

static IrInst *recompute_in_host(IrBuilder *b, const IrInst *inst) {
  if (inst->op == IR_FRAME_GET) return address_slot(b, false, (int)inst->imm, inst->type);
  IrInst *operands[3];
  DEBUG_ASSERT(inst->operand_count <= 3, "a value has at most three operands");
  for (int i = 0; i < inst->operand_count; i++)
    operands[i] = recompute_in_host(b, inst->operands[i]);
  IrInst *value = ir_emit(b, inst->op, inst->type, inst->operand_count, operands);
  value->imm = inst->imm;
  return value;
}

static IrInst *find_run(const IrKernel *kernel, int number) {
  IrInst *inst = kernel->body->first;
  while (inst && (inst->op != IR_RUN || inst->imm != number))
    inst = ir_following(inst, kernel->body);
  return inst;
}

bool guards_is_run(const IrKernel *kernel, int number) { return find_run(kernel, number) != NULL; }

IrBuilder guards_host(IrKernel *kernel, int number) {
  IrInst *run = find_run(kernel, number);
  DEBUG_ASSERT(run, "the host region runs the task");
  return rewrite_before(kernel, run);
}

IrInst *guards_value(IrBuilder *b, const IrInst *with) {
  return ir_convert(b, recompute_in_host(b, with), TYPE(I64));
}

int guards_set(IrBuilder *b, IrInst *value) {
  int slot = b->kernel->frame_slots++;
  ir_frame_set(b, slot, value);
  return slot;
}

int guards_slot(IrKernel *kernel, int number, const IrInst *with) {
  IrBuilder b = guards_host(kernel, number);
  return guards_set(&b, guards_value(&b, with));
}

/* -- clamped indices --------------------------------------------------------------------------- */

enum {
  DEEPEST = 4, /* ops between a clamp and the access that depends on it; clamps in a clamp */
  /* The interior may lose at either end 1 / SHARE of a range of known length, or FEW iterations;
   * EDGE iterations of a range of unknown length. */
  SHARE = 8,
  FEW = 4,
  EDGE = 64
};

static bool is_clamp(const IrInst *inst) {
  return (inst->op == IR_MIN || inst->op == IR_MAX) && type_is(inst->type, TYPE_I32);
}

static bool find_index(const IrRegion *body, const IrInst *value, IndexRange *range, int depth) {
  *range = ranges_of(value);
  if (range->known && ranges_param(body, range->base) >= 0) return ranges_is_near(range);
  if (!is_clamp(value) || depth == DEEPEST) return false;
  return find_index(body, value->operands[0], range, depth + 1) ||
         find_index(body, value->operands[1], range, depth + 1);
}

int clamps_index(const IrRegion *body, const IrInst *inst, IndexRange *range) {
  if (!is_clamp(inst)) return -1;
  for (int side = 0; side < 2; side++)
    if (find_index(body, inst->operands[side], range, 0)) return side;
  return -1;
}

/* Does an index of an access, or a bound of a loop, depend on the value? */
static bool reaches_access_or_loop(const IrInst *value, int depth) {
  for (const IrUse *use = value->uses; use; use = use->next) {
    const IrInst *user = use->user;
    if (user->op == IR_PLACE || user->op == IR_TABLE_GET || user->op == IR_FOR) return true;
    bool is_sum = type_is_integer(user->type) && user->operand_count == 2;
    if (is_sum && ir_effects(user) & IR_PURE && depth < DEEPEST &&
        reaches_access_or_loop(user, depth + 1))
      return true;
  }
  return false;
}

/* Is the interior from `begin` or up to `end` nearly all of the range? */
static bool is_at_edge(const Limits *limits, const IndexClamp *clamp) {
  int64_t lost = limits->known ? max_i64(FEW, (limits->high - limits->low) / SHARE) : EDGE;
  if (clamp->end == INT64_MAX)
    return clamp->begin <= (limits->low == INT64_MIN ? 0 : limits->low) + lost;
  return limits->known && clamp->end > limits->high - lost;
}

bool clamps_read(const IrRegion *body, const IrInst *inst, const Limits *limits,
                 IndexClamp *clamp) {
  IndexRange range;
  int64_t bound;
  int side = clamps_index(body, inst, &range);
  if (side < 0 || !ir_is_const(inst->operands[1 - side], &bound)) return false;
  *clamp =
      (IndexClamp){.param = ranges_param(body, range.base), .begin = INT64_MIN, .end = INT64_MAX};
  if (inst->op == IR_MAX) clamp->begin = bound - range.low;
  else clamp->end = bound - range.high + 1;
  return is_at_edge(&limits[clamp->param], clamp) && reaches_access_or_loop(inst, 0);
}

/* -- comparisons ------------------------------------------------------------------------------- */

/* A value of the launch, perhaps less a small constant. */
static bool is_launch_value(const IndexRange *with) {
  return with->known && with->base && ranges_is_near(with) && with->high <= 0 &&
         facts_is_launch_invariant(with->base) && type_bits(with->base->type) <= 32 &&
         !type_is(with->base->type, TYPE_U32);
}

/* If the parameter is below the value, the sums cannot wrap: neither is near the ends of an i32,
 * except a parameter below -65536, which no interior contains. */
static bool read_clamp(const IrRegion *body, IrInst *clamp, IndexGuard *guard) {
  IndexRange index;
  int side = clamp->op == IR_MIN ? clamps_index(body, clamp, &index) : -1;
  if (side < 0 || !reaches_access_or_loop(clamp, 0)) return false;
  IndexRange with = ranges_of(clamp->operands[1 - side]);
  if (!is_launch_value(&with)) return false;
  *guard = (IndexGuard){.decided = clamp,
                        .with = (IrInst *)with.base,
                        .param = ranges_param(body, index.base),
                        .less = index.high - with.low - 1,
                        .holds = side == 0};
  return true;
}

bool guards_read(const IrRegion *body, IrInst *compare, IndexGuard *guard) {
  if (read_clamp(body, compare, guard)) return true;
  if (!ir_is_comparison(compare->op) || !type_is(compare->operands[0]->type, TYPE_I32))
    return false;
  for (int side = 0; side < 2; side++) {
    IndexRange index = ranges_of(compare->operands[side]),
               with = ranges_of(compare->operands[1 - side]);
    int param = ranges_param(body, index.base);
    if (!index.known || param < 0 || !ranges_is_near(&index) || !is_launch_value(&with)) continue;
    IrOp op = side ? rewrite_mirrored(compare->op) : compare->op;
    bool or_equal = op == IR_LE || op == IR_GT; /* the index may also equal the value */
    *guard = (IndexGuard){.decided = compare,
                          .with = (IrInst *)with.base,
                          .param = param,
                          .less = index.high - with.low - or_equal,
                          .holds = op == IR_LT || op == IR_LE || op == IR_NE};
    return true;
  }
  return false;
}

/* The middle of the range; an unknown index counts as large. */
static int64_t middle_of(const Limits *limits) {
  return limits->known ? limits->low + (limits->high - limits->low) / 2 : (int64_t)1 << 20;
}

/* The result of `low .. high op c`; -1 if it is not the same for all values. */
static int compare_range(IrOp op, int64_t low, int64_t high, int64_t c) {
  switch (op) {
  case IR_LT: return high < c ? 1 : low >= c ? 0 : -1;
  case IR_LE: return high <= c ? 1 : low > c ? 0 : -1;
  case IR_GT: return low > c ? 1 : high <= c ? 0 : -1;
  case IR_GE: return low >= c ? 1 : high < c ? 0 : -1;
  case IR_EQ: return high < c || low > c ? 0 : -1;
  default: return high < c || low > c ? 1 : -1;
  }
}

/* The result of a comparison of the known value, plus constants, with a constant; of a minimum or
 * maximum, whether it is the first operand. -1 if it is not such an inst, or not the same for all
 * values. */
static int outcome_of(const IrInst *inst, const KnownValue *known) {
  for (int side = 0; side < 2; side++) {
    int64_t number;
    IndexRange index = ranges_of(inst->operands[side]);
    if (!index.known || !index.base || !ranges_is_near(&index) ||
        !facts_same_value(index.base, known->base) ||
        !ir_is_const(inst->operands[1 - side], &number))
      continue;
    int64_t low = known->low + index.low, high = known->high + index.high;
    if (low < INT32_MIN || high > INT32_MAX) continue; /* it may wrap */
    IrOp op = inst->op;
    if (!ir_is_comparison(op)) op = (op == IR_MIN) != (side == 1) ? IR_LE : IR_GE;
    else if (side) op = rewrite_mirrored(op);
    return compare_range(op, low, high, number);
  }
  return -1;
}

/* The result of a comparison with a constant in the middle of the range; -1 for any other. */
static int usual_outcome(const IrRegion *body, const IrInst *compare, const Limits *limits) {
  int outcome = -1;
  for (int k = 0; k < body->params.count && outcome < 0; k++) {
    int64_t middle = middle_of(&limits[k]);
    outcome = outcome_of(compare, &(KnownValue){body->params.items[k], middle, middle});
  }
  return outcome;
}

const IrInst *guards_usual(const IrRegion *body, const IrInst *select, const Limits *limits) {
  IrInst *compare = select->operands[0];
  IndexGuard guard;
  if (!ir_is_comparison(compare->op) || !type_is_integer(compare->operands[0]->type)) return NULL;
  int holds =
      guards_read(body, compare, &guard) ? guard.holds : usual_outcome(body, compare, limits);
  return holds < 0 ? NULL : select->operands[holds ? 1 : 2];
}

void guards_become(IrInst *inst, bool holds) {
  if (!ir_is_comparison(inst->op)) {
    ir_replace_uses(inst, inst->operands[holds ? 0 : 1]);
    return;
  }
  ir_truncate_operands(inst, 0);
  inst->op = IR_CONST;
  inst->imm = holds;
}

void guards_decide(IrRegion *region, const KnownValue *known, int count) {
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region)) {
    bool is_clamp = inst->op == IR_MIN || inst->op == IR_MAX;
    if ((!ir_is_comparison(inst->op) && !is_clamp) || !type_is(inst->operands[0]->type, TYPE_I32))
      continue;
    int outcome = -1;
    for (int i = 0; i < count && outcome < 0; i++) outcome = outcome_of(inst, &known[i]);
    if (outcome >= 0) guards_become(inst, outcome);
  }
}

/* -- shifted indices -----------------------------------------------------------------------------
 * */

bool guards_read_shifted(const IrRegion *body, const IndexRange *index, int64_t size,
                         ShiftedIndex *shifted) {
  *shifted = (ShiftedIndex){.size = size};
  if (!ranges_line(index, body->params.count, body->params.items, &shifted->line) ||
      !ranges_line_holds_below(&shifted->line, size))
    return false;
  shifted->param = ranges_param(body, shifted->line.index);
  DEBUG_ASSERT(shifted->param >= 0, "the line is along a parameter of the body");
  for (int i = 0; i < shifted->line.rest.count; i++)
    if (!facts_is_launch_invariant(shifted->line.rest.values[i])) return false;
  return true;
}

bool guards_is_same_shift(const ShiftedIndex *a, const ShiftedIndex *b) {
  int64_t distance;
  return a->param == b->param && a->line.factor == b->line.factor && a->line.low == b->line.low &&
         a->line.high == b->line.high && a->size == b->size && a->array == b->array &&
         a->axis == b->axis && facts_affine_distance(&a->line.rest, &b->line.rest, &distance);
}

/* The size less `number`. */
static IrInst *size_minus(IrBuilder *b, const ShiftedIndex *shifted, int64_t number) {
  if (!shifted->array) return ir_i64(b, shifted->size - number);
  IrInst *extent =
      ir_convert(b, address_extent(b, false, shifted->array, shifted->axis), TYPE(I64));
  return ir_binary_const(b, IR_SUB, extent, number);
}

/* The first index at which the line is inside: a rising line reaches 0, a falling one the size. */
static IrInst *interior_begin(IrBuilder *b, const ShiftedIndex *shifted) {
  const IndexLine *line = &shifted->line;
  if (line->factor > 0) return ranges_add_rest(b, ir_i64(b, -line->low), line, true, guards_value);
  IrInst *last = size_minus(b, shifted, line->high + 1);
  return ranges_add_rest(b, ir_unary(b, IR_NEG, last), line, false, guards_value);
}

static IrInst *interior_end(IrBuilder *b, const ShiftedIndex *shifted) {
  const IndexLine *line = &shifted->line;
  if (line->factor > 0)
    return ranges_add_rest(b, size_minus(b, shifted, line->high), line, true, guards_value);
  return ranges_add_rest(b, ir_i64(b, line->low + 1), line, false, guards_value);
}

void guards_limit(IrKernel *kernel, int number, int param, const ShiftedIndex *items, int count) {
  IrTask *task = kernel->tasks.items[number];
  DEBUG_ASSERT(param < task->axis_count, "the task has such a parameter");
  IrBuilder b = guards_host(kernel, number);
  IrInst *begin = NULL, *end = NULL;
  for (int i = 0; i < count; i++) {
    if (items[i].param != param) continue;
    IrInst *from = interior_begin(&b, &items[i]), *until = interior_end(&b, &items[i]);
    begin = begin ? ir_binary(&b, IR_MAX, begin, from) : from;
    end = end ? ir_binary(&b, IR_MIN, end, until) : until;
  }
  if (!begin) return;
  IrLimit from = {.axis = param, .slot = guards_set(&b, begin), .type = TYPE(I64), .begins = true},
          until = {.axis = param, .slot = guards_set(&b, end), .type = TYPE(I64)};
  vec_push(kernel->scratch, &task->limits, from);
  vec_push(kernel->scratch, &task->limits, until);
}

/* The line as a sum in 64 bits, with its uniform part computed first; that part is subtracted if
 * this saves a negation of its first value. */
static IrInst *emit_line(IrBuilder *b, const IndexLine *line) {
  bool subtracts = line->rest.count && line->rest.factors[0] < 0;
  IrInst *index = ir_convert(b, (IrInst *)line->index, TYPE(I64));
  IrInst *by = ranges_add_rest(b, NULL, line, subtracts, NULL);
  if (!by) by = ir_i64(b, line->low);
  else if (line->low) by = ir_binary_const(b, subtracts ? IR_SUB : IR_ADD, by, line->low);
  if (line->factor > 0) return ir_binary(b, subtracts ? IR_SUB : IR_ADD, index, by);
  return subtracts ? ir_unary(b, IR_NEG, ir_binary(b, IR_ADD, index, by))
                   : ir_binary(b, IR_SUB, by, index);
}

void guards_widen(IrKernel *kernel, const IrRegion *interior, IrInst *place) {
  for (int axis = 0; axis < place->operand_count; axis++) {
    ShiftedIndex shifted;
    IndexRange index = ranges_of(place->operands[axis]);
    if (ranges_param(interior, index.base) >= 0 ||
        !guards_read_shifted(interior, &index, INT32_MAX, &shifted) ||
        shifted.line.low != shifted.line.high)
      continue;
    IrBuilder b = rewrite_before(kernel, place);
    ir_set_operand(place, axis, emit_line(&b, &shifted.line));
  }
}
