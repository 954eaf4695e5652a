/* modulo.c - strength reduction of modulo: (index + steps) % n, in a range that ends at n.
 *
 *   range 0, %n (%i)    (%i + 1) % %n    =>    %i + 1 >= %n ? %i + 1 - %n : %i + 1
 *                       (%i - 1) % %n    =>    %i - 1 < 0 ? %i - 1 + %n : %i - 1
 *
 * A loop that runs has an end above 0, so one step leaves the range by at most one period. If the
 * end is a constant, so does any number of steps after removing whole periods: (%i + 1 + %n) % %n.
 * An interior decides the comparison (guards.h), and unlike a division it can be vectorised. Ranges
 * have their ends as operands only before the pass `tasks`. Decision D-codegen-11. */
#include "ir/facts.h"
#include "pass/analysis/ranges.h"
#include "pass/simplify/rules.h"

/* Is the range's axis 0 .. `end`, and do `steps` lead at most one period away? Removes whole
 * periods from *steps. */
static bool is_period(const IrInst *range, int axis, const IrInst *end, int64_t *steps) {
  int64_t first, last;
  DEBUG_ASSERT(axis >= 0 && axis < range->axis_count, "the range has such an axis");
  if (!ir_is_const(range->operands[2 * axis], &first) || first < 0) return false;
  if (!facts_same_value(range->operands[2 * axis + 1], end)) return false;
  if (!ir_is_const(end, &last)) return *steps >= -1 && *steps <= 1;
  if (last < 1 || *steps < INT32_MIN || last + *steps > INT32_MAX) return false; /* it may wrap */
  *steps %= last;
  if (2 * *steps > last) *steps -= last;
  if (2 * *steps < -last) *steps += last;
  return true;
}

/* Is `a` an index of a range of which `n` is a period? *steps is their distance, and *rest what is
 * left of it without whole periods. */
static bool find_steps(Match *m, int64_t *steps, int64_t *rest) {
  DEBUG_ASSERT(m->values[LETTER_A] && m->values[LETTER_N], "the pattern is mod(a, n)");
  if (!type_is(m->inst->type, TYPE_I32)) return false;
  IndexRange index = ranges_of(m->values[LETTER_A]);
  bool is_exact = index.known && index.base && index.bits >= 32 && index.low == index.high;
  if (!is_exact || index.base->op != IR_PARAM || !type_is(index.base->type, TYPE_I32)) return false;
  const IrInst *range = index.base->region->owner;
  *steps = *rest = index.low;
  m->values[LETTER_I] = (IrInst *)index.base;
  return range && range->op == IR_RANGE &&
         is_period(range, (int)index.base->imm, m->values[LETTER_N], rest);
}

bool rules_is_index(Match *m) {
  int64_t steps, rest;
  return find_steps(m, &steps, &rest) && steps == 0;
}

bool rules_has_periods(Match *m) {
  int64_t steps;
  return find_steps(m, &steps, &m->k) && steps != m->k;
}

bool rules_is_next(Match *m) {
  int64_t steps, rest;
  return find_steps(m, &steps, &rest) && steps == rest && steps > 0;
}

bool rules_is_previous(Match *m) {
  int64_t steps, rest;
  return find_steps(m, &steps, &rest) && steps == rest && steps < 0;
}
