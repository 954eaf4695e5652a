/* valid.h - what must hold of a tree's tables while no task runs, as functions that say which
 * sentence broke. They change nothing, follow no handle that they have not looked at first, and
 * look at everything: a tree's price is its nodes and the slots of its live nodes. Native alone:
 * kernels have no need of them. Debug builds (RG_DEBUG) ask after every settle, collect, compact,
 * clear and list update, and end the process with the sentence. */
#ifndef RG_RT_VALID_H
#define RG_RT_VALID_H

#include "rt.h"

typedef struct RtBroken {
  const char *what;         /* what should hold */
  int32_t manager;          /* -1: the tree's own tables */
  uint32_t node;            /* handle; 0: none in particular */
} RtBroken;

/* Segments, records, budget, and each manager with all that follows. What only a settled tree
 * promises is asked of one that nothing changed since. 0: `broken` says what. */
int rt_tree_is_valid(const RtTree *tree, int32_t worker_count, RtBroken *broken);
/* Chunks, free and recycled lists, counts, every node and its slot. */
int rt_manager_is_valid(const RtTree *tree, int32_t manager, int32_t worker_count,
                        RtBroken *broken);
/* The list of active nodes, and the notes of what it does not show yet. */
int rt_list_is_valid(const RtTree *tree, int32_t manager, int32_t worker_count, RtBroken *broken);
/* Of a hash: from coordinates to nodes. */
int rt_table_is_valid(const RtTree *tree, int32_t manager, RtBroken *broken);
/* Of a dynamic SNode: the lists in every node above; of a settled tree. */
int rt_dynamic_is_valid(const RtTree *tree, int32_t manager, RtBroken *broken);

/* Prints the sentence and aborts. */
void rt_tree_expect_valid(const RtTree *tree, int32_t worker_count);

#endif
