/* task_bounds.h - lets a loop run over words of several elements along its last axis, instead of
 * elements. */
#ifndef RG_PASS_PACKED_TASK_BOUNDS_H
#define RG_PASS_PACKED_TASK_BOUNDS_H

#include "ir/task.h"

/* The ends of a task's last axis, which the host region sets once. */
typedef struct TaskBounds {
  IrInst *begin, *end;          /* FRAME_SET */
  int32_t begin_slot, end_slot; /* new slots in which the new body needs them; 0: it does not */
} TaskBounds;

/* False if they are not set once each. */
bool task_bounds_find(const IrKernel *kernel, const IrTask *task, TaskBounds *bounds);
/* No index is as large; INT64_MAX: not known. */
int64_t task_bounds_most(const TaskBounds *bounds);
/* The first index of elements, and the one past the last, in the new body; NULL: words have no
 * elements before, or past it. */
IrInst *task_bounds_begin(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
IrInst *task_bounds_end(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
/* Makes the bounds those of the words that hold the elements, and sets the new slots. */
void task_bounds_move(IrKernel *kernel, const TaskBounds *bounds, int per_word);

#endif
