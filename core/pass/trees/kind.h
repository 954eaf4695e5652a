/* kind.h - how compiled kernels access cells of each kind of SNode: a row of functions per kind, in
 * kind.c. Other files of the passes follow a path (snode/path.h), or take the nearest sparse
 * level, and call these functions instead of testing kinds.
 *
 *     descend     from a container to a cell, on the way to an element: address.c
 *     name        the operands of calls on a cell (a slot; words and a number; a node and
 *                 coordinates), and the calls: lower_places.c, cells.c
 *     plan ..     how `active` runs: tasks.c, nest.c, leaf.c */
#ifndef RG_PASS_TREES_KIND_H
#define RG_PASS_TREES_KIND_H

#include "pass/address/address.h"
#include "pass/analysis/effects.h"
#include "pass/tasks/tasks.h"

typedef struct Lower Lower; /* lower_places.h */

typedef struct ActivePlan { /* how a parallel loop over active cells becomes a task */
  IrTaskKind kind;
  const SNode *level; /* whose nodes, or words, the task iterates over; NULL for a range */
  bool has_cells;     /* the body handles one cell until `leaf` */
  int axis_count;     /* of a range, whose axes begin at 0; 0 if it is not a range */
  int64_t counts[SNODE_MAX_AXES];
  const char *over; /* for explain(): "the active nodes" */
} ActivePlan;

typedef struct Kind {
  /* Walks from the container at a->at to the indices' cell; activates it if a->ensures. Returns the
   * cell's number in the container, or 0 after moving a->at to the cell's node. */
  AddressIndex (*descend)(Address *a, const SNodeStep *step);
  /* Called at the container. NULL: there are no calls on cells, since cells are always active or
   * are elements of lists. */
  int (*name)(Address *a, const SNodeStep *step, IrInst **operands);
  RtEntry find, ensure, live, clear; /* on one cell */
  RtEntry fetch;                     /* prefetches what `find` reads first; unbounded kinds only */
  RtEntry count, clear_all;          /* on all cells of the level */
  /* `clear` may be called where there is no cell; otherwise the slot or bit may be in the ambient
   * node, which is read-only */
  bool is_safe_to_clear;
  /* Lowers an op on cells of the level itself other than these calls; false if this kind does not
   * have the op. NULL: it has none. */
  bool (*lower)(Lower *l, IrInst *inst);

  /* Plans a loop over the active cells of `cells`, whose nearest sparse level is `sparse`: one of
   * this kind, or NULL for a dense one. */
  ActivePlan (*plan)(const SNode *sparse, const SNode *cells);
  /* Opens the serial loops, in index order, and sets the indices. NULL for unbounded axes, which
   * nest.c opens in order. */
  void (*nest)(Nest *nest, const SNode *sparse, const SNode *cells, IrInst **indices);
  bool tests_each_cell; /* an active node may have inactive cells, so each cell is tested */
  /* May iterations change the set of cells that the loop visits? Then a SAVE_MASKS precedes the
   * loop. NULL: such changes have no effect on the loop. */
  bool (*may_change)(const Effects *effects, const IrTask *task);
  /* Replaces `leaf` for a task over cells; false, or NULL, leaves the task to `leaf`. */
  bool (*lower_task)(IrKernel *kernel, IrTask *task, const Effects *effects);
} Kind;

/* each in kind.c, that of lists in kind_dynamic.c */
#define KIND(NAME, WORD, FACTS) extern const Kind kind_##WORD;
#include "snode/kind.def"
#undef KIND

const Kind *kind_of(const SNode *node);
const Kind *kind_of_step(const SNodeStep *step);
/* The kind of the nearest sparse level of `cells`, or kind_dense if there is none. */
const Kind *kind_of_active(const SNode *cells);
/* The number that identifies the SNode in calls: its mask's, or its manager's. */
static inline int kind_number(const SNode *node) {
  return node->mask >= 0 ? node->mask : node->manager;
}
/* For kinds whose cells are nodes: `descend`, to the node that the calls find or create, and `plan`
 * for a loop over nodes, or leaf by leaf. */
AddressIndex kind_descend_to_node(Address *a, const SNodeStep *step);
ActivePlan kind_plan_nodes(const SNode *sparse, const SNode *cells);
ActivePlan kind_plan_leaves(const SNode *sparse, const SNode *cells);

#endif
