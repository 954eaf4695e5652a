/* heap.h - the allocator of a runtime's counted memory (llvm_bc/counted.h): headers, and objects in
 * one piece, come from the host's heap; growable data, if it is large, from the device's memory
 * manager. All of it is charged to the memory budget. Any thread may allocate and free.
 * With a GPU, all of it comes from chunks of host memory that tasks access at the host's addresses
 * (llvm_bc/heap_gpu.h): tasks allocate and free there, too, but never at the same time as the host.
 *
 *     control   | RtGpuHeap |        chunk   | pieces .. | unused .. |   1 MiB, 2 MiB ..; or more
 *                                    chunk   | one large piece |
 *
 * Every header keeps the owner alive, because it may be released after the runtime has ended, when
 * large data is already freed (counted_has_ended). Chunks stay until none of their pieces is in
 * use. */
#ifndef RG_COUNTED_HEAP_H
#define RG_COUNTED_HEAP_H

#include "base/owner.h"
#include "memory/arena.h"
#include "server/server.h"

enum {
  COUNTED_LARGE = 1 << 16 /* bytes of data that the manager provides */,
  COUNTED_RETIRED = 1024, /* checked objects whose memory is kept for a while after their end */
  COUNTED_FAULT = 300 /* bytes of a sentence */,
  COUNTED_PAGE = 4096
};

/* The values of RgOptions.allocations: nothing is counted; allocations and releases are counted;
 * and misuse is reported, too. */
typedef enum CountedMode { COUNTED_OFF, COUNTED_ON, COUNTED_CHECKS } CountedMode;

typedef struct CountedHeap {
  RtAllocator *rt; /* the part that kernels and headers use; in `control` */
  Owner *owner;
  Server *server; /* NULL: none, or the runtime has ended */
  RtBudget *budget;
  uint64_t live;         /* allocated bytes, headers included; atomic */
  _Atomic uint32_t lock; /* guards the members below */
  struct CountedRetired {
    void *memory;
    uint64_t size_bytes;
  } retired[COUNTED_RETIRED];
  uint32_t next_retired;     /* the oldest: freed when the next object is retired */
  uint64_t faults;           /* number of reported faults */
  char fault[COUNTED_FAULT]; /* text of the last fault */
  const char *location;      /* source location of the launch; NULL: none */
  bool is_shared;            /* memory is shared with tasks of a GPU: */
  struct CountedChunk {
    Arena memory;
    bool is_single_piece; /* it is one piece, and freed with it */
  } *chunks;
  uint32_t chunk_count, chunk_capacity;
  bool control_is_pinned;
  uint8_t control[(sizeof(RtGpuHeap) / COUNTED_PAGE + 2) * COUNTED_PAGE]; /* contains whole pages */
} CountedHeap;

/* `heap` must be zero-filled, and live as long as the owner. */
void counted_init(CountedHeap *heap, Owner *owner, Server *server, RtBudget *budget,
                  CountedMode mode);
/* The runtime ends: objects still held keep their headers. */
void counted_deinit(CountedHeap *heap);
static inline bool counted_has_ended(const CountedHeap *heap) { return !heap->server; }
/* In checking mode: sets the source location that reports of faults give for allocations and
 * releases on any thread from now on; NULL: none. */
static inline void counted_set_launch(CountedHeap *heap, const char *location) {
  if (heap->rt->is_checked) heap->location = location;
}
/* The same for the calling thread, with precedence over the launch's location. Returns the previous
 * one, which the caller sets again later. */
const char *counted_set_thread_location(const char *location);
/* Can tasks access the object and its data? On a GPU only if this heap allocated it: not if it is
 * lent or external. */
bool counted_is_reachable(const CountedHeap *heap, const RtCounted *counted);
/* Is the address in memory that tasks of a GPU can access? */
bool counted_contains(CountedHeap *heap, const void *at);
/* Call this before the host uses `size_bytes` of the elements at `from`. `from` NULL: all elements,
 * and their address may change. */
bool counted_reach(CountedHeap *heap, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                   DeviceUse use, Error *err);
/* Call this when code gets addresses of elements that it may use at any time: from now on devices
 * make no copies. */
bool counted_expose(CountedHeap *heap, Error *err);
/* Turns counting on or off, and resets the statistics, which exclude existing objects. */
void counted_set_counting(CountedHeap *heap, bool counts);
/* Returns the number of faults; `text` is the last one. */
uint64_t counted_faults(CountedHeap *heap, char text[COUNTED_FAULT]);

#endif
