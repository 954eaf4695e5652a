/* block.h - reference-counted memory of a store: an array's elements, a tree's root, or external
 * memory. A block has the usual header of counted memory (llvm_bc/counted.h), so kernels and
 * extensions in C can also hold references.
 *
 *     allocated, wrapped, adopted --last rt_release of its header--> retired --> freed
 *
 * Memory from block_allocate is zero-filled, aligned to 64 bytes, charged to the budget, and never
 * moves. When the store ends, the memory is freed even if references exist: then `memory` is NULL.
 * The block itself exists as long as its header is held. */
#ifndef RG_TREE_MEMORY_BLOCK_H
#define RG_TREE_MEMORY_BLOCK_H

#include "tree/memory/store.h"

struct Block {
  Object object; /* held by `memory_object`, and by code that uses `rt` after the memory is freed */
  Object memory_object; /* held by the header; its end frees the memory */
  Store *store;
  uint8_t *memory; /* NULL: freed */
  uint64_t size_bytes;
  char what[48];                  /* names the owner in messages */
  bool *is_alive;                 /* set to false when the memory is freed; may be NULL */
  RtTree rt;                      /* what devices see: the root's container of a dense tree */
  DeviceBlock own;                /* memory from block_allocate, or the range of block_adopt */
  bool is_adopted;                /* a tree's memory, for which devices use the tree's own RtTree */
  void (*release)(void *context); /* of block_wrap; may be NULL */
  void *context;
  RtCountedLent lent;     /* contains the header */
  Block *next, *previous; /* links in store->blocks */
};

/* These three return a block with one reference, or NULL with err. `more_bytes` are added after the
 * memory, for the owner's data. `what` names the owner in messages. */
Block *block_allocate(Store *store, uint64_t size_bytes, uint64_t more_bytes, const char *what,
                      Error *err);
/* External memory; not charged to the budget. On success `release` is called when the block is
 * freed, by the thread inside the store's owner. */
typedef struct BlockExternal {
  const uint8_t *memory;
  uint64_t size_bytes;
  bool is_constant;
  void (*release)(void *context);
  void *context;
} BlockExternal;
Block *block_wrap(Store *store, const BlockExternal *shown, Error *err);
/* Takes over a tree's range, in which `root` is the root's container, and which the caller has
 * charged to the budget. */
Block *block_adopt(Store *store, DeviceMemory range, uint8_t *root, uint64_t root_bytes,
                   Error *err);
static inline RtCounted *block_header(Block *block) { return &block->lent.counted; }
/* Is the memory from block_allocate? */
static inline bool block_is_own(const Block *block) {
  return block->own.base && !block->is_adopted;
}
static inline void block_release(Block *block) { rt_release(block_header(block)); }
/* Frees its memory now, even if it is held; for the end of the store. */
void block_free(Block *block);

#endif
