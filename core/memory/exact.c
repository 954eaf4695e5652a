/* exact.c - one range of addresses in which each block has its own pages, which are committed when
 * it is allocated and freed with it; free blocks are addresses without memory. For the large and
 * long-lived blocks of trees. Blocks are whole pages, managed by span.c. */
#include "base/bits.h"
#include "memory/strategy.h"

static MemoryBlock *allocate(MemoryPool *pool, uint64_t size_bytes) {
  const MemorySource *source = &pool->source;
  MemoryBlock *block = span_allocate(pool, align_up(size_bytes ? size_bytes : 1, MEMORY_PAGE));
  if (!block) return NULL;
  if (!source->commit(source->data, block->at, block->size)) {
    span_free(pool, block);
    return NULL;
  }
  pool->usage.device_calls++;
  pool_count_reserved(pool, block->size);
  block->dirty = 0;
  return block;
}

static void free_block(MemoryPool *pool, MemoryBlock *block) {
  pool->source.decommit(pool->source.data, block->at, block->size);
  pool->usage.reserved -= block->size;
  span_free(pool, block);
}

static bool is_valid(const MemoryPool *pool, const char **violated) {
  *violated = "all reserved bytes are in use";
  return pool->usage.reserved == pool->usage.in_use && span_is_valid(pool, violated);
}

static void end(MemoryPool *pool) {
  for (MemoryBlock *block = pool->first; block; block = block->next)
    if (!block->is_free) pool->source.decommit(pool->source.data, block->at, block->size);
}

const StrategyRow strategy_exact = {.allocate = allocate,
                                    .free = free_block,
                                    .trim = span_trim,
                                    .largest = span_largest,
                                    .is_valid = is_valid,
                                    .end = end};
