/* staged_numbers.h - the second way of `aggregate_atomics`, for loops that cannot count first. */
#ifndef RG_PASS_TASKS_STAGED_NUMBERS_H
#define RG_PASS_TASKS_STAGED_NUMBERS_H

#include "pass/pass.h"

/* Is it an atomic addition to a counter at a place of the launch, with its old value as result? */
bool claim_is_count(const IrInst *inst);
/* Adds the total to the counter that the inst counts with: takes so many numbers at once. */
IrInst *claim_numbers(IrBuilder *b, const IrInst *count, IrInst *total);

/* False: the task stays as it is. */
bool stage_numbers(PassContext *ctx, IrKernel *kernel, IrTask *task);

#endif
