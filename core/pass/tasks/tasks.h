/* tasks.h - what the pass `tasks` shares with others. Nested serial loops (nest.c): builds them
 * from the outside in, walks the active cells of unbounded levels in index order, and turns serial
 * RANGEs and ACTIVEs into nests. */
#ifndef RG_PASS_TASKS_TASKS_H
#define RG_PASS_TASKS_TASKS_H

#include "ir/task.h"

/* -- building: the builder stays inside the innermost loop ------------------------------------- */

typedef struct Nest {
  IrBuilder b;
  Type index;
  int levels; /* as exits count them: FORs and BITSs */
} Nest;

IrInst *nest_for(Nest *nest, IrInst *begin, IrInst *last); /* begin .. last; returns the index */
IrInst *nest_count(Nest *nest, int64_t count);             /* 0 .. count - 1 */
void nest_if(Nest *nest, IrInst *condition);
IrInst *nest_number(Nest *nest, int64_t number);
IrInst *nest_divide(Nest *nest, IrInst *index, int64_t by); /* index >= 0 */
/* Opens an `if` over the sparse cell that holds this cell of a level. */
void nest_test_cell(Nest *nest, const SNode *cells, IrInst *const *indices);

/* -- unbounded levels -------------------------------------------------------------------------- */

/* Must a walk in index order over `cells` enumerate the existing nodes, since an axis is
 * unbounded? */
bool order_is_needed(const SNode *cells);
/* Host region: takes a sorted snapshot of the nodes for such a walk; `depth`: number of enclosing
 * walks. */
IrInst *order_make(IrBuilder *host, const IrLevel *level, int depth);

/* -- serial loops ------------------------------------------------------------------------------ */

/* Adapts a BREAK or CONTINUE to loops that became nests: `levels` says how many FORs each of the
 * `count` enclosing loops became, innermost last. */
void nest_renumber_exit(IrInst *exit, const int *levels, int count);

/* Builds, before `loop` (a serial RANGE or ACTIVE, left unchanged), the equivalent empty nest of
 * FORs. `order`: of order_make, if the loop needs one, else NULL. `indices` become the values of
 * its parameters. Returns the innermost FOR's region; *levels: how many FORs there are. */
IrRegion *nest_of_loop(IrKernel *kernel, IrInst *loop, IrInst *order,
                       IrInst *indices[SNODE_MAX_AXES], int *levels);

/* tasks.c: the ops of one iteration of `body`, weighted by their cost relative to an addition. */
int32_t tasks_cost(const IrRegion *body);

#endif
