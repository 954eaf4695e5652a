/* caching.c - the rules of PyTorch's caching allocator, for comparison. Requests are rounded up to
 * multiples of 512 bytes. Small ones (up to 1 MiB) come from segments of 2 MiB, others from
 * segments of 20 MiB, or, from 10 MiB on, from separate segments, in multiples of 2 MiB. Allocation
 * is best fit; the rest of a block is split off if it is at least 512 bytes, or, in large segments,
 * more than 1 MiB; free neighbours in a segment are merged. Free segments are returned when memory
 * is short. A segment begins with the block that has its `chunk_size`. */
#include "base/bits.h"
#include "memory/strategy.h"

enum {
  ROUND = 512,
  MAX_SMALL = 1 << 20,
  SMALL_SEGMENT = 2 << 20,
  MIN_SEPARATE = 10 << 20,
  LARGE_SEGMENT = 20 << 20,
  LARGE_ROUND = 2 << 20
};

static uint64_t segment_for(uint64_t size) {
  if (size <= MAX_SMALL) return SMALL_SEGMENT;
  return size < MIN_SEPARATE ? LARGE_SEGMENT : align_up(size, LARGE_ROUND);
}

static FreeIndex *index_of(MemoryPool *pool, const MemoryBlock *block) {
  return block->is_small ? &pool->small : &pool->free;
}

static MemoryBlock *add_segment(MemoryPool *pool, uint64_t size) {
  MemoryBlock *block = pool_add(pool, segment_for(size));
  if (!block) return NULL;
  block->is_small = size <= MAX_SMALL;
  block->previous = pool->last;
  if (pool->last) pool->last->next = block;
  else pool->first = block;
  return pool->last = block;
}

static bool is_worth_splitting(const MemoryBlock *block, uint64_t size) {
  uint64_t remainder = block->size - size;
  return block->is_small ? remainder >= ROUND : remainder > MAX_SMALL;
}

static MemoryBlock *split_off(MemoryPool *pool, MemoryBlock *block, uint64_t size) {
  MemoryBlock *remainder = is_worth_splitting(block, size) ? pool_split(pool, block, size) : NULL;
  if (!remainder) return block;
  remainder->is_small = block->is_small;
  free_index_add(index_of(pool, remainder), remainder);
  return block;
}

static MemoryBlock *allocate(MemoryPool *pool, uint64_t size_bytes) {
  uint64_t size = align_up(size_bytes ? size_bytes : 1, ROUND);
  FreeIndex *index = size <= MAX_SMALL ? &pool->small : &pool->free;
  MemoryBlock *block = free_index_find(index, size);
  if (block) free_index_remove(index, block);
  else block = add_segment(pool, size);
  if (!block) return NULL;
  block = split_off(pool, block, size);
  block->dirty = block->size; /* any byte may have been used */
  return block;
}

/* Is the next block free, and in the same segment? */
static bool can_join_next(const MemoryBlock *block) {
  return block->next && block->next->is_free && !block->next->chunk_size;
}

static void free_block(MemoryPool *pool, MemoryBlock *block) {
  FreeIndex *index = index_of(pool, block);
  if (can_join_next(block)) {
    free_index_remove(index, block->next);
    pool_join(pool, block);
  }
  if (!block->chunk_size && block->previous->is_free) {
    block = block->previous;
    free_index_remove(index, block);
    pool_join(pool, block);
  }
  free_index_add(index, block);
}

static void drop_segment(MemoryPool *pool, MemoryBlock *block) {
  free_index_remove(index_of(pool, block), block);
  *(block->previous ? &block->previous->next : &pool->first) = block->next;
  *(block->next ? &block->next->previous : &pool->last) = block->previous;
  pool_free(pool, block->at, block->chunk_size);
  pool_drop_record(pool, block);
}

static void trim(MemoryPool *pool) {
  MemoryBlock *next;
  for (MemoryBlock *block = pool->first; block; block = next) {
    next = block->next;
    if (block->is_free && block->size == block->chunk_size) drop_segment(pool, block);
  }
}

static uint64_t largest(const MemoryPool *pool) {
  const MemoryBlock *block = free_index_largest(&pool->free);
  if (!block) block = free_index_largest(&pool->small);
  return block ? block->size : 0;
}

static bool is_valid(const MemoryPool *pool, const char **violated) {
  uint64_t reserved = 0, in_use = 0;
  int64_t free_count = 0;
  for (const MemoryBlock *block = pool->first; block; block = block->next) {
    const FreeIndex *index = block->is_small ? &pool->small : &pool->free;
    *violated = "blocks of a segment follow each other without gaps";
    if (!block->chunk_size && block->at != block->previous->at + block->previous->size)
      return false;
    *violated = "two neighbours of a segment are not both free";
    if (block->is_free && can_join_next(block)) return false;
    *violated = "the index contains the free blocks";
    if (block->is_free && !free_index_has(index, block)) return false;
    reserved += block->chunk_size;
    free_count += block->is_free;
    if (!block->is_free) in_use += block->size;
  }
  *violated = "the counts are those of the blocks";
  return reserved == pool->usage.reserved && in_use == pool->usage.in_use &&
         free_count == pool->free.count + pool->small.count;
}

static void end(MemoryPool *pool) {
  for (MemoryBlock *block = pool->first; block; block = block->next)
    if (block->chunk_size) pool_free(pool, block->at, block->chunk_size);
}

const StrategyRow strategy_caching = {.allocate = allocate,
                                      .free = free_block,
                                      .trim = trim,
                                      .largest = largest,
                                      .is_valid = is_valid,
                                      .end = end};
