/* manager.h - the memory of a device, in three kinds:
 *
 *   persistent  trees: large blocks of addresses, committed as they are touched: strategy exact
 *   transient   arrays, buffers, temporaries: the strategy that the user chose
 *   staging     buffers for copies between host and device: strategy expandable
 *
 * Work on a stream is numbered from 1; the number is its cursor. A block may be freed while queued
 * work still uses it: it waits until that work is completed, and can be reused after that.
 *
 *     held --memory_free_block(cursor)--> waits --memory_complete(>= cursor)--> free
 *
 * One thread at a time. */
#ifndef RG_MEMORY_MANAGER_H
#define RG_MEMORY_MANAGER_H

#include "memory/pool.h"

typedef enum MemoryKind {
  MEMORY_PERSISTENT,
  MEMORY_TRANSIENT,
  MEMORY_STAGING,
  MEMORY_KINDS
} MemoryKind;

enum { MEMORY_STREAMS = 8 };

typedef struct MemoryQueue {
  MemoryBlock *first, *last;
} MemoryQueue;

typedef struct MemoryManager {
  MemoryPool *pools[MEMORY_KINDS];
  MemoryQueue waiting[MEMORY_KINDS][MEMORY_STREAMS]; /* sorted by cursor */
  uint64_t completed[MEMORY_STREAMS];
  uint64_t waiting_bytes;
} MemoryManager;

/* `sources` has a source for each kind. False if the host is out of memory; memory_deinit is then
 * still needed. */
bool memory_init(MemoryManager *memory, Heap *heap, const MemorySource sources[MEMORY_KINDS],
                 const MemoryConfig *transient);
void memory_deinit(MemoryManager *memory); /* frees all blocks, held or not */
/* NULL if the device has no memory for it; completing work may free some. */
MemoryBlock *memory_allocate_block(MemoryManager *memory, MemoryKind kind, uint64_t size_bytes);
/* `stream` and `cursor` identify the last work that uses the block; cursor 0: no work uses it. */
void memory_free_block(MemoryManager *memory, MemoryKind kind, MemoryBlock *block, int32_t stream,
                       uint64_t cursor);
/* Call this when all work on the stream up to the cursor is done. */
void memory_complete(MemoryManager *memory, int32_t stream, uint64_t cursor);
/* Called now and then: frees memory that has been unused for some time. */
void memory_tick(MemoryManager *memory);
/* Returns unused memory to the device. */
void memory_trim(MemoryManager *memory);

#endif
