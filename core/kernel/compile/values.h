/* values.h - converts a launch's values for sema, and copies them for a version, so that later
 * compiles can repeat or vary it. A copy borrows nothing from the host; it keeps the declarations
 * of trees alive, but not their elements. */
#ifndef RG_KERNEL_VALUES_H
#define RG_KERNEL_VALUES_H

#include "kernel/kernel.h"

/* The result borrows what the values hold. */
SemaValue *values_read(Scratch *scratch, const Kernel *kernel, const RgValue *values,
                       int32_t count);
/* An owned copy; NULL if the host is out of memory. */
SemaValue *values_keep(Heap *heap, const SemaValue *values, int32_t count);
void values_free(Heap *heap, SemaValue *values, int32_t count); /* NULL is fine */

#endif
