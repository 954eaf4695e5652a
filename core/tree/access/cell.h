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
/* The same if the device may have newer contents: copies to the host what it reads on the path, but
 * not the cell itself. False with err. */
bool cell_look(Tree *tree, const SNode *level, const int64_t *index, Cell *cell, bool *is_there,
               Error *err);
/* Then reaches `count` components of the cell, starting with `component`: see device_reach. */
bool cell_reach(Tree *tree, Cell cell, const SNodeComponent *component, int count, DeviceUse use,
                Error *err);
/* Likewise for the list of a cell of a dynamic level, with its length; *list is NULL if there is
 * none. */
bool cell_look_list(Tree *tree, const SNode *level, const int64_t *index, uint32_t **list,
                    Error *err);
/* visit.c: does the same and more where the device has the newest contents of a sparse tree,
 * without copying it. Leaves is_done false if the device has not, or if the host should fetch the
 * tree. */
typedef struct CellAsk {
  RtVisitWay way;
  bool is_list; /* about the list in the cell of a dynamic level, not an element */
  const int64_t *index;
  bool could_look; /* cell_look would do, too */
  /* numbers of the cell to read, or to write if it is active in the end; may be none */
  const SNodeComponent *components;
  int component_count;
  bool reads;
  uint64_t *bits;         /* NULL: write zeros */
  bool is_done, is_there; /* out */
  int64_t value;          /* out: RtVisit.value */
} CellAsk;
bool cell_ask(Tree *tree, const SNode *level, CellAsk *ask, Error *err);
/* Is the tree out of the host's reach, so that only cell_ask works? */
bool cell_is_away(const Tree *tree);
/* Activates what is missing; if the budget is exhausted, returns a sink and sets context->error. */
Cell cell_ensure(RtContext *context, const SNode *level, const int64_t *index);
/* The list (rt.h) in a cell of a dynamic level; NULL if its ancestors are inactive or, with
 * `ensures`, cannot be activated: then context->error is set. */
uint32_t *cell_find_list(RtContext *context, const SNode *level, const int64_t *index,
                         bool ensures);
/* Deactivates the cell of a sparse level. */
void cell_clear(RtContext *context, const SNode *level, const int64_t *index);
static inline uint8_t *cell_element(Cell cell, const SNodeComponent *component) {
  return cell.base + component->offset + cell.number * component->stride;
}
/* Brings a manager's list up to date, and returns its number of active nodes; -1 with err. */
int64_t cell_list(Tree *tree, int manager, Error *err);
/* Call this after native calls that may have changed the topology: refreshes the tree, and turns a
 * fault into an error. */
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
/* node_order.c: the active nodes of a manager, in the order of their coordinates. */
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
 * active cells. `component` is a field's number, or the SNode below. `nodes` are those of the
 * level's nearest node level, if it has one. False if a visit returned false. */
bool cell_walk_in_order(Tree *tree, const SNode *level, const SNodeComponent *component,
                        const CellNodes *nodes, CellVisit *visit, void *data);
/* Advances to the next index in the run, as an odometer of the step's digits. */
void cell_next_in_run(const CellRun *run, int64_t *index);

/* -- convert.c: elements and numbers ----------------------------------------------------------- */
RgValue value_load(Type type, const void *element);
/* Stores a value if it fits; else sets value.fit, naming `what`: "field 'x'". */
bool value_store(Type type, void *element, const RgValue *value, const char *what, Error *err);
/* Does the value fit? Then stores its bits as in an element of `type`. The message begins with
 * `what`. */
bool value_convert(Type type, const RgValue *value, uint64_t *bits, const char *what, Error *err);
double value_number(Type type, const void *element); /* bool: 0 or 1 */
/* Replaces any NaN by one bit pattern: LuaJIT uses others as tags of its values, so that memory
 * which a script wraps could forge one. Every float that the host reads goes through here. */
double value_one_nan(double value);
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
