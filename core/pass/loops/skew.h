/* skew.h - loop skewing: interleaves several rows of a serial nest with a loop-carried dependence.
 *
 *     for i { for j {                           row i      . . . . . 4 5
 *       x[i][j] = f(x[i][j - 1], ..)    =>      row i + 1  . . . 3 4 5      the same number: the
 *     } }                                       row i + 2  . 2 3 4 5        same iteration
 *
 * While one row waits for the result of its previous cell, the processor works on the others. Each
 * row lags the one before by a distance in cells (the skew) that preserves every dependence. This
 * requires that every dependence has a known distance (analysis/dependence.h); then all results are
 * identical to the bit. */
#ifndef RG_PASS_LOOPS_SKEW_H
#define RG_PASS_LOOPS_SKEW_H

#include "pass/loops/hoist_checks.h"

/* Skews the nest of two numeric FORs if it carries such a dependence; returns whether it did. The
 * new loops need no bounds checks. */
bool skew_nest(const BodyLimits *at, IrInst *outer);

#endif
