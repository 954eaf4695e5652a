/* tasks.h - shared by the files of pass `tasks`. */
#ifndef RG_PASS_TASKS_TASKS_H
#define RG_PASS_TASKS_TASKS_H

#include "ir/ir.h"
#include "ir/task.h"

/* tasks_nest.c: builds, before `loop` (a serial RANGE or ACTIVE, left unchanged), the equivalent
 * empty nest of FORs. `order`: of order_make, if the loop needs one, else NULL. `indices` become
 * the values of its parameters. Returns the innermost FOR's region; *levels: how many FORs there
 * are. */
IrRegion *tasks_nest(IrKernel *kernel, IrInst *loop, IrInst *order, IrInst *indices[SNODE_MAX_AXES],
                     int *levels);

/* tasks_cost.c: ops of one iteration of `body`, weighted by their cost relative to an addition. */
int32_t tasks_cost(const IrRegion *body);

#endif
