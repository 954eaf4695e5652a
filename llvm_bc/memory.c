/* memory.c - zeroing and copying. A CPU's own routines are best; a GPU has none, so it uses loops
 * of eight bytes (compiled with -ffreestanding, which keeps LLVM from turning them back into
 * calls).
 * A node is whole cache lines: stores that fill a line at once need not read it first. The
 * library's memset uses string instructions from 2 KiB on, which take twice as long (nodes of 2
 * KiB, in ascending order: 125 ns each instead of 60). */
#include "node.h"

enum { WORTH_STRINGS = 1 << 18 }; /* bytes */

#if defined(__x86_64__)
typedef long long HalfLine __attribute__((vector_size(32)));

/* With the widest stores that x86-64 has everywhere but on its oldest processors. */
__attribute__((target("avx"))) static void zero_lines(HalfLine *halves, uint64_t lines) {
  for (uint64_t i = 0; i < lines; i++) {
    halves[2 * i] = (HalfLine){0};
    halves[2 * i + 1] = (HalfLine){0};
    __asm__ volatile("" ::: "memory"); /* the loop is not a memset */
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

void rt_memory_zero(void *memory, uint64_t bytes) {
#if defined(__NVPTX__)
  uint64_t *words = memory, count = bytes / 8;
  for (uint64_t i = 0; i < count; i++) words[i] = 0;
  uint8_t *rest = (uint8_t *)memory;
  for (uint64_t i = count * 8; i < bytes; i++) rest[i] = 0;
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
