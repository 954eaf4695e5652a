/* lane_accesses.h - what the files of the passes `cell_loops` and `lane_accesses` share. */
#ifndef RG_PASS_VECTOR_LANE_ACCESSES_H
#define RG_PASS_VECTOR_LANE_ACCESSES_H

#include "ir/access.h"
#include "ir/lanes.h"
#include "ir/task.h"

/* cell_loops_rows.c: writes a ROW as loops and deletes it. */
void cell_loops_row(Scratch *scratch, IrKernel *kernel, IrInst *row);
/* Replaces ROW_ACTIVE in the body of a scalar row, or of lanes that have a mask. */
void cell_loops_set_active(IrKernel *kernel, IrRegion *body);
/* leaf_threads.c: writes what the threads of a GPU that share a leaf divide among themselves, its
 * rows, cells and look-ups of neighbours, as loops of one of them. */
void cell_loops_share(Scratch *scratch, IrKernel *kernel, IrTask *task);

typedef struct LaneAccesses {
  Scratch *scratch;
  IrKernel *kernel;
  bool has_written;   /* an access */
  bool streams;       /* the task may have non-temporal stores */
  IrInst *may_be_all; /* a mask that is that of all lanes in one copy of its loop; NULL: none is */
  IrBuilder b;        /* before the access that is being written */
} LaneAccesses;

void lane_accesses_task(Scratch *scratch, IrKernel *kernel, IrTask *task);

/* lane_runs.c: writes the runs of a group. */
void lane_runs(LaneAccesses *l, const IrGroup *group);
/* lane_cells.c: writes an access of shape `cells` or `strided`; returns what it has read. */
void lane_cells(LaneAccesses *l, const IrInst *load);
IrInst *lane_strided(LaneAccesses *l, const IrInst *access);

/* -- shuffles.c -------------------------------------------------------------------------------- */
/* Lane k: lane picks[k] of `first`, followed by `second`. NULL is a vector of any numbers. */
IrInst *lane_shuffle(IrBuilder *b, IrInst *first, IrInst *second, const int *picks, int count);
/* lane_split transposes `count` vectors of whole cells, in place, to a vector for each number of a
 * cell; lane_join is the inverse. */
void lane_split(IrBuilder *b, IrInst **vectors, int count, int width);
void lane_join(IrBuilder *b, IrInst **vectors, int count, int width);
/* The numbers of a vector in which lane l's is at place l * count modulo its length, by lane. */
IrInst *lane_sorted(IrBuilder *b, IrInst *vector, int count);
/* A constant mask: of these bits; of all lanes. */
IrInst *lane_mask(IrBuilder *b, uint64_t bits, int width);
IrInst *lane_mask_all(IrBuilder *b, int width);
/* The address, or lanes of them, so many bytes further. */
IrInst *lane_moved(IrBuilder *b, IrInst *at, int64_t bytes);
/* The vector at an address: all its lanes. */
IrInst *lane_load_all(IrBuilder *b, Type lanes, IrInst *at);
void lane_store_all(IrBuilder *b, IrInst *at, IrInst *lanes);
/* Enters a loop over the active lanes of a mask, and returns its index. */
IrInst *lane_enter_loop(IrBuilder *b, IrInst *mask);

#endif
