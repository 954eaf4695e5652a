/* hash_direct.h - the dense index of a hash (hash_direct.c), for hash_lanes.c. */
#ifndef RG_RT_HASH_DIRECT_H
#define RG_RT_HASH_DIRECT_H

#include "hash.h"

/* The index is built once there have been this many look-ups per cell. */
enum { RT_DIRECT_PAYS = 4 };

/* Is the index up to date? It stays so only while a task runs that changes no cell of the tree. */
static inline int direct_is_current(const RtTree *tree, const RtManager *manager) {
  return !tree->foreign && rt_load_acquire_long(&manager->direct.version) == manager->version;
}

/* hash_direct.c: builds the index unless the box is too large or memory is short. May be called at
 * any time in such a task, while other threads look cells up. */
void rt_hash_direct_make(RtContext *context, const RtTree *tree, RtManager *manager);

#endif
