/* span.c - blocks that follow each other in the source's range, from its beginning on:
 *
 *     base |#####..####|...|####............| end of the last block         the range goes on
 *           ^ held      ^ free: in the index, best fit, lowest address of equals
 *
 * A request takes the smallest free block that holds it, or goes past the last block. */
#include "memory/strategy.h"

uint64_t span_end(const MemoryPool *pool) {
  return pool->last ? pool->last->at + pool->last->size : pool->source.base;
}

static void set_free(MemoryPool *pool, MemoryBlock *block) {
  block->is_free = true;
  free_index_add(&pool->free, block);
}

/* A block past the last one; where that is free, together with it. */
static MemoryBlock *extend(MemoryPool *pool, uint64_t size) {
  MemoryBlock *last = pool->last;
  bool joins = last && last->is_free;
  uint64_t at = joins ? last->at : span_end(pool);
  if (size > pool->source.base + pool->source.size_bytes - at) return NULL;
  if (joins) {
    free_index_remove(&pool->free, last);
    last->size = size;
    return last;
  }
  MemoryBlock *block = pool_record(pool, at, size);
  if (!block) return NULL;
  block->previous = last;
  if (last) last->next = block;
  else pool->first = block;
  return pool->last = block;
}

/* Without its end that the request does not need. */
static MemoryBlock *cut(MemoryPool *pool, MemoryBlock *block, uint64_t size) {
  free_index_remove(&pool->free, block);
  MemoryBlock *rest = block->size > size ? pool_split(pool, block, size) : NULL;
  if (!rest) return block;
  set_free(pool, rest);
  return block;
}

MemoryBlock *span_take(MemoryPool *pool, uint64_t size) {
  if (size > pool->source.size_bytes) return NULL;
  MemoryBlock *block = free_index_find(&pool->free, size);
  return block ? cut(pool, block, size) : extend(pool, size);
}

void span_give(MemoryPool *pool, MemoryBlock *block) {
  MemoryBlock *before = block->previous, *after = block->next;
  if (after && after->is_free) {
    free_index_remove(&pool->free, after);
    pool_join(pool, block);
  }
  if (before && before->is_free) {
    free_index_remove(&pool->free, before);
    pool_join(pool, before);
    block = before;
  }
  set_free(pool, block);
}

void span_trim(MemoryPool *pool) {
  MemoryBlock *last = pool->last;
  if (!last || !last->is_free) return;
  free_index_remove(&pool->free, last);
  pool->last = last->previous;
  if (pool->last) pool->last->next = NULL;
  else pool->first = NULL;
  pool_drop_record(pool, last);
}

uint64_t span_largest(const MemoryPool *pool) {
  const MemoryBlock *block = free_index_largest(&pool->free);
  return block ? block->size : 0;
}

bool span_is_valid(const MemoryPool *pool, const char **broken) {
  uint64_t at = pool->source.base, in_use = 0, free_count = 0;
  const MemoryBlock *before = NULL;
  for (const MemoryBlock *block = pool->first; block; before = block, block = block->next) {
    *broken = "blocks follow each other without gaps";
    if (block->at != at || !block->size || block->previous != before) return false;
    *broken = "two neighbours are not both free";
    if (block->is_free && before && before->is_free) return false;
    *broken = "the index holds what is free";
    if (block->is_free && !free_index_has(&pool->free, block)) return false;
    at += block->size;
    free_count += block->is_free;
    if (!block->is_free) in_use += block->size;
  }
  *broken = "the counts are those of the blocks";
  return pool->last == before && (uint64_t)pool->free.count == free_count &&
         in_use == pool->usage.in_use;
}
