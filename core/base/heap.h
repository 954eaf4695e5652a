/* heap.h - the allocator of the core, which takes memory from the C library or the host's
 * allocator. There is one Heap per runtime. It counts the bytes in use and can be told to fail its
 * Nth allocation (RG_STRESS=fail_alloc:N), so that tests reach every out-of-memory path.
 * Arenas of trees come from core/memory instead.
 * Threads: any thread may call; counters are atomic. */
#ifndef RG_BASE_HEAP_H
#define RG_BASE_HEAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* As RgAllocator: NULL for the C library's. */
typedef struct HeapSource {
  void *(*resize)(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes);
  void *data;
} HeapSource;

typedef struct Heap {
  _Atomic int64_t live_bytes;
  _Atomic int64_t allocations; /* made so far */
  int64_t fail_at;             /* the allocation (1-based) that fails once; 0: none does */
  HeapSource source;
} Heap;

/* Uses the C library, unless the caller changes `source` before the first allocation. */
void heap_init(Heap *heap, int64_t fail_at);
/* Zero-filled memory, or NULL. `size_bytes` 0 returns a unique pointer. Free with heap_free. */
void *heap_alloc(Heap *heap, size_t size_bytes);
/* Grows or shrinks; new bytes are zero. On failure returns NULL and `memory` stays valid. */
void *heap_resize(Heap *heap, void *memory, size_t size_bytes);
char *heap_copy_text(Heap *heap, const char *text);
void heap_free(Heap *heap, void *memory); /* NULL is fine */

#endif
