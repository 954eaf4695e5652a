/* strategy.h - the interface between a strategy's file and the pool. Private to this room. */
#ifndef RG_MEMORY_STRATEGY_H
#define RG_MEMORY_STRATEGY_H

#include "memory/free_index.h"
#include "memory/pool.h"

enum { MEMORY_ALIGN = 256 };

typedef struct StrategyRow {
  bool (*begin)(MemoryPool *pool); /* NULL: nothing to do; false: the host is out of memory */
  /* Finds a block for a request, not marked as in use yet; NULL if that needs more memory than the
   * device has. */
  MemoryBlock *(*allocate)(MemoryPool *pool, uint64_t size_bytes);
  void (*free)(MemoryPool *pool, MemoryBlock *block);
  void (*trim)(MemoryPool *pool);
  void (*tick)(MemoryPool *pool, int64_t now_ns); /* NULL: time has no effect */
  uint64_t (*largest)(const MemoryPool *pool);
  bool (*is_valid)(const MemoryPool *pool, const char **violated);
  void (*end)(MemoryPool *pool);
} StrategyRow;

extern const StrategyRow strategy_expandable, strategy_simple, strategy_caching, strategy_exact;

typedef struct MemoryPage { /* expandable: a page of the range */
  uint32_t users;           /* held blocks on it */
  bool has_memory;
} MemoryPage;

struct MemoryPool {
  Heap *heap;
  MemorySource source;
  MemoryConfig config;
  const StrategyRow *strategy;
  MemoryUsage usage;
  MemoryBlock *unused_records; /* unused records, linked by `next` */
  void *records;               /* all of them, in heap blocks that begin with the next's address */
  /* expandable, exact: blocks in order of addresses, without gaps from the range's base to `last`;
   * simple: chunks, newest first; caching: segment after segment, each without gaps */
  MemoryBlock *first, *last;
  FreeIndex free;      /* expandable, exact; caching: for large segments */
  FreeIndex small;     /* caching: for small ones */
  MemoryPage *pages;   /* expandable */
  uint64_t clean_from; /* expandable: no block has extended past this address */
  uint64_t page_capacity;
  uint64_t used_pages; /* pages that have users */
  uint64_t min_idle;   /* expandable: minimum of bytes on unused pages since */
  int64_t idle_since_ns;
  int64_t ticks;   /* simple: requests since chunks were last freed */
  int64_t last_ns; /* simple: time of that */
};

/* A zeroed record with this address and size; NULL if the host is out of memory. */
MemoryBlock *pool_record(MemoryPool *pool, uint64_t at, uint64_t size);
void pool_drop_record(MemoryPool *pool, MemoryBlock *block);
/* Allocate from the device, and free, with counts. */
void pool_count_reserved(MemoryPool *pool, uint64_t size_bytes);
uint64_t pool_allocate(MemoryPool *pool, uint64_t size_bytes);
void pool_free(MemoryPool *pool, uint64_t at, uint64_t size_bytes);
/* pool_allocate as a block: a record with `chunk_size`, in no list. NULL if out of memory. */
MemoryBlock *pool_add(MemoryPool *pool, uint64_t size_bytes);
/* `block` keeps `size` bytes; the rest becomes a free block after it, in no index yet. NULL if
 * there is no memory for the record: the block stays whole. */
MemoryBlock *pool_split(MemoryPool *pool, MemoryBlock *block, uint64_t size);
/* Merges the block with the one after it, which is in no index. */
void pool_join(MemoryPool *pool, MemoryBlock *block);

/* -- span.c: blocks in one range, without gaps ------------------------------------------------- */
/* Takes a block of exactly that size; NULL if the range has no addresses left, or the host no
 * memory. */
MemoryBlock *span_allocate(MemoryPool *pool, uint64_t size);
/* Frees a block and merges it with free neighbours. */
void span_free(MemoryPool *pool, MemoryBlock *block);
/* Removes the last block if it is free. */
void span_trim(MemoryPool *pool);
uint64_t span_end(const MemoryPool *pool); /* end of the last block */
uint64_t span_largest(const MemoryPool *pool);
bool span_is_valid(const MemoryPool *pool, const char **violated);

#endif
