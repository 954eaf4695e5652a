/* pool.c - what all strategies share: records of blocks, counts, and the retry when the device is
 * out of memory. */
#include "memory/pool.h"

#include "base/error.h"
#include "memory/strategy.h"

static const StrategyRow *const strategies[MEMORY_STRATEGY_COUNT] = {
    [MEMORY_EXPANDABLE] = &strategy_expandable,
    [MEMORY_SIMPLE] = &strategy_simple,
    [MEMORY_CACHING] = &strategy_caching,
    [MEMORY_EXACT] = &strategy_exact};

/* -- records ----------------------------------------------------------------------------------- */

enum { RECORDS = 64 }; /* allocated from the heap at a time */

typedef struct Records {
  void *next;
  MemoryBlock blocks[RECORDS];
} Records;

static bool add_records(MemoryPool *pool) {
  Records *records = heap_alloc(pool->heap, sizeof *records);
  if (!records) return false;
  records->next = pool->records;
  pool->records = records;
  for (int k = RECORDS - 1; k >= 0; k--) pool_drop_record(pool, &records->blocks[k]);
  return true;
}

MemoryBlock *pool_record(MemoryPool *pool, uint64_t at, uint64_t size) {
  if (!pool->unused_records && !add_records(pool)) return NULL;
  MemoryBlock *block = pool->unused_records;
  pool->unused_records = block->next;
  *block = (MemoryBlock){.at = at, .size = size};
  return block;
}

void pool_drop_record(MemoryPool *pool, MemoryBlock *block) {
  block->next = pool->unused_records;
  pool->unused_records = block;
}

MemoryBlock *pool_split(MemoryPool *pool, MemoryBlock *block, uint64_t size) {
  MemoryBlock *remainder = pool_record(pool, block->at + size, block->size - size);
  if (!remainder) return NULL;
  remainder->is_free = true;
  remainder->previous = block;
  remainder->next = block->next;
  *(remainder->next ? &remainder->next->previous : &pool->last) = remainder;
  block->next = remainder;
  block->size = size;
  return remainder;
}

void pool_join(MemoryPool *pool, MemoryBlock *block) {
  MemoryBlock *after = block->next;
  block->size += after->size;
  block->next = after->next;
  if (block->next) block->next->previous = block;
  if (pool->last == after) pool->last = block;
  pool_drop_record(pool, after);
}

/* -- counts ------------------------------------------------------------------------------------ */

void pool_count_reserved(MemoryPool *pool, uint64_t size_bytes) {
  MemoryUsage *usage = &pool->usage;
  usage->reserved += size_bytes;
  if (usage->reserved > usage->peak_reserved) usage->peak_reserved = usage->reserved;
}

uint64_t pool_allocate(MemoryPool *pool, uint64_t size_bytes) {
  uint64_t at = pool->source.allocate(pool->source.data, size_bytes);
  if (!at) return 0;
  pool->usage.device_calls++;
  pool_count_reserved(pool, size_bytes);
  return at;
}

MemoryBlock *pool_add(MemoryPool *pool, uint64_t size_bytes) {
  MemoryBlock *block = pool_record(pool, 0, size_bytes);
  if (!block) return NULL;
  block->at = pool_allocate(pool, size_bytes);
  if (!block->at) {
    pool_drop_record(pool, block);
    return NULL;
  }
  block->chunk_size = size_bytes;
  return block;
}

void pool_free(MemoryPool *pool, uint64_t at, uint64_t size_bytes) {
  pool->source.free(pool->source.data, at, size_bytes);
  pool->usage.reserved -= size_bytes;
}

static void count_allocation(MemoryUsage *usage, const MemoryBlock *block) {
  usage->blocks++;
  usage->in_use += block->size;
  usage->live += block->requested;
  if (usage->live > usage->peak_live) usage->peak_live = usage->live;
  if (usage->in_use > usage->peak_in_use) usage->peak_in_use = usage->in_use;
}

/* -- the pool ---------------------------------------------------------------------------------- */

MemoryPool *memory_pool_create(Heap *heap, const MemorySource *source, const MemoryConfig *config) {
  MemoryPool *pool = heap_alloc(heap, sizeof *pool);
  if (!pool) return NULL;
  *pool = (MemoryPool){
      .heap = heap, .source = *source, .config = *config, .strategy = strategies[config->strategy]};
  if (!pool->strategy->begin || pool->strategy->begin(pool)) return pool;
  memory_pool_destroy(pool);
  return NULL;
}

void memory_pool_destroy(MemoryPool *pool) {
  if (!pool) return;
  pool->strategy->end(pool);
  while (pool->records) {
    Records *records = pool->records;
    pool->records = records->next;
    heap_free(pool->heap, records);
  }
  heap_free(pool->heap, pool);
}

MemoryBlock *memory_pool_allocate(MemoryPool *pool, uint64_t size_bytes) {
  if (size_bytes > UINT64_MAX / 4) return NULL;
  MemoryBlock *block = pool->strategy->allocate(pool, size_bytes);
  if (!block && pool->usage.reserved > pool->usage.in_use) {
    memory_pool_trim(pool);
    block = pool->strategy->allocate(pool, size_bytes);
  }
  pool->usage.allocations++;
  if (!block) return NULL;
  block->is_free = false;
  block->requested = size_bytes;
  count_allocation(&pool->usage, block);
  return block;
}

void memory_pool_free(MemoryPool *pool, MemoryBlock *block) {
  ASSERT(!block->is_free, "a block is freed once");
  pool->usage.blocks--;
  pool->usage.in_use -= block->size;
  pool->usage.live -= block->requested;
  block->is_free = true;
  block->requested = 0;
  pool->strategy->free(pool, block);
}

void memory_pool_tick(MemoryPool *pool) {
  if (!pool->strategy->tick) return;
  pool->strategy->tick(pool, pool->source.now_ns(pool->source.data));
}

void memory_pool_trim(MemoryPool *pool) { pool->strategy->trim(pool); }
MemoryUsage memory_pool_usage(const MemoryPool *pool) { return pool->usage; }
uint64_t memory_pool_addresses(const MemoryPool *pool) { return pool->source.size_bytes; }
uint64_t memory_pool_largest(const MemoryPool *pool) { return pool->strategy->largest(pool); }

bool memory_pool_is_valid(const MemoryPool *pool, const char **violated) {
  const MemoryUsage *usage = &pool->usage;
  *violated = "live <= in use <= reserved";
  if (usage->live > usage->in_use || usage->in_use > usage->reserved) return false;
  return pool->strategy->is_valid(pool, violated);
}
