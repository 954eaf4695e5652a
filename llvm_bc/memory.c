/* memory.c - zeroing and copying. A CPU's library routines are best; a GPU has none, so it uses
 * loops (compiled with -ffreestanding, which keeps LLVM from turning them back into
 * calls).
 * A node is whole cache lines, and a store that fills a line need not read it first. The library's
 * memset uses string instructions from 2 KiB on, which take twice as long (nodes of 2 KiB, in
 * ascending order: 125 ns each instead of 60). Where no cache holds a level's nodes, non-temporal
 * stores neither read a line first nor evict another (85 ns in place of 230 to 330). */
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include "node.h"

enum { WORTH_STRINGS = 1 << 18 }; /* bytes */

#if defined(__x86_64__)
typedef long long HalfLine __attribute__((vector_size(32)));

/* Uses the widest stores that all but the oldest x86-64 processors have. */
__attribute__((target("avx"))) static void zero_lines(HalfLine *halves, uint64_t lines) {
  for (uint64_t i = 0; i < lines; i++) {
    halves[2 * i] = (HalfLine){0};
    halves[2 * i + 1] = (HalfLine){0};
    __asm__ volatile("" ::: "memory"); /* keeps LLVM from making a memset */
  }
}
#endif

void rt_node_zero(uint8_t *node, uint64_t bytes) {
#if defined(__x86_64__)
  if (bytes <= WORTH_STRINGS && __builtin_cpu_supports("avx")) {
    zero_lines((HalfLine *)(void *)node, bytes / RT_GRANULE);
    return;
  }
#endif
  rt_memory_zero(node, bytes);
}

void rt_node_zero_past(uint8_t *node, uint64_t bytes) {
#if defined(__x86_64__)
  __m128i *at = (__m128i *)(void *)node, *end = (__m128i *)(void *)(node + bytes);
  while (at < end) _mm_stream_si128(at++, _mm_setzero_si128());
#else
  rt_node_zero(node, bytes);
#endif
}

void rt_node_zero_end(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

void rt_memory_zero(void *memory, uint64_t bytes) {
#if defined(__NVPTX__) /* whole numbers, as other threads may read them */
  uint8_t *at = memory, *end = at + bytes;
  while (at < end) {
    uint64_t left = (uint64_t)(end - at), place = (uint64_t)at;
    uint64_t unit = !(place & 7) && left >= 8   ? 8
                    : !(place & 3) && left >= 4 ? 4
                    : !(place & 1) && left >= 2 ? 2
                                                : 1;
    if (unit == 8) *(uint64_t *)(void *)at = 0;
    else if (unit == 4) *(uint32_t *)(void *)at = 0;
    else if (unit == 2) *(uint16_t *)(void *)at = 0;
    else *at = 0;
    at += unit;
  }
#else
  __builtin_memset(memory, 0, bytes);
#endif
}

void rt_memory_copy(void *to, const void *from, uint64_t bytes) {
#if defined(__NVPTX__)
  uint8_t *out = to;
  const uint8_t *in = from;
  for (uint64_t i = 0; i < bytes; i++) out[i] = in[i];
#else
  __builtin_memcpy(to, from, bytes);
#endif
}
