/* pool.h - pools that reuse freed memory, by one of several strategies:
 *
 *   expandable  one range of addresses; best fit; pages are backed with the first block on them,
 *               and stay so until memory is short, or until they have been idle for a second
 *   simple      chunks of exactly the requested size, and, for requests that `slice` selects, parts
 *               of free chunks; free chunks are returned to the device at times (`dealloc`)
 *   caching     segments of 2 MiB, 20 MiB or more, split and merged; kept until memory is scarce
 *   exact       one range of addresses; each block has its own pages, which are freed with it
 *
 * Simple and caching follow Burn's compute crate (2023) and PyTorch's allocator, for devices
 * without ranges of addresses and for comparison; exact is for large and long-lived blocks.
 *
 * Invariants (memory_pool_is_valid): blocks do not overlap; adjacent free blocks are merged if they
 * can be; the index holds the free blocks; in total, requested <= size <= reserved.
 * The same requests in the same order get the same addresses. One thread at a time. */
#ifndef RG_MEMORY_POOL_H
#define RG_MEMORY_POOL_H

#include "base/heap.h"
#include "memory/source.h"

typedef enum MemoryStrategy {
#define STRATEGY(NAME, WORD) MEMORY_##NAME,
#include "memory/strategy.def"
#undef STRATEGY
  MEMORY_STRATEGY_COUNT
} MemoryStrategy;

/* When `simple` returns free chunks to the device: after every `dealloc_count` requests; or at the
 * first request after `dealloc_ns`. */
typedef enum MemoryDealloc { DEALLOC_NEVER, DEALLOC_PERIOD, DEALLOC_TIME } MemoryDealloc;
/* Which requests may take a part of a larger free chunk: those of at least `slice_ratio` of it; of
 * at least `slice_bytes`; or of at most `slice_bytes`. */
typedef enum MemorySlice { SLICE_NEVER, SLICE_RATIO, SLICE_MIN, SLICE_MAX } MemorySlice;

typedef struct MemoryConfig { /* all zero: expandable */
  MemoryStrategy strategy;
  MemoryDealloc dealloc;
  int64_t dealloc_count, dealloc_ns;
  MemorySlice slice;
  double slice_ratio;
  uint64_t slice_bytes;
} MemoryConfig;

typedef struct MemoryBlock MemoryBlock;
struct MemoryBlock {
  uint64_t at, size;  /* its address, and the bytes reserved for it */
  uint64_t requested; /* the bytes that its holder requested */
  /* in an allocated block: the first `dirty` bytes may have been used before; the rest is unchanged
   * since the device provided it */
  uint64_t dirty;
  bool is_free;
  /* -- private to the pool */
  bool is_small;                /* caching: in a segment for small blocks */
  bool was_used;                /* simple */
  uint32_t priority;            /* in the index */
  MemoryBlock *left, *right;    /* in the index */
  MemoryBlock *previous, *next; /* neighbours in the range, or in the list of chunks */
  /* simple: the size that the device provided; caching: the same, in the first block of a segment;
   * 0 in other blocks */
  uint64_t chunk_size;
  MemoryBlock *pending; /* manager.h: the next waiting block */
  uint64_t cursor;
};

typedef struct MemoryUsage {          /* bytes; each peak is independent */
  uint64_t live, peak_live;           /* requested and not freed yet */
  uint64_t in_use, peak_in_use;       /* reserved for these: live bytes and padding */
  uint64_t reserved, peak_reserved;   /* provided by the device */
  uint64_t allocations, device_calls; /* requests; allocations from the device */
  int64_t blocks;                     /* blocks in use */
} MemoryUsage;

typedef struct MemoryPool MemoryPool;

/* NULL if the host is out of memory. `source` is copied. */
MemoryPool *memory_pool_create(Heap *heap, const MemorySource *source, const MemoryConfig *config);
/* Frees everything, held or not. NULL is fine. */
void memory_pool_destroy(MemoryPool *pool);
/* Allocates at least `size_bytes` (0 is fine), aligned to 256 bytes, with undefined contents. NULL
 * if the device has no memory left, even after all free memory was returned to it, or the host has
 * no memory for the record. */
MemoryBlock *memory_pool_allocate(MemoryPool *pool, uint64_t size_bytes);
void memory_pool_free(MemoryPool *pool, MemoryBlock *block);
/* Called now and then, also without requests: frees memory that has been idle for some time. */
void memory_pool_tick(MemoryPool *pool);
/* Returns all memory that no block needs to the device. */
void memory_pool_trim(MemoryPool *pool);
MemoryUsage memory_pool_usage(const MemoryPool *pool);
uint64_t memory_pool_addresses(const MemoryPool *pool); /* size of its range */
/* The largest request that needs no memory from the device. */
uint64_t memory_pool_largest(const MemoryPool *pool);
bool memory_pool_is_valid(const MemoryPool *pool, const char **violated);

/* Parses "expandable", "caching", "simple" or "simple(period = 128, ratio = 0.8)": one of `period`,
 * `time` (seconds), `never`, and one of `ratio`, `min`, `max` (bytes). False: *wrong is the part
 * that is not understood. */
bool memory_config_parse(const char *text, MemoryConfig *config, const char **wrong);

#endif
