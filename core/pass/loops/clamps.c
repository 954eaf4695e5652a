/* clamps.c - see clamps.h. */
#include "pass/loops/clamps.h"

#include "base/bits.h"

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

static bool reaches_access_or_loop(const IrInst *value, int depth) {
  for (const IrUse *use = value->uses; use; use = use->next) {
    const IrInst *user = use->user;
    if (user->op == IR_PLACE || user->op == IR_ITEM || user->op == IR_FOR) return true;
    bool is_sum = type_is_integer(user->type) && user->operand_count == 2;
    if (is_sum && ir_effects(user) & IR_PURE && depth < DEEPEST &&
        reaches_access_or_loop(user, depth + 1))
      return true;
  }
  return false;
}

bool clamps_matter(const IrInst *value) { return reaches_access_or_loop(value, 0); }

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
  return is_at_edge(&limits[clamp->param], clamp) && clamps_matter(inst);
}
