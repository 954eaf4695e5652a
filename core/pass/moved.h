/* moved.h - indices moved by a value of the launch.
 *
 *   load place f0 %i + %d       for all %i from -%d to n - 1 - %d it is inside
 *
 * Offsets of a captured table are live: `for _, d in ipairs(offsets) do .. x[i + d] .. end`. So the
 * launch says where the interior begins and ends, once for all indices that move a parameter. */
#ifndef RG_PASS_MOVED_H
#define RG_PASS_MOVED_H

#include "ir/task.h"
#include "pass/ranges.h"

/* Parameter `param` plus or minus `by`, plus low .. high, must be in 0 .. size - 1, or below the
 * extent of the array. */
typedef struct Moved {
  int param;
  bool subtracts;
  const IrInst *by;
  int64_t low, high, size;
  const IrArray *array;
  int axis;
} Moved;

/* False: it is no such index. Sets all but size, array and axis. */
bool moved_read(const IrRegion *body, const IndexRange *index, Moved *moved);
/* Writes the indices of a place in the interior that are moved by one value as sums in 64 bits,
 * which follow the parameter without a wrap. */
void moved_widen(IrKernel *kernel, const IrRegion *interior, IrInst *place);
/* Has the host region compute where the interior of task `number` begins and ends along `param`, if
 * any of the indices moves that, and adds it to the task's limits. */
void moved_limit(IrKernel *kernel, int number, int param, const Moved *items, int count);

#endif
