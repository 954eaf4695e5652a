/* slice.h - backward slices: all that an inst is computed from, and that decides whether it runs.
 *
 *     if %c {
 *       set %k, %a                  the slice of %x: all of this
 *     }
 *     %j = get %k
 *     %x = load (place f0 %j)
 *
 * A loop is in it with its exits, and a variable with all insts that set it. */
#ifndef RG_PASS_GRADIENT_SLICE_H
#define RG_PASS_GRADIENT_SLICE_H

#include "ir/ir.h"

typedef struct Slice {
  const IrRegion *region; /* the slice is of its insts */
  bool *kept;             /* by id: in the slice; also variables from outside that are set in it */
  /* The slice runs once more from the elements as they were before the launch: so it has the writes
   * to fields that it reads, and may have streams of random numbers. */
  bool is_rerun;
  const IrInst *unrepeatable; /* the first inst that must not happen twice; NULL: none */
  bool is_overwritten;        /* the region writes to a field that the slice reads, */
  bool is_reduced;            /* or loops in it add to a variable that it reads */
} Slice;

Slice slice_of(const IrKernel *kernel, const IrRegion *region);
/* Adds the inst, and what it depends on. */
void slice_add(Slice *slice, IrInst *inst);
/* Adds the exits of the region, and of the loops in it. */
void slice_add_exits(Slice *slice, const IrRegion *region);

#endif
