/* compaction.h - bodies in which few iterations have an effect: lanes find these, which then run
 * one by one. */
#ifndef RG_PASS_VECTOR_COMPACTION_H
#define RG_PASS_VECTOR_COMPACTION_H

#include "pass/vector/lanes_cost.h"
#include "pass/vector/vectorise.h"

/* If the FOR of a scalar body has such a form, and this is faster with `width` lanes: sets its
 * `lanes` and `compacts`. */
bool compaction_choose(const PassContext *ctx, IrKernel *kernel, IrInst *loop, int width);
/* Rewrites a FOR that `compacts`. */
void compaction_write(Scratch *scratch, IrKernel *kernel, IrInst *loop);

/* The branch without an else at the end of a region, if nothing else there has an effect, so that
 * it may run again. */
IrInst *compaction_last_branch(const IrRegion *region);

/* How an iteration of a range may be divided: lanes find those that take `branch`. */
typedef struct Compaction {
  IrInst *branch; /* NULL: the body has no such form */
  double cost;    /* of as many iterations as there are lanes, as in `whole` */
} Compaction;
/* The best division of a range's body, of which `whole` is the survey. */
Compaction compaction_of_range(const PassContext *ctx, IrKernel *kernel, const LaneBody *body,
                               const LaneSurvey *whole);
/* The branch of a range's body that `compacts`; else NULL. */
IrInst *compaction_branch(const IrRegion *body);
/* The body of such a range in lanes. */
IrRegion *compaction_write_body(Scratch *scratch, IrKernel *kernel, const LaneBody *body);

#endif
