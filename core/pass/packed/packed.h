/* packed.h - shared by the passes for packed numbers. */
#ifndef RG_PASS_PACKED_PACKED_H
#define RG_PASS_PACKED_PACKED_H

#include "pass/packed/codec.h"

/* How the numbers of the field are packed; NULL: it is not packed. */
const SNodePacked *packed_of(const IrKernel *kernel, int field);
/* Adds the field of its words, which is named after all packed fields of them that the kernel uses.
 * */
int packed_add_words(IrKernel *kernel, const SNodePacked *packed, const char *name);
/* Index number `axis` of a place; if it is a word of a packed array, the index of its first
 * element. */
IrInst *packed_first_index(IrBuilder *b, const IrInst *place, int axis);

#endif
