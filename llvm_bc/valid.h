/* valid.h - invariants of a tree's tables while no task runs, as functions that report which one is
 * violated. They change nothing, follow no handle before checking it, and check everything: the
 * cost is a tree's nodes and the slots of its live nodes. Native only: kernels do not need them.
 * Debug builds (RG_DEBUG) run them after every refresh, collect, compact, clear and list update,
 * and end the process with the violated invariant. */
#ifndef RG_RT_VALID_H
#define RG_RT_VALID_H

#include "rt.h"

typedef struct RtBroken {
  const char *what; /* what should hold */
  int32_t manager;  /* -1: the tree's own tables */
  uint32_t node;    /* handle; 0: none in particular */
} RtBroken;

/* Segments, records, budget, and each manager with everything below. Invariants of refreshed trees
 * are checked only if nothing changed since. 0: `broken` says what is wrong. */
int rt_tree_is_valid(const RtTree *tree, int32_t worker_count, RtBroken *broken);
/* Chunks, free and recycled lists, counts, every node and its slot. */
int rt_manager_is_valid(const RtTree *tree, int32_t manager, int32_t worker_count,
                        RtBroken *broken);
/* The list of active nodes, and the recorded changes that it does not reflect yet. */
int rt_list_is_valid(const RtTree *tree, int32_t manager, int32_t worker_count, RtBroken *broken);
/* A hash's table. */
int rt_table_is_valid(const RtTree *tree, int32_t manager, int32_t worker_count, RtBroken *broken);
/* A dynamic SNode's lists in every node above it. The tree must be refreshed. */
int rt_dynamic_is_valid(const RtTree *tree, int32_t manager, RtBroken *broken);

/* The members that the owner fills in before rt_tree_init. */
int rt_tree_is_declared(const RtTree *tree, RtBroken *broken);

/* Print the sentence and abort. */
void rt_tree_expect_valid(const RtTree *tree, int32_t worker_count);
void rt_tree_expect_declared(const RtTree *tree);

#endif
