/* words.h - loops over the cells of bitmasked SNodes, word by word: empty words cost a test, others a turn per set bit.
 *
 * A *block* is what one word answers for: at most 64 cells side by side along the last own axis of the masked SNode, the
 * *row axis*, inside one container. Blocks count along that axis over the whole tree. */
#ifndef RG_PASS_WORDS_H
#define RG_PASS_WORDS_H

#include "pass/effects.h"
#include "pass/nest.h"

/* The bitmasked SNode that decides about the cells of `node`, or NULL. */
const SNode *words_masked(const SNode *node);
/* Position of the row axis among the indices of `masked`. */
int words_axis(const SNode *masked);
/* Blocks along the row axis: of the whole tree, or of as many cells. */
int64_t words_blocks(const SNode *masked, int64_t cells);

/* Serial: the active cells of `cells`, whose decider is `masked`, in index order. Gives their indices. */
void words_nest(Nest *nest, const SNode *masked, const SNode *cells, IrInst **indices);
/* May iterations of a task over cells change bits of the SNode that decides about these? */
bool words_may_change(const Effects *effects, const IrTask *task);
/* A task over `cells` of a masked level becomes one over nodes, or over the range of blocks where no SNode is listed,
 * with loops inside. */
void words_lower_task(IrKernel *kernel, IrTask *task, const Effects *effects);

#endif
