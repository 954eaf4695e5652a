/* codec.h - the ops by which kernels turn bits of a word into a packed number, and back: those of
 * type/packed.c, to the last bit. Words are computed as u32 or u64 (packed_wide). */
#ifndef RG_PASS_PACKED_CODEC_H
#define RG_PASS_PACKED_CODEC_H

#include "ir/ir.h"

/* The type in which bits of words of this type are moved. */
Type packed_wide(Type word);
/* The number whose lowest bit in the word is bit `shift` (a u32). */
IrInst *packed_load(IrBuilder *b, const SNodePacked *packed, IrInst *word, IrInst *shift);
/* The bits of a number, from bit 0 on; not with a shared exponent. `wide` is their type. */
IrInst *packed_bits(IrBuilder *b, const SNodePacked *packed, IrInst *number, Type wide);
/* The bits of all numbers that share an exponent, and of that, where they are in the word; `first`
 * is of the first of them. */
IrInst *packed_shared_bits(IrBuilder *b, const SNodePacked *first, IrInst *const *numbers,
                           Type wide);
/* Ones for the bits of the number, or of all those and their exponent, with the lowest at 0. */
uint64_t packed_unit_mask(const SNodePacked *packed);

#endif
