/* streams.h - stores that go past the caches: which of a task's may. */
#ifndef RG_PASS_STREAMS_H
#define RG_PASS_STREAMS_H

#include "pass/lanes_cost.h"

/* Marks those of a range task whose body the survey is of, and says in `traffic` how much an
 * iteration reads and writes. */
void streams_mark(const PassContext *ctx, const IrKernel *kernel, IrTask *task,
                  const LaneSurvey *survey);
/* The task stays as it is: nothing goes past the caches. */
void streams_clear(IrTask *task);

#endif
