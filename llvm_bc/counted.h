/* counted.h - reference-counted memory. Kernels, extensions in C and the core share one header of
 * 64 bytes.
 *
 *     one piece    | header 64 | data ..        |        RT_COUNTED_WHOLE
 *     growable     | header 64 |   | data ..    |        RT_COUNTED_OWN, can be resized
 *     external     | header 64 |   borrowed data         `end` is called when it is released
 *     of arrays    RT_COUNTED_ITEMS: its elements are references; RT_COUNTED_SLICE: part of another
 *
 *     held by `count` --last rt_release--> end(data, size, info) --> freed
 *
 * Any thread may acquire and release. A thread that acquires must hold a reference, or know that
 * another one lasts meanwhile. A runtime's allocator makes and frees its headers.
 * When the allocator checks (is_checked), data is filled with 0xCB at first and 0xDE at the end,
 * two lines before the header name the places where it was made and where it ended, a canary
 * follows the data, and headers are not reused, so that an excess release is detected. */
#ifndef RG_RT_COUNTED_H
#define RG_RT_COUNTED_H

#include <stdint.h>

/* How compiled kernels and the library call each other: by the calling convention of System V on
 * every system, so that one module runs on all. */
#if defined(_WIN32)
#define RT_CALL __attribute__((sysv_abi))
#else
#define RT_CALL
#endif

typedef struct RtCounted RtCounted;
typedef struct RtAllocator RtAllocator;

/* Called once, by the thread that releases last; NULL if nothing is to be done then. */
typedef void RT_CALL RtCountedEnd(void *data, uint64_t size_bytes, void *info);

enum {
  RT_COUNTED_LIVE = 0x52476331, /* RtCounted.magic */
  RT_COUNTED_DEAD = 0x64656164,
  RT_COUNTED_WHOLE = 1, /* flags */
  RT_COUNTED_OWN = 2,
  RT_COUNTED_NOTED = 4, /* the statistics of some generation count it */
  RT_COUNTED_CHECKED = 8,
  RT_COUNTED_LENT = 16, /* the header is part of another object, which frees it */
  /* these four are atomic */
  RT_COUNTED_SHARED = 32, /* its handle is in memory that other threads may read */
  RT_COUNTED_PINNED = 64, /* it cannot be resized: it has slices, or extents follow its data */
  RT_COUNTED_LOCK = 128,  /* it is being appended to */
  RT_COUNTED_WAITS = 256, /* it is in RtAllocator.pending */
  /* `info` encodes the references to release with it (array_slow.c); it is not a function pointer,
   * since host and GPU have different ones */
  RT_COUNTED_ITEMS = 512,
  RT_COUNTED_SLICE = 1024,
  RT_COUNTED_COPIED = 2048,  /* atomic: a device has a copy of its data, perhaps a newer one */
  RT_COUNTED_FLAGS = 0xFFFF, /* the bits above: the generation of the statistics that count it */
  RT_COUNTED_CANARY = 16,    /* bytes */
  RT_COUNTED_NEW = 0xCB,     /* fills checked data at first */
  RT_COUNTED_OLD = 0xDE      /* and at the end */
};

struct RtCounted {
  int64_t count; /* atomic */
  RtCountedEnd *end;
  void *info;          /* for `end` */
  uint8_t *data;       /* aligned to 64 bytes, except external data */
  uint64_t size_bytes; /* of data */
  RtAllocator *allocator;
  uint64_t capacity; /* growable: bytes that `data` has room for */
  uint32_t flags, magic;
};
_Static_assert(sizeof(RtCounted) == 64, "a counted header is one cache line");

/* Exact while they are kept. `bytes` is the size of live data without headers. An object in one
 * piece adds 1 to alloc and to header_alloc; a growable one 2 and 1; an external one 1 and 1.
 * Acquires and releases are counted for checked objects only, by rt_counted_look. */
typedef struct RtAllocations {
  uint64_t alloc, free, header_alloc, header_free, bytes, peak, acquires, releases; /* atomic */
} RtAllocations;

/* Misuse of a counted object, as reported. */
typedef enum RtCountedFault {
  RT_COUNTED_RELEASED_TWICE,
  RT_COUNTED_ACQUIRED_DEAD,
  RT_COUNTED_OVERRUN, /* bytes past its data were written */
  RT_COUNTED_FOREIGN  /* it is not a header, or has been overwritten */
} RtCountedFault;

struct RtAllocator { /* of a runtime; any thread may call its functions */
  /* Aligned to 64 bytes, contents undefined; NULL if out of memory. is_data: the separate data of a
   * growable object. */
  void *(RT_CALL *take)(RtAllocator *allocator, uint64_t size_bytes, int is_data);
  void(RT_CALL *give)(RtAllocator *allocator, void *memory, uint64_t size_bytes, int is_data);
  void(RT_CALL *report)(RtAllocator *allocator, RtCountedFault fault, const RtCounted *counted);
  /* While it checks: where in the program the calling thread is, to be recorded in objects that it
   * makes and ends. NULL, or a NULL result, if that is not known. */
  const char *(RT_CALL *place)(RtAllocator *allocator);
  /* Keeps the memory of a checked object from being reused; NULL: it is freed. */
  void(RT_CALL *retire)(RtAllocator *allocator, void *memory, uint64_t size_bytes);
  /* Called before a task of a GPU, which cannot ask for more memory: reserves that many bytes; 0 if
   * out of memory. */
  int(RT_CALL *have_room)(RtAllocator *allocator, uint64_t size_bytes);
  /* Called once all tasks of a GPU have ended: accounts for what they took and gave back. NULL if
   * there is nothing to account for. */
  void(RT_CALL *take_up)(RtAllocator *allocator);
  /* Called on any thread before a copied object ends. NULL: there are no copies. */
  void(RT_CALL *forget)(RtAllocator *allocator, RtCounted *counted);
  void *host; /* data of these functions; NULL: a GPU's own memory */
  RtAllocations statistics;
  RtAllocations on_gpu; /* what the GPU's tasks add to them */
  /* what the GPU's tasks took, less what they gave back: bytes, and pieces; atomic */
  uint64_t gpu_bytes, gpu_pieces;
  uint32_t counts;     /* 1: the statistics are kept; atomic */
  uint32_t generation; /* of the statistics, which start from zero with each */
  uint32_t is_checked; /* 1: see above; does not change while objects exist */
  uint32_t has_ended;  /* 1: growable data is gone, and nothing more is made */
  /* while a task runs, shared objects whose count has become zero wait here until it ends */
  uint32_t deferring, defer_lock;
  RtCounted **pending;
  uint64_t pending_count, pending_capacity;
};

/* The two lines before a checked header; "" if a place is not known. */
typedef struct RtCountedCheck {
  uint64_t made[8];  /* text: where it was made */
  uint64_t ended[8]; /* where its last reference was released; words are atomic */
} RtCountedCheck;
_Static_assert(sizeof(RtCountedCheck) % 64 == 0, "headers stay aligned");

typedef struct RtCountedLent {
  RtCountedCheck check;
  RtCounted counted;
} RtCountedLent;

/* -- inlined into kernels ---------------------------------------------------------------------- */

/* array_slow.c: destroys the array and releases its elements. */
void rt_array_end(RtCounted *counted);

/* Destroys the object after its count has become zero; `before` less than 1: it already was, which
 * is an error. */
void RT_CALL rt_counted_end(RtCounted *counted, int64_t before);
/* Checks a header before its count changes; 0 if it is not a valid one. */
int32_t RT_CALL rt_counted_look(RtCounted *counted, int32_t fault); /* an RtCountedFault */

/* Other threads may change the atomic flags meanwhile. */
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

/* Orders accesses: each holder's before its own release, and the end after all releases. */
static inline void rt_release(RtCounted *counted) {
  if (!counted) return;
  if (rt_counted_flags(counted) & RT_COUNTED_CHECKED &&
      !rt_counted_look(counted, RT_COUNTED_RELEASED_TWICE))
    return;
#if defined(__NVPTX__) /* atomics do not order other accesses there */
  __nvvm_membar_gl();
  int64_t before = __atomic_fetch_sub(&counted->count, 1, __ATOMIC_RELAXED);
  __nvvm_membar_gl();
#else
  int64_t before = __atomic_fetch_sub(&counted->count, 1, __ATOMIC_ACQ_REL);
#endif
  if (before <= 1) rt_counted_end(counted, before);
}

/* -- constructors --------------------------------------------------------------------------------
 * The caller holds one reference to the result. NULL if out of memory. */
RtCounted *rt_counted_new(RtAllocator *allocator, uint64_t size_bytes);
/* A growable object with room for `capacity` bytes, which may be 0; its size is 0. */
RtCounted *rt_counted_grow_new(RtAllocator *allocator, uint64_t capacity);
RtCounted *rt_counted_external(RtAllocator *allocator, void *data, uint64_t size_bytes,
                               RtCountedEnd *end, void *info);
/* Initialises a header that is part of another object, which frees it. is_own: the data belongs to
 * the runtime, and the statistics count it. */
void rt_counted_lend(RtCountedLent *lent, RtAllocator *allocator, void *data, uint64_t size_bytes,
                     int is_own, RtCountedEnd *end, void *info);
/* Removes it from the statistics, once, when its data is gone; it may still be held. */
void rt_counted_unlend(RtCountedLent *lent);
/* Makes room for at least `capacity` bytes. The data may move, so no other thread may use it. 0 if
 * out of memory or not growable; the object is then unchanged. */
int rt_counted_reserve(RtCounted *counted, uint64_t capacity);
/* counted_wait.c, for an object whose count has become zero: returns 1 if it must wait until the
 * task ends, since other threads may still read its address from memory. */
int rt_counted_waits(RtCounted *counted);
/* While no task runs: destroys the waiting objects that have no reference. */
void rt_counted_settle(RtAllocator *allocator);
/* Sets the size in use, which is at most the capacity. */
void rt_counted_resize(RtCounted *counted, uint64_t size_bytes);
/* Of a checked object: is the canary past its data unchanged? */
int rt_counted_is_intact(const RtCounted *counted);
/* Do the current statistics count it? */
int rt_counted_is_noted(const RtCounted *counted);
const char *rt_counted_made(const RtCounted *counted);  /* where it was made, or "" */
const char *rt_counted_ended(const RtCounted *counted); /* where it ended, or "" */

#endif
