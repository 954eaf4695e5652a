/* limits.h - bounds of a parallel loop's indices that are known before it runs. */
#ifndef RG_PASS_ANALYSIS_LIMITS_H
#define RG_PASS_ANALYSIS_LIMITS_H

#include "ir/task.h"
#include "pass/analysis/ranges.h"

/* The bounds of one index, inclusive; `low` may be known alone, and is INT64_MIN if not. `end`: the index is also below the value of this frame slot,
 * and at least `low`; -1: no such slot. */
typedef struct Limits {
  bool known;
  int64_t low, high;
  int end;
} Limits;

/* The limits of the parameters of the task's body, from constant bounds or from the level that the
 * task goes over. */
void limits_find(const IrKernel *kernel, const IrTask *task, Limits limits[SNODE_MAX_AXES]);
/* Is the index, this parameter plus the range, in 0 .. size - 1; inside the array along `axis`? */
bool limits_hold_below(const Limits *limits, const IndexRange *range, int64_t size);
bool limits_hold_in_array(const Limits *limits, const IndexRange *range, const IrArray *array,
                          int axis);
/* The same inside the box of the task's interior. `array` NULL: the limit is `size`. */
bool limits_hold_in_interior(const IrTask *task, int param, const IndexRange *range, int64_t size,
                             const IrArray *array, int axis);

#endif
