/* limits.h - bounds of a parallel loop's indices that are known before it runs. */
#ifndef RG_PASS_ANALYSIS_LIMITS_H
#define RG_PASS_ANALYSIS_LIMITS_H

#include "ir/task.h"
#include "pass/analysis/ranges.h"

/* The bounds of one index, inclusive; `low` may be known alone, and is INT64_MIN if not. `end`: the
 * index is also below the value of this frame slot, and at least `low`; -1: no such slot. */
typedef struct Limits {
  bool known;
  int64_t low, high;
  int end;
} Limits;

/* The FRAME_SET of the slot, if the host region has only one; otherwise NULL. */
IrInst *limits_set_once(const IrKernel *kernel, int64_t slot);
/* The limits of the parameters of the task's body, from constant bounds or from the level that the
 * task visits. */
void limits_find(const IrKernel *kernel, const IrTask *task, Limits limits[SNODE_MAX_AXES]);

/* A body, and what is known of the indices of its loop. */
typedef struct BodyLimits {
  IrKernel *kernel;
  const IrTask *task;            /* NULL: in the host region or in a function */
  const IrRegion *body;          /* its parameters are the parallel loop's indices; NULL: none */
  Limits limits[SNODE_MAX_AXES]; /* of these parameters */
} BodyLimits;

BodyLimits limits_of_body(IrKernel *kernel, const IrTask *task, const IrRegion *body);
/* The array of a place, NULL if it is in a tree; *size: a bound of its index along an axis, which
 * is exact in a tree, where 0 means that there is none. */
const IrArray *limits_array(const IrKernel *kernel, const IrInst *place, int axis, int64_t *size);
/* Is an index of the place along an axis, which has this range, inside in every iteration? */
bool limits_prove(const BodyLimits *at, const IrInst *place, int axis, const IndexRange *range);

#endif
