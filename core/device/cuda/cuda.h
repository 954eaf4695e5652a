/* cuda.h - the parts of the CUDA device. Private to this room.
 * Tasks work in GPU memory; the host sees a mirror of it (a shadow copy in host memory) with the
 * layout that a tree has on the CPU. Both sides use the same layout: only pointers differ, which
 * image.c translates.
 *
 *     host's mirror --cuda_push, before a launch: pages the host changed--> GPU memory
 *     host's mirror <--cuda_reach, before the host reads: pages tasks may have changed-- GPU memory
 *
 * Driver calls are made with the device's context current (cuda_enter, cuda_leave), and queue work
 * on the current stream: stream.c. */
#ifndef RG_DEVICE_CUDA_CUDA_H
#define RG_DEVICE_CUDA_CUDA_H

#include "cuda/driver.h"
#include "device/device.h"
#include "device/messages.h"
#include "memory/arena.h"

/* Device memory. In a range that grows, the first `mapped` bytes can be used. */
typedef struct CudaRange {
  uint64_t at; /* 0: none */
  uint64_t reserved, mapped;
  unsigned long long *pieces; /* handles of the physical memory mapped so far */
  uint64_t *piece_bytes;
  int32_t piece_count;
  struct MemoryBlock *plain; /* of `pool`: fully backed; NULL: a range that grows */
  struct MemoryPool *pool;   /* plain.c */
  bool is_external;          /* not allocated by this device */
  bool is_shareable;         /* other processes can map its pieces */
} CudaRange;

/* Which side has the newest contents of a page of a tree's memory. */
typedef enum CudaPage { CUDA_SAME, CUDA_HOST_IS_NEWER, CUDA_GPU_IS_NEWER } CudaPage;

typedef struct CudaList {      /* a manager's data that only the GPU has */
  CudaRange memory;            /* its list, large enough for all nodes that fit in the tree */
  bool is_current;             /* the list is up to date */
  uint32_t orders_are_current; /* one bit for each of the first orders */
  RtOrder **orders;            /* GPU address, as of the last pull */
  uint64_t order_count;
} CudaList;

/* The last queued work that uses something: a stream, and a launch's number there; all zero:
 * none. */
typedef struct CudaUse {
  int32_t stream;
  uint64_t launch;
} CudaUse;

enum { CUDA_KNOWN_CODE = 32 };

typedef struct CudaTree { /* RtTree.device */
  RtTree *tree;
  struct CudaTree *next, *previous; /* in CudaDevice.trees */
  uint8_t *first;                   /* start of its memory, as the host sees it */
  CudaRange memory;                 /* its memory on the GPU, starting at the byte for `first` */
  uint8_t *pages; /* a CudaPage per page, starting at `first`; SAME past the end */
  uint64_t page_count, page_bytes;
  CudaUse use;
  bool host_has_all;    /* every page in use is newer on the host */
  bool host_has_some;   /* some pages may be newer on the host */
  bool counts_are_read; /* the counts were read after the last task that may have changed them */
  bool chunks_are_read; /* the same for the tables of chunks */
  bool is_current;      /* nothing is newer on the GPU */
  bool is_used;         /* by the running launch */
  uint64_t max_bytes;   /* the most memory that it can fill: provision.c */
  /* how many tasks may have grown it since its counts were last read back, and after how many they
   * are read again */
  uint32_t tasks_since_read, interval;
  uint64_t target_bytes;  /* memory it should have, computed when they were last read */
  uint64_t max_positions; /* largest number of positions of those tasks */
  uint64_t visits;        /* host visits since a task last used it: between.c */
  const void *known_code[CUDA_KNOWN_CODE]; /* code of tasks that may grow it */
  uint32_t next_known_code;
  bool is_exposed;          /* other code has its address, and may change it at any time */
  int32_t wrap_count;       /* number of wraps (external arrays) of its memory */
  bool owns_tree;           /* `tree` represents external memory and belongs to this */
  DeviceMemory mirror;      /* of that memory, if there is one: external.c */
  bool is_shared;           /* with other processes that also write it: share.c */
  uint64_t serial;          /* SymmetricHeapPart.serial; 0: not a part of this process's */
  uint8_t is_read;          /* RtTree.is_read on the GPU */
  bool is_copy;             /* a copy of a counted array's elements: copies.c */
  bool is_located;          /* the next launch's frame has the copy's address */
  _Atomic bool has_ended;   /* the array has ended, and its memory may be reused */
  bool is_window;           /* other processes map its pieces: keep them and their contents */
  uint8_t **priors;         /* by page, earlier contents; NULL: none: prior.c */
  CudaRange chunks, owners; /* RtTree.chunks, segment_owner */
  CudaRange image;          /* RtTree, managers and the tables they use: image.c */
  CudaList *lists;          /* by manager */
  CudaRange *was;           /* by mask: space for its saved words */
  CudaPage image_state;     /* state of image, chunks, owners and lists together */
} CudaTree;

/* Host memory that is copied to the GPU for a launch and back at its end. Overlapping external
 * arrays (wraps), such as those of a struct's members, are merged into one. */
typedef struct CudaForeign {
  struct CudaForeign *next; /* in CudaDevice.foreign */
  uint8_t *first;
  uint64_t size_bytes;
  int32_t tree_count; /* trees in this memory */
  bool is_constant;   /* all of them are constant */
  bool is_used;       /* by the running launch */
  CudaUse use;
  CudaRange memory;
} CudaForeign;

typedef struct CudaCopy CudaCopy; /* copies.c */

/* A mapped part of the symmetric heap: share.c. */
typedef struct CudaPart {
  struct CudaPart *next;
  uint64_t at, size_bytes;
  bool grows; /* of a sparse tree, which the host never reads */
} CudaPart;

typedef struct CudaSymmetricHeap {
  struct CudaSymmetricHeap *next; /* in CudaDevice.symmetric */
  uint64_t at, size_bytes;        /* GPU addresses */
  Arena mirror;                   /* as the host sees them; only the parts are accessible */
  CudaPart *parts;
} CudaSymmetricHeap;

enum { CUDA_MAX_QUEUED = 64, CUDA_STREAMS = 8 };

/* A ring of pinned memory that all copies go through, and earlier rings that were too small, from
 * which copies may still be queued. */
enum { CUDA_OLD_RINGS = 8 };
typedef struct CudaStaging {
  uint8_t *memory;
  uint64_t used, size_bytes;
  void *old[CUDA_OLD_RINGS];
  int32_t old_count;
} CudaStaging;

/* Work that a host region requests: a kernel, new contents of the frame for the following kernels,
 * or a wait. Steps are compared byte by byte, so unused members are zero. */
enum { CUDA_STEP_WORDS = 4 };
typedef struct CudaStep {
  enum { CUDA_STEP_KERNEL, CUDA_STEP_FRAME, CUDA_STEP_WAIT } kind;
  uint32_t blocks, threads;
  uint32_t from_block; /* one bit per word: the word is relative to the launch's block */
  void *function;
  /* KERNEL: its parameters; FRAME: its target, relative to the block, and its size in bytes */
  uint64_t words[CUDA_STEP_WORDS];
} CudaStep;
typedef struct CudaRepeat CudaRepeat;

typedef struct CudaStream {
  void *handle, *event; /* NULL: not used yet */
  CudaStaging staging;
  CudaRepeat *repeat; /* recurring steps; NULL: none yet */
  CudaRange messages; /* of one queued launch, as no launch runs after a failure */
  /* how many launches, and host operations between them, were queued, and how many are done */
  uint64_t launched, finished;
  /* per other stream, the last launch that this stream already waits for */
  uint64_t joined[CUDA_STREAMS];
  int32_t queued, last; /* the number of unreported launches; the slot of the newest, or -1 */
  bool is_broken;       /* one of them failed; later ones have not run */
} CudaStream;

/* A slot for a queued launch. */
typedef struct CudaQueueSlot {
  bool is_taken, is_read; /* is_read: its block has been read into `reports` */
  int32_t stream;
  uint64_t number;        /* the launch's number on its stream */
  RtError host_error;     /* error of its host region */
  RtOutside host_outside; /* writes of its host region outside of shapes */
  uint64_t work;          /* DeviceLaunch.work */
} CudaQueueSlot;

/* Per queue slot: events before and after a launch's work; NULL: not needed yet. */
typedef struct CudaTimer {
  void *begin, *end;
  bool is_set;
} CudaTimer;

/* Indices into CudaDevice.guesses, by guess.def. */
typedef enum CudaGuess {
#define GUESS(NAME, DEFAULT, LEAST, TEXT) CUDA_GUESS_##NAME,
#include "device/guess.def"
#undef GUESS
  CUDA_GUESSES
} CudaGuess;

typedef struct CudaDevice {
  Device device;
  DeviceTable table; /* with the groups that this GPU has */
  Driver driver;
  DriverDevice about;
  int64_t guesses[CUDA_GUESSES];
  char processor[16]; /* "sm_80" */
  void *context;
  CudaStream streams[CUDA_STREAMS];
  int32_t open_streams;
  CudaStream *now; /* the current stream, streams[number]: cuda_select */
  int32_t number;
  void *stream; /* handle of the current stream */
  bool has_context, is_lost, is_relieving;
  bool has_graphs;        /* CUDA graphs are available and enabled */
  bool has_faulted;       /* this runtime saw the fault that made the device lost */
  uint32_t faults_before; /* fault count of the process when the context was retained */
  uint64_t stack_bytes;   /* stack size per thread that was requested, or 0 */
  size_t previous_stack;  /* stack size before that */
  RtWorker worker;        /* for native calls and host regions */
  CudaTree *trees;
  CudaForeign *foreign;
  CudaSymmetricHeap *symmetric;
  uint64_t serials;          /* parts numbered so far */
  CudaRange heap;            /* an RtGpuHeap and its memory: heap.c */
  uint64_t heap_published;   /* bytes of it that tasks may use */
  uint64_t bytes_per_thread; /* heap memory per thread of a task */
  bool heap_grows;
  /* per thread of a task, for arrays shared with the host: arrays.c */
  uint64_t shared_per_thread;
  CudaCopy *copies;             /* copies of such arrays: copies.c */
  _Atomic uint32_t copies_lock; /* guards the list, and CudaTree.has_ended of its entries */
  bool is_in_launch;            /* the host region is running */
  bool has_no_copies;           /* no copies are made any more */
  bool copies_are_stale;        /* the exposed copies were for a task that has run */
  bool arrays_are_used;         /* tasks of the running launch use arrays in host memory */
  int32_t unchecked_tasks;      /* its tasks since the host last checked for a stop */
  struct MemoryPool *plain;     /* of cuMemAlloc: plain.c; NULL: not needed yet */
  struct MemoryPool *arena;     /* for large requests; NULL: not needed yet, or unsupported */
  CudaRange arena_range;        /* addresses of `arena` */
  bool has_no_arena;
  int plain_result;                   /* driver's result of the last request to either pool */
  CudaRange budget;                   /* an RtBudget */
  uint64_t budget_used, budget_limit; /* as of the last exchange between both sides */
  bool budget_is_newer;               /* the GPU's may be newer */
  CudaUse budget_use;
  CudaRange ambient; /* zeros */
  CudaRange counts;  /* a number per warp, used while an ordered list is built */
  CudaRange block;   /* blocks of launches, by queue slot: launch.c */
  CudaQueueSlot queue_slots[CUDA_MAX_QUEUED];
  CudaTimer timers[CUDA_MAX_QUEUED];
  uint64_t begin_ticks; /* the host's two clocks at creation: time.c */
  int64_t begin_ns;
  int32_t slot, last_slot;   /* queue slots of the running launch, and of the latest launch */
  uint64_t block_now;        /* of the running launch */
  bool block_is_current;     /* block_now has been written */
  CudaRange races, shadow;   /* the race detector's RtRaces and its table */
  RtRaces gpu_races;         /* the GPU's copy; capacity 0: no race detection */
  void *begin, *begin_block; /* module and entry of launch.c, loaded on first use */
  void *service;             /* module of service.c, loaded on first use */
  void *service_trees, *service_zero, *service_list, *service_fill, *service_enter;
  void *service_clear, *service_clear_end, *service_clear_cells;
  void *service_visit, *service_set, *service_copy;
  void *service_order, *service_order_look, *service_order_copy, *service_order_merge;
  MessageBuffer messages; /* messages of the running or latest launch */
  uint8_t *reports;       /* blocks of the launches that are being finished */
  MessageBuffer reported; /* messages of an earlier launch, while that is reported */
  DeviceLaunch *launch;   /* the running launch */
  Error *err;             /* of the running launch */
  uint64_t *gpu_frame;    /* the frame as it is on the GPU */
  int32_t frame_capacity;
} CudaDevice;

/* cuda.c */
bool cuda_enter(CudaDevice *cuda, Error *err);
void cuda_leave(CudaDevice *cuda);
/* driver_check that also notes a lost device. */
bool cuda_check(CudaDevice *cuda, int result, const char *what, Error *err);
/* Has the context had a fault, from any runtime? Then nothing in it may be used or freed. */
bool cuda_is_lost(CudaDevice *cuda);

/* stream.c */
/* Makes stream `number` the current one. */
bool cuda_select(CudaDevice *cuda, int32_t number, Error *err);
/* A use by the running launch, or by the next work on the current stream. */
CudaUse cuda_use_now(const CudaDevice *cuda);
/* Makes later work on the current stream wait for `use`. */
bool cuda_join(CudaDevice *cuda, CudaUse use, Error *err);
/* These wait for the current stream, or for all streams. */
bool cuda_wait(CudaDevice *cuda, Error *err);
bool cuda_wait_all(CudaDevice *cuda, Error *err);
/* Waits for `use`, and for earlier work on its stream. */
bool cuda_wait_for(CudaDevice *cuda, CudaUse use, Error *err);
/* Is the stream idle? Never waits. */
bool cuda_is_idle(CudaDevice *cuda, int32_t number);
void cuda_streams_free(CudaDevice *cuda);

/* repeat.c: loops of host regions as graphs */
bool cuda_can_repeat(const Driver *driver);
/* Queues the next step of the running launch; `frame` is the contents of a FRAME step, or NULL. */
bool cuda_queue(CudaDevice *cuda, const CudaStep *step, const void *frame, Error *err);
/* Call these at the beginning of a host region; before the host waits for the current stream; and
 * before anything else is queued there, and at the end. */
void cuda_repeat_begin(CudaDevice *cuda);
bool cuda_repeat_pause(CudaDevice *cuda, Error *err);
bool cuda_repeat_end(CudaDevice *cuda, Error *err);
/* Call this before kernels are unloaded. */
void cuda_repeat_forget(CudaDevice *cuda);
void cuda_repeat_free(CudaDevice *cuda, CudaStream *stream);

/* memory.c: device memory and copies; the context is current. */
/* Allocates zero-filled memory. */
bool cuda_allocate(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Reserves addresses without memory. If the driver cannot do that, allocates `plain_bytes`. */
bool cuda_reserve(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, uint64_t plain_bytes,
                  Error *err);
/* Makes at least `size_bytes` usable; new memory is zero. False if the device has no memory left,
 * or the range is too small. */
bool cuda_grow(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Frees whole pieces past `size_bytes`; false if it freed none. All streams must be idle. */
bool cuda_shrink(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes);
/* Makes a range from cuda_allocate at least `size_bytes` long, perhaps at another address; its
 * contents survive only if `keeps`. */
bool cuda_enlarge(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, bool keeps, Error *err);
void cuda_free(CudaDevice *cuda, CudaRange *range);
/* Frees `range` once `use` has completed; does not wait for later work. */
void cuda_free_after(CudaDevice *cuda, CudaRange *range, CudaUse use);
/* Allocates zeros in one piece that other processes can map. */
bool cuda_provide_shared(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
uint64_t cuda_piece_size(CudaDevice *cuda); /* the smallest mappable size */
/* Queues a write; the caller may reuse `from` on return. */
bool cuda_write(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes, Error *err);
/* The same as cuda_write, but does not end a graph: for cuda_write and cuda_queue. */
bool cuda_copy_in(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes, Error *err);
/* Reads after all queued work on the current stream; waits. */
bool cuda_read(CudaDevice *cuda, void *to, uint64_t from, uint64_t size_bytes, Error *err);
/* Enlarges the ring so that copies of this many bytes need not wait, as far as memory allows. */
void cuda_ensure_staging(CudaDevice *cuda, uint64_t size_bytes);
/* Empties the ring, as all queued copies have completed. */
void cuda_staging_reset(CudaDevice *cuda, CudaStaging *staging);
void cuda_staging_free(CudaDevice *cuda, CudaStaging *staging);

/* plain.c: memory that is fully backed */
/* Takes memory with undefined contents; for cuda_allocate. */
bool cuda_take(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Returns unused memory to the driver; false if it returned none. */
bool cuda_trim_plain(CudaDevice *cuda);
void cuda_plain_free(CudaDevice *cuda);

/* Is it a sparse tree of another process? Tasks may read it, and it has no mirror (share.c). */
static inline bool cuda_is_view(const RtTree *tree) { return tree->foreign && tree->manager_count; }
/* How many of the mapped bytes of a sparse tree its nodes may use. If other processes map it, too,
 * a node that begins in these bytes also ends in mapped memory. */
uint64_t cuda_usable_bytes(const CudaTree *tree, uint64_t mapped);
/* How many bytes must be mapped to have `usable` bytes for nodes. */
uint64_t cuda_mapped_for(const CudaTree *tree, uint64_t usable);

/* The unit in which host and GPU exchange a tree's memory. */
static inline uint64_t cuda_page_bytes(const CudaDevice *cuda) {
  return (uint64_t)cuda->guesses[CUDA_GUESS_page] << 10;
}

/* tree.c */
/* The GPU's side of a tree; NULL with err. */
CudaTree *cuda_tree(CudaDevice *cuda, RtTree *tree, Error *err);
/* Before a task that uses the tree: copies what the host has changed. If the task may grow the
 * tree, `code` is the task's code, which runs over `positions`, and memory is provided; otherwise
 * `code` is NULL. */
bool cuda_push(CudaDevice *cuda, RtTree *tree, const void *code, uint64_t positions, Error *err);
/* Copies tables to the side that has older ones, so that both sides have the GPU's. */
bool cuda_sync_tables(CudaDevice *cuda, CudaTree *tree, Error *err);
/* Call this after a task that may have written to the tree, and perhaps changed its topology. */
void cuda_note_task(CudaTree *tree, bool changes_topology);
/* The same if only its tables have changed: no cell was activated or deactivated. */
void cuda_note_tables(CudaTree *tree);
/* Does the host have the newest contents of these bytes? Does not query the GPU. */
bool cuda_host_has(const CudaTree *tree, const uint8_t *from, uint64_t size_bytes);
/* The same as cuda_reach, during a launch and on its stream. */
bool cuda_reach_in_launch(CudaDevice *cuda, CudaTree *tree, const uint8_t *from,
                          uint64_t size_bytes, DeviceUse use, Error *err);
/* Records that these bytes of a dense tree are newer on the GPU. */
void cuda_note_bytes(CudaTree *tree, const uint8_t *from, uint64_t size_bytes);
void cuda_forget(Device *device, RtTree *tree);
bool cuda_reach(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err);
bool cuda_locate(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address, Error *err);
/* These copy the memory budget to the GPU and back. */
bool cuda_push_budget(CudaDevice *cuda, RtBudget *budget, Error *err);
bool cuda_pull_budget(CudaDevice *cuda, RtBudget *budget, Error *err);

/* provision.c */
/* The largest size in bytes that the tree can grow to. */
uint64_t cuda_max_bytes(const RtTree *tree);
/* How many bytes it should have before a task with this many positions. */
uint64_t cuda_target_bytes(const CudaTree *tree, uint64_t positions);
/* Provides memory for what is in use and, with `code`, for what the task may add: see cuda_push. */
bool cuda_ensure_room(CudaDevice *cuda, CudaTree *tree, const void *code, uint64_t positions,
                      Error *err);
/* Frees unused memory of trees, except those of the running launch; false if it freed none. Waits
 * for all streams. */
bool cuda_relieve(CudaDevice *cuda);

/* heap.c */
/* Before a task of this many threads that may make arrays: provides memory, if some is free. */
bool cuda_ensure_heap(CudaDevice *cuda, uint64_t threads, Error *err);
/* Call this when a launch has run out of heap memory. */
void cuda_heap_ran_short(CudaDevice *cuda);
/* Frees the whole heap, between tasks; false if it was empty. All streams must be idle. */
bool cuda_trim_heap(CudaDevice *cuda);

/* arrays.c: arrays shared with the host */
bool cuda_pin(Device *device, void *memory, uint64_t size_bytes, Error *err);
void cuda_unpin(Device *device, void *memory);
/* Call begin and pause around a task of a launch that shares arrays, and end at the launch's
 * end. */
bool cuda_arrays_begin(CudaDevice *cuda, const DeviceLaunch *launch, uint64_t threads, Error *err);
bool cuda_arrays_pause(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
bool cuda_arrays_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
void cuda_arrays_ran_short(CudaDevice *cuda);

/* copies.c: GPU copies of such arrays' elements, used while their sizes stay the same */
/* RtContext.move */
const uint8_t *RT_CALL cuda_array_move(RtContext *context, RtCounted *counted, const uint8_t *from,
                                       uint64_t size_bytes, int32_t use);
/* Before a task that may access arrays in host memory: copies them back there, even if their copies
 * were exposed to the task's other version. */
bool cuda_copies_yield(CudaDevice *cuda, const DeviceLaunch *launch, const DeviceTask *task,
                       Error *err);
/* Call this after a task, which may have written to the copies that were exposed to it. */
void cuda_copies_note_task(CudaDevice *cuda);
/* Call this at the end of a launch: its tasks have the addresses of no copies any more. */
void cuda_copies_unexpose(CudaDevice *cuda);
/* Frees copies that nothing references; false if it freed none. All streams must be idle. */
bool cuda_copies_relieve(CudaDevice *cuda);
bool cuda_reach_array(Device *device, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                      DeviceUse use, Error *err);
void cuda_forget_array(Device *device, RtCounted *counted);
bool cuda_reach_arrays(Device *device, bool forever, Error *err);
void cuda_copies_free(CudaDevice *cuda);

/* foreign.c */
uint8_t *cuda_host_at(Device *device, void *address);
bool cuda_adopt(Device *device, RtTree *tree, Error *err);
void cuda_abandon(CudaDevice *cuda, const RtTree *tree);
/* The tree of ours whose memory a foreign tree wraps, or NULL. */
CudaTree *cuda_owner(const CudaDevice *cuda, const RtTree *tree);
bool cuda_locate_foreign(CudaDevice *cuda, const RtTree *tree, const uint8_t *at, uint64_t *address,
                         Error *err);
/* Copy foreign memory to the GPU before the first task of a launch, and back after its last. */
bool cuda_push_foreign(CudaDevice *cuda, const DeviceLaunch *launch, Error *err);
bool cuda_pull_foreign(CudaDevice *cuda, Error *err);

/* external.c */
/* Makes a mirror on the host for the allocation of other code that contains the GPU address `at`,
 * and returns the host address that corresponds to `at`. NULL if there is no such allocation, or no
 * memory. */
uint8_t *cuda_external_at(CudaDevice *cuda, uint64_t at);
/* Does the external allocation still exist unchanged? */
bool cuda_external_is_unchanged(CudaDevice *cuda, const CudaTree *own);
/* Queues copies of what the host has changed in exposed trees. */
bool cuda_external_sync(CudaDevice *cuda, Error *err);

/* share.c: windows, memory shared with other processes */
extern const SymmetricHeapTable cuda_symmetric;
bool cuda_share(Device *device, RtTree *tree, SymmetricHeapPart *part, Error *err);
/* Is the tree's memory in a window? */
bool cuda_is_in_window(const CudaDevice *cuda, const RtTree *tree);
/* The GPU memory that the host sees from `mirror` on; false if it is not in a window. */
bool cuda_symmetric_range(const CudaDevice *cuda, const uint8_t *mirror, CudaRange *range);
/* The address at which the host sees GPU address `at`; NULL if it is not in a window. */
uint8_t *cuda_symmetric_host(const CudaDevice *cuda, uint64_t at);
/* The mapped part that contains the address; false if there is none. */
bool cuda_symmetric_part(const CudaDevice *cuda, uint64_t at, uint64_t *base, uint64_t *size_bytes);
void cuda_symmetric_free(CudaDevice *cuda);

/* prior.c: finds what the host changes in a shared tree */
/* Saves pages begin..end before the host changes them. */
bool cuda_priors_make(CudaDevice *cuda, CudaTree *tree, uint64_t begin, uint64_t end, Error *err);
/* Queues copies of the bytes that the host has changed in a page. */
bool cuda_priors_push(CudaDevice *cuda, CudaTree *tree, uint64_t page, Error *err);
/* Forgets the host's changes. */
void cuda_priors_drop(CudaDevice *cuda, CudaTree *tree);

/* image.c */
bool cuda_push_image(CudaDevice *cuda, CudaTree *tree, Error *err);
/* Enlarges the tables after the tree's memory has grown; its image stays valid. */
bool cuda_grow_image(CudaDevice *cuda, CudaTree *tree, Error *err);
/* These read back its counts; the tables of chunks as well; and the lists as well. */
bool cuda_pull_counts(CudaDevice *cuda, CudaTree *tree, Error *err);
bool cuda_pull_chunks(CudaDevice *cuda, CudaTree *tree, Error *err);
bool cuda_pull_tables(CudaDevice *cuda, CudaTree *tree, Error *err);
uint64_t cuda_tree_address(const CudaTree *tree); /* of its RtTree on the GPU */

/* code.c */
typedef struct CudaCode {
  DeviceCode code;
  struct Code *object;
  void *module;
  bool recurses;       /* some of its functions are recursive */
  uint64_t call_bytes; /* largest stack use of one recursive call, in bytes */
  uint64_t most_calls; /* RtWorker.most_calls for its launches */
  int32_t ptx_version; /* version of its PTX: 70 is 7.0 */
  int32_t *frames;     /* by task: bytes of a thread's local arrays; -1: unknown */
  void *tasks[];       /* the driver's functions */
} CudaCode;
void *cuda_load_module(CudaDevice *cuda, const char *text, Error *err);
/* Provides stacks before a launch of the code. */
bool cuda_ensure_stack(CudaDevice *cuda, CudaCode *code, Error *err);
/* Frees stacks, unless the running launch uses them; false if it freed none. All streams must be
 * idle. */
bool cuda_trim_stack(CudaDevice *cuda);
DeviceCode *cuda_load(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                      int32_t task_count, Error *err);
void cuda_unload(Device *device, DeviceCode *code);

/* describe.c */
bool cuda_describe(Device *device, const DeviceCode *code, const DeviceTask *tasks, int32_t number,
                   DeviceTaskCode *out);
void cuda_read_text(CudaCode *code, const char *text, int32_t task_count);

/* launch.c */
/* Threads per block of a task, unless the tuner has chosen otherwise. */
int32_t cuda_block_threads(const DeviceTask *task);
bool cuda_launch(Device *device, DeviceLaunch *launch, Error *err);
bool cuda_finish(Device *device, DeviceLaunch *launch, Error *err);
bool cuda_is_done(Device *device, uint64_t ticket);
/* Writes the launch's block, with the current frame, to the GPU. Call this before a task or a
 * service reads the block. */
bool cuda_push_block(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
/* Waits for the tasks of the running launch. If one of them, or an earlier launch, has failed, the
 * host region ends. */
bool cuda_check_stop(CudaDevice *cuda, Error *err);
/* Queues a write of the running launch's frame. */
bool cuda_put_frame(CudaDevice *cuda, uint64_t to, const void *frame, uint64_t size_bytes,
                    Error *err);
/* Takes the frame, with the results, of a launch that has just finished. */
void cuda_take_frame(CudaDevice *cuda, DeviceLaunch *launch);
/* Offset in a block of its count of collections. */
enum { CUDA_BLOCK_COLLECTIONS = sizeof(RtContext) + sizeof(RtWorker) };
/* Finishes and reports all queued launches: device->report_all. */
bool cuda_finish_all(CudaDevice *cuda, Error *err);

/* between.c */
enum { CUDA_BLOCK_THREADS = 128 };
int64_t cuda_max_blocks(const CudaDevice *cuda); /* the number that fills the GPU */
/* Refreshes the trees after a task that may have changed them, and collects freed nodes. */
bool cuda_refresh_trees(CudaDevice *cuda, DeviceLaunch *launch, bool frees, Error *err);
/* These build the list of active nodes before a task over them, and the orders that the task
 * requests. */
bool cuda_ensure_list(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
bool cuda_ensure_orders(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
/* Runs a task of kind CLEAR or CLEAR_CELLS, in place of its code. */
bool cuda_start_clear(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
/* Operations of DeviceRemoteTable and DeviceSharingTable; they wait. */
bool cuda_clear(Device *device, RtTree *tree, int32_t manager, DeviceClear *clear, Error *err);
bool cuda_publish(Device *device, RtTree *tree, bool compacts, Error *err);
bool cuda_visit(Device *device, RtTree *tree, DeviceVisit *visit, Error *err);

/* These queue a set on the current stream, and a copy that is described by words of the running
 * launch's frame. */
bool cuda_start_set(CudaDevice *cuda, RtGpuSet *set, Error *err);
bool cuda_start_copy(CudaDevice *cuda, Error *err);
/* Replaces offsets of cells in the root's container by addresses. */
void cuda_add_root_address(const CudaTree *own, RtGpuCells *cells);

/* cells.c */
bool cuda_copy_cells(Device *device, RtTree *to, RtTree *from, DeviceCopy *copy, Error *err);

/* edit.c */
bool cuda_put(Device *device, RtTree *tree, const DevicePut *put, bool *is_done, Error *err);
bool cuda_move(Device *device, RtTree *tree, RtTree *from_tree, const DeviceMove *move,
               bool *is_done, Error *err);
bool cuda_is_tree_idle(Device *device, const RtTree *tree);
bool cuda_set(Device *device, RtTree *tree, const DeviceSet *set, bool *is_done, Error *err);

/* time.c: call begin and end around the work that a launch queues; take returns its duration when
 * it is done. */
void cuda_time_begin(CudaDevice *cuda, const DeviceLaunch *launch);
void cuda_time_end(CudaDevice *cuda);
uint64_t cuda_time_take(CudaDevice *cuda, int32_t slot);
void cuda_times_free(CudaDevice *cuda);

/* races.c */
bool cuda_races_create(CudaDevice *cuda, Error *err);
/* Call these around a task: a race becomes a FAULT of the launch. They wait if races are
 * detected. */
bool cuda_races_begin(CudaDevice *cuda, Error *err);
bool cuda_races_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err);

/* service.c: PTX of the service entries (RtGpuService in rt.h) and of the entry that begins a
 * launch (RtGpuBlock), each ending in a 0 */
extern const char rt_service_ptx[], rt_begin_ptx[];

#endif
