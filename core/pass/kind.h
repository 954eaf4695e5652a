/* kind.h - what compiled kernels do to cells of each kind of SNode: a row of functions per kind, in
 * kind_*.c. No other file of the passes knows a kind; they follow a path (snode/path.h), or ask the
 * nearest sparse level, and call these.
 *
 *     descend     from a container to a cell, on the way to an element: address.c
 *     name        the operands of calls on a cell (a slot; words and a number; a node and
 *                 coordinates), and the calls: places.c, cells.c
 *     plan ..     how `active` runs: tasks.c, tasks_nest.c, order.c, leaf.c */
#ifndef RG_PASS_KIND_H
#define RG_PASS_KIND_H

#include "pass/address.h"
#include "pass/effects.h"
#include "pass/nest.h"

typedef struct Lower Lower; /* places.h */

typedef struct ActivePlan {  /* how a parallel loop over active cells becomes a task */
  IrTaskKind kind;
  const SNode *level;        /* whose nodes it goes over, or whose words; NULL: it is a range */
  bool has_cells;            /* the body stays that of a cell until `leaf` */
  int axis_count;            /* of a range, each from 0 on; 0: it is none */
  int64_t counts[SNODE_MAX_AXES];
  const char *over;          /* for explain(): "the active nodes" */
} ActivePlan;

typedef struct Kind {
  /* From the container at a->at to the indices' cell; activates it if a->ensures. Returns its
   * number in the container; or 0, and a->at is its node. */
  AddressIndex (*descend)(Address *a, const SNodeStep *step);
  /* At the container; NULL: no calls on cells, which are always active, or elements of lists. */
  int (*name)(Address *a, const SNodeStep *step, IrInst **operands);
  RtEntry find, ensure, live, clear; /* on one cell */
  RtEntry fetch;                     /* of an unbounded one: where `find` begins */
  RtEntry count, clear_all;          /* on all cells of the level */
  bool is_safe_to_clear; /* without a cell; else its slot or bit may be in the ambient */
  /* An op on cells of the level itself other than these calls; false: not one of this kind. NULL:
   * none. */
  bool (*lower)(Lower *l, IrInst *inst);

  /* Loops over active cells of `cells`, whose nearest sparse level is `sparse`: of this kind, or
   * NULL for a dense one. */
  ActivePlan (*plan)(const SNode *sparse, const SNode *cells);
  /* Serial, in index order: gives the indices. NULL: its axes have no ends, and order.c walks. */
  void (*nest)(Nest *nest, const SNode *sparse, const SNode *cells, IrInst **indices);
  bool asks_each_cell;       /* that its node is there does not say that a cell is active */
  /* May iterations change which cells they visit? Then a REMEMBER goes before the loop. NULL: not
   * in a way that counts. */
  bool (*may_change)(const Effects *effects, const IrTask *task);
  /* In place of what `leaf` does with a task over cells; false: leaf does it. NULL: always. */
  bool (*lower_task)(IrKernel *kernel, IrTask *task, const Effects *effects);
} Kind;

extern const Kind kind_dense, kind_pointer, kind_bitmasked, kind_dynamic, kind_hash;

const Kind *kind_of(const SNode *node);
const Kind *kind_of_step(const SNodeStep *step);
/* Of the nearest sparse level of `cells`; of a dense one where there is none. */
const Kind *kind_of_active(const SNode *cells);
/* The number in calls on the SNode: its manager's, or its mask's. */
static inline int kind_number(const SNode *node) {
  return node->mask >= 0 ? node->mask : node->manager;
}
/* For kinds whose cells are nodes: the way through one that the calls find or make; a loop over
 * nodes, or leaf by leaf. */
AddressIndex kind_descend_to_node(Address *a, const SNodeStep *step);
ActivePlan kind_plan_nodes(const SNode *sparse, const SNode *cells);

#endif
