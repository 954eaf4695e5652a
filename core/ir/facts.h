/* facts.h - analyses of values that several passes and code generation share.
 *
 *     are these two values equal?                  facts_same_value, facts_same_text
 *     does this value change inside a region?      facts_is_invariant, facts_is_of_launch
 *     which arguments determine it?                facts_is_of_arguments
 *     what is this index as an affine sum?         facts_split_constant, facts_affine
 *
 * In which iterations two accesses reach one element is asked of pass/analysis/dependence.h.
 * Every answer is conservative: `false` means that no proof was found. A query visits a bounded
 * number of insts (expressions share branches, so a walk without a bound could be exponential),
 * reads only the insts themselves, and stays true until one of them changes. Decision D-ir-02. */
#ifndef RG_IR_FACTS_H
#define RG_IR_FACTS_H

#include "ir/ir.h"

/* -- equality ---------------------------------------------------------------------------------- */

/* Do both compute the same value wherever both are visible: are they one inst, or equal pure insts
 * of equal operands? */
bool facts_same_value(const IrInst *a, const IrInst *b);
/* Are both the same expression in the user's text? Like facts_same_value, but two loads of one
 * place count as equal, although the element may change in between. */
bool facts_same_text(const IrInst *a, const IrInst *b);
/* Are op, type and attributes equal, except for what is only known of a value (attribute.def)?
 * Operands are not compared. */
bool facts_same_operation(const IrInst *a, const IrInst *b);

/* -- invariance -------------------------------------------------------------------------------- */

/* Does `value` have the same value in every iteration of the loop whose body is `region`: is it
 * defined outside, or pure and computed from such values alone? */
bool facts_is_invariant(const IrInst *value, const IrRegion *region);
/* Could `inst`, which is in `region`, move unchanged before the region's owner, since it uses
 * nothing that is defined inside? Its effects are not considered. */
bool facts_uses_only_outside(const IrInst *inst, const IrRegion *region);
/* Is it determined by the launch: constants, arguments, values of the frame, roots of trees, the
 * ambient node, and what is computed from these alone? */
bool facts_is_of_launch(const IrInst *value);

enum { FACTS_MOST_ARGS = 64 };

/* Is each of `values` determined by constants, arguments and indices of serial loops alone, also
 * through variables? If so, *args receives which of the first FACTS_MOST_ARGS arguments, a bit
 * each, determine them, or choose between two such values. Visits all that they depend on. */
bool facts_is_of_arguments(Scratch *scratch, const IrKernel *kernel, IrInst *const *values,
                           int count, uint64_t *args);

/* -- sums -------------------------------------------------------------------------------------- */

/* Splits `value` into the result plus *constant, in the type of `value`, modulo its width. */
const IrInst *facts_split_constant(const IrInst *value, int64_t *constant);

enum { FACTS_MOST_TERMS = 6 };

/* The sum of factor * value over all terms, plus a constant; no two terms have equal values. Holds
 * modulo 2^bits, where `bits` is the width of the narrowest operation: sums in narrower types are
 * followed through widening conversions. Of mathematical integers it holds if nothing in it
 * wraps, or if `bits` is 64 and the terms are 64 bits wide or the sum has no operation. */
typedef struct Affine {
  const IrInst *values[FACTS_MOST_TERMS];
  int64_t factors[FACTS_MOST_TERMS]; /* never 0 */
  int count, bits;
  int64_t constant;
} Affine;

/* Expresses an integer value as a sum. Insts outside `scope` are not expanded further; if it is
 * NULL, all sums are. False: too many terms. */
bool facts_affine(const IrInst *value, const IrRegion *scope, Affine *out);
/* The factor of `value`; 0 if it is not a term. */
int64_t facts_factor(const Affine *sum, const IrInst *value);
/* *sum += factor * other. False: too many terms, or a factor that overflows. */
bool facts_affine_add(Affine *sum, const Affine *other, int64_t factor);
/* Do both have the same terms? If so, b is a + *distance. */
bool facts_affine_distance(const Affine *a, const Affine *b, int64_t *distance);

#endif
