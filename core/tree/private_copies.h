/* private_copies.h - each worker's own copy of a tree, for tasks that add (device.h: DeviceOwn): its memory. */
#ifndef RG_TREE_PRIVATE_COPIES_H
#define RG_TREE_PRIVATE_COPIES_H

#include "tree/tree.h"

/* Makes the copies if need be, before a launch that has use for them. Where there is no room tree->rt.own is NULL after it
 * and tasks do without. A copy takes memory as it is touched; the budget is charged for all that may be. */
void own_prepare(Tree *tree);
void own_free(Tree *tree);
/* Their pages leave the process; they come again as they are touched. */
void own_trim(Tree *tree);

#endif
