/* conditions.c - the conditions of rules.def, and rewrites that a replacement cannot express.
 * Modulo by the end of a range, and comparison narrowing, have sections of their own. */
#include <math.h>

#include "ir/facts.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"
#include "pass/simplify/rules.h"

bool rules_has_type(Match *m) { return type_equal(m->values[LETTER_A]->type, m->inst->type); }

/* Does every value of `inner` survive a conversion to `outer` and back? */
static bool widens(Type inner, Type outer) {
  if (type_is_float(inner) && type_is_float(outer)) return type_size(outer) > type_size(inner);
  return type_is_integer(inner) && type_is_integer(outer) && type_size(outer) >= type_size(inner);
}

bool rules_comes_back(Match *m) {
  return rules_has_type(m) && widens(m->inst->type, m->inst->operands[0]->type);
}

bool rules_is_computed(Match *m) {
  Type type = type_element(m->inst->type);
  return type_equal(type, type_computed(type));
}

bool rules_is_whole(Match *m) {
  const IrInst *integer = m->inst->operands[0], *of = m->values[LETTER_A];
  bool is_whole =
      of->op == IR_FLOOR || of->op == IR_CEIL || of->op == IR_ROUND || of->op == IR_TRUNC;
  bool is_wide = type_is(of->type, TYPE_F32) || type_is(of->type, TYPE_F64);
  m->limits = integer->type;
  return is_whole && is_wide && rules_has_type(m) && type_is_integer(integer->type) &&
         !integer->uses->next;
}

/* -- powers of square roots -------------------------------------------------------------------- */

enum { MOST_FACTORS = 6 };

typedef struct Factors {
  IrInst *x; /* under the roots */
  int roots, others;
  const IrInst *factors[MOST_FACTORS]; /* the others */
} Factors;

/* Collects the factors of a product; false: they are too many, or roots of several numbers. */
static bool collect_factors(Factors *f, const IrInst *value) {
  if (value->op == IR_MUL)
    return collect_factors(f, value->operands[0]) && collect_factors(f, value->operands[1]);
  if (value->op != IR_SQRT) {
    if (f->others == MOST_FACTORS) return false;
    f->factors[f->others++] = value;
    return true;
  }
  if (f->x && value->operands[0] != f->x) return false;
  f->x = value->operands[0];
  return ++f->roots <= MOST_FACTORS;
}

/* Is the divisor sqrt(x)^power? A factor x counts as two of its roots. */
static bool is_power(Match *m, int power) {
  Factors f = {0};
  if (type_is(m->inst->type, TYPE_F16) || !collect_factors(&f, m->values[LETTER_B]) || !f.x)
    return false;
  for (int i = 0; i < f.others; i++)
    if (f.factors[i] != f.x) return false;
  m->values[LETTER_X] = f.x;
  return f.roots + 2 * f.others == power;
}

bool rules_is_root(Match *m) { return is_power(m, 1); }
bool rules_is_cube(Match *m) { return is_power(m, 3); }

/* -- roots compared with constants ------------------------------------------------------------- */

/* A comparison of a square root with a constant becomes one of the number under the root:
 *
 *     sqrt(x) <  c    x <  the least t with sqrt(t) >= c, unless x may be negative
 *     sqrt(x) <= c    x <= the largest t with sqrt(t) <= c, unless x may be negative
 *     sqrt(x) >  c    x >  that t
 *     sqrt(x) >= c    x >= the least t with sqrt(t) >= c
 *
 * Roots are rounded correctly and never decrease, so both hold for the same numbers, NaN included.
 * `l < r`, where l is a distance, then needs no root, and code that does need it may be in an arm.
 * Decision D-pass-78. */

enum { MOST_STEPS = 8, DEEPEST_SQUARE = 8 };

static double root_of(Type type, double x) {
  return type_is(type, TYPE_F32) ? (double)sqrtf((float)x) : sqrt(x);
}

static double next_number(Type type, double x, double end) {
  return type_is(type, TYPE_F32) ? (double)nextafterf((float)x, (float)end) : nextafter(x, end);
}

/* Is the root of x at least c, or, if not `is_least`, at most c? */
static bool is_beyond(Type type, double x, double c, bool is_least) {
  return is_least ? root_of(type, x) >= c : root_of(type, x) <= c;
}

/* Moves *t to the least number whose root is at least c, or the largest whose root is at most c;
 * false if it is not close to *t. */
static bool find_end(Type type, double c, bool is_least, double *t) {
  double inner = is_least ? 0 : INFINITY, outer = is_least ? INFINITY : 0;
  int steps = 0;
  for (; is_beyond(type, *t, c, is_least) && steps < MOST_STEPS; steps++)
    *t = next_number(type, *t, inner);
  for (; !is_beyond(type, *t, c, is_least) && steps < 2 * MOST_STEPS; steps++)
    *t = next_number(type, *t, outer);
  return is_beyond(type, *t, c, is_least) &&
         !is_beyond(type, next_number(type, *t, inner), c, is_least);
}

/* Is it a sum of squares, or otherwise at least -0, or NaN? */
static bool is_never_negative(const IrInst *x, int depth) {
  if (depth == DEEPEST_SQUARE) return false;
  switch (x->op) {
  case IR_CONST: return ir_float_value(x) >= 0;
  case IR_ABS:
  case IR_SQRT: return true;
  case IR_MUL:
    if (x->operands[0] == x->operands[1]) return true;
    /* fallthrough */
  case IR_ADD:
    return is_never_negative(x->operands[0], depth + 1) &&
           is_never_negative(x->operands[1], depth + 1);
  default: return false;
  }
}

IrInst *rules_root(Match *m) {
  bool is_right =
      m->inst->operands[1]->op == IR_SQRT && m->values[LETTER_N] == m->inst->operands[0];
  IrOp op = is_right ? rewrite_mirrored(m->inst->op) : m->inst->op;
  IrInst *x = m->values[LETTER_X], *number = m->values[LETTER_N];
  bool is_wide = type_is(x->type, TYPE_F32) || type_is(x->type, TYPE_F64);
  if (number->op != IR_CONST || !is_wide) return NULL;
  double c = ir_float_value(number), t = ir_round_float(x->type, c * c);
  bool is_least = op == IR_LT || op == IR_GE;
  if (!(c >= 0) || isinf(c) || (is_least && c == 0)) return NULL;
  if ((op == IR_LT || op == IR_LE) && !is_never_negative(x, 0)) return NULL;
  if (!find_end(x->type, c, is_least, &t)) return NULL;
  IrBuilder b = rewrite_before(m->kernel, m->inst);
  rewrite_become(m->kernel, m->inst, op, 2, (IrInst *[]){x, ir_const_float(&b, x->type, t)});
  return m->inst;
}

/* -- tables and addresses ---------------------------------------------------------------------- */

/* The index of a table is then used in its original type, in which it is outside in exactly the
 * same cases. */
bool rules_is_widened(Match *m) {
  Type narrow = m->values[LETTER_A]->type, wide = m->inst->operands[0]->type;
  return type_is_integer(narrow) && type_bits(narrow) < type_bits(wide);
}

IrInst *rules_item(Match *m) {
  const IrTable *table = &m->kernel->tables.items[m->inst->imm];
  int64_t index;
  if (!ir_is_const(m->values[LETTER_A], &index)) return NULL;
  bool is_inside = index >= 0 && index < table->count;
  return rewrite_become_const(m->kernel, m->inst, is_inside ? table->values[index] : 0);
}

IrInst *rules_pick(Match *m) {
  int64_t index;
  if (!ir_is_const(m->values[LETTER_A], &index)) return NULL;
  bool is_inside = index >= 0 && index < m->inst->operand_count - 1;
  return is_inside ? m->inst->operands[index + 1] : rewrite_become_const(m->kernel, m->inst, 0);
}

/* A constant index moves into the bytes, and an offset without an index into that of its base. */
IrInst *rules_offset(Match *m) {
  IrInst *inst = m->inst, *base = m->values[LETTER_A];
  int64_t index, bytes, sum;
  if (!ir_is_const(m->values[LETTER_B], &index) ||
      __builtin_mul_overflow(index, (int64_t)inst->stride, &bytes) ||
      __builtin_add_overflow(bytes, inst->imm, &sum))
    return NULL;
  if (sum == 0) return base;
  if (base->op != IR_OFFSET || __builtin_add_overflow(sum, base->imm, &sum)) return NULL;
  ir_set_operand(inst, 0, base->operands[0]);
  ir_set_operand(inst, 1, base->operands[1]);
  inst->stride = base->stride;
  inst->imm = sum;
  return inst;
}

bool rules_are_like_offsets(Match *m) {
  const IrInst *yes = m->values[LETTER_B], *no = m->values[LETTER_X];
  return yes->op == IR_OFFSET && no->op == IR_OFFSET && yes->operands[1] == no->operands[1] &&
         yes->stride == no->stride && yes->imm == no->imm;
}

/* c ? p + i * 4 : q + i * 4   is   (c ? p : q) + i * 4 */
IrInst *rules_select_base(Match *m) {
  const IrInst *yes = m->values[LETTER_B], *no = m->values[LETTER_X];
  IrBuilder b = rewrite_before(m->kernel, m->inst);
  IrInst *base = ir_select(&b, m->values[LETTER_A], yes->operands[0], no->operands[0]);
  rewrite_become(m->kernel, m->inst, IR_OFFSET, 2, (IrInst *[]){base, yes->operands[1]});
  m->inst->stride = yes->stride;
  m->inst->imm = yes->imm;
  return m->inst;
}

/* -- modulo ------------------------------------------------------------------------------------ */

/* Strength reduction of modulo: (index + steps) % n, in a range that ends at n.
 *
 *   range 0, %n (%i)    (%i + 1) % %n    =>    %i + 1 >= %n ? %i + 1 - %n : %i + 1
 *                       (%i - 1) % %n    =>    %i - 1 < 0 ? %i - 1 + %n : %i - 1
 *
 * A loop that runs has an end above 0, so one step leaves the range by at most one period. If the
 * end is a constant, so does any number of steps after removing whole periods: (%i + 1 + %n) % %n.
 * The steps may vary: (%i + %d) % %n, in a loop over %d from -1 to 1, is compared with both ends.
 * Decision D-pass-105.
 * An interior decides the comparison (guards.h), and unlike a division it can be vectorised. Ranges
 * have their ends as operands only before the pass `tasks`. Decision D-codegen-11. */

/* How far `a` may be from the index: least to most steps, or the same and whole periods. */
typedef struct Steps {
  int64_t least, most;
  int64_t periods; /* in steps; a multiple of the period */
} Steps;

/* Do the steps lead at most one period of `last` away? Moves whole periods from them to
 * steps->periods. */
static bool is_within(int64_t last, Steps *steps) {
  if (last < 1 || steps->least < INT32_MIN || last + steps->most > INT32_MAX)
    return false; /* it may wrap */
  int64_t middle = (steps->least + steps->most) / 2, rest = middle % last;
  if (2 * rest > last) rest -= last;
  if (2 * rest < -last) rest += last;
  steps->periods = middle - rest;
  steps->least -= steps->periods;
  steps->most -= steps->periods;
  return steps->least >= -last && steps->most <= last;
}

/* Is the range's axis 0 .. `end`, and do the steps lead at most one period away? */
static bool is_period(const IrInst *range, int axis, const IrInst *end, Steps *steps) {
  int64_t first, last;
  DEBUG_ASSERT(axis >= 0 && axis < range->axis_count, "the range has such an axis");
  if (!ir_is_const(range->operands[2 * axis], &first) || first < 0) return false;
  if (!facts_same_value(range->operands[2 * axis + 1], end)) return false;
  if (!ir_is_const(end, &last)) return steps->least >= -1 && steps->most <= 1;
  return is_within(last, steps);
}

/* The RANGE of which the base is an index; otherwise NULL. */
static const IrInst *range_of(const IndexRange *index) {
  const IrInst *base = index->known && index->bits >= 32 ? index->base : NULL;
  if (!base || base->op != IR_PARAM || !type_is(base->type, TYPE_I32)) return NULL;
  const IrInst *owner = base->region->owner;
  return owner && owner->op == IR_RANGE ? owner : NULL;
}

/* Is `a` an index of a range of which `n` is a period, plus these steps? */
static bool find_steps(Match *m, Steps *steps) {
  if (!type_is(m->inst->type, TYPE_I32)) return false;
  IndexRange index = ranges_of(m->values[LETTER_A]);
  const IrInst *range = range_of(&index);
  if (!range) return false;
  *steps = (Steps){.least = index.low, .most = index.high};
  m->values[LETTER_I] = (IrInst *)index.base;
  return is_period(range, (int)index.base->imm, m->values[LETTER_N], steps);
}

bool rules_is_mask(Match *m) {
  int64_t first, last, mask;
  if (!type_is(m->inst->type, TYPE_I32)) return false;
  IndexRange index = ranges_of(m->values[LETTER_A]);
  const IrInst *range = range_of(&index);
  if (!range || !ir_is_const(m->values[LETTER_N], &mask) || mask & (mask + 1)) return false;
  IrInst *const *ends = range->operands + 2 * index.base->imm;
  if (!ir_is_const(ends[0], &first) || !ir_is_const(ends[1], &last)) return false;
  m->k = mask + 1;
  return first >= 0 && last == m->k &&
         is_within(last, &(Steps){.least = index.low, .most = index.high});
}

bool rules_is_index(Match *m) {
  Steps steps;
  return find_steps(m, &steps) && !steps.periods && steps.least == 0 && steps.most == 0;
}

bool rules_has_periods(Match *m) {
  Steps steps;
  bool has = find_steps(m, &steps) && steps.periods && steps.least == steps.most;
  m->k = has ? steps.least : 0;
  return has;
}

bool rules_may_have_periods(Match *m) {
  Steps steps;
  bool has = find_steps(m, &steps) && steps.periods;
  m->k = has ? -steps.periods : 0;
  return has;
}

bool rules_is_next(Match *m) {
  Steps steps;
  return find_steps(m, &steps) && !steps.periods && steps.least >= 0 && steps.most > 0;
}

bool rules_is_previous(Match *m) {
  Steps steps;
  return find_steps(m, &steps) && !steps.periods && steps.least < 0 && steps.most <= 0;
}

bool rules_is_around(Match *m) {
  Steps steps;
  return find_steps(m, &steps) && !steps.periods && steps.least < 0 && steps.most > 0;
}

/* All values of an integer are in low .. high. */
typedef struct Values {
  const IrKernel *kernel;
  int depth; /* of values that are still followed */
  int64_t low, high;
} Values;

static bool add_values(Values *v, const IrInst *inst);

static void add_value(Values *v, int64_t value) {
  if (value < v->low) v->low = value;
  if (value > v->high) v->high = value;
}

/* Of a variable: the values of all its assignments, wherever they are. */
static bool add_variable(Values *v, const IrInst *var) {
  add_value(v, 0);
  for (const IrUse *use = var->uses; use; use = use->next) {
    if (use->user->op == IR_GET) continue;
    if (use->user->op != IR_SET || !add_values(v, use->user->operands[1])) return false;
  }
  return true;
}

static bool add_table(Values *v, const IrTable *table) {
  if (!type_is_signed(table->type)) return false;
  add_value(v, 0); /* outside */
  for (int k = 0; k < table->count; k++) add_value(v, table->values[k]);
  return true;
}

static bool add_values(Values *v, const IrInst *inst) {
  IndexRange range = ranges_of(inst);
  bool ok = v->depth-- > 0;
  if (range.known && !range.base) {
    add_value(v, range.low);
    add_value(v, range.high);
  } else if (inst->op == IR_SELECT) {
    ok = ok && add_values(v, inst->operands[1]) && add_values(v, inst->operands[2]);
  } else if (inst->op == IR_GET) {
    ok = ok && add_variable(v, inst->operands[0]);
  } else {
    ok = ok && inst->op == IR_TABLE_GET && add_table(v, &v->kernel->tables.items[inst->imm]);
  }
  v->depth++;
  return ok;
}

/* (%i + %d) % %n, where %d is one of a table's numbers: limits %d to these by a minimum and a
 * maximum, which change nothing, but show the steps to every analysis. */
IrInst *rules_known_steps(Match *m) {
  enum { DEPTH = 4 };
  IndexRange index = ranges_of(m->values[LETTER_A]);
  const IrInst *sum = index.known && index.low == index.high ? index.base : NULL;
  if (!sum || (sum->op != IR_ADD && sum->op != IR_SUB) || !type_is(sum->type, TYPE_I32))
    return NULL;
  for (int side = 0; side < (sum->op == IR_ADD ? 2 : 1); side++) {
    IrInst *from = sum->operands[side], *by = sum->operands[1 - side];
    IndexRange start = ranges_of(from);
    const IrInst *range = range_of(&start);
    Values v = {.kernel = m->kernel, .depth = DEPTH, .low = INT64_MAX, .high = INT64_MIN};
    if (!range || !add_values(&v, by)) continue;
    bool adds = sum->op == IR_ADD;
    Steps steps = {.least = start.low + index.low + (adds ? v.low : -v.high),
                   .most = start.high + index.high + (adds ? v.high : -v.low)};
    if (!is_period(range, (int)start.base->imm, m->values[LETTER_N], &steps)) continue;
    IrBuilder b = rewrite_before(m->kernel, m->inst);
    IrInst *least = ir_const_int(&b, sum->type, v.low), *most = ir_const_int(&b, sum->type, v.high);
    IrInst *step = ir_binary(&b, IR_MIN, ir_binary(&b, IR_MAX, by, least), most);
    IrInst *moved = ir_binary(&b, sum->op, from, step);
    if (index.low) moved = ir_binary_const(&b, IR_ADD, moved, index.low);
    ir_set_operand(m->inst, 0, moved);
    return m->inst;
  }
  return NULL;
}

/* -- comparison narrowing ---------------------------------------------------------------------- */

/* Comparison narrowing: a comparison of an integer with a float of the launch
 * becomes one with an integer.
 *
 *     %f: f64 = convert %x              %x: i32, of the iteration
 *     %c: bool = lt %f, %n       =>     %c: bool = lt %x, int(ceil(%n)) and any
 *
 * A captured number is a float unless something needs an integer, and a comparison does not: so
 * `i < n` and `kind[i] == FLUID` would convert every i and kind. %n here depends on launch
 * arguments alone, so its threshold is computed once per task. `any` is false if the comparison
 * never holds (NaN, below the least integer). If %x never takes the least or the largest value of
 * its type, that value as the threshold expresses "never", and `any` is omitted.
 *
 *     x <  n    x <  ceil(n)     or   x <= ceil(n) - 1         each rounded to the nearest number
 *     x <= n    x <  floor(n) + 1     x <= floor(n)            of the type
 *     x == n    x == n and n is whole and in the type
 *
 * This applies to integer types that the float represents exactly; for i64 and u64, sema already
 * lowers comparisons this way. It waits for the pass `tasks`, from which on an argument of the
 * launch is a value of the frame. Decision D-pass-27. */

/* Is `converted` an integer of the iteration that is exact as a float, and `number` one of the
 * launch? */
static bool is_narrower(const IrInst *converted, const IrInst *number) {
  DEBUG_ASSERT(type_is_float(number->type), "integers are compared as they are");
  if (converted->op != IR_CONVERT) return false;
  const IrInst *from = converted->operands[0];
  return type_is_integer(from->type) && type_bits(from->type) <= type_digits(converted->type) &&
         facts_is_launch_invariant(number) && !facts_is_launch_invariant(from);
}

bool rules_is_narrower(Match *m) {
  m->limits = m->values[LETTER_X]->type;
  return is_narrower(m->inst->operands[0], m->values[LETTER_N]);
}

bool rules_is_below(Match *m) {
  int64_t end;
  IndexRange range = ranges_of(m->values[LETTER_A]);
  return ir_is_const(m->values[LETTER_N], &end) && range.known && !range.base && range.low >= 0 &&
         range.high < end;
}

bool rules_is_swapped(Match *m) { return is_narrower(m->values[LETTER_A], m->values[LETTER_N]); }

/* Is it the index of a range? That is below an end of the same type, so never the type's largest
 * value. */
static bool is_below_end(const IrKernel *kernel, const IndexRange *range) {
  if (range->low != 0 || range->high != 0) return false;
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE) continue;
    if (ranges_param(task->body, range->base) >= 0) return true;
    if (task->interior && ranges_param(task->interior, range->base) >= 0) return true;
  }
  return false;
}

bool rules_is_above_least(Match *m) {
  if (!rules_is_narrower(m)) return false;
  IndexRange range = ranges_of(m->values[LETTER_X]);
  return range.known && !range.base && range.low != type_least(m->limits);
}

bool rules_is_below_most(Match *m) {
  if (!rules_is_narrower(m)) return false;
  IndexRange range = ranges_of(m->values[LETTER_X]);
  if (!range.known) return false;
  return range.base ? is_below_end(m->kernel, &range) : range.high != type_most(m->limits);
}
