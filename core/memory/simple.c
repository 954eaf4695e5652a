/* simple.c - the strategy of Burn's compute crate as first described (v0.11): chunks of exactly the
 * requested size, and slices of free chunks.
 *
 * A request takes a free chunk of exactly its size; else a slice at the beginning of the smallest
 * free chunk for which the slice rule admits the request, one slice per chunk; else a new chunk
 * from the device. After that, `dealloc` may trigger and free every free chunk.
 * A block is a chunk: `size` is the part that is held, `chunk_size` the whole. */
#include "memory/strategy.h"

static bool may_slice(const MemoryConfig *config, uint64_t chunk, uint64_t size) {
  if (size > chunk) return false;
  switch (config->slice) {
  case SLICE_RATIO: return (double)size / (double)chunk >= config->slice_ratio;
  case SLICE_MIN: return size >= config->slice_bytes;
  case SLICE_MAX: return size <= config->slice_bytes;
  default: return false;
  }
}

/* Prefers the newest of equal chunks. */
static MemoryBlock *find_chunk(const MemoryPool *pool, uint64_t size) {
  MemoryBlock *best = NULL;
  for (MemoryBlock *chunk = pool->first; chunk; chunk = chunk->next) {
    if (!chunk->is_free) continue;
    if (chunk->chunk_size == size) return chunk;
    if (may_slice(&pool->config, chunk->chunk_size, size) &&
        (!best || chunk->chunk_size < best->chunk_size))
      best = chunk;
  }
  return best;
}

static MemoryBlock *add_chunk(MemoryPool *pool, uint64_t size) {
  MemoryBlock *chunk = pool_add(pool, size);
  if (!chunk) return NULL;
  chunk->next = pool->first;
  if (pool->first) pool->first->previous = chunk;
  return pool->first = chunk;
}

static void drop_chunk(MemoryPool *pool, MemoryBlock *chunk) {
  *(chunk->previous ? &chunk->previous->next : &pool->first) = chunk->next;
  if (chunk->next) chunk->next->previous = chunk->previous;
  pool_free(pool, chunk->at, chunk->chunk_size);
  pool_drop_record(pool, chunk);
}

static void trim(MemoryPool *pool) {
  MemoryBlock *next;
  for (MemoryBlock *chunk = pool->first; chunk; chunk = next) {
    next = chunk->next;
    if (chunk->is_free) drop_chunk(pool, chunk);
  }
}

static bool has_time_passed(MemoryPool *pool, int64_t now) {
  const MemoryConfig *config = &pool->config;
  if (config->dealloc != DEALLOC_TIME || now - pool->last_ns < config->dealloc_ns) return false;
  pool->last_ns = now;
  return true;
}

static bool is_dealloc_due(MemoryPool *pool) {
  const MemoryConfig *config = &pool->config;
  if (config->dealloc == DEALLOC_PERIOD && ++pool->ticks >= config->dealloc_count) {
    pool->ticks = 0;
    return true;
  }
  return config->dealloc == DEALLOC_TIME &&
         has_time_passed(pool, pool->source.now_ns(pool->source.data));
}

static void tick(MemoryPool *pool, int64_t now_ns) {
  if (has_time_passed(pool, now_ns)) trim(pool);
}

static MemoryBlock *allocate(MemoryPool *pool, uint64_t size_bytes) {
  uint64_t size = size_bytes ? size_bytes : 1;
  MemoryBlock *chunk = find_chunk(pool, size);
  if (!chunk) chunk = add_chunk(pool, size);
  if (!chunk) return NULL;
  chunk->dirty = chunk->was_used ? size : 0;
  chunk->was_used = true;
  chunk->size = size;
  chunk->is_free = false;
  if (is_dealloc_due(pool)) trim(pool);
  return chunk;
}

/* Nothing to do: the caller marks the chunk as free. */
static void free_block(MemoryPool *pool, MemoryBlock *block) { (void)pool, (void)block; }

static bool begin(MemoryPool *pool) {
  if (pool->config.dealloc == DEALLOC_TIME) pool->last_ns = pool->source.now_ns(pool->source.data);
  return true;
}

static uint64_t largest(const MemoryPool *pool) {
  uint64_t size = 0;
  for (const MemoryBlock *chunk = pool->first; chunk; chunk = chunk->next)
    if (chunk->is_free && chunk->chunk_size > size) size = chunk->chunk_size;
  return size;
}

static bool is_valid(const MemoryPool *pool, const char **violated) {
  uint64_t reserved = 0, in_use = 0;
  for (const MemoryBlock *chunk = pool->first; chunk; chunk = chunk->next) {
    *violated = "a slice lies in its chunk";
    if (!chunk->is_free && chunk->size > chunk->chunk_size) return false;
    reserved += chunk->chunk_size;
    if (!chunk->is_free) in_use += chunk->size;
  }
  *violated = "the counts are those of the chunks";
  return reserved == pool->usage.reserved && in_use == pool->usage.in_use;
}

static void end(MemoryPool *pool) {
  for (MemoryBlock *chunk = pool->first; chunk; chunk = chunk->next)
    pool_free(pool, chunk->at, chunk->chunk_size);
}

const StrategyRow strategy_simple = {.begin = begin,
                                     .allocate = allocate,
                                     .free = free_block,
                                     .trim = trim,
                                     .tick = tick,
                                     .largest = largest,
                                     .is_valid = is_valid,
                                     .end = end};
