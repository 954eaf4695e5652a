/* codec.h - emits the ops that decode packed numbers from bits of a word, and encode them; the
 * results equal those of type/packed.c to the bit. Words are computed as u32 or u64 (packed_wide).
 * */
#ifndef RG_PASS_PACKED_CODEC_H
#define RG_PASS_PACKED_CODEC_H

#include "ir/ir.h"

/* The type in which words of this type are shifted and masked. */
Type packed_wide(Type word);
/* Decodes the number whose lowest bit in the word is bit `shift` (a u32). */
IrInst *packed_load(IrBuilder *b, const SNodePacked *packed, IrInst *word, IrInst *shift);
/* Encodes a number without a shared exponent, from bit 0 on, in type `wide`. */
IrInst *packed_bits(IrBuilder *b, const SNodePacked *packed, IrInst *number, Type wide);
/* Encodes all numbers that share an exponent, and the exponent, at their positions in the word.
 * `first` describes the first of them. */
IrInst *packed_shared_bits(IrBuilder *b, const SNodePacked *first, IrInst *const *numbers,
                           Type wide);
/* A mask of the number's bits, or of all numbers that share its exponent and the exponent, from bit
 * 0 on. */
uint64_t packed_unit_mask(const SNodePacked *packed);

#endif
