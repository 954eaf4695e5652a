/* ranges.h - the first analysis: expresses every index as base + a constant range. (The second is
 * effects.h.) base is a loop index of the body (param), another value, or NULL (a constant). */
#ifndef RG_PASS_ANALYSIS_RANGES_H
#define RG_PASS_ANALYSIS_RANGES_H

#include "ir/ir.h"

typedef struct IndexRange {
  const IrInst *base; /* NULL: a constant */
  int64_t low, high;  /* inclusive, added to base; low == high: exact */
  bool known;         /* false: not an integer, so nothing is known */
  int bits;           /* base + [low, high] holds modulo 2^bits; 64 for constants */
} IndexRange;

IndexRange ranges_of(const IrInst *index);
/* The number of `base` among the parameters of `region`; -1 if it is not one of them. */
int ranges_param(const IrRegion *region, const IrInst *base);
/* If `range` is parameter + one constant, the parameter's number; else -1. */
int ranges_exact_param(const IrRegion *region, const IndexRange *range);
/* Is the index in 0 .. size - 1 exactly if base + range, computed without wrapping, is? If so, the
 * two are equal there. */
bool ranges_hold_below(const IndexRange *range, int64_t size);

#endif
