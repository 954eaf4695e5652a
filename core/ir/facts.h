/* facts.h - analyses of values that several passes and code generation share.
 *
 *     are these two values equal?                  facts_same_value, facts_same_text
 *     does this value change inside a region?      facts_is_invariant, facts_is_launch_invariant
 *     what is this index as an affine sum?         facts_split_constant, facts_affine
 *     what is the distance of two indices?               facts_distance
 *     how often does this loop run?                facts_step, facts_trip_count
 *     when is a stored element read?               facts_reads_after
 *
 * pass/analysis/dependence.h answers in which iterations two accesses reach one element.
 * Every answer is conservative: `false` means that no proof was found. A query visits a bounded
 * number of insts (expressions share branches, so a walk without a bound could be exponential),
 * reads only the insts themselves, and its answer holds until one of them changes. Decision
 * D-ir-02. */
#ifndef RG_IR_FACTS_H
#define RG_IR_FACTS_H

#include "ir/ir.h"

/* -- equality ---------------------------------------------------------------------------------- */

/* Do both compute the same value wherever both are visible: are they one inst, or equal pure insts
 * of equal operands? */
bool facts_same_value(const IrInst *a, const IrInst *b);
/* Are `count` values equal, one by one? */
bool facts_same_values(int count, IrInst *const *a, IrInst *const *b);
/* Are two PLACEs the same element wherever both are visible: of one field, at equal indices? */
bool facts_same_place(const IrInst *a, const IrInst *b);
/* Are the indices of the PLACE the parameters of the region, one by one: is it the element of that
 * iteration? */
bool facts_is_own_place(const IrInst *place, const IrRegion *region);
/* Is each parameter of the region, plus a constant, one of the indices of the PLACE, so that no two
 * iterations reach one element through it? */
bool facts_distinguishes_iterations(const IrInst *place, const IrRegion *region);
/* Are both the same expression in the user's text? Like facts_same_value, but two loads of one
 * place count as equal, although the element may change in between. */
bool facts_same_text(const IrInst *a, const IrInst *b);
/* Are op, type and attributes equal, except for those that only state what is known of a value
 * (KNOWN in attribute.def)? Operands are not compared. */
bool facts_same_operation(const IrInst *a, const IrInst *b);

/* -- invariance -------------------------------------------------------------------------------- */

/* Does `value` have the same value in every iteration of the loop whose body is `region`: is it
 * defined outside, or pure and computed from such values alone? */
bool facts_is_invariant(const IrInst *value, const IrRegion *region);
/* Is it pure and computed from parameters of the region, and values outside, alone: could it be
 * computed where the region begins? */
bool facts_is_of_params(const IrInst *value, const IrRegion *region);
/* Could `inst`, which is in `region`, move unchanged before the region's owner, since it uses
 * nothing that is defined inside? Its effects are not considered. */
bool facts_uses_only_outside(const IrInst *inst, const IrRegion *region);
/* Is it determined by the launch: constants, arguments, values of the frame, roots of trees, the
 * ambient node, and values that are computed from these only? */
bool facts_is_launch_invariant(const IrInst *value);
/* Is it a number of the frame, perhaps with another sign? */
bool facts_is_frame_value(const IrInst *value);

/* Is it a bounds check that passes add: `u32(index) < extent`, or several of them? It almost
 * certainly holds. */
bool facts_is_bounds_check(const IrInst *condition);
/* The same of lanes: is any of them outside? */
bool facts_is_failed_bounds_check(const IrInst *condition);

/* -- sums -------------------------------------------------------------------------------------- */

/* Splits `value` into the result plus *constant, in the type of `value`, modulo its width. */
const IrInst *facts_split_constant(const IrInst *value, int64_t *constant);

enum { FACTS_MAX_TERMS = 6 };

/* The sum of factor * value over all terms, plus a constant; no two terms have equal values. Holds
 * modulo 2^bits, where `bits` is the width of the narrowest operation: sums in narrower types are
 * followed through widening conversions. For mathematical integers it holds if no operation in it
 * wraps, or if `bits` is 64 and the terms are 64 bits wide or the sum has no operation. */
typedef struct Affine {
  const IrInst *values[FACTS_MAX_TERMS];
  int64_t factors[FACTS_MAX_TERMS]; /* never 0 */
  int count, bits;
  int64_t constant;
} Affine;

/* Expresses an integer value as a sum. Insts outside `scope` are not expanded further; if it is
 * NULL, all sums are. False: too many terms. */
bool facts_affine(const IrInst *value, const IrRegion *scope, Affine *out);
/* If the value is x % 2^n or x & (2^n - 1): x, and n in *bits; otherwise itself, and 64. */
const IrInst *facts_without_remainder(const IrInst *value, int *bits);
/* A condition that must hold where the variable is true, as %a does for the variable of `a and b`:
 * `set %v, %a  if %a { set %v, %b }`; NULL: none is known. */
IrInst *facts_implied_by(const IrInst *variable);
/* The factor of `value`; 0 if it is not a term. */
int64_t facts_factor(const Affine *sum, const IrInst *value);
/* *sum += factor * other. False: too many terms, or a factor that overflows. */
bool facts_affine_add(Affine *sum, const Affine *other, int64_t factor);
/* Do both have the same terms? If so, b is a + *distance. */
bool facts_affine_distance(const Affine *a, const Affine *b, int64_t *distance);

/* The same for two values, modulo the width of their sums. False: it is not a constant. */
bool facts_distance(const IrInst *a, const IrInst *b, int64_t *distance);
/* Are the two values never equal, since they differ by a constant, or their low bits do? Those of
 * t % 2 and (t + 1) % 2 do, and those of x and 1 - x. */
bool facts_differ(const IrInst *a, const IrInst *b);
/* Are both values read from variables in one inner loop, where the variables differ, since they
 * begin with different constants and the loop around only exchanges them (`now, new = new, now`)?
 * The values of different iterations of that loop around may be equal. */
bool facts_are_exchanged(const IrInst *a, const IrInst *b);

/* -- numeric loops ----------------------------------------------------------------------------- */

/* The step of a FOR over integers, if it is a constant; otherwise 0, also of any other inst. */
int64_t facts_step(const IrInst *loop);
/* Is it a FOR between two constants? */
bool facts_bounds(const IrInst *loop, int64_t *begin, int64_t *last);
/* The number of iterations of a FOR between constants, INT64_MAX if it is that or more; -1: it is
 * not known. */
int64_t facts_trip_count(const IrInst *loop);

/* How many iterations of the FOR around both before the load does the store write the element that
 * the load reads? False if that is not known; *never if the load reads no element that the store
 * writes. Other values of the addresses are taken to be invariant. */
bool facts_reads_after(const IrInst *load, const IrInst *store, int64_t *iterations, bool *never);

#endif
