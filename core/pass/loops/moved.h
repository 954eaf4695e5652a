/* moved.h - indices that are a parameter plus or minus a value of the launch.
 *
 *   load place f0 %i + %d       for all %i from -%d to n - 1 - %d it is inside
 *
 * Offsets from a captured table are launch arguments:
 * `for _, d in ipairs(offsets) do .. x[i + d] .. end`. So the host region computes the bounds of
 * the interior at each launch, once for all indices that move a parameter. */
#ifndef RG_PASS_LOOPS_MOVED_H
#define RG_PASS_LOOPS_MOVED_H

#include "ir/task.h"
#include "pass/analysis/ranges.h"

/* Parameter `param` plus or minus `by`, plus low .. high, must be in 0 .. size - 1; if `array` is
 * set, below its extent along `axis`. */
typedef struct Moved {
  int param;
  bool subtracts;
  const IrInst *by;
  int64_t low, high, size;
  const IrArray *array;
  int axis;
} Moved;

/* False if it is not such an index. Sets all but size, array and axis. */
bool moved_read(const IrRegion *body, const IndexRange *index, Moved *moved);
/* Rewrites the moved indices of a place in the interior as sums in 64 bits, which cannot wrap. */
void moved_widen(IrKernel *kernel, const IrRegion *interior, IrInst *place);
/* Emits, in the host region, the begin and end of task `number`'s interior along `param`, if any of
 * the indices moves that parameter, and adds them to the task's limits. */
void moved_limit(IrKernel *kernel, int number, int param, const Moved *items, int count);

#endif
