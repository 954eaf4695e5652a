/* order.h - builds serial loops over the active cells of unbounded levels, in index order. */
#ifndef RG_PASS_ANALYSIS_ORDER_H
#define RG_PASS_ANALYSIS_ORDER_H

#include "ir/task.h"
#include "pass/analysis/nest.h"

/* Must a walk in index order over `cells` enumerate the existing nodes, since an axis is
 * unbounded? */
bool order_is_needed(const SNode *cells);
/* Host region: takes a sorted snapshot of the nodes for such a walk; `depth`: number of enclosing
 * walks. */
IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth);
/* Opens the loops, in the body or the host region, where `order` must be visible. Sets `indices` to
 * those of the cells. */
void order_nest(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices);

#endif
