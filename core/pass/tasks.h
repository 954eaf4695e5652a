/* tasks.h - what the files of pass `tasks` share. */
#ifndef RG_PASS_TASKS_H
#define RG_PASS_TASKS_H

#include "ir/ir.h"
#include "ir/task.h"

/* tasks_nest.c: a serial RANGE or ACTIVE in front of `loop` as a nest of FORs, empty inside; `loop` stays as it was.
 * `order`: of order_make, where the loop needs one, else NULL. `indices` become the values of its parameters. Returns the innermost FOR's region; *levels: how many FORs there are. */
IrRegion *tasks_nest(IrKernel *kernel, IrInst *loop, IrInst *order, IrInst *indices[SNODE_MAX_AXES], int *levels);

/* tasks_cost.c: ops of one turn through `body`, weighted by what they cost next to an addition. */
int32_t tasks_cost(const IrRegion *body);

#endif
