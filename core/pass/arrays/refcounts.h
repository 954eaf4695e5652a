/* refcounts.h - shared by the passes `refcounts`, `array_descriptors` and `locks`, for
 * reference-counted arrays. */
#ifndef RG_PASS_ARRAYS_REFCOUNTS_H
#define RG_PASS_ARRAYS_REFCOUNTS_H

#include "ir/ir.h"

/* Does the op read or change the guard's reference? */
bool refcounts_uses_guard(const IrInst *inst, const IrInst *guard);
/* Is it a fresh array that is visible only in its own function, and to no other iteration? */
bool refcounts_is_private(const IrInst *array);
/* How a body uses arrays that it shares: `any`: at all; `elements`: it accesses their elements
 * through headers rather than through places. */
typedef struct RefcountsUse {
  bool any, elements;
} RefcountsUse;
RefcountsUse refcounts_use(const IrKernel *kernel, IrRegion *body);
/* After `lower_places`: can the results of the inst depend on the order of iterations, also through
 * an array that others see? */
bool refcounts_shows_order(const IrInst *inst);
/* Does the op access elements of such an array, its first operand? */
bool refcounts_reaches(const IrInst *inst);
/* Does a task call functions? */
bool refcounts_tasks_call(const IrKernel *kernel);

#endif
