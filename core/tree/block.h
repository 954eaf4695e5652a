/* block.h - counted memory of a store: an array's elements, a tree's root, memory that somebody
 * else provides. Its header is that of all counted memory (llvm_bc/counted.h): kernels and
 * extensions in C may hold it, too.
 *
 *     taken, shown, kept --last rt_release of its header--> retired (base/owner.h) --> freed
 *
 * The memory of a block is zero at first where it is taken, aligned to 64 bytes, charged to the
 * budget, and stays where it is. When its store ends it is given back though it is held: then
 * `memory` is NULL. The block itself stays as long as its header is held. */
#ifndef RG_TREE_BLOCK_H
#define RG_TREE_BLOCK_H

#include "tree/store.h"

struct Block {
  Object object;       /* held by `ender`, and by whoever looks at `rt` past the memory's end */
  Object ender;        /* held by the header: what it ends gives the memory back */
  Store *store;
  uint8_t *memory;     /* NULL: given back */
  uint64_t size_bytes;
  char what[48];       /* its owner, in messages */
  bool *is_alive;      /* becomes false when the memory is given back; NULL: nobody asks */
  RtTree rt;           /* how devices see it: the root's container of a dense tree */
  DeviceBlock own;     /* of block_take; of block_keep, the range */
  bool is_kept;        /* a tree's, which devices know by itself */
  void (*release)(void *context); /* of block_show; NULL: nobody asks */
  void *context;
  RtCountedLent lent;  /* its header */
  Block *next, *previous; /* in store->blocks */
};

/* The header of each is held once. `more_bytes` follow the memory, for what belongs to it. `what`
 * names the owner in messages. NULL with err. */
Block *block_take(Store *store, uint64_t size_bytes, uint64_t more_bytes, const char *what,
                  Error *err);
/* Of somebody else: charged to nobody. When it is given back, `release` is called, by the thread
 * inside the store's owner; not if this fails. */
typedef struct BlockShown {
  const uint8_t *memory;
  uint64_t size_bytes;
  bool is_constant;
  void (*release)(void *context);
  void *context;
} BlockShown;
Block *block_show(Store *store, const BlockShown *shown, Error *err);
/* A tree's range, from now on the block's, of which `root` is the root's container, charged by the
 * caller. */
Block *block_keep(Store *store, DeviceMemory range, uint8_t *root, uint64_t root_bytes,
                  Error *err);
static inline RtCounted *block_header(Block *block) { return &block->lent.counted; }
/* Did block_take get its memory? */
static inline bool block_is_own(const Block *block) { return block->own.base && !block->is_kept; }
static inline void block_release(Block *block) { rt_release(block_header(block)); }
/* Its memory now, be it held or not; the store ends. */
void block_give(Block *block);

#endif
