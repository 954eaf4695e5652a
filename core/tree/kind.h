/* kind.h - host operations on the cells of each kind of SNode. Private to the room. Outside
 * compiled kernels only this table knows the kinds: cell.c follows a path with it, cell_walk.c
 * visits containers, node.c counts and clears levels. */
#ifndef RG_TREE_KIND_H
#define RG_TREE_KIND_H

#include "snode/path.h"
#include "tree/cell.h"

/* what is done to a cell that can be inactive */
typedef enum CellWay { CELL_FIND, CELL_ENSURE, CELL_CLEAR } CellWay;

/* A step: at first `cell` is the container, then its cell; `node` is the last one entered, or the
 * root's container. */
typedef struct CellReach {
  Cell cell;
  uint8_t *node;
} CellReach;

typedef struct CellKind {
  /* From a container to the indices' cell, and into its node if it has one. False: it is not
   * active. */
  bool (*take)(RtContext *context, const SNodeStep *step, const int64_t *index, CellWay way,
               CellReach *reach);
  /* Brings what `take` reads to find a cell to the host; `container` is that of the step. NULL: it
   * reads nothing. */
  bool (*fetch)(Tree *tree, const SNodeStep *step, const int64_t *index, const uint8_t *container,
                Error *err);
  /* The next run of adjacent active cells of a container, from number *end on: *first up to *end.
   * False: there are no more. NULL: its cells are nodes. */
  bool (*next_run)(const SNodeStep *step, const uint8_t *container, uint64_t *first, uint64_t *end);
  /* Cells in a node of the manager. NULL: as many as fit. */
  int64_t (*cells_in_node)(RtContext *context, int manager, const uint8_t *node);
  /* For all active cells of the level. NULL: they are always active. */
  int64_t (*count)(RtContext *context, const SNode *level);
  void (*clear)(RtContext *context, const SNode *level);
  bool has_count;             /* `count` reads no memory but the tree's counts */
  RtVisitKind visit;          /* as a step of visit.c */
} CellKind;

extern const CellKind cell_kinds[SNODE_KIND_COUNT];

/* Which cell of the step's container the indices name; of a hash, by which coordinates. */
uint64_t kind_cell_number(const SNodeStep *step, const int64_t *index);
/* Of a visit, without an index: visit.c. */
RtVisitStep visit_step(const SNodeStep *step);
void kind_hash_key(const SNodeStep *step, const int64_t *index, int64_t key[SNODE_MAX_AXES]);

#endif
