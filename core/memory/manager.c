/* manager.c - see manager.h. */
#include "memory/manager.h"

bool memory_init(MemoryManager *memory, Heap *heap, const MemorySource sources[MEMORY_KINDS],
                 const MemoryConfig *transient) {
  *memory = (MemoryManager){0};
  MemoryConfig configs[MEMORY_KINDS] = {
      [MEMORY_PERSISTENT] = {.strategy = MEMORY_EXACT}, [MEMORY_TRANSIENT] = *transient};
  bool ok = true;
  for (int k = 0; k < MEMORY_KINDS; k++)
    ok &= (memory->pools[k] = memory_pool_create(heap, &sources[k], &configs[k])) != NULL;
  return ok;
}

void memory_deinit(MemoryManager *memory) {
  for (int k = 0; k < MEMORY_KINDS; k++) memory_pool_destroy(memory->pools[k]);
  *memory = (MemoryManager){0};
}

MemoryBlock *memory_allocate_block(MemoryManager *memory, MemoryKind kind, uint64_t size_bytes) {
  return memory_pool_allocate(memory->pools[kind], size_bytes);
}

/* The cursor may be older than that of an earlier block in the queue; the block then waits as long
 * as that one. */
static void queue_block(MemoryQueue *queue, MemoryBlock *block, uint64_t cursor) {
  block->pending = NULL;
  block->cursor = queue->last && queue->last->cursor > cursor ? queue->last->cursor : cursor;
  if (queue->last) queue->last->pending = block;
  else queue->first = block;
  queue->last = block;
}

void memory_free_block(MemoryManager *memory, MemoryKind kind, MemoryBlock *block, int32_t stream,
                       uint64_t cursor) {
  if (cursor <= memory->completed[stream]) {
    memory_pool_free(memory->pools[kind], block);
    return;
  }
  memory->waiting_bytes += block->requested;
  queue_block(&memory->waiting[kind][stream], block, cursor);
}

static void free_completed(MemoryManager *memory, int kind, int32_t stream) {
  MemoryQueue *queue = &memory->waiting[kind][stream];
  while (queue->first && queue->first->cursor <= memory->completed[stream]) {
    MemoryBlock *block = queue->first;
    queue->first = block->pending;
    memory->waiting_bytes -= block->requested;
    memory_pool_free(memory->pools[kind], block);
  }
  if (!queue->first) queue->last = NULL;
}

void memory_complete(MemoryManager *memory, int32_t stream, uint64_t cursor) {
  if (cursor <= memory->completed[stream]) return;
  memory->completed[stream] = cursor;
  for (int kind = 0; kind < MEMORY_KINDS; kind++) free_completed(memory, kind, stream);
}

void memory_tick(MemoryManager *memory) {
  for (int k = 0; k < MEMORY_KINDS; k++)
    if (k != MEMORY_PERSISTENT) memory_pool_tick(memory->pools[k]);
}

void memory_trim(MemoryManager *memory) {
  for (int k = 0; k < MEMORY_KINDS; k++) memory_pool_trim(memory->pools[k]);
}
