/* cell_loops.h - what the files of the pass `cell_loops` share. */
#ifndef RG_PASS_VECTOR_CELL_LOOPS_H
#define RG_PASS_VECTOR_CELL_LOOPS_H

#include "ir/lanes.h"
#include "pass/rewrite.h"

/* A loop over first, first + step, .. up to `last`, all of its type; the builder of its region. */
IrBuilder cell_loops_for(IrBuilder *b, IrInst *first, IrInst *last, int64_t step);

/* cell_loops_rows.c: writes a ROW as loops and deletes it. */
void cell_loops_row(Scratch *scratch, IrKernel *kernel, IrInst *row);

/* leaf_threads.c: chooses how so many threads divide the rows and cells in a region of a leaf. */
void cell_loops_share(IrRegion *region, int64_t threads);

#endif
