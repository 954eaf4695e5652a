/* ranges.h - the first analysis: every index as base + a constant range. (The second: effects.h.)
 * base is a loop index of the body (param), another value, or NULL (a constant). */
#ifndef RG_PASS_RANGES_H
#define RG_PASS_RANGES_H

#include "ir/ir.h"

typedef struct IndexRange {
  const IrInst *base;  /* NULL: a constant */
  int64_t low, high;   /* inclusive, added to base; low == high: exact */
  bool known;          /* false: nothing is known (not an integer) */
  /* the sum is exact if it fits a signed integer of so many bits; else it may have wrapped */
  int bits;
} IndexRange;

IndexRange ranges_of(const IrInst *index);
/* The number of `base` among the parameters of `region`; -1: not one. */
int ranges_param(const IrRegion *region, const IrInst *base);
/* If `range` is parameter + one constant, the parameter's number; else -1. */
int ranges_exact_param(const IrRegion *region, const IndexRange *range);
/* Can indices below `size` be compared with base + range as plain integers? */
bool ranges_hold_below(const IndexRange *range, int64_t size);

#endif
