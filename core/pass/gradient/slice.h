/* slice.h - backward slices: what an inst is computed from, and what decides whether it runs.
 *
 *     if %c {
 *       set %k, %a                  the slice of %x: all of this
 *     }
 *     %j = get %k
 *     %x = load (place f0 %j)
 *
 * Loops are in it with their exits, and variables with all that sets them. */
#ifndef RG_PASS_GRADIENT_SLICE_H
#define RG_PASS_GRADIENT_SLICE_H

#include "ir/ir.h"

typedef struct Slice {
  const IrRegion *region; /* the slice is of its insts */
  bool *kept;             /* by id: in the slice; also variables from outside that are set in it */
  /* what runs once more begins with the elements that there were: so writes to fields that are read
   * are in it, and streams of random numbers may be */
  bool is_rerun;
  const IrInst *lost;  /* the first one that cannot be computed once more; NULL: all can be */
  bool is_overwritten; /* the region writes to a field that the slice reads, */
  bool is_reduced;     /* or loops in it add to a variable that it reads */
} Slice;

Slice slice_of(Scratch *scratch, const IrKernel *kernel, const IrRegion *region);
/* Adds the inst, and what it depends on. */
void slice_add(Slice *slice, IrInst *inst);
/* Adds the exits of the region, and of the loops in it. */
void slice_add_exits(Slice *slice, IrRegion *region);

#endif
