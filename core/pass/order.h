/* order.h - serial loops over the active cells of levels without ends, in index order. */
#ifndef RG_PASS_ORDER_H
#define RG_PASS_ORDER_H

#include "ir/task.h"
#include "pass/nest.h"

/* Must a walk in index order over `cells` go by the nodes there are, since an axis has no ends? */
bool order_is_needed(const SNode *cells);
/* Host region: the nodes that such a walk meets, as they are when it comes here; `depth`: how many such walks are around. */
IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth);
/* The loops, in the body or the host region; `order` is visible there. Gives the cells' indices. */
void order_nest(Nest *nest, const SNode *cells, IrInst *order, IrInst **indices);

#endif
