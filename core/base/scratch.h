/* scratch.h - memory of one compile: bump-allocated, zero-filled, freed in one call.
 * Allocation never returns NULL: when the heap is exhausted it leaves through the innermost guard
 * (guard.h), which reports memory.host; likewise when the thread's stack is. So code that allocates
 * runs under guard_run, needs no check after an allocation and must hold nothing but scratch
 * memory. One thread at a time. */
#ifndef RG_BASE_SCRATCH_H
#define RG_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/guard.h"
#include "base/heap.h"

typedef struct ScratchBlock ScratchBlock;

typedef struct Scratch {
  Heap *heap;
  ScratchBlock *blocks; /* newest first */
  size_t used, size;    /* of the newest block, in bytes */
  size_t total;         /* of all blocks */
} Scratch;

void scratch_init(Scratch *scratch, Heap *heap);
void scratch_deinit(Scratch *scratch);

/* 16-byte aligned, zero-filled, never NULL. */
void *scratch_alloc(Scratch *scratch, size_t size_bytes);
char *scratch_copy_text(Scratch *scratch, const char *text, size_t length); /* NUL added */
char *scratch_format(Scratch *scratch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define scratch_new(scratch, T) ((T *)scratch_alloc((scratch), sizeof(T)))
#define scratch_array(scratch, T, count) \
  ((T *)scratch_alloc((scratch), sizeof(T) * (size_t)(count)))

#endif
