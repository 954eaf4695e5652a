/* kind.h - host operations on the cells of each kind of SNode. Private to this room. cell.c follows
 * a path with this table, cell_walk.c visits containers, node.c counts and clears levels. */
#ifndef RG_TREE_KIND_H
#define RG_TREE_KIND_H

#include "snode/path.h"
#include "tree/access/cell.h"

/* An operation on a cell that can be inactive. */
typedef enum CellAction { CELL_FIND, CELL_ENSURE, CELL_CLEAR } CellAction;

/* The state of a step: `cell` is first the container, then the cell in it; `node` is the node
 * entered last, or the root's container. */
typedef struct CellReach {
  Cell cell;
  uint8_t *node;
} CellReach;

typedef struct CellKind {
  /* Goes from a container to the cell at `index`, and into its node if it has one. False if the
   * cell is inactive. */
  bool (*take)(RtContext *context, const SNodeStep *step, const int64_t *index, CellAction way,
               CellReach *reach);
  /* Copies to the host what `take` reads to find a cell in `container`. NULL: it reads nothing. */
  bool (*fetch)(Tree *tree, const SNodeStep *step, const int64_t *index, const uint8_t *container,
                Error *err);
  /* Finds the next run of adjacent active cells in a container, from number *end on: *first up to
   * *end. False if there are no more. NULL: its cells are nodes. */
  bool (*next_run)(const SNodeStep *step, const uint8_t *container, uint64_t *first, uint64_t *end);
  /* The number of cells in a node of the manager. NULL: as many as fit. */
  int64_t (*cells_in_node)(RtContext *context, int manager, const uint8_t *node);
  /* Count and clear all active cells of the level. NULL: cells are always active. */
  int64_t (*count)(RtContext *context, const SNode *level);
  void (*clear)(RtContext *context, const SNode *level);
  bool has_count;    /* `count` only reads the tree's counts */
  RtVisitKind visit; /* its kind of step in visit.c */
} CellKind;

extern const CellKind cell_kinds[SNODE_KIND_COUNT];

/* The number of the cell in the step's container at `index`; for a hash, the coordinates. */
uint64_t kind_cell_number(const SNodeStep *step, const int64_t *index);
/* A step of a visit, without an index: visit.c. */
RtVisitStep visit_step(const SNodeStep *step);
void kind_hash_key(const SNodeStep *step, const int64_t *index, int64_t key[SNODE_MAX_AXES]);

#endif
