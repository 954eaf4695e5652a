/* heap_gpu.c - see heap_gpu.h. The native copy serves memory that the host shares with a GPU.
 * Decision D-llvm_bc-14. */
#include "heap_gpu.h"

#include "atomic.h"
#include "group.h"

/* A head holds the piece's address, in units, and above it the number of changes. */
enum { PLACE_BITS = 42 };
static const uint64_t place_mask = ((uint64_t)1 << PLACE_BITS) - 1;

static int size_of(uint64_t size_bytes) { /* the power of two */
  uint64_t units = size_bytes / RT_GPU_UNIT + (size_bytes % RT_GPU_UNIT != 0);
  return units > 1 ? 64 - __builtin_clzll(units - 1) : 0;
}

static uint64_t *piece_at(uint64_t place) { return (uint64_t *)(uintptr_t)(place * RT_GPU_UNIT); }

static uint64_t head_with(uint64_t before, uint64_t place) {
  return (((before >> PLACE_BITS) + 1) << PLACE_BITS) | place;
}

static uint64_t *pop(RtGpuHeap *heap, uint64_t *head) {
  for (;;) {
    uint64_t before = rt_load_acquire_long(head), place = before & place_mask;
    if (!place) return 0;
    uint64_t *piece = piece_at(place), next = rt_load_long(piece);
    if (rt_swap_long(head, before, head_with(before, next & place_mask))) return piece;
  }
}

/* Extends the heap at its top; 0 if out of memory. */
static uint64_t extend(RtGpuHeap *heap, uint64_t size_bytes) {
  uint64_t top = rt_load_long(&heap->top);
  for (;;) {
    if (size_bytes > rt_load_long(&heap->capacity) - top) return 0;
    if (rt_swap_long(&heap->top, top, top + size_bytes)) return top / RT_GPU_UNIT + 1;
    top = rt_load_long(&heap->top);
  }
}

/* Takes a new piece; lanes that want the same size share one addition. */
static uint64_t *take_new(RtGpuHeap *heap, int size) {
  RtGroup group = rt_group_of((uint64_t)size);
  uint64_t units = (uint64_t)1 << size;
  uint32_t first = 0;
  if (!group.rank && group.count * units >> 32 == 0)
    first = (uint32_t)extend(heap, group.count * units * RT_GPU_UNIT);
  first = rt_group_share(group, first);
  return first ? piece_at(heap->at / RT_GPU_UNIT + first - 1 + group.rank * units) : 0;
}

/* Takes a piece that other threads have given back. */
static uint64_t *take_anywhere(RtGpuHeap *heap, int size, uint32_t stack) {
  uint64_t *piece = 0;
  for (uint32_t k = 1; k < RT_GPU_STACKS && !piece; k++)
    piece = pop(heap, &heap->free[(stack + k) % RT_GPU_STACKS][size]);
  return piece;
}

void *rt_gpu_heap_take(RtGpuHeap *heap, uint64_t size_bytes, uint32_t stack) {
  int size = size_of(size_bytes);
  if (size >= RT_GPU_SIZES) return 0;
  uint64_t *piece = pop(heap, &heap->free[stack % RT_GPU_STACKS][size]);
  if (!piece && heap->allocator.host) piece = pop(heap, &heap->free[0][size]); /* the host's */
  if (!piece) piece = take_new(heap, size);
  return piece ? piece : take_anywhere(heap, size, stack);
}

void rt_gpu_heap_give(RtGpuHeap *heap, void *memory, uint64_t size_bytes, uint32_t stack) {
  uint64_t place = (uint64_t)(uintptr_t)memory / RT_GPU_UNIT;
  uint64_t *head = &heap->free[stack % RT_GPU_STACKS][size_of(size_bytes)], before;
  do {
    before = rt_load_long(head);
    rt_store_long((uint64_t *)memory, before & place_mask);
  } while (!rt_swap_long(head, before, head_with(before, place)));
}
