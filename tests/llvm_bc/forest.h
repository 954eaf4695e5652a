/* forest.h - trees for tests of the runtime: a few rows describe a tree, which is laid out and
 * initialised as rt.h requires. Its cells are accessed by coordinates as in compiled code (slot by
 * slot), so that what the runtime decodes from addresses is compared with what this file encodes
 * into them. */
#ifndef RG_TESTS_FOREST_H
#define RG_TESTS_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "rt.h"

enum { FOREST_MAX_NODES = 12, FOREST_WORKERS = 4 };

typedef enum ForestKind {
  FOREST_ROOT,
  FOREST_DENSE,
  FOREST_DENSE_AOS,
  FOREST_POINTER,
  FOREST_HASH
} ForestKind;

typedef struct ForestRow { /* an SNode; row 0 is the root; parents precede their children */
  ForestKind kind;
  int parent;
  const char *axes; /* letters from i */
  /* one per letter; of a hash: the window -size/2 .. that tests use of its endless axis */
  int64_t sizes[RT_MAX_AXES];
  int payload; /* bytes of the field in each cell, 0: none */
} ForestRow;

typedef struct ForestNode {
  ForestRow row;
  int axis_count;
  int64_t cell_count;
  uint64_t record;    /* bytes of one cell */
  uint64_t container; /* bytes */
  uint64_t payload_offset, payload_stride;
  uint64_t offset, stride; /* of this node as component of its parent */
  int manager;             /* pointer, hash: its number; else -1 */
  int rank;
  int letters[RT_MAX_AXES];   /* axes in use down to here, ascending */
  int64_t shape[RT_MAX_AXES]; /* by position in letters */
  /* likewise: the runtime's coordinates of the cell that tests call 0 */
  int64_t origin[RT_MAX_AXES];
} ForestNode;

typedef struct ForestTree {
  int node_count;
  ForestNode nodes[FOREST_MAX_NODES];
  int managers[FOREST_MAX_NODES]; /* node of each manager */
  RtTree rt;
  uint8_t *reserved; /* the mapping */
} ForestTree;

/* `shift`: reserved bytes are 1 << shift. */
void forest_create(ForestTree *tree, const ForestRow *rows, int count, RtBudget *budget, int number,
                   int shift);
void forest_destroy(ForestTree *tree);

/* A context over trees[0..count-1] with FOREST_WORKERS workers; destroy frees what it made. */
RtContext *forest_context(ForestTree *trees, int count);
/* For RtContext.parallel: on FOREST_WORKERS threads of its own. */
void forest_share(RtContext *context, int64_t count, RtPart *part, void *data);
void forest_context_destroy(RtContext *context);

/* Place of a letter among those of a node's level, or -1. */
int forest_position(const ForestNode *node, int letter);
/* Cells of a node's level, and linear numbers of them, row-major in the order of the letters. */
int64_t forest_cell_count(const ForestNode *node);
void forest_cell(const ForestNode *node, int64_t number, int64_t *coordinates);
int64_t forest_number(const ForestNode *node, const int64_t *coordinates);
/* The same place seen from a level above: its number there. */
int64_t forest_above(const ForestTree *tree, int node, int64_t number, int above);

/* The node of a cell of pointer or hash node `node`; NULL where it is not there (ensures =
 * false). */
uint8_t *forest_node(RtContext *context, ForestTree *trees, int tree, int worker, int node,
                     int64_t number, bool ensures);
/* The slot of a cell of pointer node `node`: through ancestors that exist; NULL where one does not
 * (ensures = false); ensures activates them. `tree` is the index in context->trees. */
uint32_t *forest_slot(RtContext *context, ForestTree *trees, int tree, int worker, int node,
                      int64_t number, bool ensures);
bool forest_is_active(RtContext *context, ForestTree *trees, int tree, int node, int64_t number);
void forest_activate(RtContext *context, ForestTree *trees, int tree, int worker, int node,
                     int64_t number);
void forest_deactivate(RtContext *context, ForestTree *trees, int tree, int worker, int node,
                       int64_t number);
/* The address of the payload of a cell of `node` (any kind with a payload); ensures: activates it;
 * else this may be in the ambient node. */
uint8_t *forest_payload(RtContext *context, ForestTree *trees, int tree, int worker, int node,
                        int64_t number, bool ensures);

/* "", or the invariant of the runtime that does not hold (valid.h); while no task runs, refreshed
 * or not. */
const char *forest_broken(const ForestTree *tree);
/* Everything that must hold outside a task after refresh: reachable nodes are the live ones, their
 * coordinates are those of the path that leads to them, lists hold each once in order. "" or what
 * is wrong. */
const char *forest_check(RtContext *context, ForestTree *trees, int tree);

typedef struct Random {
  uint64_t state;
} Random;
uint64_t random_next(Random *random);
static inline int64_t random_below(Random *random, int64_t n) {
  return (int64_t)(random_next(random) % (uint64_t)n);
}

#endif
