/* scratch.c - bump allocation. A new block has a quarter of the size so far, at most 1 MiB, so that
 * long-lived memory wastes little of its last block. See scratch.h. */
#include "base/scratch.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, MAX_BLOCK = 1 << 20, ALIGNMENT = 16 };

/* Bytes after each allocation, filled so that a pointer read past its end is not NULL: following it
 * ends a test. */
#ifdef RG_DEBUG
enum { RED_ZONE = 64 };
#else
enum { RED_ZONE = 0 };
#endif

struct ScratchBlock {
  ScratchBlock *older;
  size_t padding;
  char bytes[];
};

void scratch_init(Scratch *scratch, Heap *heap) {
  memset(scratch, 0, sizeof *scratch);
  scratch->heap = heap;
}

void scratch_deinit(Scratch *scratch) {
  for (ScratchBlock *block = scratch->blocks, *older; block; block = older) {
    older = block->older;
    heap_free(scratch->heap, block);
  }
  scratch_init(scratch, scratch->heap);
}

static _Noreturn void run_out(void) {
  Error failure = {0};
  error_set(&failure, RG_ERROR_MEMORY, "the host has no memory left for compiling");
  guard_leave(&failure);
}

static void add_block(Scratch *scratch, size_t min_bytes) {
  size_t size = scratch->total / 4 > FIRST_BLOCK ? scratch->total / 4 : FIRST_BLOCK;
  if (size > MAX_BLOCK) size = MAX_BLOCK;
  if (size < min_bytes) size = min_bytes;
  ScratchBlock *block = heap_alloc(scratch->heap, sizeof *block + size);
  if (!block) run_out();
  block->older = scratch->blocks;
  scratch->blocks = block;
  scratch->size = size;
  scratch->total += size;
  scratch->used = 0;
}

void *scratch_alloc(Scratch *scratch, size_t size_bytes) {
  guard_check_stack();
  size_t size = ((size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + RED_ZONE;
  if (!scratch->blocks || size > scratch->size - scratch->used) add_block(scratch, size);
  char *memory = scratch->blocks->bytes + scratch->used;
  scratch->used += size;
  memset(memory + size_bytes, 0xa5, RED_ZONE);
  return memory;
}

char *scratch_copy_text(Scratch *scratch, const char *text, size_t length) {
  char *copy = scratch_alloc(scratch, length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *scratch_format(Scratch *scratch, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = scratch_alloc(scratch, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}
