/* counted.h - memory that is shared by counting references: one header of 64 bytes, the same for
 * what kernels, extensions in C and the core hold in common.
 *
 *     one piece    | header 64 | data ..        |        RT_COUNTED_WHOLE
 *     growable     | header 64 |   | data ..    |        RT_COUNTED_OWN, can be resized
 *     external     | header 64 |   somebody's data       its `end` is told when nobody needs it
 *     of arrays    RT_COUNTED_ITEMS: elements that are held; RT_COUNTED_SLICE: what it is a part of
 *
 *     held by `count` --last rt_release--> end(data, size, info) --> freed
 *
 * Any thread may acquire and release; who acquires holds a reference, or knows one that is held
 * meanwhile. A header is made and freed by its allocator, that of a runtime.
 * When the allocator checks (is_checked): data is 0xCB at first and 0xDE at the end, two lines
 * before the header say where it was made and where it ended, a canary follows the data, and
 * headers are not used again, so that a release too many is seen. */
#ifndef RG_RT_COUNTED_H
#define RG_RT_COUNTED_H

#include <stdint.h>

typedef struct RtCounted RtCounted;
typedef struct RtAllocator RtAllocator;

/* Called once, by the thread that releases last. NULL: nobody asks. */
typedef void RtCountedEnd(void *data, uint64_t size_bytes, void *info);

enum {
  RT_COUNTED_LIVE = 0x52476331, /* RtCounted.magic */
  RT_COUNTED_DEAD = 0x64656164,
  RT_COUNTED_WHOLE = 1,     /* flags */
  RT_COUNTED_OWN = 2,
  RT_COUNTED_NOTED = 4,     /* some statistics have it */
  RT_COUNTED_CHECKED = 8,
  RT_COUNTED_LENT = 16,     /* the header is a part of something else, which frees it */
  /* these four are atomic */
  RT_COUNTED_SHARED = 32,   /* its handle lies in memory that others may read */
  RT_COUNTED_PINNED = 64,   /* its size stays: slices or others share it, or extents follow it */
  RT_COUNTED_LOCK = 128,    /* it is being appended to */
  RT_COUNTED_WAITS = 256,   /* it is in RtAllocator.pending */
  /* `info` says what ends with it (array_slow.c), as functions differ between host and GPU */
  RT_COUNTED_ITEMS = 512,
  RT_COUNTED_SLICE = 1024,
  RT_COUNTED_COPIED = 2048, /* atomic: a device has a copy of its data, perhaps a newer one */
  RT_COUNTED_FLAGS = 0xFFFF, /* above them: the generation of the statistics that have it */
  RT_COUNTED_CANARY = 16,   /* bytes */
  RT_COUNTED_NEW = 0xCB,    /* what checked data is filled with */
  RT_COUNTED_OLD = 0xDE
};

struct RtCounted {
  int64_t count;            /* atomic */
  RtCountedEnd *end;
  void *info;               /* for `end` */
  uint8_t *data;            /* aligned to 64 bytes, but for external data */
  uint64_t size_bytes;      /* of data */
  RtAllocator *allocator;
  uint64_t capacity;        /* growable: bytes that `data` has room for */
  uint32_t flags, magic;
};
_Static_assert(sizeof(RtCounted) == 64, "a counted header is one cache line");

/* Exact while they are kept: `bytes` are those of live data, headers not included. An object in one
 * piece adds 1 to alloc and to header_alloc; a growable one 2 and 1; an external one 1 and 1.
 * acquires, releases: of checked objects alone, as rt_counted_look sees them. */
typedef struct RtAllocations {
  uint64_t alloc, free, header_alloc, header_free, bytes, peak, acquires, releases; /* atomic */
} RtAllocations;

/* What an object was when something was wrong with it. */
typedef enum RtCountedFault {
  RT_COUNTED_RELEASED_TWICE,
  RT_COUNTED_ACQUIRED_DEAD,
  RT_COUNTED_OVERRUN,       /* bytes past its data were written */
  RT_COUNTED_FOREIGN        /* this is no header, or has been overwritten */
} RtCountedFault;

struct RtAllocator {        /* of a runtime; any thread may call its functions */
  /* Aligned to 64 bytes, contents undefined; NULL: there is none. is_data: of a growable object. */
  void *(*take)(RtAllocator *allocator, uint64_t size_bytes, int is_data);
  void (*give)(RtAllocator *allocator, void *memory, uint64_t size_bytes, int is_data);
  void (*report)(RtAllocator *allocator, RtCountedFault fault, const RtCounted *counted);
  /* While it checks: where the calling thread is now, noted in what it makes and ends. NULL: nobody
   * knows; its result may be NULL, too. */
  const char *(*place)(RtAllocator *allocator);
  /* Keeps what a checked object was, so that it is not used again; NULL: it is freed. */
  void (*retire)(RtAllocator *allocator, void *memory, uint64_t size_bytes);
  /* Before a task of a GPU, which cannot ask for more: so many bytes can be taken. 0: there is no
   * memory. */
  int (*have_room)(RtAllocator *allocator, uint64_t size_bytes);
  /* What tasks of a GPU have taken and given, once all have ended. NULL: nothing. */
  void (*take_up)(RtAllocator *allocator);
  /* A copied object is about to end, on whichever thread. NULL: there are no copies. */
  void (*forget)(RtAllocator *allocator, RtCounted *counted);
  void *host;               /* whose functions these are; NULL: a GPU's own memory */
  RtAllocations statistics;
  RtAllocations on_gpu;     /* what its tasks add to them */
  /* what its tasks took, less what they gave: bytes, and how many pieces; atomic */
  uint64_t gpu_bytes, gpu_pieces;
  uint32_t counts;          /* 1: the statistics are kept; atomic */
  uint32_t generation;      /* of the statistics, which begin anew with each */
  uint32_t is_checked;      /* 1: see above; does not change while objects exist */
  uint32_t has_ended;       /* 1: growable data is gone, and nothing more is made */
  /* while a task runs: shared objects that nobody holds wait here for its end */
  uint32_t deferring, defer_lock;
  RtCounted **pending;
  uint64_t pending_count, pending_capacity;
};

/* The lines before a checked header; "" where that is not known. */
typedef struct RtCountedCheck {
  uint64_t made[8];         /* text: where it was made */
  uint64_t ended[8];        /* where its last reference was released; words are atomic */
} RtCountedCheck;
_Static_assert(sizeof(RtCountedCheck) % 64 == 0, "headers stay aligned");

typedef struct RtCountedLent {
  RtCountedCheck check;
  RtCounted counted;
} RtCountedLent;

/* -- what kernels have inline ------------------------------------------------------------------ */

/* array_slow.c: it ends, and with it what it holds. */
void rt_array_end(RtCounted *counted);

/* What is left to do after the count has become zero, or was before. */
void rt_counted_end(RtCounted *counted, int64_t before);
/* A checked header, before its count changes. 0: it is none. */
int32_t rt_counted_look(RtCounted *counted, int32_t fault); /* an RtCountedFault */

/* Others may change the atomic ones meanwhile. */
static inline uint32_t rt_counted_flags(const RtCounted *counted) {
  return __atomic_load_n(&counted->flags, __ATOMIC_RELAXED);
}

static inline void rt_acquire(RtCounted *counted) {
  if (!counted) return;
  if (rt_counted_flags(counted) & RT_COUNTED_CHECKED &&
      !rt_counted_look(counted, RT_COUNTED_ACQUIRED_DEAD))
    return;
  __atomic_fetch_add(&counted->count, 1, __ATOMIC_RELAXED);
}

/* The order of what its holders did: each before its own release, the end after all of them. */
static inline void rt_release(RtCounted *counted) {
  if (!counted) return;
  if (rt_counted_flags(counted) & RT_COUNTED_CHECKED &&
      !rt_counted_look(counted, RT_COUNTED_RELEASED_TWICE))
    return;
#if defined(__NVPTX__) /* whose atomics have no order of their own */
  __nvvm_membar_gl();
  int64_t before = __atomic_fetch_sub(&counted->count, 1, __ATOMIC_RELAXED);
  __nvvm_membar_gl();
#else
  int64_t before = __atomic_fetch_sub(&counted->count, 1, __ATOMIC_ACQ_REL);
#endif
  if (before <= 1) rt_counted_end(counted, before);
}

/* -- made by -------------------------------------------------------------------------------------
 * Each is held once by the caller. NULL: there is no memory. */
RtCounted *rt_counted_new(RtAllocator *allocator, uint64_t size_bytes);
/* `capacity` bytes of room, none of them in use; 0 is fine. */
RtCounted *rt_counted_grow_new(RtAllocator *allocator, uint64_t capacity);
RtCounted *rt_counted_external(RtAllocator *allocator, void *data, uint64_t size_bytes,
                               RtCountedEnd *end, void *info);
/* A header that lies in something else, which made room for it and frees it. is_own: the data is
 * the runtime's, and counts. */
void rt_counted_lend(RtCountedLent *lent, RtAllocator *allocator, void *data, uint64_t size_bytes,
                     int is_own, RtCountedEnd *end, void *info);
/* Its data is gone, be it still held or not: the statistics forget it, once. */
void rt_counted_unlend(RtCountedLent *lent);
/* Room for at least `capacity` bytes: data may move, so one thread alone uses it. 0: there is no
 * memory, or it is not growable; then it is as it was. */
int rt_counted_reserve(RtCounted *counted, uint64_t capacity);
/* counted_wait.c: its count is zero. 1: it waits until the task ends, as others may still take its
 * address from memory. */
int rt_counted_waits(RtCounted *counted);
/* No task runs: what waits and is still not held ends. */
void rt_counted_settle(RtAllocator *allocator);
/* The part of an object that is in use; at most its room. */
void rt_counted_resize(RtCounted *counted, uint64_t size_bytes);
/* Of a checked object: has nothing been written past its data? */
int rt_counted_is_intact(const RtCounted *counted);
/* Do the statistics of now have it? */
int rt_counted_is_noted(const RtCounted *counted);
const char *rt_counted_made(const RtCounted *counted);  /* where it was made, or "" */
const char *rt_counted_ended(const RtCounted *counted); /* where it ended, or "" */

#endif
