/* values.h - what a launch's values are to sema, and what of them a variant keeps so that the texts
 * of its compile can be made later: nothing of the host's is borrowed, and of a tree only its
 * declaration, which has no elements, lives as long as the variant. */
#ifndef RG_KERNEL_VALUES_H
#define RG_KERNEL_VALUES_H

#include "kernel/kernel.h"

/* Borrows what the values hold. */
SemaValue *values_read(Scratch *scratch, const Kernel *kernel, const RgValue *values,
                       int32_t count);
/* A copy that lasts; NULL when the host has no memory left. */
SemaValue *values_keep(Heap *heap, const SemaValue *values, int32_t count);
void values_free(Heap *heap, SemaValue *values, int32_t count); /* NULL is fine */

#endif
