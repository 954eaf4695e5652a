/* free_index.h - an index of free blocks, ordered by size and then by address: a treap, whose shape
 * depends only on the blocks. Private to this room. */
#ifndef RG_MEMORY_FREE_INDEX_H
#define RG_MEMORY_FREE_INDEX_H

#include "memory/pool.h"

typedef struct FreeIndex {
  MemoryBlock *root;
  int64_t count;
} FreeIndex;

void free_index_add(FreeIndex *index, MemoryBlock *block);
/* The block must be in the index, and unchanged since it was added. */
void free_index_remove(FreeIndex *index, MemoryBlock *block);
/* The smallest block of at least `size` bytes, with the lowest address of equals; NULL if there is
 * none. */
MemoryBlock *free_index_find(const FreeIndex *index, uint64_t size);
MemoryBlock *free_index_largest(const FreeIndex *index);
bool free_index_has(const FreeIndex *index, const MemoryBlock *block);

#endif
