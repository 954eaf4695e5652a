/* packed.h - shared by the passes for packed numbers. */
#ifndef RG_PASS_PACKED_PACKED_H
#define RG_PASS_PACKED_PACKED_H

#include "ir/task.h"

/* -- packed.c ---------------------------------------------------------------------------------- */

/* How the numbers of the field are packed; NULL: it is not packed. */
const SNodePacked *packed_of(const IrKernel *kernel, int field);
/* Adds the field of its words, which is named after all packed fields of them that the kernel uses.
 * */
int packed_add_words(IrKernel *kernel, const SNodePacked *packed, const char *name);
/* Index number `axis` of a place; if it is a word of a packed array, the index of its first
 * element. */
IrInst *packed_first_index(IrBuilder *b, const IrInst *place, int axis);

/* The ends of a task's last axis, which the host region sets once. */
typedef struct TaskBounds {
  IrInst *begin, *end;          /* FRAME_SET */
  int32_t begin_slot, end_slot; /* new slots from which the new body reads them; 0: it does not */
} TaskBounds;

/* False if they are not set once each. */
bool task_bounds_find(const IrKernel *kernel, const IrTask *task, TaskBounds *bounds);
/* The end of the indices, INT64_MAX if it is not known. */
int64_t task_bounds_most(const TaskBounds *bounds);
/* Emits, in the new body, the first index of elements, and the one past the last; NULL: no word
 * extends beyond it. */
IrInst *task_bounds_begin(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
IrInst *task_bounds_end(IrBuilder *b, TaskBounds *bounds, int per_word, Type type);
/* Replaces the bounds by those of the words that hold the elements, and sets the new slots. */
void task_bounds_to_words(IrKernel *kernel, const TaskBounds *bounds, int per_word);

/* -- codec.c: decodes and encodes packed numbers, to the bit like type/packed.c. Words are computed
 * as u32 or u64 -------------------------------------------------------------------------------- */

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
