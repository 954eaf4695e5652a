/* ranges.h - the first analysis: every index as base + a constant range. (The second: effects.h.)
 * base is a loop index of the body (param), another value, or nothing (a constant). */
#ifndef RG_PASS_RANGES_H
#define RG_PASS_RANGES_H

#include "ir/ir.h"

typedef struct IndexRange {
  const IrInst *base;  /* NULL: a constant */
  int64_t low, high;   /* inclusive, added to base; low == high: exact */
  bool known;          /* false: nothing is known (not an integer) */
  int bits;            /* the sum is exact while it fits a signed integer of so many bits; beyond, it may have wrapped */
} IndexRange;

IndexRange ranges_of(const IrInst *index);
/* Is `base` parameter number k of `region`? -1 when it is none. */
int ranges_param(const IrRegion *region, const IrInst *base);
/* `range` is parameter + one constant: gives the parameter's number, or -1. */
int ranges_exact_param(const IrRegion *region, const IndexRange *range);
/* Can indices below `size` be compared with base + range as plain integers? */
bool ranges_hold_below(const IndexRange *range, int64_t size);

#endif
