/* codec.h - storage codecs: how the bits of an element in memory become the number that a kernel
 * computes with, and back. Symbolic accesses (LOAD, STORE) are about numbers; `lower_places` asks
 * here for the ops on memory, and no other part of compiled kernels knows how elements are stored.
 *
 *     plain     the number itself: load | store
 *     narrow    a float of fewer bits than it is computed in (f16): load, widen | round, store
 *
 * An update, an exchange and the operands of list ops are in the stored type. The host's side is
 * tree/access/numbers.c. Decision D-pass-41. */
#ifndef RG_PASS_ADDRESS_CODEC_H
#define RG_PASS_ADDRESS_CODEC_H

#include "ir/ir.h"

/* Splits a LOAD, before its address is computed: returns a LOAD of the element as it is stored,
 * from which `load` now decodes its number; `load` itself if the number is stored as it is. */
IrInst *codec_open(IrKernel *kernel, IrInst *load);
/* What to store in an element of this type for a number of any float type, or of its own. */
IrInst *codec_encode(IrBuilder *b, Type stored, IrInst *number);

#endif
