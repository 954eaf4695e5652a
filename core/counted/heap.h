/* heap.h - where counted memory (llvm_bc/counted.h) of a runtime comes from: headers, and objects
 * in one piece, from the host's heap; data that can grow from the device's memory manager where it
 * is large. All of it is charged to the budget. Any thread may take and give.
 * Beside a GPU all of it comes from memory of the host that tasks reach at the host's addresses
 * (llvm_bc/heap_gpu.h), in chunks: tasks take and give there, too, but never while the host does.
 *
 *     control   | RtGpuHeap |        chunk   | pieces .. | unused .. |   1 MiB, 2 MiB ..; or more
 *                                    chunk   | one large piece |
 *
 * Every header keeps the owner: it may be released after the runtime has ended, when the memory of
 * large data is gone (counted_has_ended). Chunks stay until nothing in them is held. */
#ifndef RG_COUNTED_HEAP_H
#define RG_COUNTED_HEAP_H

#include "base/owner.h"
#include "memory/arena.h"
#include "server/server.h"

enum { COUNTED_LARGE = 1 << 16 /* bytes of data that the manager provides */, COUNTED_KEPT = 1024,
       COUNTED_FAULT = 300 /* bytes of a sentence */, COUNTED_PAGE = 4096 };

/* Of RgOptions.allocations. */
typedef enum CountedMode { COUNTED_OFF, COUNTED_NOTES, COUNTED_CHECKS } CountedMode;

typedef struct CountedHeap {
  RtAllocator *rt;            /* what kernels and headers know of it: in `control` */
  Owner *owner;
  Server *server;             /* NULL: none, or the runtime has ended */
  RtBudget *budget;
  uint64_t live;              /* bytes that are taken, headers included; atomic */
  _Atomic uint32_t lock;      /* of what follows */
  struct CountedKept { void *memory; uint64_t size_bytes; } kept[COUNTED_KEPT];
  uint32_t next_kept;         /* what checked objects were, given back in their order */
  uint64_t faults;            /* that were reported */
  char fault[COUNTED_FAULT];  /* the last one */
  const char *place;          /* of the launch; NULL: none */
  bool is_shared;             /* with tasks of a GPU: */
  struct CountedChunk { Arena memory; bool is_one; /* piece */ } *chunks;
  uint32_t chunk_count, chunk_capacity;
  bool control_is_shown;
  uint8_t control[(sizeof(RtGpuHeap) / COUNTED_PAGE + 2) * COUNTED_PAGE]; /* whole pages of it */
} CountedHeap;

/* `heap` is zero-filled, and stays as long as the owner. */
void counted_init(CountedHeap *heap, Owner *owner, Server *server, RtBudget *budget,
                  CountedMode mode);
/* The runtime ends: what is still held keeps its header. */
void counted_deinit(CountedHeap *heap);
static inline bool counted_has_ended(const CountedHeap *heap) { return !heap->server; }
/* While it checks: the launch that is made and ended from now on, on any thread; NULL: none. */
static inline void counted_note(CountedHeap *heap, const char *place) {
  if (heap->rt->is_checked) heap->place = place;
}
/* The same for the calling thread alone, before that of the launch. Returns what it was. */
const char *counted_here(const char *place);
/* Do tasks reach it, with its data? On a GPU: what is made here, not what is lent or external. */
bool counted_is_reached(const CountedHeap *heap, const RtCounted *counted);
/* Is that in memory which tasks of a GPU reach? */
bool counted_holds(CountedHeap *heap, const void *at);
/* Before the host uses `size_bytes` at `from` of its elements; NULL: all, and they may move. */
bool counted_reach(CountedHeap *heap, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                   DeviceUse use, Error *err);
/* Somebody gets addresses of elements, which he uses whenever he likes: devices have no copies from
 * now on. */
bool counted_give_out(CountedHeap *heap, Error *err);
/* From now on, or no longer; the statistics begin anew. Those of objects that exist stay out. */
void counted_switch(CountedHeap *heap, bool counts);
/* How many faults there were; the last one in `text`. */
uint64_t counted_faults(CountedHeap *heap, char text[COUNTED_FAULT]);

#endif
