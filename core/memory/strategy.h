/* strategy.h - what a strategy's file gives, and what the pool gives to it. For the room alone. */
#ifndef RG_MEMORY_STRATEGY_H
#define RG_MEMORY_STRATEGY_H

#include "memory/free_index.h"
#include "memory/pool.h"

enum { MEMORY_ALIGN = 256 };

typedef struct StrategyRow {
  bool (*begin)(MemoryPool *pool); /* NULL: nothing to do; false: no memory of the host */
  /* The block for a request, not marked yet; NULL: none without more than there is. */
  MemoryBlock *(*take)(MemoryPool *pool, uint64_t size_bytes);
  void (*give)(MemoryPool *pool, MemoryBlock *block);
  void (*trim)(MemoryPool *pool);
  void (*tick)(MemoryPool *pool, int64_t now_ns); /* NULL: time changes nothing */
  uint64_t (*largest)(const MemoryPool *pool);
  bool (*is_valid)(const MemoryPool *pool, const char **broken);
  void (*end)(MemoryPool *pool);
} StrategyRow;

extern const StrategyRow strategy_expandable, strategy_simple, strategy_caching,
    strategy_exact;

typedef struct MemoryPage {   /* expandable: of the range */
  uint32_t users;             /* blocks on it that are held */
  bool has_memory;
} MemoryPage;

struct MemoryPool {
  Heap *heap;
  MemorySource source;
  MemoryConfig config;
  const StrategyRow *strategy;
  MemoryUsage usage;
  MemoryBlock *spare;         /* records that nothing uses, by `next` */
  void *records;              /* all of them: pieces of the heap, each beginning with a pointer */
  /* expandable, exact: blocks in order of addresses, without gaps from the range's base to `last`;
   * simple: chunks, newest first; caching: segment after segment, each without gaps */
  MemoryBlock *first, *last;
  FreeIndex free;             /* expandable, exact; caching: of large segments */
  FreeIndex small;            /* caching: of small ones */
  MemoryPage *pages;          /* expandable */
  uint64_t clean_from;        /* expandable: no block has been past this address */
  uint64_t page_capacity;
  uint64_t used_pages;        /* that have users */
  uint64_t idle_least;        /* expandable: bytes on other pages, the fewest since then: */
  int64_t idle_since_ns;
  int64_t ticks;              /* simple: requests since it gave chunks back */
  int64_t last_ns;            /* simple: when that was */
};

/* A record, all zero but these; NULL: the host has no memory. */
MemoryBlock *pool_record(MemoryPool *pool, uint64_t at, uint64_t size);
void pool_drop_record(MemoryPool *pool, MemoryBlock *block);
/* What the device gives and gets, counted. */
void pool_count_reserved(MemoryPool *pool, uint64_t size_bytes);
uint64_t pool_allocate(MemoryPool *pool, uint64_t size_bytes);
void pool_free(MemoryPool *pool, uint64_t at, uint64_t size_bytes);
/* pool_allocate as a block: a record with `chunk_size`, in no list. NULL: no memory. */
MemoryBlock *pool_add(MemoryPool *pool, uint64_t size_bytes);
/* `block` keeps `size` bytes; the rest becomes a free block after it, in no index yet. NULL: no
 * memory for the record: it stays whole. */
MemoryBlock *pool_split(MemoryPool *pool, MemoryBlock *block, uint64_t size);
/* The block and the one after it, which is in no index, become one. */
void pool_join(MemoryPool *pool, MemoryBlock *block);

/* -- span.c: blocks in one range, without gaps ------------------------------------------------- */
/* Of exactly that size; NULL: the range has no addresses left, or the host no memory. */
MemoryBlock *span_take(MemoryPool *pool, uint64_t size);
/* With its neighbours that are free, too. */
void span_give(MemoryPool *pool, MemoryBlock *block);
/* The last block, if it is free, is none. */
void span_trim(MemoryPool *pool);
uint64_t span_end(const MemoryPool *pool); /* of the last block */
uint64_t span_largest(const MemoryPool *pool);
bool span_is_valid(const MemoryPool *pool, const char **broken);

#endif
