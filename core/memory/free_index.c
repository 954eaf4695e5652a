/* free_index.c - see free_index.h. A node's priority, a hash of its address, is at least its
 * children's; its left subtree precedes it in order. */
#include "memory/free_index.h"

static uint32_t priority_of(const MemoryBlock *block) {
  uint64_t mixed = (block->at >> 8 ^ block->at >> 29) * UINT64_C(0x9E3779B97F4A7C15);
  return (uint32_t)(mixed >> 32);
}

static inline bool is_before(const MemoryBlock *a, const MemoryBlock *b) {
  return a->size != b->size ? a->size < b->size : a->at < b->at;
}

/* Splits a subtree into the blocks before `block` and those after it. */
static void split(MemoryBlock *node, const MemoryBlock *block, MemoryBlock **before,
                  MemoryBlock **after) {
  while (node) {
    if (is_before(node, block)) {
      *before = node;
      before = &node->right;
      node = node->right;
    } else {
      *after = node;
      after = &node->left;
      node = node->left;
    }
  }
  *before = *after = NULL;
}

void free_index_add(FreeIndex *index, MemoryBlock *block) {
  MemoryBlock **link = &index->root;
  block->priority = priority_of(block);
  while (*link && (*link)->priority >= block->priority)
    link = is_before(block, *link) ? &(*link)->left : &(*link)->right;
  MemoryBlock *below = *link;
  *link = block;
  split(below, block, &block->left, &block->right);
  index->count++;
}

void free_index_remove(FreeIndex *index, MemoryBlock *block) {
  MemoryBlock **link = &index->root, *left = block->left, *right = block->right;
  while (*link != block) link = is_before(block, *link) ? &(*link)->left : &(*link)->right;
  while (left && right) {
    bool is_left = left->priority >= right->priority;
    *link = is_left ? left : right;
    link = is_left ? &left->right : &right->left;
    if (is_left) left = left->right;
    else right = right->left;
  }
  *link = left ? left : right;
  block->left = block->right = NULL;
  index->count--;
}

MemoryBlock *free_index_find(const FreeIndex *index, uint64_t size) {
  MemoryBlock *node = index->root, *best = NULL;
  while (node) {
    if (node->size >= size) best = node;
    node = node->size >= size ? node->left : node->right;
  }
  return best;
}

MemoryBlock *free_index_largest(const FreeIndex *index) {
  MemoryBlock *node = index->root;
  while (node && node->right) node = node->right;
  return node;
}

bool free_index_has(const FreeIndex *index, const MemoryBlock *block) {
  const MemoryBlock *node = index->root;
  while (node && node != block) node = is_before(block, node) ? node->left : node->right;
  return node != NULL;
}
