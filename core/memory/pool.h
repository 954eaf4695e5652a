/* pool.h - memory that is taken, given back, and taken again, by one of several strategies:
 *
 *   expandable  one range of addresses; best fit; pages get memory with the first block on them,
 *               and keep it until they are asked back, or until they have been idle for a second
 *   simple      chunks of exactly the bytes asked for, and parts of free chunks (`slice` says for
 *               which requests); free chunks go back to the device at times (`dealloc`)
 *   caching     segments of 2 MiB, 20 MiB or more, cut and joined; they stay until memory is short
 *   exact       one range of addresses; each block has pages of its own, which go back with it
 *
 * Simple and caching are the rules of Burn's compute crate (2023) and of PyTorch's allocator, for
 * devices without ranges of addresses and for comparison; exact is for what is large and stays.
 *
 * Invariants (memory_pool_is_valid): blocks do not overlap; two neighbours are not both free, where
 * they could be one; the index holds the free ones; asked <= size <= reserved, summed up.
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

/* When `simple` gives free chunks back, after a request: every `dealloc_count` requests; at the
 * first request after `dealloc_ns`. */
typedef enum MemoryDealloc { DEALLOC_NEVER, DEALLOC_PERIOD, DEALLOC_TIME } MemoryDealloc;
/* Which request may take a part of a larger free chunk: one that is at least `slice_ratio` of it,
 * at least, or at most, `slice_bytes`. */
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
  uint64_t at, size;          /* its address, and the bytes set aside for it */
  uint64_t asked;             /* the bytes that its holder wanted */
  /* of a block that was taken: how many bytes from its beginning may have been used before; the
   * others are as the device gave them */
  uint64_t dirty;
  bool is_free;
  /* -- the pool's */
  bool is_small;              /* caching: in a segment of small ones */
  bool was_used;              /* simple */
  uint32_t priority;          /* in the index */
  MemoryBlock *left, *right;  /* likewise */
  MemoryBlock *previous, *next; /* neighbours in the range, or in the list of chunks */
  /* simple: what the device gave; caching: likewise, in the first block of a segment; else 0 */
  uint64_t chunk_size;
  MemoryBlock *pending;       /* manager.h: the next that waits */
  uint64_t cursor;
};

typedef struct MemoryUsage {  /* bytes; the peaks each by itself */
  uint64_t live, peak_live;   /* asked for, and not given back */
  uint64_t in_use, peak_in_use; /* set aside for these: live and padding */
  uint64_t reserved, peak_reserved; /* what the device has given */
  uint64_t takes, device_calls; /* requests; how often the device was asked for memory */
  int64_t blocks;             /* that are held */
} MemoryUsage;

typedef struct MemoryPool MemoryPool;

/* NULL: the host has no memory left. `source` is copied. */
MemoryPool *memory_pool_create(Heap *heap, const MemorySource *source, const MemoryConfig *config);
/* Gives everything back, held or not. NULL is fine. */
void memory_pool_destroy(MemoryPool *pool);
/* At least `size_bytes` (0 is fine), aligned to 256 bytes, contents undefined. NULL: after all that
 * is free has gone back to the device, it has none left, or the host has none for the record. */
MemoryBlock *memory_pool_take(MemoryPool *pool, uint64_t size_bytes);
void memory_pool_give(MemoryPool *pool, MemoryBlock *block);
/* Now and then, also where nothing is requested: what has been idle for some time goes back. */
void memory_pool_tick(MemoryPool *pool);
/* All that no block needs goes back to the device. */
void memory_pool_trim(MemoryPool *pool);
MemoryUsage memory_pool_usage(const MemoryPool *pool);
uint64_t memory_pool_addresses(const MemoryPool *pool); /* of its range */
/* The largest request that needs nothing of the device. */
uint64_t memory_pool_largest(const MemoryPool *pool);
bool memory_pool_is_valid(const MemoryPool *pool, const char **broken);

/* "expandable", "caching", "simple", "simple(period = 128, ratio = 0.8)": of `period time never`
 * (seconds), `ratio min max` (bytes). False: *wrong is the part that is not understood. */
bool memory_config_parse(const char *text, MemoryConfig *config, const char **wrong);

#endif
