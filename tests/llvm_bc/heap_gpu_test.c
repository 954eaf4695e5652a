/* heap_gpu_test.c - the heap of a GPU's threads (llvm_bc/heap_gpu.c), run natively: threads
 * allocate, write, compare and free pieces of all sizes. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "heap_gpu.h"

enum { THREADS = 4, STEPS = 20000, HELD = 12, MEMORY = 1 << 20 };

static uint64_t memory[MEMORY / sizeof(uint64_t)] __attribute__((aligned(64)));
static RtGpuHeap heap;

static void begin(uint64_t capacity) {
  heap = (RtGpuHeap){.at = (uint64_t)(uintptr_t)memory, .capacity = capacity};
}

typedef struct Piece {
  uint64_t *at, size_bytes, mark;
} Piece;

typedef struct Thread {
  pthread_t thread;
  uint32_t number, stacks;
  bool is_broken;
  int refused;
} Thread;

/* Atomic, as a thread that allocates may still read a piece that another one has just got; the
 * value that it reads there is not used. */
static void fill(const Piece *piece) {
  for (uint64_t k = 0; k < piece->size_bytes / 8; k++)
    __atomic_store_n(&piece->at[k], piece->mark, __ATOMIC_RELAXED);
}

static bool is_whole(const Piece *piece) {
  for (uint64_t k = 0; k < piece->size_bytes / 8; k++)
    if (__atomic_load_n(&piece->at[k], __ATOMIC_RELAXED) != piece->mark) return false;
  return true;
}

static void *work(void *data) {
  Thread *own = data;
  Piece held[HELD] = {0};
  unsigned dice = own->number + 1;
  for (uint64_t step = 0; step < STEPS; step++) {
    Piece *piece = &held[(unsigned)rand_r(&dice) % HELD];
    uint32_t stack = (unsigned)rand_r(&dice) % own->stacks;
    if (piece->at) {
      own->is_broken |= !is_whole(piece);
      rt_gpu_heap_give(&heap, piece->at, piece->size_bytes, stack);
    }
    *piece = (Piece){.size_bytes = 8 + (unsigned)rand_r(&dice) % 600 * 8,
                     .mark = (uint64_t)own->number << 32 | step};
    piece->at = rt_gpu_heap_take(&heap, piece->size_bytes, stack);
    own->refused += !piece->at;
    if (piece->at) fill(piece);
  }
  for (int k = 0; k < HELD; k++)
    if (held[k].at) rt_gpu_heap_give(&heap, held[k].at, held[k].size_bytes, 0);
  return NULL;
}

/* Returns how many were refused; -1: a piece had another thread's marks. */
static int race(uint64_t capacity, uint32_t stacks) {
  Thread threads[THREADS];
  int refused = 0;
  begin(capacity);
  for (uint32_t t = 0; t < THREADS; t++) {
    threads[t] = (Thread){.number = t, .stacks = stacks};
    pthread_create(&threads[t].thread, NULL, work, &threads[t]);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t].thread, NULL);
  for (int t = 0; t < THREADS; t++) {
    if (threads[t].is_broken) return -1;
    refused += threads[t].refused;
  }
  return refused;
}

int main(void) {
  TEST("pieces are a power of two of cache lines, and adjacent") {
    begin(MEMORY);
    uint8_t *a = rt_gpu_heap_take(&heap, 1, 0), *b = rt_gpu_heap_take(&heap, 65, 0),
            *c = rt_gpu_heap_take(&heap, 300, 0);
    CHECK(a == (uint8_t *)memory && b == a + 64 && c == b + 128 && heap.top == 64 + 128 + 512);
  }
  TEST("freed pieces are allocated again, the last one first, also from the stacks of other "
       "threads") {
    begin(MEMORY);
    void *a = rt_gpu_heap_take(&heap, 64, 3), *b = rt_gpu_heap_take(&heap, 64, 3);
    rt_gpu_heap_give(&heap, a, 64, 3);
    rt_gpu_heap_give(&heap, b, 64, 3);
    CHECK(rt_gpu_heap_take(&heap, 50, 3) == b);
    CHECK(rt_gpu_heap_take(&heap, 128, 3) != a);
    heap.capacity = heap.top;
    CHECK(rt_gpu_heap_take(&heap, 64, 7) == a);
    CHECK(!rt_gpu_heap_take(&heap, 64, 3));
  }
  TEST("a piece that does not fit is refused, and the rest can still be allocated") {
    begin(1024);
    CHECK(!rt_gpu_heap_take(&heap, 1025, 0));
    CHECK(!rt_gpu_heap_take(&heap, (uint64_t)1 << 50, 0) && !rt_gpu_heap_take(&heap, -1, 0));
    CHECK(rt_gpu_heap_take(&heap, 1024, 0) && !rt_gpu_heap_take(&heap, 1, 0));
  }
  TEST("no two threads get the same piece, with a stack for each or one for all") {
    CHECK(race(MEMORY, RT_GPU_STACKS) >= 0); /* pieces stay of one size: it may run short */
    CHECK(race(MEMORY, 1) == 0);
  }
  TEST("no two threads get the same piece when memory runs out") {
    CHECK(race(MEMORY / 16, 4) > 0);
  }
  return check_report();
}
