/* free_index.h - free blocks in order of size, and of address where sizes are equal: a treap, whose
 * shape depends on the blocks alone. For the room alone. */
#ifndef RG_MEMORY_FREE_INDEX_H
#define RG_MEMORY_FREE_INDEX_H

#include "memory/pool.h"

typedef struct FreeIndex {
  MemoryBlock *root;
  int64_t count;
} FreeIndex;

void free_index_add(FreeIndex *index, MemoryBlock *block);
/* It is in the index, and as it was when it was added. */
void free_index_remove(FreeIndex *index, MemoryBlock *block);
/* The smallest of at least `size` bytes, and of those the first; NULL: there is none. */
MemoryBlock *free_index_find(const FreeIndex *index, uint64_t size);
MemoryBlock *free_index_largest(const FreeIndex *index);
bool free_index_has(const FreeIndex *index, const MemoryBlock *block);

#endif
