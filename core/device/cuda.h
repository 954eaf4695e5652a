/* cuda.h - the parts of the CUDA device. For the room alone.
 * Tasks work in the GPU's memory; the host sees a mirror of it in its own, which has the layout
 * that a tree has on the CPU. What a place of memory means is the same in both: only pointers
 * differ, and cuda_image.c is the one place that turns one side's into the other's.
 *
 *     host's mirror --cuda_push, before a launch: what the host changed--> the GPU's memory
 *     host's mirror <--cuda_reach, before the host looks: what tasks may have changed-- the GPU's
 *
 * Calls of the driver are made with the device's context current (cuda_enter, cuda_leave), and
 * queue work on the current stream: cuda_stream.c. */
#ifndef RG_DEVICE_CUDA_H
#define RG_DEVICE_CUDA_H

#include "cuda/driver.h"
#include "device/device.h"
#include "device/messages.h"
#include "memory/arena.h"

/* Device memory. Of a range that grows, `mapped` bytes from its beginning on can be used. */
typedef struct CudaRange {
  uint64_t at;                /* 0: none */
  uint64_t reserved, mapped;
  unsigned long long *pieces; /* the physical memory mapped so far, PIECE bytes each at least */
  uint64_t *piece_bytes;
  int32_t piece_count;
  struct MemoryBlock *plain;  /* of a pool: all of it is there; NULL: it is a range */
  struct MemoryPool *pool;    /* cuda_plain.c */
  bool is_external;           /* somebody else's */
  bool is_shareable;          /* other processes can map its pieces */
} CudaRange;

/* Which side has the newest contents of a page of a tree's memory. */
typedef enum CudaPage {
  CUDA_SAME,
  CUDA_HOST_IS_NEWER,
  CUDA_GPU_IS_NEWER
} CudaPage;

typedef struct CudaList {     /* what a manager has on the GPU alone */
  CudaRange memory;           /* of its list: room for all nodes that the tree's memory can hold */
  bool is_current;            /* the list is that of now */
  uint32_t orders_are_current; /* a bit for each of the first */
  RtOrder **orders;           /* the GPU's address, as of the last pull */
  uint64_t order_count;
} CudaList;

/* The last work that uses something: a stream, and a launch's number there; all zero: none. */
typedef struct CudaUse {
  int32_t stream;
  uint64_t launch;
} CudaUse;

enum { CUDA_KNOWN = 32 };

typedef struct CudaTree {     /* RtTree.device */
  RtTree *tree;
  struct CudaTree *next, *previous; /* in CudaDevice.trees */
  uint8_t *first;             /* of its memory, as the host sees it */
  CudaRange memory;           /* that memory on the GPU: mirrors `first` on */
  uint8_t *pages;             /* CudaPage, of `first` on; past the end: SAME */
  uint64_t page_count, page_bytes;
  CudaUse use;
  bool host_has_all;          /* every page that is in use is newer on the host */
  bool host_has_some;         /* some are, perhaps */
  bool counts_are_read;       /* since a task may have changed them; */
  bool chunks_are_read;       /* and the tables of chunks */
  bool is_current;            /* nothing is newer on the GPU */
  bool is_used;               /* by the running launch */
  uint64_t most_bytes;        /* that it can fill: cuda_room.c */
  /* tasks that may have made it grow since its counts were read; after so many they are, again */
  uint32_t unread, interval;
  uint64_t wish;              /* what it should have, by the last of them before which they were */
  uint64_t most_positions;    /* of those tasks */
  uint64_t visits;            /* by the host since the last task that used it: cuda_between.c */
  const void *known[CUDA_KNOWN]; /* code of such tasks */
  uint32_t next_known;
  bool is_shown;              /* others may change it on the GPU at any time */
  int32_t wraps;              /* of its memory, while that is external: */
  bool owns_tree;             /* the RtTree stands for that memory, and is nobody else's; */
  DeviceMemory mirror;        /* and so is this, if there is one: cuda_external.c */
  bool is_shared;             /* with other processes, which write to it, too: cuda_share.c */
  uint64_t serial;            /* CommonsPart's; 0: it is none of this process's */
  uint8_t is_read;            /* as the GPU has RtTree.is_read */
  bool is_copy;               /* of a counted array's elements: cuda_copies.c */
  bool is_located;            /* a copy whose address is in the next launch's frame */
  _Atomic bool has_ended;     /* that array: its memory may be another's */
  bool is_window;             /* others map its pieces: they stay, and so does what is in them */
  uint8_t **priors;            /* by page; NULL: none, as their members: cuda_prior.c */
  CudaRange chunks, owners;   /* RtTree.chunks, segment_owner */
  CudaRange image;            /* RtTree, managers and what they point to: cuda_image.c */
  CudaList *lists;            /* by manager */
  CudaRange *was;             /* by mask: room for its words as saved */
  CudaPage image_state;       /* of image, chunks, owners and lists together */
} CudaTree;

/* Memory of the host's own, as the GPU gets it for a launch and gives it back at its end. Wraps
 * that overlap, as those of a struct's members, are one. */
typedef struct CudaForeign {
  struct CudaForeign *next;   /* in CudaDevice.foreign */
  uint8_t *first;
  uint64_t size_bytes;
  int32_t tree_count;         /* that lie in it */
  bool is_constant;           /* of all of them */
  bool is_used;               /* by the running launch */
  CudaUse use;
  CudaRange memory;
} CudaForeign;

typedef struct CudaCopy CudaCopy; /* cuda_copies.c */

/* What is mapped of a commons, and where: cuda_share.c. */
typedef struct CudaPart {
  struct CudaPart *next;
  uint64_t at, size_bytes;
  bool grows;                 /* a sparse tree's, at which the host never looks */
} CudaPart;

typedef struct CudaCommons {
  struct CudaCommons *next;    /* in CudaDevice.commons */
  uint64_t at, size_bytes;    /* addresses of the GPU */
  Arena mirror;               /* as the host sees them: closed but for the parts */
  CudaPart *parts;
} CudaCommons;

enum { CUDA_MOST_QUEUED = 64, CUDA_STREAMS = 8 };

/* A ring of pinned memory, through which every copy goes; and those that were too small, of which
 * copies may still be queued. */
enum { CUDA_OLD_RINGS = 8 };
typedef struct CudaStaging {
  uint8_t *memory;
  uint64_t used, size_bytes;
  void *old[CUDA_OLD_RINGS];
  int32_t old_count;
} CudaStaging;

/* Work that a host region asks for: a kernel, or the frame for those that follow. Zero where it
 * says nothing: steps are compared by their bytes. */
enum { CUDA_STEP_WORDS = 4 };
typedef struct CudaStep {
  enum { CUDA_STEP_KERNEL, CUDA_STEP_FRAME, CUDA_STEP_WAIT } kind;
  uint32_t blocks, threads;
  uint32_t from_block;        /* a bit per word: it counts from the launch's block */
  void *function;
  /* a kernel's parameters; of a frame, the first: where it goes, from the block on; its bytes */
  uint64_t words[CUDA_STEP_WORDS];
} CudaStep;
typedef struct CudaRepeat CudaRepeat;

typedef struct CudaStream {
  void *handle, *event;       /* NULL: nobody has used it yet */
  CudaStaging staging;
  CudaRepeat *repeat;         /* steps that come again and again; NULL: none yet */
  CudaRange messages;         /* of one launch that is queued, as none runs after a failure */
  /* launches, and what the host has queued between them, so far; how many of these are done */
  uint64_t launched, finished;
  uint64_t seen[CUDA_STREAMS]; /* launches of others, which what comes next runs after */
  int32_t queued, last;       /* launches without a report; the newest one's place, or -1 */
  bool is_broken;             /* one of them has failed; those after it have not run */
} CudaStream;

/* A place for a launch that is queued. */
typedef struct CudaPlace {
  bool is_taken, is_read;     /* its block has been read into `reports` */
  int32_t stream;
  uint64_t number;            /* the launch's, on its stream */
  RtError host_error;         /* of its host region; */
  RtOutside host_outside;     /* and what that wrote outside */
  uint64_t work;              /* DeviceLaunch.work */
} CudaPlace;

/* Of a place: events before and after a launch's work; NULL: not needed yet. */
typedef struct CudaTimer {
  void *begin, *end;
  bool is_set;
} CudaTimer;

/* guess.def, by these numbers in CudaDevice.guesses. */
typedef enum CudaGuess {
#define GUESS(NAME, DEFAULT, LEAST, TEXT) CUDA_GUESS_##NAME,
#include "device/guess.def"
#undef GUESS
  CUDA_GUESSES
} CudaGuess;

typedef struct CudaDevice {
  Device device;
  Driver driver;
  DriverDevice about;
  int64_t guesses[CUDA_GUESSES];
  char processor[16];         /* "sm_80" */
  void *context;
  CudaStream streams[CUDA_STREAMS];
  int32_t open_streams;
  CudaStream *now;            /* the current one: streams[number], */
  int32_t number;
  void *stream;               /* and its handle */
  bool has_context, is_lost, is_relieving;
  bool has_graphs;            /* and is to use them */
  bool has_faulted;           /* this runtime saw the fault that it is lost by */
  uint32_t faults_before;     /* of the process, when the context was retained */
  uint64_t stack_bytes;       /* of a thread, if it was asked for; */
  size_t others_stack;        /* what it was before */
  RtWorker worker;            /* of native calls, and of host regions */
  CudaTree *trees;
  CudaForeign *foreign;
  CudaCommons *commons;
  uint64_t serials;           /* of parts, so far */
  CudaRange heap;             /* an RtGpuHeap and its memory: cuda_heap.c */
  uint64_t heap_shown;        /* bytes of it that the GPU knows of */
  uint64_t bytes_per_thread;  /* of a task, that the heap has */
  bool heap_grows;
  uint64_t shared_per_thread; /* of a task, that arrays of the host's have: cuda_arrays.c */
  CudaCopy *copies;           /* of such arrays: cuda_copies.c */
  _Atomic uint32_t copies_lock; /* of the list, and of what says that one has ended */
  bool is_in_launch;          /* its host region runs */
  bool has_no_copies;         /* nor gets any */
  bool copies_are_of_before;  /* those that are shown are for a task that has run */
  bool arrays_are_used;       /* by tasks of the running launch, in memory of the host */
  int32_t unseen;             /* tasks of it since the host looked whether it is to end */
  struct MemoryPool *plain;   /* of cuMemAlloc: cuda_plain.c; NULL: nothing was needed yet */
  struct MemoryPool *arena;   /* for what is large; NULL: likewise, or the driver cannot */
  CudaRange arena_range;      /* its addresses */
  bool has_no_arena;
  int plain_result;           /* of the last request of either */
  CudaRange budget;           /* an RtBudget */
  uint64_t budget_used, budget_limit; /* when both sides last agreed */
  bool budget_is_newer;       /* on the GPU, perhaps */
  CudaUse budget_use;
  CudaRange ambient;          /* zeros */
  CudaRange counts;           /* a number per warp, while a list is made in order */
  CudaRange block;            /* of launches: cuda_launch.c; by their place */
  CudaPlace places[CUDA_MOST_QUEUED];
  CudaTimer timers[CUDA_MOST_QUEUED];
  uint64_t begin_ticks;       /* the host's two clocks when it began: cuda_time.c */
  int64_t begin_ns;
  int32_t place, last_place;  /* of the running launch; of the one that ran last */
  uint64_t block_now;         /* of the running launch */
  bool block_is_there;        /* and has been written */
  CudaRange races, shadow;    /* of the race detector: an RtRaces, its table */
  RtRaces races_shown;        /* as the GPU has it; capacity 0: races are not looked for */
  void *begin, *begin_block;  /* a module, and its entry: cuda_launch.c, likewise */
  void *service;              /* a module: cuda_service.c, loaded when it is first needed */
  void *service_trees, *service_zero, *service_list, *service_fill, *service_enter;
  void *service_clear, *service_clear_end, *service_clear_cells;
  void *service_visit, *service_set, *service_copy;
  void *service_order, *service_order_look, *service_order_copy, *service_order_merge;
  Said said;                  /* by the running or last launch, */
  uint8_t *reports;           /* blocks of launches that are being finished */
  Said reported;              /* and by one before it, while that is reported */
  DeviceLaunch *launch;       /* the running one */
  Error *err;                 /* of the running launch */
  uint64_t *frame_was;        /* as the GPU has it */
  int32_t frame_capacity;
} CudaDevice;

/* cuda.c */
bool cuda_enter(CudaDevice *cuda, Error *err);
void cuda_leave(CudaDevice *cuda);
/* driver_check, which notes a lost device. */
bool cuda_check(CudaDevice *cuda, int result, const char *what, Error *err);
/* Has the context had a fault, by whomever? Then nothing of it may be used or freed. */
bool cuda_is_lost(CudaDevice *cuda);

/* cuda_stream.c */
/* Makes it the current one. */
bool cuda_select(CudaDevice *cuda, int32_t number, Error *err);
/* By what is queued on the current stream from now on, and by the running launch. */
CudaUse cuda_use_now(const CudaDevice *cuda);
/* What is queued on the current stream from now on comes after that. */
bool cuda_join(CudaDevice *cuda, CudaUse use, Error *err);
/* For the current stream; for all of them. */
bool cuda_wait(CudaDevice *cuda, Error *err);
bool cuda_wait_all(CudaDevice *cuda, Error *err);
/* For that use, and what came before it on its stream. */
bool cuda_wait_for(CudaDevice *cuda, CudaUse use, Error *err);
/* As far as is known without waiting. */
bool cuda_is_idle(CudaDevice *cuda, int32_t number);
void cuda_streams_free(CudaDevice *cuda);

/* cuda_repeat.c: loops of host regions as graphs */
bool cuda_can_repeat(const Driver *driver);
/* The next step of the running launch; `frame`: of one that says so. */
bool cuda_queue(CudaDevice *cuda, const CudaStep *step, const void *frame, Error *err);
/* At the beginning of a host region; before the host waits for the current stream; before anything
 * else is queued there, and at the end. */
void cuda_repeat_begin(CudaDevice *cuda);
bool cuda_repeat_pause(CudaDevice *cuda, Error *err);
bool cuda_repeat_end(CudaDevice *cuda, Error *err);
/* Kernels are about to go. */
void cuda_repeat_forget(CudaDevice *cuda);
void cuda_repeat_free(CudaDevice *cuda, CudaStream *stream);

/* cuda_memory.c: device memory and copies; the context is current. */
/* Zeros. */
bool cuda_allocate(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Addresses alone; where the driver cannot, all memory at once, `plain_bytes` of it. */
bool cuda_reserve(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, uint64_t plain_bytes,
                  Error *err);
/* At least `size_bytes` can be used; what comes new is zero. False: the device has no memory, or
 * the range is too small. */
bool cuda_grow(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Gives back whole pieces past `size_bytes`; false: there were none. All streams are idle. */
bool cuda_shrink(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes);
/* Of cuda_allocate: at least so large, perhaps elsewhere; what was in it is kept, or lost. */
bool cuda_enlarge(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, bool keeps, Error *err);
void cuda_free(CudaDevice *cuda, CudaRange *range);
/* Of which that is the last use: waits for nothing else. */
void cuda_free_after(CudaDevice *cuda, CudaRange *range, CudaUse use);
/* Zeros in one piece, which other processes can map. */
bool cuda_provide_shared(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
uint64_t cuda_piece_size(CudaDevice *cuda); /* the least that can be mapped */
/* Queued: the bytes may change when they return. */
bool cuda_write(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes, Error *err);
/* cuda_write of what one of the above, or cuda_queue, is about. */
bool cuda_copy_in(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes, Error *err);
/* Waits for what is queued. */
bool cuda_read(CudaDevice *cuda, void *to, uint64_t from, uint64_t size_bytes, Error *err);
/* So that copies of so many bytes need not wait, as far as there is memory for that. */
void cuda_have_staging(CudaDevice *cuda, uint64_t size_bytes);
/* All copies have been done. */
void cuda_staging_rest(CudaDevice *cuda, CudaStaging *staging);
void cuda_staging_free(CudaDevice *cuda, CudaStaging *staging);

/* cuda_plain.c: memory that is there as a whole */
/* Contents undefined; for cuda_allocate. */
bool cuda_take(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err);
/* Gives back to the driver what nobody holds; false: nothing. */
bool cuda_trim_plain(CudaDevice *cuda);
void cuda_plain_free(CudaDevice *cuda);

/* Of another process, sparse: tasks read it, and it has no mirror (cuda_share.c). */
static inline bool cuda_is_view(const RtTree *tree) {
  return tree->foreign && tree->manager_count;
}
/* Of the mapped bytes of a sparse tree, as many as its nodes may lie in. Where other processes map
 * it, too, a node that begins in them also ends in what is mapped. */
uint64_t cuda_usable_bytes(const CudaTree *tree, uint64_t mapped);
/* What must be mapped for that. */
uint64_t cuda_mapped_for(const CudaTree *tree, uint64_t usable);

/* Host and GPU exchange as much of a tree's memory at once. */
static inline uint64_t cuda_page_bytes(const CudaDevice *cuda) {
  return (uint64_t)cuda->guesses[CUDA_GUESS_page] << 10;
}

/* cuda_tree.c */
/* The GPU's side of a tree; NULL with err. */
CudaTree *cuda_tree(CudaDevice *cuda, RtTree *tree, Error *err);
/* Before a task that uses it: what the host changed is there; and room, if the task may make it
 * grow: then `code` is the task's, which has so many positions. Else NULL. */
bool cuda_push(CudaDevice *cuda, RtTree *tree, const void *code, uint64_t positions, Error *err);
/* What the GPU has of its tables, on both sides. */
bool cuda_bring_tables(CudaDevice *cuda, CudaTree *tree, Error *err);
/* After a task that may have written to it, or changed its topology, too. */
void cuda_note_task(CudaTree *tree, bool changes_topology);
/* Its tables alone have changed: no cell has come or gone. */
void cuda_note_tables(CudaTree *tree);
/* Has the host the newest contents of those bytes, as far as it knows without asking? */
bool cuda_host_has(const CudaTree *tree, const uint8_t *from, uint64_t size_bytes);
/* cuda_reach in the middle of a launch, on whose stream it happens. */
bool cuda_bring(CudaDevice *cuda, CudaTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err);
/* Of a dense one: these bytes are newer on the GPU. */
void cuda_note_bytes(CudaTree *tree, const uint8_t *from, uint64_t size_bytes);
void cuda_forget(Device *device, RtTree *tree);
bool cuda_reach(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err);
bool cuda_locate(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address, Error *err);
/* What trees may take, as both sides have it. */
bool cuda_push_budget(CudaDevice *cuda, RtBudget *budget, Error *err);
bool cuda_pull_budget(CudaDevice *cuda, RtBudget *budget, Error *err);

/* cuda_room.c */
/* The most bytes that the tree can fill. */
uint64_t cuda_most_bytes(const RtTree *tree);
/* How much it should have before a task of so many positions. */
uint64_t cuda_wish(const CudaTree *tree, uint64_t positions);
/* Memory for what is in use, and, with code, for what a task may add: see cuda_push. */
bool cuda_have_room(CudaDevice *cuda, CudaTree *tree, const void *code, uint64_t positions,
                    Error *err);
/* Takes back what trees were given and do not use, but for those of the running launch; false:
 * nothing. Waits. */
bool cuda_relieve(CudaDevice *cuda);

/* cuda_heap.c */
/* Before a task of so many threads, which may make arrays: memory for them, as far as there is. */
bool cuda_have_heap(CudaDevice *cuda, uint64_t threads, Error *err);
/* A launch has found none left. */
void cuda_heap_ran_short(CudaDevice *cuda);
/* Takes all of it back, between tasks; false: there was none. All streams are idle. */
bool cuda_trim_heap(CudaDevice *cuda);

/* cuda_arrays.c: arrays that the host has, too */
bool cuda_pin(Device *device, void *memory, uint64_t size_bytes, Error *err);
void cuda_unpin(Device *device, void *memory);
/* Around a task of a launch that shares arrays; at the end of the launch. */
bool cuda_arrays_begin(CudaDevice *cuda, const DeviceLaunch *launch, uint64_t threads, Error *err);
bool cuda_arrays_pause(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
bool cuda_arrays_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
void cuda_arrays_ran_short(CudaDevice *cuda);

/* cuda_copies.c: what tasks have of such arrays while they stay as large as they are */
/* RtContext.move */
const uint8_t *cuda_array_move(RtContext *context, RtCounted *counted, const uint8_t *from,
                               uint64_t size_bytes, int32_t use);
/* Before a task that may reach arrays in memory of the host: those are there, also where they were
 * shown to its other version. */
bool cuda_copies_yield(CudaDevice *cuda, const DeviceLaunch *launch, const DeviceTask *task,
                       Error *err);
/* After a task. */
void cuda_copies_note(CudaDevice *cuda);
/* At the beginning and the end of a launch. */
void cuda_copies_hide(CudaDevice *cuda);
/* Gives back those whose address neither a task, a frame nor anybody else has; false: none. All
 * streams are idle. */
bool cuda_copies_relieve(CudaDevice *cuda);
bool cuda_reach_array(Device *device, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                      DeviceUse use, Error *err);
void cuda_forget_array(Device *device, RtCounted *counted);
bool cuda_reach_arrays(Device *device, bool for_good, Error *err);
void cuda_copies_free(CudaDevice *cuda);

/* cuda_foreign.c */
uint8_t *cuda_host_at(Device *device, void *address);
bool cuda_adopt(Device *device, RtTree *tree, Error *err);
void cuda_abandon(CudaDevice *cuda, const RtTree *tree);
/* Of a foreign tree: the one whose memory it is a part of, a wrap of our own; else NULL. */
CudaTree *cuda_owner(const CudaDevice *cuda, const RtTree *tree);
bool cuda_locate_foreign(CudaDevice *cuda, const RtTree *tree, const uint8_t *at,
                         uint64_t *address, Error *err);
/* To the GPU before the first task of a launch; and back after its last. */
bool cuda_push_foreign(CudaDevice *cuda, const DeviceLaunch *launch, Error *err);
bool cuda_pull_foreign(CudaDevice *cuda, Error *err);

/* cuda_external.c */
/* Where the host sees what is at this address of the GPU, in an allocation that is not ours and has
 * no mirror yet; NULL: there is none, or no memory. */
uint8_t *cuda_external_at(CudaDevice *cuda, uint64_t at);
/* Is it still the allocation that it was? */
bool cuda_external_is_there(CudaDevice *cuda, const CudaTree *own);
/* What the host changed of what others see (CudaTree.is_shown) goes there; queued. */
bool cuda_external_sync(CudaDevice *cuda, Error *err);

/* cuda_share.c: windows, whose memory other processes have, too */
extern const CommonsTable cuda_commons;
bool cuda_share(Device *device, RtTree *tree, CommonsPart *part, Error *err);
/* Is the tree's memory in a window? */
bool cuda_is_common(const CudaDevice *cuda, const RtTree *tree);
/* The GPU's memory of what the host sees from `mirror` on; false: it is none of a window. */
bool cuda_commons_range(const CudaDevice *cuda, const uint8_t *mirror, CudaRange *range);
/* Where the host sees what is at this address of the GPU; NULL: it is none of a window's. */
uint8_t *cuda_commons_host(const CudaDevice *cuda, uint64_t at);
/* What of it is mapped around that address. */
bool cuda_commons_part(const CudaDevice *cuda, uint64_t at, uint64_t *base, uint64_t *size_bytes);
void cuda_commons_free(CudaDevice *cuda);

/* cuda_prior.c: what the host changes of a tree that is shared */
/* Before it changes pages begin..end. */
bool cuda_priors_make(CudaDevice *cuda, CudaTree *tree, uint64_t begin, uint64_t end, Error *err);
/* What it has changed of a page goes to the GPU; queued. */
bool cuda_priors_push(CudaDevice *cuda, CudaTree *tree, uint64_t page, Error *err);
/* What it has changed is lost. */
void cuda_priors_drop(CudaDevice *cuda, CudaTree *tree);

/* cuda_image.c */
bool cuda_push_image(CudaDevice *cuda, CudaTree *tree, Error *err);
/* The tree's memory has grown under an image that stays: so do its tables. */
bool cuda_grow_image(CudaDevice *cuda, CudaTree *tree, Error *err);
/* Its counts alone, or its tables of chunks, or its lists, too. */
bool cuda_pull_counts(CudaDevice *cuda, CudaTree *tree, Error *err);
bool cuda_pull_chunks(CudaDevice *cuda, CudaTree *tree, Error *err);
bool cuda_pull_tables(CudaDevice *cuda, CudaTree *tree, Error *err);
uint64_t cuda_tree_address(const CudaTree *tree); /* of its RtTree */

/* cuda_code.c */
typedef struct CudaCode {
  DeviceCode code;
  struct Code *object;
  void *module;
  bool recurses;              /* functions of it call themselves: */
  uint64_t call_bytes;        /* of the stack, that a call of one takes at most */
  uint64_t most_calls;        /* RtWorker.most_calls of its launches */
  int32_t ptx_version;        /* of its text: 70 is 7.0 */
  int32_t *frames;            /* by task: bytes of a thread's own arrays; -1: that is not known */
  void *tasks[];              /* the driver's functions */
} CudaCode;
void *cuda_load_module(CudaDevice *cuda, const char *text, Error *err);
/* Before a launch of it. */
bool cuda_have_stack(CudaDevice *cuda, CudaCode *code, Error *err);
/* Takes stacks back, unless the running launch has them; false: there were none. All streams are
 * idle. */
bool cuda_trim_stack(CudaDevice *cuda);
DeviceCode *cuda_load(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                      int32_t task_count, Error *err);
void cuda_unload(Device *device, DeviceCode *code);

/* cuda_describe.c */
bool cuda_describe(Device *device, const DeviceCode *code, const DeviceTask *tasks, int32_t number,
                   DeviceTaskCode *out);
void cuda_read_text(CudaCode *code, const char *text, int32_t task_count);

/* cuda_launch.c */
/* Threads of a task's block, unless the tuner has chosen otherwise. */
int32_t cuda_block_threads(const DeviceTask *task);
bool cuda_launch(Device *device, DeviceLaunch *launch, Error *err);
bool cuda_finish(Device *device, DeviceLaunch *launch, Error *err);
bool cuda_is_done(Device *device, uint64_t ticket);
/* Before anything that sees the launch's block: there it is, with the frame of now. */
bool cuda_push_block(CudaDevice *cuda, DeviceLaunch *launch, Error *err);
/* Waits for the tasks of the running launch: has one of them failed, or a launch before, its host
 * region ends. */
bool cuda_look_for_stop(CudaDevice *cuda, Error *err);
/* The frame of the running launch, queued. */
bool cuda_put_frame(CudaDevice *cuda, uint64_t to, const void *frame, uint64_t size_bytes,
                    Error *err);
/* Of a launch that was just finished: its frame as tasks left it. */
void cuda_take_frame(CudaDevice *cuda, DeviceLaunch *launch);
/* In a block: where collections are counted. */
enum { CUDA_BLOCK_COLLECTIONS = sizeof(RtContext) + sizeof(RtWorker) };
/* What is queued, and its reports: device->settle. */
bool cuda_settle(CudaDevice *cuda, Error *err);

/* cuda_between.c */
enum { CUDA_BLOCK_THREADS = 128 };
int64_t cuda_most_blocks(const CudaDevice *cuda); /* that fill the GPU */
/* After a task that may have changed them: they are refreshed, and what was freed is collected. */
bool cuda_refresh_trees(CudaDevice *cuda, DeviceLaunch *launch, bool frees, Error *err);
/* Of active nodes, before a task over them; and in order, where it asks for that. */
bool cuda_have_list(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
bool cuda_have_orders(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
/* A task of kind CLEAR or CLEAR_CELLS, in place of its code. */
bool cuda_start_clear(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err);
/* Both for what is on the GPU alone; they wait. */
bool cuda_clear(Device *device, RtTree *tree, int32_t manager, DeviceClear *clear, Error *err);
bool cuda_rest(Device *device, RtTree *tree, bool tidies, Error *err);
bool cuda_visit(Device *device, RtTree *tree, DeviceVisit *visit, Error *err);

/* Queued: on the current stream; with the running launch's frame, from words of it. */
bool cuda_start_set(CudaDevice *cuda, RtGpuSet *set, Error *err);
bool cuda_start_copy(CudaDevice *cuda, Error *err);
/* What cells of the root's container have as offsets become addresses. */
void cuda_go_to_root(const CudaTree *own, RtGpuCells *cells);

/* cuda_cells.c */
bool cuda_copy_cells(Device *device, RtTree *to, RtTree *from, DeviceCopy *copy, Error *err);

/* cuda_edit.c */
bool cuda_put(Device *device, RtTree *tree, const DevicePut *put, bool *is_done, Error *err);
bool cuda_move(Device *device, RtTree *tree, RtTree *from_tree, const DeviceMove *move,
               bool *is_done, Error *err);
bool cuda_is_through(Device *device, const RtTree *tree);
bool cuda_set(Device *device, RtTree *tree, const DeviceSet *set, bool *is_done, Error *err);

/* cuda_time.c: around what a launch queues, at its place; and what it took, once it is done */
void cuda_time_begin(CudaDevice *cuda, const DeviceLaunch *launch);
void cuda_time_end(CudaDevice *cuda);
uint64_t cuda_time_take(CudaDevice *cuda, int32_t place);
void cuda_times_free(CudaDevice *cuda);

/* cuda_races.c */
bool cuda_races_create(CudaDevice *cuda, Error *err);
/* Around a task: a race becomes a FAULT of the launch. Where races are looked for, this waits. */
bool cuda_races_begin(CudaDevice *cuda, Error *err);
bool cuda_races_end(CudaDevice *cuda, DeviceLaunch *launch, Error *err);

/* cuda_service.c: PTX of the service entries, RtGpuService in rt.h, and of the one that begins a
 * launch, RtGpuBlock; they end in a 0 */
extern const char rt_service_ptx[], rt_begin_ptx[];

#endif
