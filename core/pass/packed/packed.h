/* packed.h - what the passes for packed numbers share. */
#ifndef RG_PASS_PACKED_PACKED_H
#define RG_PASS_PACKED_PACKED_H

#include "pass/packed/codec.h"

/* How the numbers of the field are packed; NULL: they are not. */
const SNodePacked *packed_of(const IrKernel *kernel, int field);
/* The field of its words, which has the names of all packed fields in them that the kernel uses. */
int packed_add_words(IrKernel *kernel, const SNodePacked *packed, const char *name);
/* Index number `axis` of a place; of a word of a packed array, that of its first element. */
IrInst *packed_first_index(IrBuilder *b, const IrInst *place, int axis);

#endif
