/* window.h - one check for all accesses of a loop nest whose indices are base + a constant range.
 *
 *   for a = 0, 2 { for b = 0, 2 {              if %i in 0 .. n - 3 and %j in 0 .. m - 3 {
 *     load place f0 %i + a, %j + b    =>         the nest with `load place f0 inside ..`
 *   } }                                        } else { the nest as it was }
 *
 * The bases are values defined before the nest. Places that depend on anything else keep their
 * checks. */
#ifndef RG_PASS_WINDOW_H
#define RG_PASS_WINDOW_H

#include "ir/ir.h"

/* The copy of `nest` in which places are `inside`; `nest` itself becomes the other arm. NULL, and
 * nothing is changed, if no check can be saved. `body`: its parameters are the parallel loop's own
 * indices; `cells`: places at these are left to the leaf passes. */
IrInst *window_split(IrKernel *kernel, IrInst *nest, const IrRegion *body, bool cells);

#endif
