/* tasks.h - what the pass `tasks` shares with passes that rewrite bodies. */
#ifndef RG_PASS_TASKS_TASKS_H
#define RG_PASS_TASKS_TASKS_H

#include "ir/ir.h"

/* The cost: ops of one iteration of `body`, weighted by their cost relative to an addition. */
int32_t tasks_cost(const IrRegion *body);

#endif
