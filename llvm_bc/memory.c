/* memory.c - zeroing and copying. A CPU's own routines are best; a GPU has none, so it uses loops
 * of eight bytes (compiled with -ffreestanding, which keeps LLVM from turning them back into
 * calls). */
#include "node.h"

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
