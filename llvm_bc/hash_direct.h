/* hash_direct.h - cells by their place in a box, for hash_lanes.c. */
#ifndef RG_RT_HASH_DIRECT_H
#define RG_RT_HASH_DIRECT_H

#include "hash.h"

/* It is made once so many times as many cells have been looked for as there are. */
enum { RT_DIRECT_PAYS = 4 };

/* Does it show the cells as they are? Only while a task runs that changes none of the tree's. */
static inline int direct_is_current(const RtTree *tree, const RtManager *manager) {
  return !tree->foreign && rt_load_acquire_long(&manager->direct.version) == manager->version;
}

/* hash_direct.c: unless the box would be too large, or there is no memory. At any time in such a
 * task, while others look for cells. */
void rt_hash_direct_make(RtContext *context, const RtTree *tree, RtManager *manager);

#endif
