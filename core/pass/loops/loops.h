/* loops.h - rewrites of serial loops that several passes use: unrolling, hoisting of checks,
 * skewing; and whether a loop only sums. */
#ifndef RG_PASS_LOOPS_LOOPS_H
#define RG_PASS_LOOPS_LOOPS_H

#include "pass/analysis/limits.h"

/* unroll.c: unrolls the small nests of the task's body, in one version that keeps its checks;
 * leaves constants for `fold`. */
void unroll_whole(IrKernel *kernel, IrTask *task);
/* skew.c: skews the nest of two numeric FORs if it carries such a dependence; returns whether it
 * did. The new loops need no bounds checks. */
bool skew_nest(const BodyLimits *at, IrInst *outer);
/* independent.c: does the loop only add to each outside variable that it sets, and does nothing in
 * the loop depend on these sums? Then iterations may add to partial sums, which are combined after
 * the loop. */
bool sums_only(Scratch *scratch, const IrKernel *kernel, const IrInst *loop);

/* -- hoist_checks.c: one check for all accesses of a loop nest whose indices are base + a constant
 * range.
 *
 *   for a = 0, 2 { for b = 0, 2 {              if %i in 0 .. n - 3 and %j in 0 .. m - 3 {
 *     load place f0 %i + a, %j + b    =>         the nest with `load place f0 inside ..`
 *   } }                                        } else { the nest as it was }
 *
 * The bases are values defined before the nest, or the index of its outermost loop, or such values
 * plus or minus that index (`n - k`); of the latter two, the nest's begin and last are checked.
 * Places that depend on anything else keep their checks.
 *
 * If places reach beyond the shape at both ends of a loop, the loop is split into three instead:
 * the iterations at the edges keep their checks.
 *
 *   for k = a, b {                     for k = a, 0 { the loop as it was }
 *     load place f0 %k - 1        =>   for k = max(a, 1), min(b, n) { .. inside .. }
 *   }                                  for k = n + 1, b { the loop as it was } */

/* Makes a copy of `nest` in which places are `inside`; `nest` itself becomes the version for a
 * failed check. Returns the copy; NULL, without a change, if no check can be saved. In tasks over
 * cells, places at the loop's own indices are left to the leaf passes. */
IrInst *hoist_checks_version(const BodyLimits *at, IrInst *nest);
/* The same for a loop that is not unrolled, or that is split into three; false: nothing changed.
 * `edge`: a loop over the same indices, in no region, that does the same with checks; NULL: use a
 * copy. */
bool hoist_checks_loop(const BodyLimits *at, IrInst *loop, IrInst *edge);

#endif
