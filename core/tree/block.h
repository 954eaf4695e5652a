/* block.h - memory of a store that belongs to no tree: an array's elements.
 * A block is zero at first, aligned to 64 bytes, charged to the budget, and stays where it is; its
 * memory is the device's, which reuses it. When its store ends it is freed before its owner is:
 * then `memory` is NULL.
 * Memory that somebody else provides may be shown to devices as a block, too. */
#ifndef RG_TREE_BLOCK_H
#define RG_TREE_BLOCK_H

#include "tree/store.h"

struct Block {
  Store *store;        /* NULL: nothing is held */
  uint8_t *memory;
  uint64_t size_bytes;
  char what[48];       /* its owner, in messages */
  bool is_held, is_shown; /* by which call; views look at them (array/element.c) */
  RtTree rt;           /* how devices see it: the root's container of a dense tree */
  DeviceBlock own;     /* of block_take */
  Block *next, *previous; /* in store->blocks */
};

/* `what` names the owner in messages. The block's place must not move until block_give. */
bool block_take(Store *store, Block *block, uint64_t size_bytes, const char *what, Error *err);
/* Of somebody else: charged to nobody, and only forgotten by block_give. */
bool block_show(Store *store, Block *block, const uint8_t *memory, uint64_t size_bytes,
                bool is_constant, Error *err);
/* Did block_take get its memory? */
static inline bool block_is_own(const Block *block) { return block->own.base; }
void block_give(Block *block); /* nothing held is fine */

#endif
