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
 * lowers comparisons this way. It waits for the pass `tasks`, from which on an argument of the
 * launch is a value of the frame. Decision D-pass-27. */
#include "ir/facts.h"
#include "pass/analysis/ranges.h"
#include "pass/simplify/rules.h"

static int digits_of(Type type) {
  return type_bits(type) == 64 ? 53 : type_bits(type) == 32 ? 24 : 11;
}

/* Is `converted` an integer of the iteration that is exact as a float, and `number` one of the
 * launch? */
static bool is_narrower(const IrInst *converted, const IrInst *number) {
  DEBUG_ASSERT(type_is_float(number->type), "integers are compared as they are");
  if (converted->op != IR_CONVERT) return false;
  const IrInst *from = converted->operands[0];
  return type_is_integer(from->type) && type_bits(from->type) <= digits_of(converted->type) &&
         facts_is_of_launch(number) && !facts_is_of_launch(from);
}

bool rules_is_narrower(Match *m) {
  m->limits = m->values[LETTER_X]->type;
  return is_narrower(m->inst->operands[0], m->values[LETTER_N]);
}

bool rules_is_turned(Match *m) { return is_narrower(m->values[LETTER_A], m->values[LETTER_N]); }

/* Is it the index of a range, which is below an end of its own type, and so never the largest? */
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
