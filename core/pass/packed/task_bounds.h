/* task_bounds.h - makes a loop iterate over words of several elements along its last axis, instead
 * of over elements. */
#ifndef RG_PASS_PACKED_TASK_BOUNDS_H
#define RG_PASS_PACKED_TASK_BOUNDS_H

#include "ir/task.h"

/* The ends of a task's last axis, which the host region sets once. */
typedef struct TaskBounds {
  IrInst *begin, *end;          /* FRAME_SET */
  int32_t begin_slot, end_slot; /* new slots from which the new body reads them; 0: it does not */
} TaskBounds;

/* False if they are not set once each. */
bool task_bounds_find(const IrKernel *kernel, const IrTask *task, TaskBounds *bounds);
/* The end of the indices, INT64_MAX if it is not known. */
int64_t task_bounds_most(const TaskBounds *bounds);
/* Emits, in the new body, the first index of elements, and the one past the last; NULL: no word
 * extends beyond it. */
IrInst *task_bounds_begin(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
IrInst *task_bounds_end(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
/* Replaces the bounds by those of the words that hold the elements, and sets the new slots. */
void task_bounds_to_words(IrKernel *kernel, const TaskBounds *bounds, int per_word);

#endif
