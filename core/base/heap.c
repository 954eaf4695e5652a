/* heap.c - counted allocation; see heap.h. A header of 16 bytes before each block holds its
 * size. */
#include "base/heap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 16 };

void heap_init(Heap *heap, int64_t fail_at) {
  atomic_init(&heap->live_bytes, 0);
  atomic_init(&heap->allocations, 0);
  heap->fail_at = fail_at;
  heap->source = (HeapSource){0};
}

static bool must_fail(Heap *heap) {
  int64_t number = atomic_fetch_add_explicit(&heap->allocations, 1, memory_order_relaxed) + 1;
  return number == heap->fail_at;
}

static size_t *header_of(void *memory) { return (size_t *)(void *)((char *)memory - HEADER_BYTES); }

static void count(Heap *heap, int64_t bytes) {
  atomic_fetch_add_explicit(&heap->live_bytes, bytes, memory_order_relaxed);
}

/* New bytes are not zeroed. `block` NULL: allocates. */
static void *resize_block(const Heap *heap, void *block, size_t old_bytes, size_t new_bytes) {
  if (!heap->source.resize) return realloc(block, new_bytes);
  return heap->source.resize(heap->source.data, block, old_bytes, new_bytes);
}

static void *new_block(const Heap *heap, size_t size_bytes) {
  if (!heap->source.resize) return calloc(1, size_bytes);
  void *block = heap->source.resize(heap->source.data, NULL, 0, size_bytes);
  return block ? memset(block, 0, size_bytes) : NULL;
}

static void free_block(const Heap *heap, void *block, size_t size_bytes) {
  if (!heap->source.resize) free(block);
  else heap->source.resize(heap->source.data, block, size_bytes, 0);
}

void *heap_alloc(Heap *heap, size_t size_bytes) {
  if (must_fail(heap) || size_bytes > SIZE_MAX - HEADER_BYTES) return NULL;
  char *block = new_block(heap, size_bytes + HEADER_BYTES);
  if (!block) return NULL;
  *(size_t *)(void *)block = size_bytes;
  count(heap, (int64_t)size_bytes);
  return block + HEADER_BYTES;
}

void *heap_resize(Heap *heap, void *memory, size_t size_bytes) {
  if (!memory) return heap_alloc(heap, size_bytes);
  if (must_fail(heap) || size_bytes > SIZE_MAX - HEADER_BYTES) return NULL;
  size_t old_bytes = *header_of(memory);
  char *block =
      resize_block(heap, header_of(memory), old_bytes + HEADER_BYTES, size_bytes + HEADER_BYTES);
  if (!block) return NULL;
  *(size_t *)(void *)block = size_bytes;
  if (size_bytes > old_bytes) memset(block + HEADER_BYTES + old_bytes, 0, size_bytes - old_bytes);
  count(heap, (int64_t)size_bytes - (int64_t)old_bytes);
  return block + HEADER_BYTES;
}

char *heap_copy_text(Heap *heap, const char *text) {
  size_t length = strlen(text);
  char *copy = heap_alloc(heap, length + 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}

void heap_free(Heap *heap, void *memory) {
  if (!memory) return;
  size_t size_bytes = *header_of(memory);
  count(heap, -(int64_t)size_bytes);
  free_block(heap, header_of(memory), size_bytes + HEADER_BYTES);
}
