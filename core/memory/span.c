/* span.c - contiguous blocks in the source's range, from its beginning on:
 *
 *     base |#####..####|...|####| end of the last block, which is held         the range goes on
 *           ^ held      ^ free: in an index, best fit, lowest address of equals
 *
 * A request takes the smallest free block that fits, or extends past the last block. Small requests
 * have a separate index, and are served from groups, which are cut from the other free blocks.
 * Without groups, small long-lived blocks would cut a little off each large hole, in which the
 * former large block no longer fits. A free run as large as a group becomes an ordinary block. */
#include "memory/strategy.h"

enum { MAX_SMALL = 256 << 10, GROUP = 2 << 20 };

uint64_t span_end(const MemoryPool *pool) {
  return pool->last ? pool->last->at + pool->last->size : pool->source.base;
}

static FreeIndex *index_of(MemoryPool *pool, const MemoryBlock *block) {
  return block->is_small ? &pool->small : &pool->free;
}

/* -- free blocks ------------------------------------------------------------------------------- */

static bool can_join(const MemoryBlock *block, const MemoryBlock *neighbour) {
  return neighbour && neighbour->is_free && neighbour->is_small == block->is_small;
}

static MemoryBlock *join(MemoryPool *pool, MemoryBlock *block) {
  MemoryBlock *before = block->previous, *after = block->next;
  if (can_join(block, after)) {
    free_index_remove(index_of(pool, after), after);
    pool_join(pool, block);
  }
  if (!can_join(block, before)) return block;
  free_index_remove(index_of(pool, before), before);
  pool_join(pool, before);
  return before;
}

static void drop_last(MemoryPool *pool) {
  MemoryBlock *last = pool->last;
  pool->last = last->previous;
  if (pool->last) pool->last->next = NULL;
  else pool->first = NULL;
  pool_drop_record(pool, last);
}

void span_free(MemoryPool *pool, MemoryBlock *block) {
  block->is_free = true;
  block = join(pool, block);
  if (block->is_small && block->size >= GROUP) {
    block->is_small = false;
    block = join(pool, block);
  }
  if (block->next || block->is_small) free_index_add(index_of(pool, block), block);
  else drop_last(pool); /* the next block begins there */
}

void span_trim(MemoryPool *pool) {
  while (pool->last && pool->last->is_free) {
    free_index_remove(index_of(pool, pool->last), pool->last);
    drop_last(pool);
  }
}

/* -- requests ---------------------------------------------------------------------------------- */

static MemoryBlock *extend(MemoryPool *pool, uint64_t size) {
  uint64_t at = span_end(pool);
  if (size > pool->source.base + pool->source.size_bytes - at) return NULL;
  MemoryBlock *block = pool_record(pool, at, size);
  if (!block) return NULL;
  block->previous = pool->last;
  *(pool->last ? &pool->last->next : &pool->first) = block;
  return pool->last = block;
}

/* Splits off the end of the block that the request does not need. */
static MemoryBlock *split_off(MemoryPool *pool, MemoryBlock *block, uint64_t size) {
  block->is_free = false;
  MemoryBlock *remainder = block->size > size ? pool_split(pool, block, size) : NULL;
  if (!remainder) return block;
  remainder->is_small = block->is_small;
  span_free(pool, remainder);
  return block;
}

/* Best fit, without splitting. */
static MemoryBlock *take_best_fit(FreeIndex *index, uint64_t size) {
  MemoryBlock *block = free_index_find(index, size);
  if (block) free_index_remove(index, block);
  return block;
}

static MemoryBlock *take_large(MemoryPool *pool, uint64_t size) {
  MemoryBlock *block = take_best_fit(&pool->free, size);
  return block ? split_off(pool, block, size) : extend(pool, size);
}

/* Makes a group from a free block of a group's size, or else from any that fits. */
static MemoryBlock *take_group(MemoryPool *pool, uint64_t size) {
  MemoryBlock *block = take_best_fit(&pool->free, GROUP);
  if (block) block = split_off(pool, block, GROUP);
  if (!block) block = take_best_fit(&pool->free, size);
  if (!block) block = extend(pool, GROUP);
  if (!block) block = extend(pool, size);
  if (block) block->is_small = true;
  return block;
}

static MemoryBlock *take_small(MemoryPool *pool, uint64_t size) {
  MemoryBlock *block = take_best_fit(&pool->small, size);
  if (!block) block = take_group(pool, size);
  return block ? split_off(pool, block, size) : NULL;
}

MemoryBlock *span_allocate(MemoryPool *pool, uint64_t size) {
  if (size > pool->source.size_bytes) return NULL;
  return size <= MAX_SMALL ? take_small(pool, size) : take_large(pool, size);
}

/* -- queries ----------------------------------------------------------------------------------- */

uint64_t span_largest(const MemoryPool *pool) {
  const MemoryBlock *block = free_index_largest(&pool->free);
  if (!block) block = free_index_largest(&pool->small);
  return block ? block->size : 0;
}

bool span_is_valid(const MemoryPool *pool, const char **violated) {
  uint64_t at = pool->source.base, in_use = 0, free_count = 0;
  const MemoryBlock *before = NULL;
  for (const MemoryBlock *block = pool->first; block; before = block, block = block->next) {
    *violated = "blocks follow each other without gaps";
    if (block->at != at || !block->size || block->previous != before) return false;
    *violated = "two neighbours, both small or both not, are not both free";
    if (block->is_free && can_join(block, before)) return false;
    *violated =
        "free blocks of groups are smaller than a group, and no other free block is the last";
    if (block->is_free && (block->is_small ? block->size >= GROUP : !block->next)) return false;
    *violated = "an index contains the free blocks";
    const FreeIndex *index = block->is_small ? &pool->small : &pool->free;
    if (block->is_free && !free_index_has(index, block)) return false;
    at += block->size;
    free_count += block->is_free;
    if (!block->is_free) in_use += block->size;
  }
  *violated = "the counts are those of the blocks";
  return pool->last == before && (uint64_t)(pool->free.count + pool->small.count) == free_count &&
         in_use == pool->usage.in_use;
}
