/* order.h - serial loops over the active cells of unbounded levels, in index order. */
#ifndef RG_PASS_ORDER_H
#define RG_PASS_ORDER_H

#include "ir/task.h"
#include "pass/nest.h"

/* Must a walk in index order over `cells` go by the existing nodes, since an axis is unbounded? */
bool order_is_needed(const SNode *cells);
/* Host region: the nodes for such a walk, as they are at this point; `depth`: number of enclosing
 * walks. */
IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth);
/* The loops, in the body or the host region; `order` is visible there. Returns the cells'
 * indices. */
void order_nest(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices);

#endif
