/* oracle.h - the expected contents of a tree, stored in the simplest way: a flag per pointer cell
 * and a number per payload cell, for the whole shape. Deactivating a cell finds every cell at or
 * below it in a precomputed table. */
#ifndef RG_TESTS_ORACLE_H
#define RG_TESTS_ORACLE_H

#include "forest.h"

/* cells of `node` in pointer cell `number` of its ancestor: a run of `cells` */
typedef struct OracleBelow {
  int64_t *first; /* by number: index into cells; one more at the end */
  int64_t *cells;
} OracleBelow;

typedef struct Oracle {
  const ForestTree *tree;
  uint8_t *active[FOREST_MAX_NODES];                     /* pointer nodes */
  uint32_t *values[FOREST_MAX_NODES];                    /* nodes with a payload */
  OracleBelow below[FOREST_MAX_NODES][FOREST_MAX_NODES]; /* [pointer node][node at or below it] */
} Oracle;

void oracle_create(Oracle *oracle, const ForestTree *tree);
void oracle_destroy(Oracle *oracle);
/* Activates every pointer cell at and above a cell of any node. */
void oracle_activate(Oracle *oracle, int node, int64_t number);
void oracle_deactivate(Oracle *oracle, int node, int64_t number);
void oracle_clear(Oracle *oracle, int node);
/* Copies the contents of the tree, after steps whose result is not unique. */
void oracle_adopt(Oracle *oracle, RtContext *context, ForestTree *trees, int t);
/* "", or the place where tree and oracle differ: flags, counts, contents, and forest_check. */
const char *oracle_compare(const Oracle *oracle, RtContext *context, ForestTree *trees, int t);

#endif
