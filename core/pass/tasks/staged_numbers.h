/* staged_numbers.h - the second way of `aggregate_atomics`, for loops that cannot count first. */
#ifndef RG_PASS_TASKS_STAGED_NUMBERS_H
#define RG_PASS_TASKS_STAGED_NUMBERS_H

#include "pass/pass.h"

/* False: the task stays as it is. */
bool stage_numbers(PassContext *ctx, IrKernel *kernel, IrTask *task);

#endif
