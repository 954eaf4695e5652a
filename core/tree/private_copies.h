/* private_copies.h - each worker's own copy of a tree, for tasks that add (device.h: DeviceOwn): its memory, and where sums lie. */
#ifndef RG_TREE_PRIVATE_COPIES_H
#define RG_TREE_PRIVATE_COPIES_H

#include "ir/task.h"
#include "tree/tree.h"

/* Makes the copies if need be, before a launch that has use for them. Where there is no room tree->rt.own is NULL after it
 * and tasks do without. A copy takes memory as it is touched; the budget is charged for all that may be. */
void own_prepare(Tree *tree);
void own_free(Tree *tree);
/* Their pages leave the process; they come again as they are touched. */
void own_trim(Tree *tree);
/* Where the elements of `fields` lie, neighbours in a cell taken together; returns how many rows of `out`, which has one
 * per field. */
int32_t own_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count, DeviceOwn *out);

#endif
