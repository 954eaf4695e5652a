/* ranges.c - expresses every index as base + [low, high].
 *
 *     i                 i + [0, 0]          a parameter, or any other value
 *     i - 1             i + [-1, -1]
 *     for d = -1, 1: i + d          i + [-1, 1]
 *     (i + 1) % 8       [0, 7]              no base: a constant range
 *
 * An index is computed in its own type and wraps there. So base + [low, high] holds modulo 2^bits,
 * and as an equation of mathematical integers only where ranges_hold_below() says so. All sums of a
 * range are in one type: a conversion begins a new base, unless it converts a base without a
 * constant and preserves its value. Constant ranges never extend across a wrap. A query visits at
 * most MOST_VISITS insts, so the whole analysis is linear in the kernel. */
#include "pass/analysis/ranges.h"

#include "base/bits.h"

enum { MOST_VISITS = 48 }; /* insts */
/* larger offsets are not followed, so that no sum below overflows */
static const int64_t furthest = (int64_t)1 << 40;

static IndexRange range_of(const IrInst *inst, int *budget);

static IndexRange base_range(const IrInst *inst) {
  return (IndexRange){
      .base = inst, .known = type_is_integer(inst->type), .bits = type_bits(inst->type)};
}

/* A constant range if it fits the type of `inst`; otherwise `inst` is a base. */
static IndexRange constant_range(const IrInst *inst, int64_t low, int64_t high) {
  if (low > high || low < type_least(inst->type) || high > type_most(inst->type))
    return base_range(inst);
  return (IndexRange){.low = low, .high = high, .known = true, .bits = 64};
}

static bool is_small(IndexRange r) { return r.low >= -furthest && r.high <= furthest; }

/* The possible values of the inst, as two constants; false for a u64, which may exceed
 * INT64_MAX. */
static bool possible_values(const IrInst *inst, IndexRange r, int64_t *low, int64_t *high) {
  if (!r.known) return false;
  *low = r.base ? type_least(inst->type) : r.low;
  *high = r.base ? type_most(inst->type) : r.high;
  return !r.base || type_is_signed(inst->type) || type_bits(inst->type) < 64;
}

/* Do the constants differ from the base by less than half the values of the type? */
static bool is_unambiguous(IndexRange r) {
  int64_t half = r.bits >= 64 ? INT64_MAX : (int64_t)1 << (r.bits - 1);
  DEBUG_ASSERT(r.low <= r.high, "a range has a lower and an upper end");
  return r.low > -half && r.high < half;
}

static IndexRange add_ranges(const IrInst *inst, IndexRange a, IndexRange b, bool subtract) {
  if (!a.known || !b.known || (a.base && b.base) || (subtract && b.base) || !is_small(a) ||
      !is_small(b))
    return base_range(inst);
  IndexRange r = {.base = a.base ? a.base : b.base, .known = true};
  r.low = subtract ? a.low - b.high : a.low + b.low;
  r.high = subtract ? a.high - b.low : a.high + b.high;
  if (!r.base) return constant_range(inst, r.low, r.high);
  r.bits = type_bits(inst->type);
  return type_is_signed(inst->type) && is_unambiguous(r) ? r : base_range(inst);
}

static IndexRange multiply_ranges(const IrInst *inst, IndexRange a, IndexRange b) {
  if (!a.known || !b.known || a.base || b.base) return base_range(inst);
  int64_t low = INT64_MAX, high = INT64_MIN, ends[2][2] = {{a.low, a.high}, {b.low, b.high}};
  for (int i = 0; i < 4; i++) {
    int64_t corner;
    if (__builtin_mul_overflow(ends[0][i & 1], ends[1][i >> 1], &corner)) return base_range(inst);
    low = min_i64(low, corner);
    high = max_i64(high, corner);
  }
  return constant_range(inst, low, high);
}

/* a // c, a % c, a & c for a positive constant c. */
static IndexRange range_of_remainder(const IrInst *inst, IndexRange a, IndexRange by) {
  if (!by.known || by.base || by.low != by.high || by.low < 0) return base_range(inst);
  int64_t c = by.low;
  if (inst->op == IR_BAND)
    return constant_range(inst, 0, !a.base && a.known && a.low >= 0 ? min_i64(a.high, c) : c);
  if (c == 0) return base_range(inst);
  bool is_constant = a.known && !a.base;
  if (inst->op == IR_FLOORDIV)
    return is_constant ? constant_range(inst, floor_div(a.low, c), floor_div(a.high, c))
                       : base_range(inst);
  return is_constant && a.low >= 0 && a.high < c ? a : constant_range(inst, 0, c - 1);
}

static IndexRange range_of_extremum(const IrInst *inst, IndexRange a, IndexRange b) {
  int64_t a_low, a_high, b_low, b_high;
  if (!possible_values(inst, a, &a_low, &a_high) || !possible_values(inst, b, &b_low, &b_high))
    return base_range(inst);
  if (inst->op == IR_MIN)
    return constant_range(inst, min_i64(a_low, b_low), min_i64(a_high, b_high));
  return constant_range(inst, max_i64(a_low, b_low), max_i64(a_high, b_high));
}

static IndexRange range_of_choice(const IrInst *inst, IndexRange a, IndexRange b) {
  if (!a.known || !b.known || a.base != b.base) return base_range(inst);
  a.low = min_i64(a.low, b.low);
  a.high = max_i64(a.high, b.high);
  return a;
}

static IndexRange range_of_conversion(const IrInst *inst, IndexRange a) {
  Type from = inst->operands[0]->type;
  if (type_is_bool(from)) return constant_range(inst, 0, 1);
  if (!a.known) return base_range(inst);
  if (!a.base) return constant_range(inst, a.low, a.high);
  bool widens = type_bits(inst->type) > type_bits(from) &&
                (type_is_signed(inst->type) || type_is_unsigned(from));
  if (!widens || a.low || a.high) return base_range(inst); /* the sum may have wrapped in `from` */
  a.bits = type_bits(inst->type);
  return a;
}

/* Does a loop from base + a to base + b stay within these bounds? If a <= b it does: if only one of
 * the two sums wraps, the loop does not run at all. Otherwise a sum that wraps may let it run over
 * any values. */
static bool spans_hold(IndexRange begin, IndexRange last, int64_t step) {
  return !begin.base || (step > 0 ? begin.high <= last.low : begin.low >= last.high);
}

/* The index of a numeric `for` with a constant step, between its begin and its last. If one of
 * these may be anything, as in `for j = max(0, i - r), min(n, i + r)`, the index is a base, which
 * checks before the loop compare at both ends. */
static IndexRange range_of_loop_index(const IrInst *param, int *budget) {
  const IrInst *loop = param->region ? param->region->owner : NULL;
  int64_t step = loop ? facts_step(loop) : 0;
  if (!step) return base_range(param);
  IndexRange begin = range_of(loop->operands[0], budget),
             last = range_of(loop->operands[1], budget);
  if (!begin.known || !last.known || begin.base != last.base || !spans_hold(begin, last, step))
    return base_range(param);
  IndexRange r = begin;
  r.low = step > 0 ? begin.low : last.low;
  /* if the last index is lower, the loop does not run */
  r.high = max_i64(step > 0 ? last.high : begin.high, r.low);
  bool is_open = r.low <= type_least(param->type) || r.high >= type_most(param->type);
  return !r.base && is_open ? base_range(param) : r;
}

static IndexRange range_of(const IrInst *inst, int *budget) {
  if (!type_is_integer(inst->type) || --*budget < 0) return base_range(inst);
  switch (inst->op) {
  case IR_CONST: return constant_range(inst, inst->imm, inst->imm);
  case IR_PARAM: return range_of_loop_index(inst, budget);
  case IR_CONVERT: return range_of_conversion(inst, range_of(inst->operands[0], budget));
  case IR_SELECT:
    return range_of_choice(inst, range_of(inst->operands[1], budget),
                           range_of(inst->operands[2], budget));
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_BAND:
  case IR_MIN:
  case IR_MAX: break;
  default: return base_range(inst);
  }
  IndexRange a = range_of(inst->operands[0], budget), b = range_of(inst->operands[1], budget);
  switch (inst->op) {
  case IR_ADD: return add_ranges(inst, a, b, false);
  case IR_SUB: return add_ranges(inst, a, b, true);
  case IR_MUL: return multiply_ranges(inst, a, b);
  case IR_MIN:
  case IR_MAX: return range_of_extremum(inst, a, b);
  case IR_BAND:
    return b.base || !b.known ? range_of_remainder(inst, b, a) : range_of_remainder(inst, a, b);
  default: return range_of_remainder(inst, a, b);
  }
}

IndexRange ranges_of(const IrInst *index) {
  int budget = MOST_VISITS;
  return range_of(index, &budget);
}

int ranges_param(const IrRegion *region, const IrInst *base) {
  return base && base->op == IR_PARAM && base->region == region ? (int)base->imm : -1;
}

int ranges_exact_param(const IrRegion *region, const IndexRange *range) {
  return range->known && range->low == range->high ? ranges_param(region, range->base) : -1;
}

/* An index in 0 .. size - 1 and the base are both values of the type; so the sum equals the index
 * if no other number in the sum's range has the same low bits. */
bool ranges_hold_below(const IndexRange *range, int64_t size) {
  if (range->bits >= 64 || !range->base) return true;
  int64_t half = (int64_t)1 << (range->bits - 1);
  return size <= half && size - 1 - range->low < half;
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool is_narrow(const IrInst *value) {
  return type_is_integer(value->type) && type_bits(value->type) <= 32;
}

/* Moves the only term that is one of the loop indices out of the sum. */
static bool take_index(IndexLine *line, int count, IrInst *const *indices) {
  for (int i = 0; i < line->rest.count; i++) {
    const IrInst *value = line->rest.values[i];
    int64_t factor = line->rest.factors[i];
    bool is_index = false;
    for (int k = 0; k < count; k++) is_index |= indices[k] == value;
    if (!is_narrow(value) || factor > ranges_most_near || factor < -ranges_most_near) return false;
    if (!is_index) continue;
    if (line->index || (factor != 1 && factor != -1)) return false;
    line->index = value;
    line->factor = factor;
    line->rest.count--;
    for (int k = i; k < line->rest.count; k++) {
      line->rest.values[k] = line->rest.values[k + 1];
      line->rest.factors[k] = line->rest.factors[k + 1];
    }
    i--;
  }
  DEBUG_ASSERT(!line->index || line->factor == 1 || line->factor == -1, "a line has one slope");
  return line->index != NULL;
}

bool ranges_line(const IndexRange *range, int count, IrInst *const *indices, IndexLine *out) {
  *out = (IndexLine){0};
  if (!range->known || !range->base || !ranges_is_near(range) ||
      !facts_affine(range->base, NULL, &out->rest))
    return false;
  int64_t constant_range = out->rest.constant;
  if (constant_range > ranges_most_near || constant_range < -ranges_most_near) return false;
  out->low = range->low + constant_range;
  out->high = range->high + constant_range;
  out->rest.constant = 0;
  out->bits = (int)min_i64(range->bits, out->rest.bits);
  return take_index(out, count, indices);
}

bool ranges_line_holds_below(const IndexLine *line, int64_t size) {
  return line->bits >= 64 || size <= (int64_t)1 << (line->bits - 1);
}

IrInst *ranges_add_rest(IrBuilder *b, IrInst *start, const IndexLine *line, bool subtracts,
                        LineValue *value) {
  for (int i = 0; i < line->rest.count; i++) {
    int64_t factor = subtracts ? -line->rest.factors[i] : line->rest.factors[i];
    int64_t times = factor < 0 ? -factor : factor;
    IrInst *term = (IrInst *)line->rest.values[i];
    term = value ? value(b, term) : ir_convert(b, term, TYPE(I64));
    DEBUG_ASSERT(type_is(term->type, TYPE_I64), "sums of lines are computed in 64 bits");
    if (times != 1) term = ir_binary_const(b, IR_MUL, term, times);
    if (!start && factor < 0) start = ir_i64(b, 0);
    start = start ? ir_binary(b, factor < 0 ? IR_SUB : IR_ADD, start, term) : term;
  }
  return start;
}
