/* narrow_compares.c - comparison narrowing: a comparison of an integer with a float of the launch
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
 * lowers comparisons this way. */
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"

typedef struct Compare {
  IrBuilder b;
  const IrTask *task; /* NULL: host region or function */
  IrOp op;
  IrInst *number, *with; /* the integer, the float */
  bool least, most;      /* may the integer be the least or the largest of its type? */
} Compare;

static int digits_of(Type type) {
  return type_bits(type) == 64 ? 53 : type_bits(type) == 32 ? 24 : 11;
}

static IrInst *converted_integer(const IrInst *inst) {
  if (inst->op != IR_CONVERT || !type_is_float(inst->type)) return NULL;
  IrInst *from = inst->operands[0];
  bool is_exact = type_is_integer(from->type) && type_bits(from->type) <= digits_of(inst->type);
  return is_exact ? from : NULL;
}

static int64_t least_of(Type type) {
  return type_is_signed(type) ? -((int64_t)1 << (type_bits(type) - 1)) : 0;
}
static int64_t most_of(Type type) {
  return ((int64_t)1 << (type_bits(type) - type_is_signed(type))) - 1;
}

/* Is it the index of a range, which is below an end of its own type, and so never the largest? */
static bool is_below_end(const Compare *c, const IndexRange *range) {
  return c->task && c->task->kind == TASK_RANGE && range->low == 0 && range->high == 0 &&
         (ranges_param(c->task->body, range->base) >= 0 ||
          (c->task->interior && ranges_param(c->task->interior, range->base) >= 0));
}

static void find_ends(Compare *c) {
  Type type = c->number->type;
  IndexRange range = ranges_of(c->number);
  c->least = c->most = true;
  if (!range.known) return;
  if (range.base) {
    c->most = !is_below_end(c, &range);
    return;
  }
  c->least = range.low == least_of(type);
  c->most = range.high == most_of(type);
}

/* -- the threshold ----------------------------------------------------------------------------- */

static IrInst *real(Compare *c, double number) {
  return ir_const_float(&c->b, c->with->type, number);
}

static IrInst *holds(Compare *c, IrOp op, double number) {
  return ir_binary(&c->b, op, c->with, real(c, number));
}

/* The number rounded up or down, plus `more`, as an integer; `otherwise` if it is NaN. */
static IrInst *rounded(Compare *c, IrOp round, int more, int64_t otherwise) {
  IrInst *whole = ir_unary(&c->b, round, c->with);
  if (more) whole = ir_binary(&c->b, IR_ADD, whole, real(c, more));
  IrInst *threshold = ir_convert(&c->b, whole, c->number->type);
  IrInst *is_number = ir_binary(&c->b, IR_EQ, c->with, c->with);
  return ir_select(&c->b, is_number, threshold, ir_const_int(&c->b, c->number->type, otherwise));
}

/* Emits an ordered comparison, strict (LT, GT) or with equality (LE, GE); `or_equal`: the user's
 * has equality. It must be false if the float comparison never holds. In the strict form a
 * threshold at the end of the type (`never`) expresses that. That form needs a threshold beyond the
 * largest value that the number takes; otherwise the form with equality is used, with an extra
 * condition unless the number never takes the value `never`. */
static IrInst *order(Compare *c) {
  bool is_below = c->op == IR_LT || c->op == IR_LE, or_equal = c->op == IR_LE || c->op == IR_GE;
  Type type = c->number->type;
  int64_t never = is_below ? least_of(type) : most_of(type);
  IrOp round = is_below == or_equal ? IR_FLOOR : IR_CEIL;
  int step = is_below ? 1 : -1;
  bool is_strict = is_below ? !c->most : !c->least, never_found = is_below ? !c->least : !c->most;
  if (is_strict) {
    IrInst *threshold = rounded(c, round, or_equal ? step : 0, never);
    return ir_binary(&c->b, is_below ? IR_LT : IR_GT, c->number, threshold);
  }
  IrInst *threshold = rounded(c, round, or_equal ? 0 : -step, never);
  IrInst *result = ir_binary(&c->b, is_below ? IR_LE : IR_GE, c->number, threshold);
  if (never_found) return result;
  return rewrite_both(&c->b, result, holds(c, rewrite_mirrored(c->op), (double)never));
}

static IrInst *equality(Compare *c) {
  Type type = c->number->type;
  IrInst *is_whole = ir_binary(&c->b, IR_EQ, ir_unary(&c->b, IR_FLOOR, c->with), c->with);
  is_whole = rewrite_both(&c->b, is_whole, holds(c, IR_GE, (double)least_of(type)));
  is_whole = rewrite_both(&c->b, is_whole, holds(c, IR_LT, (double)most_of(type) + 1));
  IrInst *threshold = ir_convert(&c->b, c->with, type), *result;
  if (!c->least || !c->most) {
    IrInst *never = ir_const_int(&c->b, type, c->least ? most_of(type) : least_of(type));
    threshold = ir_select(&c->b, is_whole, threshold, never);
    is_whole = NULL;
  }
  result = rewrite_both(&c->b, ir_binary(&c->b, IR_EQ, c->number, threshold), is_whole);
  return c->op == IR_EQ ? result : ir_unary(&c->b, IR_BNOT, result);
}

/* -- the pass ---------------------------------------------------------------------------------- */

typedef struct Thresholds {
  IrKernel *kernel;
  const IrTask *task;
  IrInst **with; /* by id: the replacement of a comparison */
} Thresholds;

static bool visit(void *data, IrInst *inst) {
  Thresholds *t = data;
  if (!ir_is_comparison(inst->op) || !type_is_float(inst->operands[0]->type)) return true;
  for (int side = 0; side < 2; side++) {
    IrInst *number = converted_integer(inst->operands[side]), *with = inst->operands[1 - side];
    if (!number || !facts_is_of_launch(with) || facts_is_of_launch(number)) continue;
    Compare c = {.b = rewrite_before(t->kernel, inst),
                 .task = t->task,
                 .op = side ? rewrite_mirrored(inst->op) : inst->op,
                 .number = number,
                 .with = with};
    find_ends(&c);
    t->with[inst->id] = c.op == IR_EQ || c.op == IR_NE ? equality(&c) : order(&c);
    break;
  }
  return true;
}

static void visit_body(Thresholds *t, IrRegion *body) {
  int count = t->kernel->next_id;
  t->with = scratch_array(t->kernel->scratch, IrInst *, count);
  ir_walk(body, visit, t);
  rewrite_operands(body, t->with, count);
}

bool pass_narrow_compares(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)ctx, (void)err;
  Thresholds t = {.kernel = kernel};
  visit_body(&t, kernel->body);
  for (int i = 0; i < kernel->functions.count; i++)
    visit_body(&t, kernel->functions.items[i]->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    t.task = kernel->tasks.items[i];
    visit_body(&t, t.task->body);
  }
  return true;
}
