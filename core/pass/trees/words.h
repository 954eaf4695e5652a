/* words.h - loops over the cells of bitmasked SNodes, word by word: an empty word costs one test,
 * any other word one iteration per set bit. A *block* is the cells of one word: at most 64 adjacent
 * cells along the last own axis of the masked SNode, the *row axis*, inside one container. Blocks
 * are numbered along that axis over the whole tree. */
#ifndef RG_PASS_TREES_WORDS_H
#define RG_PASS_TREES_WORDS_H

#include "pass/trees/kind.h"

/* The functions of bitmasked SNodes; see kind.h. */
ActivePlan words_plan(const SNode *masked, const SNode *cells);
void words_nest(Nest *nest, const SNode *masked, const SNode *cells, IrInst **indices);
bool words_may_change(const Effects *effects, const IrTask *task);
/* Turns a task over cells into one over nodes (or over the range of blocks, if no nodes hold the
 * masks) with loops inside. False if a word holds a whole row: then `leaf` makes rows. */
bool words_lower_task(IrKernel *kernel, IrTask *task, const Effects *effects);

#endif
