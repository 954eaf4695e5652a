/* trips.h - turns loops of unknown trip count into loops over numbered iterations. */
#ifndef RG_PASS_GRADIENT_TRIPS_H
#define RG_PASS_GRADIENT_TRIPS_H

#include "ir/ir.h"

/* A loop that counts its iterations while it runs; `trips` reads the count after it. */
typedef struct LoopCount {
  IrInst *loop, *trips;
  bool has_end; /* its operands bound its trip count */
} LoopCount;
typedef VEC(LoopCount) LoopCounts;

/* Rewrites each loop with its own exits, among those that `wanted` (by inst id) names, as a FOR
 * without exits, or one of `counts`, which has one at its end. Exits that leave several loops at
 * once stay. */
void trips_number(Scratch *scratch, IrKernel *kernel, const bool *wanted, int count,
                  LoopCounts *counts);

#endif
