/* access_shapes.h - what the files of the pass `access_shapes` share: the search for groups of
 * accesses in one region of a vectorised body. */
#ifndef RG_PASS_VECTOR_ACCESS_SHAPES_H
#define RG_PASS_VECTOR_ACCESS_SHAPES_H

#include "ir/access.h"
#include "ir/lanes.h"
#include "ir/task.h"
#include "pass/pass.h"

typedef struct Shapes {
  PassContext *ctx;
  IrKernel *kernel;
  const IrTask *task;
  const LaneFact *facts; /* of the vectorised body */
  int width;
  int32_t groups; /* of the region, so far */
  int *marks;     /* by inst id: the last search that marked it; access_groups.c */
  int searches;
} Shapes;

/* access_groups.c: groups the strided accesses to the cell of `first`, from there on. */
void shapes_group_strided(Shapes *s, IrInst *first);
/* The same for loads of adjacent numbers at an address that differs by lane, if profitable. */
bool shapes_group_cells(Shapes *s, IrInst *first);
/* Groups loads, from `first` on, that form runs, if profitable. */
bool shapes_group_load_runs(Shapes *s, IrInst *first);
/* Defers all but the last of the updates from `first` on that have only pure insts between them,
 * and groups them; returns the last. */
IrInst *shapes_group_updates(Shapes *s, IrInst *first);

#endif
