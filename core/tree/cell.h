/* cell.h - host access to cells: from an index to memory. Private to the room.
 * Follows the level's path (snode/path.h) step by step, to a Cell:
 *
 *     element of component c  at  cell.base + c.offset + cell.number * c.stride */
#ifndef RG_TREE_CELL_H
#define RG_TREE_CELL_H

#include "snode/path.h"
#include "tree/tree.h"

/* storage.c: the row of rt.h's RtLevel for a step of a path, in coordinates of the manager whose
 * step `own` is. `is_first`: its container is in the parent node, or in the root's container. */
void storage_fill_level(RtLevel *level, const SNodeStep *step, const SNodeStep *own, bool is_first);

typedef struct Cell {
  uint8_t *base;
  uint64_t number;
} Cell;
/* A cell of a laid-out level. False if it is inactive; activates nothing. The index is inside the
 * shape. */
bool cell_find(RtContext *context, const SNode *level, const int64_t *index, Cell *cell);
/* The same for memory that the device may have newer: only what lies on the way is brought to the
 * host, the cell itself is not. False with err. */
bool cell_look(Tree *tree, const SNode *level, const int64_t *index, Cell *cell, bool *is_there,
               Error *err);
/* Then the cell: so many components from this one on. */
bool cell_reach(Tree *tree, Cell cell, const SNodeComponent *component, int count, DeviceUse use,
                Error *err);
/* Likewise the list of a cell of a dynamic level, with its length; NULL: it is not there. */
bool cell_look_list(Tree *tree, const SNode *level, const int64_t *index, uint32_t **list,
                    Error *err);
/* visit.c: the same and more, where the device has the newest contents of a sparse tree, without
 * moving them. Not done: it has not, or the host is better off with all of them here. */
typedef struct CellAsk {
  RtVisitWay way;
  bool is_list;               /* of the cell's list, of a dynamic level, not of the element */
  const int64_t *index;
  bool could_look;            /* cell_look is a way to do it, too */
  /* numbers of the cell that are read, or are written if it is there in the end; or none */
  const SNodeComponent *components;
  int component_count;
  bool reads;
  uint64_t *bits;             /* NULL: zeros are written */
  bool is_done, is_there;     /* out */
  int64_t value;              /* out: RtVisit.value */
} CellAsk;
bool cell_ask(Tree *tree, const SNode *level, CellAsk *ask, Error *err);
/* Must it be asked: is nothing of the tree to be seen here? */
bool cell_is_away(const Tree *tree);
/* Activates what is missing; if the budget is exhausted the cell is in a sink and context->error is
 * set. */
Cell cell_ensure(RtContext *context, const SNode *level, const int64_t *index);
/* The list (rt.h) of a cell of a dynamic level; NULL if its ancestors are inactive, or cannot be
 * activated: then context->error says why. */
uint32_t *cell_find_list(RtContext *context, const SNode *level, const int64_t *index,
                         bool ensures);
/* Deactivates the cell of a sparse level. */
void cell_clear(RtContext *context, const SNode *level, const int64_t *index);
static inline uint8_t *cell_element(Cell cell, const SNodeComponent *component) {
  return cell.base + component->offset + cell.number * component->stride;
}
/* The number of active nodes of a manager, whose list is up to date then; -1 with err. */
int64_t cell_list(Tree *tree, int manager, Error *err);
/* After native calls that may have changed the topology: refreshes, and turns a fault into an
 * error. */
bool cell_refresh(Tree *tree, Error *err);

/* -- cell_walk.c: all active cells, node by node, in runs ------------------------------------- */
typedef struct CellRun {
  const SNodeStep *step;             /* whose digits number the run's cells; NULL: one cell */
  uint8_t *first;                    /* the component in the run's first cell */
  uint64_t stride;
  int64_t count;
  int64_t index[SNODE_MAX_AXES];     /* of the first cell */
} CellRun;
typedef bool CellVisit(void *data, const CellRun *run);
/* Number `part` of the elements. False if a visit returned false, or with err if a list could not
 * grow. */
bool cell_walk(Field *field, int part, CellVisit *visit, void *data, Error *err);
/* node_order.c: the active nodes of a manager, in the order of their coordinates. */
typedef struct CellNode {
  uint8_t *memory;
  RtNodeInfo *info;
  uint32_t number;                   /* among all nodes of its manager, active or not */
} CellNode;
typedef struct CellNodes {
  CellNode *rows;                    /* of the heap */
  int64_t count;
} CellNodes;
/* The tree is refreshed. On failure there is nothing to free. */
bool cell_nodes_sort(Tree *tree, int manager, CellNodes *nodes, Error *err);
/* The active cells of a level, in an order that its declaration and the active cells alone decide:
 * `component` (a field's number, or what leads to the SNode below) of each. `nodes` are those of
 * the level's nearest node level, if it has one. False if a visit returned false. */
bool cell_walk_in_order(Tree *tree, const SNode *level, const SNodeComponent *component,
                        const CellNodes *nodes, CellVisit *visit, void *data);
/* The next index in the run: an odometer of the step's digits. */
void cell_next_in_run(const CellRun *run, int64_t *index);

/* -- convert.c: elements and numbers ----------------------------------------------------------- */
RgValue value_load(Type type, const void *element);
/* Stores a value that fits; else value.fit, naming `what`: "field 'x'". */
bool value_store(Type type, void *element, const RgValue *value, const char *what, Error *err);
/* Does it fit? Then its bits, as in an element of `type`. The message begins with `what`. */
bool value_convert(Type type, const RgValue *value, uint64_t *bits, const char *what, Error *err);
double value_number(Type type, const void *element);   /* bool: 0 or 1 */
/* The value, but NaN with one set of bits: LuaJIT takes others for the tags of its values, so
 * memory that a script wraps could forge one. Every float that the host sees goes through here. */
double value_one_nan(double value);
int64_t value_integer(Type type, const void *element); /* u64 keeps its bits */
/* vector_value.c: the same for values of several numbers; scalars have one. */
/* One number of a VECTOR, whose scalar type this is. */
RgValue vector_number(const RgVector *vector, Type type, int part);
bool vector_convert(Store *store, Type type, const RgValue *value, uint64_t bits[TYPE_MAX_NUMBERS],
                    const char *what, Error *err);
/* borrowed until the next call */
RgValue vector_value(Store *store, Type type, const uint64_t *bits);
/* "2.5", "true", "a field" */
const char *value_text(const RgValue *value, char buffer[48]);

#endif
