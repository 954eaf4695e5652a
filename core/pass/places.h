/* places.h - what the files of pass `places` share. */
#ifndef RG_PASS_PLACES_H
#define RG_PASS_PLACES_H

#include "pass/leaf_shape.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct CellRow { /* where a CELL lies; by id of the CELL */
  IrInst *same, *other; /* start of its row in its leaf; in the leaf it may cross into, NULL: none. Rows of runs only */
  IrInst *element;      /* the element's address; NULL: ROW_LOAD finds it */
} CellRow;

typedef struct Lower {
  PassContext *ctx;
  IrKernel *kernel;
  const IrTask *task;   /* NULL: the host region */
  LeafShape shape;      /* of a task over leaves */
  IrInst *row;          /* the ROW around, if any */
  IrInst *first_row;    /* the first of its pieces: what they share is made in front of it */
  CellRow *cells;       /* by id, for ids from before the pass */
} Lower;

/* cells.c */
void cells_lower_near(Lower *l, IrInst *near);
void cells_lower_cell(Lower *l, const IrInst *cell);
void cells_lower_access(Lower *l, IrInst *access); /* LOAD, STORE, UPDATE, RMW, CAS of a CELL */

/* places.c: `access` becomes its op on memory, at an address that is known to be good. Row lanes, 0 or 1: scalar. */
void places_access_memory(IrKernel *kernel, IrInst *access, IrInst *address, int lanes);

#endif
