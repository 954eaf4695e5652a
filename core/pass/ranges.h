/* ranges.h - the one analysis: every index as base + a constant range.
 * base is a loop index of the body (param), another value, or nothing (a constant). */
#ifndef RG_PASS_RANGES_H
#define RG_PASS_RANGES_H

#include "ir/ir.h"

typedef struct IndexRange {
  const IrInst *base;  /* NULL: a constant */
  int64_t low, high;   /* inclusive, added to base; low == high: exact */
  bool known;          /* false: nothing is known */
} IndexRange;

IndexRange ranges_of(const IrInst *index);
/* Is `base` parameter number k of `region`? -1 when it is none. */
int ranges_param(const IrRegion *region, const IrInst *base);

#endif
