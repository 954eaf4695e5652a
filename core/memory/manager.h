/* manager.h - the memory of a device, in three kinds:
 *
 *   persistent  trees: large parts of the addresses, whose memory comes as they are touched: exact
 *   transient   arrays, buffers, temporaries: by the strategy that the user chose
 *   staging     copies on their way between host and device: expandable
 *
 * Work on a stream has a number, its cursor, from 1 on. A block may be given back while work that
 * uses it is still to be done: it waits until that is completed, and is reused after that.
 *
 *     held --memory_give(stream, cursor)--> waits --memory_complete(stream, >= cursor)--> free
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

typedef struct MemoryQueue { MemoryBlock *first, *last; } MemoryQueue;

typedef struct MemoryManager {
  MemoryPool *pools[MEMORY_KINDS];
  MemoryQueue waiting[MEMORY_KINDS][MEMORY_STREAMS]; /* in order of their cursors */
  uint64_t completed[MEMORY_STREAMS];
  uint64_t waiting_bytes;
} MemoryManager;

/* A source for each kind. False: the host has no memory; then, too, memory_deinit. */
bool memory_init(MemoryManager *memory, Heap *heap, const MemorySource sources[MEMORY_KINDS],
                 const MemoryConfig *transient);
void memory_deinit(MemoryManager *memory); /* with all blocks, held or not */
/* NULL: the device has no memory for it, until what waits is completed, or at all. */
MemoryBlock *memory_take(MemoryManager *memory, MemoryKind kind, uint64_t size_bytes);
/* The last work that uses it; cursor 0: there is none. */
void memory_give(MemoryManager *memory, MemoryKind kind, MemoryBlock *block, int32_t stream,
                 uint64_t cursor);
/* All work of the stream up to the cursor is done. */
void memory_complete(MemoryManager *memory, int32_t stream, uint64_t cursor);
/* Now and then: what nobody has held for some time goes back. */
void memory_tick(MemoryManager *memory);
/* What nobody holds goes back to the device. */
void memory_trim(MemoryManager *memory);

#endif
