/* node_bitmasked.c - the `bitmasked` SNode: dense cells, each with an activity bit. The part
 * inlined into kernels. A container is that of a dense SNode, followed by 64-bit words: cell c is
 * bit c % 64 of word c / 64.
 *
 *     inactive --set--> active --clear, then zeroed--> inactive
 *
 * Invariant: an inactive cell's memory is all zero, including the words and slots in it. So readers
 * need no bit, and a set bit implies that all above it are set. Clearing is a call: mask.c.
 * A write may race with a clear of the same cell by another iteration. Either the write comes
 * before the zeroing and is lost, or it comes after, and then the cell must not stay inactive. So a
 * task that does both sets the bit again after its write (keep): clear and keep are ordered on one
 * word, so the second sees the first. Of nested cells the innermost is kept first. */
#include "atomic.h"
#include "node.h"

enum { WORD_BITS = 64 };

static uint64_t bit_of(uint64_t cell) { return (uint64_t)1 << cell % WORD_BITS; }

int32_t rt_mask_active(const uint64_t *words, uint64_t cell) {
  return (rt_load_long(words + cell / WORD_BITS) & bit_of(cell)) != 0;
}

void rt_mask_set(RtContext *context, uint64_t *words, uint64_t cell) {
  uint64_t *word = words + cell / WORD_BITS, bit = bit_of(cell), bits = rt_load_long(word);
  if (__builtin_expect((bits & bit) != 0, 1)) return;
  if (rt_is_alone(context)) rt_store_long(word, bits | bit);
  else rt_set_bits(word, bit);
}

void rt_mask_keep(uint64_t *words, uint64_t cell) {
  rt_set_bits(words + cell / WORD_BITS, bit_of(cell));
}

/* Cells first .. first + count, 1 to 64 of them, in the low bits. They may span two words; a word
 * that holds none of them is not read. */
uint64_t rt_mask_bits(const uint64_t *words, uint64_t first, uint64_t count) {
  const uint64_t *word = words + first / WORD_BITS;
  uint64_t shift = first % WORD_BITS, bits = rt_load_long(word) >> shift;
  if (shift + count > WORD_BITS) bits |= rt_load_long(word + 1) << (WORD_BITS - shift);
  return count < WORD_BITS ? bits & (((uint64_t)1 << count) - 1) : bits;
}
