/* ranges.h - the first analysis: expresses every index as base + a constant range. (The second is
 * effects.h.) base is a loop index of the body (param), another value, or NULL (a constant). If it
 * is a sum, IndexLine says of what: an index may run backwards, or be moved by other values. */
#ifndef RG_PASS_ANALYSIS_RANGES_H
#define RG_PASS_ANALYSIS_RANGES_H

#include "ir/facts.h"

typedef struct IndexRange {
  const IrInst *base; /* NULL: a constant */
  int64_t low, high;  /* inclusive, added to base; low == high: exact */
  bool known;         /* false: not an integer, so nothing is known */
  int bits;           /* base + [low, high] holds modulo 2^bits; 64 for constants */
} IndexRange;

/* Constants beyond this are no distances to neighbours; sums of a value of 32 bits and several such
 * constants never overflow 64 bits. */
static const int64_t ranges_most_near = 1 << 16;

IndexRange ranges_of(const IrInst *index);
/* Are the constants of the range distances to neighbours? */
static inline bool ranges_is_near(const IndexRange *range) {
  return range->low >= -ranges_most_near && range->high <= ranges_most_near;
}
/* The number of `base` among the parameters of `region`; -1 if it is not one of them. */
int ranges_param(const IrRegion *region, const IrInst *base);
/* If `range` is parameter + one constant, the parameter's number; else -1. */
int ranges_exact_param(const IrRegion *region, const IndexRange *range);
/* Is the index in 0 .. size - 1 exactly if base + range, computed without wrapping, is? If so, the
 * two are equal there. */
bool ranges_hold_below(const IndexRange *range, int64_t size);

/* -- lines ------------------------------------------------------------------------------------- */

/* factor * index + the sum of `rest` + [low, high], where `index` is a loop's:
 *
 *     x[n - 1 - i]      -1 * i + n + [-1, -1]
 *
 * Holds modulo 2^bits. `rest` has no constant; its values have at most 32 bits and its factors are
 * small, so that nothing overflows in 64 bits. */
typedef struct IndexLine {
  const IrInst *index;
  int64_t factor; /* 1 or -1 */
  Affine rest;
  int64_t low, high;
  int bits;
} IndexLine;

/* Is the range such a line along one of these loop indices? */
bool ranges_line(const IndexRange *range, int count, IrInst *const *indices, IndexLine *out);
/* Is a mathematical value of the line that is in 0 .. size - 1 the value of the index, too? */
bool ranges_line_holds_below(const IndexLine *line, int64_t size);
/* `start` + rest, or `start` - rest if `subtracts`, in 64 bits; a `start` of NULL is 0, and so may
 * be the result. `value` gives each term where the builder is, as an i64; NULL: terms are visible
 * there. */
typedef IrInst *LineValue(IrBuilder *b, const IrInst *term);
IrInst *ranges_add_rest(IrBuilder *b, IrInst *start, const IndexLine *line, bool subtracts,
                        LineValue *value);

#endif
