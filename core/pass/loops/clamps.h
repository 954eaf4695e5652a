/* clamps.h - clamped indices of a range: minima and maxima whose result is known in its interior.
 *
 *   %left = max %i - 1, 0                  %i - 1, in an interior from 1 on
 *   for %left, min %i + 2, 63 { .. }       up to %i + 2, in an interior up to 62
 *
 * Users clamp the indices of neighbours, and the ends of windows. In the interior, lanes and LLVM
 * then see indices that are linear in the range's, and loops with the same trip count for all
 * iterations. Minima with values of the launch are guards (guards.h). */
#ifndef RG_PASS_LOOPS_CLAMPS_H
#define RG_PASS_LOOPS_CLAMPS_H

#include "pass/analysis/limits.h"

/* MIN or MAX: the same as parameter + [low, high] wherever the parameter is in begin .. end - 1. */
typedef struct IndexClamp {
  int param;
  int64_t begin, end;
} IndexClamp;

/* False if `inst` is not such an op with a constant, if it would take more than the edges of the
 * range (whose indices have `limits`) from the interior, or if neither an access nor a loop depends
 * on it. */
bool clamps_read(const IrRegion *body, const IrInst *inst, const Limits *limits, IndexClamp *clamp);
/* Which operand of a MIN or MAX is a parameter of the body plus a range, apart from clamps inside
 * it? -1: none is. */
int clamps_index(const IrRegion *body, const IrInst *inst, IndexRange *range);
/* Does an index of an access, or a bound of a loop, depend on the value? */
bool clamps_matter(const IrInst *value);

#endif
