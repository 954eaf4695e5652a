/* non_temporal.h - chooses the stores of a task that are non-temporal (bypass the caches).
 * Decision D-pass-05. */
#ifndef RG_PASS_VECTOR_NON_TEMPORAL_H
#define RG_PASS_VECTOR_NON_TEMPORAL_H

#include "pass/vector/lanes_cost.h"

/* Marks such stores of a range task; `survey` is of its body. Sets `traffic` to the bytes that an
 * iteration reads and writes. */
void non_temporal_mark(const PassContext *ctx, const IrKernel *kernel, IrTask *task,
                       const LaneSurvey *survey);
/* Makes all stores of the task ordinary ones. */
void non_temporal_clear(IrTask *task);

#endif
