/* limits.h - what is known of a parallel loop's indices before it runs. */
#ifndef RG_PASS_LIMITS_H
#define RG_PASS_LIMITS_H

#include "ir/task.h"
#include "pass/ranges.h"

/* Of one index, inclusive. `end`: from `low` on, it is below what this slot of the frame
 * has; -1: none. */
typedef struct Limits {
  bool known;
  int64_t low, high;
  int end;
} Limits;

/* Of the parameters of the task's body: by constant bounds, or by the level that it goes over. */
void limits_find(const IrKernel *kernel, const IrTask *task, Limits limits[SNODE_MAX_AXES]);
/* Is the index, this parameter plus the range, in 0 .. size - 1; inside the array along `axis`? */
bool limits_hold_below(const Limits *limits, const IndexRange *range, int64_t size);
bool limits_hold_in_array(const Limits *limits, const IndexRange *range, const IrArray *array,
                          int axis);
/* Is it so in the box of the task's interior? array NULL: below `size` */
bool limits_hold_in_interior(const IrTask *task, int param, const IndexRange *range, int64_t size,
                             const IrArray *array, int axis);

#endif
