/* facts.h - questions about values that several passes and code generation ask, answered once.
 *
 *     are these two values equal?                  facts_same_value, facts_same_text
 *     does this value change inside a region?      facts_is_invariant, facts_is_of_launch
 *     what is this index, as a sum?                facts_split_constant, facts_affine
 *     when do two accesses reach one element?      facts_meet
 *
 * Every answer is conservative: `false` and MEET_UNKNOWN mean that no proof was found. A query
 * visits a bounded number of insts (expressions share branches, so a walk without a bound could be
 * exponential), reads nothing but the insts themselves, and stays true while nobody edits these. */
#ifndef RG_IR_FACTS_H
#define RG_IR_FACTS_H

#include "ir/ir.h"

/* -- equality ---------------------------------------------------------------------------------- */

/* Do both compute the same value wherever both are visible: the same inst, or equal pure ones of
 * equal operands? */
bool facts_same_value(const IrInst *a, const IrInst *b);
/* The same, but two loads of one place count as equal, although the element may change in between:
 * what the user's text says. */
bool facts_same_text(const IrInst *a, const IrInst *b);
/* Op, type and attributes alike; operands are not compared. */
bool facts_same_operation(const IrInst *a, const IrInst *b);

/* -- invariance -------------------------------------------------------------------------------- */

/* Has `value` the same value in every iteration of the loop whose body is `region`: does it stand
 * outside, or is it pure and computed from such values alone? */
bool facts_is_invariant(const IrInst *value, const IrRegion *region);
/* Could `inst`, which stands in `region`, move in front of the region's owner as it is: does it use
 * nothing that is defined inside? Says nothing about its effects. */
bool facts_uses_only_outside(const IrInst *inst, const IrRegion *region);
/* Is it determined by the launch: constants, arguments, values of the frame, roots of trees, and
 * what is computed from these alone? */
bool facts_is_of_launch(const IrInst *value);

/* -- sums -------------------------------------------------------------------------------------- */

/* `value` is the result plus *constant, in the type of `value`, modulo its width. */
const IrInst *facts_split_constant(const IrInst *value, int64_t *constant);

enum { FACTS_MOST_TERMS = 6 };

/* The sum of factor * value over all terms, plus a constant; no two terms have equal values.
 * Sums in narrower types are followed through conversions that widen, so the equation holds for
 * plain integers only if nothing in it wraps, else modulo 2^bits. */
typedef struct Affine {
  const IrInst *values[FACTS_MOST_TERMS];
  int64_t factors[FACTS_MOST_TERMS]; /* never 0 */
  int count, bits;
  int64_t constant;
} Affine;

/* An integer value as a sum. Insts outside `scope` are terms as they stand; NULL: all sums are
 * opened. False: too many terms. */
bool facts_affine(const IrInst *value, const IrRegion *scope, Affine *out);
/* The factor of `value`; 0: it is no term. */
int64_t facts_factor(const Affine *sum, const IrInst *value);
/* Have both the same terms? Then b is a + *distance. */
bool facts_affine_distance(const Affine *a, const Affine *b, int64_t *distance);

/* -- dependence -------------------------------------------------------------------------------- */

typedef enum FactsMeet {
  MEET_UNKNOWN,  /* may be in any two iterations */
  MEET_NEVER,
  MEET_AT        /* only where the loop's index of `b` is that of `a` plus *distance */
} FactsMeet;

/* In which iterations of `loop` (a FOR with a step of 1) may the PLACEs `a` and `b` of one field
 * that shares no element with another one denote the same element? Indices of loops inside are
 * unknown to it, and everything around the loop stays the same. */
/* The same of one index of each, whatever the other axes say. */
FactsMeet facts_meet_on_axis(const IrInst *a, const IrInst *b, const IrInst *loop,
                             int64_t *distance);
FactsMeet facts_meet(const IrInst *a, const IrInst *b, const IrInst *loop, int64_t *distance);

#endif
