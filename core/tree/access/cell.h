/* cell.h - host access to cells: from an index to memory. Private to this room.
 * Follows the level's path (snode/path.h) step by step, to a Cell:
 *
 *     element of component c  at  cell.base + c.offset + cell.number * c.stride */
#ifndef RG_TREE_ACCESS_CELL_H
#define RG_TREE_ACCESS_CELL_H

#include "snode/path.h"
#include "tree/tree.h"

/* storage.c: fills the RtLevel (rt.h) for a step of a path, in coordinates of the manager whose
 * step is `own`. `is_first`: the step's container is in the parent node, or is the root's
 * container. */
void storage_fill_level(RtLevel *level, const SNodeStep *step, const SNodeStep *own, bool is_first);

typedef struct Cell {
  uint8_t *base;
  uint64_t number;
} Cell;
/* Finds a cell of a laid-out level. False if it is inactive; activates nothing. The index must be
 * inside the shape. */
bool cell_find(RtContext *context, const SNode *level, const int64_t *index, Cell *cell);
/* The same if the device may have newer contents: copies to the host the memory that it reads on
 * the path, but not the cell itself. False with err. */
bool cell_locate(Tree *tree, const SNode *level, const int64_t *index, Cell *cell, bool *is_there,
                 Error *err);
/* Call device_reach for `count` components of a located cell, starting with `component`. */
bool cell_reach(Tree *tree, Cell cell, const SNodeComponent *component, int count, DeviceUse use,
                Error *err);
/* Likewise for the list of a cell of a dynamic level, with its length; *list is NULL if there is
 * none. */
bool cell_locate_list(Tree *tree, const SNode *level, const int64_t *index, uint32_t **list,
                      Error *err);
/* visit.c: an operation on one cell of a sparse tree, which the device performs in its own memory,
 * without copying the tree to the host. is_done is false if the host must perform it, as the device
 * does not have the newest contents, or copying is better. */
typedef struct CellRequest {
  RtVisitWay way;
  bool is_list; /* the operation is on the list in a cell of a dynamic level, not on an element */
  const int64_t *index;
  bool pages_suffice; /* after cell_locate the host could do the same */
  /* numbers of the cell to read, or to write if it is active in the end; may be none */
  const SNodeComponent *components;
  int component_count;
  bool reads;
  uint64_t *bits;         /* NULL: write zeros */
  bool is_done, is_there; /* out */
  int64_t value;          /* out: RtVisit.value */
} CellRequest;
bool cell_visit_remote(Tree *tree, const SNode *level, CellRequest *request, Error *err);
/* Reports the error of an operation that the device performed, on this tree; true if it has none.
 * `message` is for a lack of memory. */
bool cell_check_remote(Tree *tree, const RtError *error, const char *message, Error *err);
/* Can the host not access the tree's memory at all, so that only cell_visit_remote works? */
bool cell_is_remote(const Tree *tree);
/* Activates what is missing; if the budget is exhausted, returns a sink and sets context->error. */
Cell cell_ensure(RtContext *context, const SNode *level, const int64_t *index);
/* The list (rt.h) in a cell of a dynamic level. NULL if its ancestors are inactive, or, with
 * `ensures`, if they cannot be activated, and context->error is set. */
uint32_t *cell_find_list(RtContext *context, const SNode *level, const int64_t *index,
                         bool ensures);
/* Deactivates the cell of a sparse level. */
void cell_clear(RtContext *context, const SNode *level, const int64_t *index);
static inline uint8_t *cell_element(Cell cell, const SNodeComponent *component) {
  return cell.base + component->offset + cell.number * component->stride;
}
/* Updates the list of a manager, and returns its number of active nodes; -1 with err. */
int64_t cell_list(Tree *tree, int manager, Error *err);
/* Call this after native calls that may have changed the topology: refreshes the tree, and reports
 * a fault as an error. */
bool cell_refresh(Tree *tree, Error *err);

/* -- cell_walk.c: all active cells, node by node, in runs ------------------------------------- */
typedef struct CellRun {
  const SNodeStep *step; /* the step whose digits number the run's cells; NULL: one cell */
  uint8_t *first;        /* the component in the run's first cell */
  uint64_t stride;
  int64_t count;
  int64_t index[SNODE_MAX_AXES]; /* index of the first cell */
} CellRun;
typedef bool CellVisit(void *data, const CellRun *run);
/* Visits number `part` of all active elements. False if a visit returned false, or with err if a
 * list could not grow. */
bool cell_walk(Field *field, int part, CellVisit *visit, void *data, Error *err);
/* node_order.c: sorts the active nodes of a manager by their coordinates. */
typedef struct CellNode {
  uint8_t *memory;
  RtNodeInfo *info;
  uint32_t number; /* index among all nodes of its manager, active or not */
} CellNode;
typedef struct CellNodes {
  CellNode *rows; /* in heap memory */
  int64_t count;
} CellNodes;
/* The tree must be refreshed. On failure there is nothing to free. */
bool cell_nodes_sort(Tree *tree, int manager, CellNodes *nodes, Error *err);
/* Visits the active cells of a level, in an order that depends only on its declaration and the
 * active cells. `component` is a field's number, or the SNode below. `nodes` are the sorted nodes
 * of the nearest node level, if the level has one. False if a visit returned false. */
bool cell_walk_in_order(Tree *tree, const SNode *level, const SNodeComponent *component,
                        const CellNodes *nodes, CellVisit *visit, void *data);
/* Advances to the next index of a bounded level in row order; after the last one follows the
 * first. */
static inline void cell_next_index(const SNode *level, int64_t *index) {
  for (int k = level->rank - 1; k >= 0 && ++index[k] == level->shape[k]; k--) index[k] = 0;
}
/* Advances to the next index in the run, as an odometer of the step's digits. */
void cell_next_in_run(const CellRun *run, int64_t *index);

/* -- convert.c: elements and numbers ----------------------------------------------------------- */
RgValue value_load(Type type, const void *element);
/* Stores a value if it fits; otherwise sets value.fit, which names `what`: "field 'x'". */
bool value_store(Type type, void *element, const RgValue *value, const char *what, Error *err);
/* Stores the bits that an element of `type` has for the value. False if it does not fit; the
 * message begins with `what`. */
bool value_convert(Type type, const RgValue *value, uint64_t *bits, const char *what, Error *err);
double value_number(Type type, const void *element); /* bool: 0 or 1 */

int64_t value_integer(Type type, const void *element); /* u64 keeps its bits */
/* vector_value.c: the same for values of several numbers; a scalar has one. */
/* Number `part` of a vector, of scalar type `type`. */
RgValue vector_number(const RgVector *vector, Type type, int part);
bool vector_convert(Store *store, Type type, const RgValue *value, uint64_t bits[TYPE_MAX_NUMBERS],
                    const char *what, Error *err);
/* borrowed until the next call */
RgValue vector_value(Store *store, Type type, const uint64_t *bits);
/* "2.5", "true", "a field" */
const char *value_text(const RgValue *value, char buffer[48]);

#endif
