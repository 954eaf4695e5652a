/* guards.h - the parts of a range's interior that only a launch can know: comparisons of the
 * range's indices, and indices shifted by values of the launch.
 *
 *   if %i > 0 and %i < %n - 1 { .. }     always, in an interior from 1 to %n - 1
 *   load place f0 %i + %d                inside, in an interior from -%d to the shape's end - %d
 *   load place f0 %n - 1 - %i            inside, in an interior up to %n
 *
 * Users compare indices before they read a neighbour. A comparison with a constant is decided by
 * the interior that the accesses need anyway; for a comparison with a value of the launch, the host
 * region shrinks the interior until the comparison is decided. Offsets from a captured table are
 * arguments of the launch, too: `for _, d in ipairs(offsets) do .. x[i + d] .. end`. So the host
 * region computes the bounds of the interior at each launch, once for all indices that shift a
 * parameter. Decision D-pass-22. */
#ifndef RG_PASS_LOOPS_GUARDS_H
#define RG_PASS_LOOPS_GUARDS_H

#include "ir/task.h"
#include "pass/analysis/limits.h"
#include "pass/analysis/ranges.h"

/* Wherever parameter `param` (at least -2^30) plus `less` is below `with`, a value of the launch, a
 * comparison is `holds`, and a minimum is its first operand if `holds`, else its second. */
typedef struct IndexGuard {
  IrInst *decided, *with;
  int param;
  int64_t less;
  bool holds;
} IndexGuard;

/* False if `inst` is not such a comparison or minimum of a parameter of `body`. */
bool guards_read(const IrRegion *body, IrInst *inst, IndexGuard *guard);
/* For a SELECT on such a comparison, or on one with a constant: its value in most iterations of the
 * range, whose indices have `limits`. NULL for any other SELECT. */
const IrInst *guards_usual(const IrRegion *body, const IrInst *select, const Limits *limits);
/* False if the RUN of task `number` was unreachable and has been removed. */
bool guards_is_run(const IrKernel *kernel, int number);
/* A builder just before the RUN of task `number`, which must exist. With it: a value of the launch
 * as an i64, and a new frame slot that is set to `value`. */
IrBuilder guards_host(IrKernel *kernel, int number);
IrInst *guards_value(IrBuilder *b, const IrInst *with);
int guards_set(IrBuilder *b, IrInst *value);
/* An i64 frame slot that the host region sets to `with`, a value of at most 32 bits, before it runs
 * task `number`. */
int guards_slot(IrKernel *kernel, int number, const IrInst *with);
/* Folds a comparison, which is `holds`, or a minimum, which is its first operand if `holds`. */
void guards_become(IrInst *inst, bool holds);

/* A value that is in low .. high. */
typedef struct KnownValue {
  const IrInst *base;
  int64_t low, high;
} KnownValue;
/* Folds comparisons, minima and maxima of such values, plus constants, with constants, where the
 * bounds decide them. */
void guards_decide(IrRegion *region, const KnownValue *known, int count);

/* -- clamped indices --------------------------------------------------------------------------- */

/* Minima and maxima whose result is known in the interior of a range:
 *
 *   %left = max %i - 1, 0                  %i - 1, in an interior from 1 on
 *   for %left, min %i + 2, 63 { .. }       up to %i + 2, in an interior up to 62
 *
 * Users clamp the indices of neighbours, and the ends of windows. In the interior, lanes and LLVM
 * then see indices that are linear in the range's, and loops with the same trip count for all
 * iterations. Minima with values of the launch are guards. */

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

/* -- shifted indices -----------------------------------------------------------------------------
 * */

/* A line along parameter `param` whose other values are of the launch; it must be in 0 .. size - 1,
 * or, if `array` is set, below its extent along `axis`. */
typedef struct ShiftedIndex {
  IndexLine line;
  int param;
  int64_t size;
  const IrArray *array;
  int axis;
} ShiftedIndex;

/* False if it is not such an index of less than `size`. Sets all but array and axis. */
bool guards_read_shifted(const IrRegion *body, const IndexRange *index, int64_t size,
                         ShiftedIndex *shifted);
bool guards_is_same_shift(const ShiftedIndex *a, const ShiftedIndex *b);
/* Rewrites the shifted indices of a place in the interior as sums in 64 bits, which cannot wrap. */
void guards_widen(IrKernel *kernel, const IrRegion *interior, IrInst *place);
/* Emits, in the host region, the begin and end of task `number`'s interior along `param`, if any of
 * the indices shifts that parameter, and adds them to the task's limits. */
void guards_limit(IrKernel *kernel, int number, int param, const ShiftedIndex *items, int count);

#endif
