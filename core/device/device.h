/* device.h - the table of functions that every device implements (cpu.c, cuda.c), and groups of
 * functions that some have. Its users (trees, kernels) request what they need. The device decides
 * where memory is, how positions are split, what the workers are, what the runtime's callbacks do,
 * and when private copies are used. Memory is addressed as the host sees it: on the CPU that is the
 * memory itself, elsewhere a mirror (a shadow copy on the host). The caller announces each access
 * of the host (device_reach), and the device first updates the mirror. Callers use one thread at a
 * time; functions that any thread may call are marked. */
#ifndef RG_DEVICE_DEVICE_H
#define RG_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "jit/codegen_abi.h"
#include "loader/cache.h"
#include "memory/symmetric_heap.h"
#include "rt.h"
#include "thread/pool.h"

typedef struct Device Device;

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct DeviceMemory { /* an address range, as the host sees it; all zero: none */
  uint8_t *base;              /* 64 KiB aligned */
  uint64_t reserved;
  struct MemoryBlock *block; /* the server's block that contains it; NULL: the device's own */
} DeviceMemory;

/* Memory that belongs to an array, not to a tree. */
typedef struct DeviceBlock {
  uint8_t *base;             /* as the host sees it, 64-byte aligned; NULL: none */
  struct MemoryBlock *block; /* of the device's memory manager; NULL: `range` holds it */
  DeviceMemory range;
} DeviceBlock;

/* What the host is about to do with a tree outside kernels. */
typedef enum DeviceUse {
  DEVICE_COUNTS, /* read its counts (RtManager, budget) */
  DEVICE_TABLES, /* read these, and its tables of chunks */
  DEVICE_READS,  /* read its memory */
  DEVICE_WRITES, /* read and write its memory */
  DEVICE_EXPOSES /* pass the address that tasks use to other code, which may then read and write
                  * there between launches */
} DeviceUse;

/* -- code -------------------------------------------------------------------------------------- */

typedef struct DeviceCode { /* a compiled kernel, loaded */
  RtHostFunction *host;     /* its host region, which always runs on the host */
  /* by number, in the device's own form: the CPU's are RtTaskFunction */
  void *const *tasks;
} DeviceCode;

/* What the device's own compiler (the GPU driver's) generated for a task; -1: unknown. */
typedef struct DeviceTaskCode {
  const char *processor; /* "sm_80" */
  int32_t ptx_version;   /* version of the PTX it was compiled from: 70 is 7.0 */
  int32_t threads;       /* per block, unless the tuner has chosen otherwise */
  int32_t registers, local_bytes, spilled_bytes; /* per thread; spills are part of local_bytes */
  int32_t shared_bytes;                          /* per block */
} DeviceTaskCode;

/* -- launches ---------------------------------------------------------------------------------- */

/* The last three exist only on a GPU. SERIAL runs once, on one thread. CLEAR deactivates all nodes
 * of a manager and CLEAR_CELLS all cells of a mask; both also have code for one thread. */
typedef enum DeviceTaskKind {
  DEVICE_RANGE,
  DEVICE_NODES,
  DEVICE_SERIAL,
  DEVICE_CLEAR,
  DEVICE_CLEAR_CELLS
} DeviceTaskKind;

typedef enum DeviceScalar {
  DEVICE_I8,
  DEVICE_I16,
  DEVICE_I32,
  DEVICE_I64,
  DEVICE_F32,
  DEVICE_F64
} DeviceScalar; /* u8 is added as i8 */

/* The elements that a task adds to in each worker's private copy: nested runs in every node of
 * `manager`. */
typedef struct DeviceSum {
  /* tree: index in launch->trees; -1 if in no tree: then there are no copies, and the task runs in
   * one chunk. manager: -1 for the root's container */
  int32_t tree, manager;
  DeviceScalar scalar;
  uint64_t offset; /* in bytes, within the node */
  int32_t place;   /* k > 0: frame slot k - 1 holds bytes to add to offset */
  /* length of counts and strides, outermost first; the innermost elements are contiguous */
  int32_t depth;
  uint64_t counts[RT_MAX_LEVELS + 1], strides[RT_MAX_LEVELS + 1];
  bool is_whole; /* the whole container of the root; the device computes counts[0] */
} DeviceSum;

/* An order of a manager's nodes that a serial task requests (rt_list_order). */
enum { DEVICE_MAX_ORDERS = 4 };
typedef struct DeviceOrder {
  int32_t tree, manager, depth;
} DeviceOrder;

enum { DEVICE_MAX_ARRAYS = 8 };
typedef struct DeviceTask { /* what a device needs to run a task; core/kernel fills it */
  DeviceTaskKind kind;
  int32_t axis_count;
  int32_t bounds; /* RANGE: first frame slot of its (begin, end) pairs */
  /* tree: index in launch->trees (NODES, CLEAR, CLEAR_CELLS); for CLEAR_CELLS `manager` is the
   * mask */
  int32_t tree, manager;
  int32_t block; /* positions per chunk if the user set them; 0: the device chooses */
  /* estimated ns per position, at least 1: cheap loops stay on the caller's thread */
  int64_t cost;
  /* task number of its privatised version, which runs instead if that is profitable; 0: none */
  int32_t privatised;
  const DeviceSum *sums; /* of a privatised version */
  int32_t sum_count;
  int32_t spread;         /* on a GPU: how many threads share one position */
  bool is_ordered;        /* one worker runs it, in order of positions */
  bool lists_are_ordered; /* the order of active nodes may not depend on threads */
  bool writes_frame;      /* it writes frame slots that the host region or the host reads */
  bool uses_arrays;       /* counts references to arrays that are shared with the host */
  bool reaches_arrays;    /* accesses elements of such arrays through their headers */
  int32_t array_count;    /* then only of the arrays in these frame slots; -1: also of others */
  int32_t array_slots[DEVICE_MAX_ARRAYS];
  bool may_change_topology, may_deactivate; /* if false, topology is unchanged after it */
  /* SERIAL: some of the orders that it requests. A device may build them before the task, with many
   * threads; they use memory of the tree */
  int32_t order_count;
  DeviceOrder orders[DEVICE_MAX_ORDERS];
} DeviceTask;

/* How to run a launch where its results allow a choice (order of iterations); 0: the device
 * decides. */
typedef enum DeviceCopies { COPIES_IF_PROFITABLE, COPIES_ALWAYS, COPIES_NEVER } DeviceCopies;
typedef struct DeviceSwitches {
  int32_t workers;     /* at most this many */
  int32_t chunks;      /* per worker, unless the user requested a block size */
  DeviceCopies copies; /* private copies, where a task can have them */
  int32_t threads;     /* per GPU block, if the code allows that many */
  int32_t blocks;      /* per GPU processor, at most; fewer blocks get more positions each */
} DeviceSwitches;

typedef struct DeviceLaunch {
  /* -- given by the caller */
  const DeviceCode *code;
  const DeviceTask *tasks;
  int32_t task_count;
  uint64_t *frame; /* arguments in, results out */
  int32_t frame_slots;
  RtTree **trees; /* as the host sees them */
  int32_t tree_count;
  /* entries of `trees` after those, for devices with a mirror: the arrays whose addresses are in
   * the frame */
  int32_t array_count;
  uint8_t *ambient; /* read-only zeros, as large as the largest node */
  RtRandom *random; /* the runtime's random state */
  bool has_sums;    /* some task has a privatised version */
  /* by message: how many indices are at the end of its records; records are sorted by them */
  const int32_t *message_axes;
  bool gc_is_stopped; /* the caller collects freed nodes itself */
  bool prints;        /* its messages are read when it returns: nothing may be queued before it */
  bool makes_arrays;  /* makes counted arrays, or may use some */
  /* the host holds some of them, too (context.allocator); the host region uses some; tasks may
   * allocate memory for them */
  bool shares_arrays, host_has_arrays, grows_arrays;
  bool has_arrays_in_place; /* rg.arrays whose memory is a counted array's are used in place */
  int32_t stream;           /* launches on one stream run in order; 0: the default stream */
  DeviceSwitches switches;
  bool is_timed; /* fill `ticks`, even where measuring costs time */
  /* Returns better code for the same tasks once it exists; otherwise returns NULL and sets a later
   * `improve_at`. Only the CPU calls it, from one worker at a time, between chunks, when
   * base/clock.h has passed `improve_at`. NULL: no better code will be made. */
  const DeviceCode *(*improve)(void *data);
  void *improve_data;
  _Atomic uint64_t improve_at;
  /* -- filled by the device */
  /* context.error is the launch's error. context.stop belongs to the caller: it is 0 when the
   * launch begins, and any thread may set it to 1 */
  RtContext context;
  uint64_t runs, collections; /* tasks run; collections that freed something */
  uint64_t ticks;             /* how long it took (base/clock.h); 0: unknown */
  uint64_t work;              /* positions of its tasks, weighted by cost; 0: unknown */
  bool is_skipped;            /* it did not run, as an earlier launch on its stream failed */
  bool has_waited;            /* it waited for some of its tasks, so finishing it costs little */
  RtOutside outside;          /* writes outside of shapes: their number, and one of them */
  /* The kernel's messages, as records of llvm_bc/message.c, in order of tasks and, within a task,
   * of the indices of its iterations. They belong to the device and are valid until the next
   * launch. */
  const uint64_t *messages;
  uint64_t message_words;
  uint64_t messages_lost; /* how many records did not fit */
  uint64_t touches_lost;  /* accesses that did not fit in the race detector's table */
  /* If not 0, the launch is queued, and all of the above is unknown until `finish`. Tickets of one
   * stream increase. */
  uint64_t ticket;
} DeviceLaunch;

typedef struct DeviceClear {
  bool gc_is_stopped; /* set by the caller: freed nodes are not collected */
  bool is_done;
  uint64_t collections; /* that freed something */
} DeviceClear;

/* A host operation on one cell of a sparse tree (rt.h, RtVisit), done where tasks work. */
typedef struct DeviceVisit {
  uint64_t *words; /* in and out: the RtVisit and what follows it */
  int32_t word_count;
  bool pages_suffice; /* after device_reach of a few pages the host could do the same */
  bool gc_is_stopped;
  bool is_done;
  RtError error;        /* after is_done, the runtime's; out of budget: nothing was done */
  uint64_t collections; /* that freed something */
} DeviceVisit;

/* A write and a copy by the host, with addresses as the host sees them; queued on a stream. */
typedef struct DevicePut {
  uint8_t *to;
  const void *bytes; /* the caller may reuse them when the call returns */
  uint64_t size_bytes;
  int32_t stream;
} DevicePut;
typedef struct DeviceMove {
  uint8_t *to;
  const uint8_t *from;
  uint64_t size_bytes;
  int32_t stream;
} DeviceMove;
typedef struct DeviceSet { /* sets one number in all cells, as RtGpuSet does */
  RtGpuCells cells;        /* in the root's container, as offsets from it */
  uint64_t size, bits;
  RtTree *from; /* of the source, maybe another tree's root; NULL: store `bits` */
  uint64_t from_offset, from_strides[RT_MAX_LEVELS];
} DeviceSet;

/* Copies numbers of all active cells of a level to another tree, or to a table. */
typedef struct DeviceCopy {
  /* in: an RtGpuCopy and what follows it; addresses in the root's container are offsets from
   * there */
  uint64_t *words;
  int32_t word_count;
  uint64_t positions;     /* a rough estimate of the nodes it may create */
  uint8_t *table;         /* NULL: the target is another tree */
  uint64_t element_bytes; /* size of one element of the table */
  bool is_done;
  RtError error; /* then: the runtime's */
} DeviceCopy;

/* -- the table: the required part, and optional groups ----------------------------------------- */

/* A device without blocks allocates a range for each array. The server provides them
 * (server/server.h). */
typedef struct DeviceBlockTable {
  /* Takes a zero-filled block. */
  bool (*allocate)(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err);
  /* Frees a block, which queued work may still use. `tree` identifies it in launches. */
  void (*free)(Device *device, DeviceBlock *block, RtTree *tree);
  /* Call this now and then: returns memory that has contained no block for some time. */
  void (*trim)(Device *device);
} DeviceBlockTable;

/* A device that queues launches gives each a ticket (DeviceLaunch.ticket). Without this group, a
 * launch is done when its call returns. */
typedef struct DeviceTicketTable {
  /* Waits for a queued launch and fills the rest of `launch`. Call it once for each, in the order
   * of its stream, with the code, frame and trees of the launch. Launches after a failed one on the
   * same stream have not run. */
  bool (*finish)(Device *device, DeviceLaunch *launch, Error *err);
  /* Has a queued launch ended, so that `finish` need not wait? */
  bool (*is_done)(Device *device, uint64_t ticket);
  /* Is there room for a launch on the stream, as far as that depends on the stream and not on
   * max_queued? If false, one of the stream must be finished first. */
  bool (*has_room)(Device *device, int32_t stream);
  /* Makes all queued work fail soon; false if there was none, or the device cannot. Any thread may
   * call it. */
  bool (*stop)(Device *device);
} DeviceTicketTable;

/* The host announces each access to memory. Without this group, memory that the host sees is always
 * up to date, since tasks work in it, and only while the host waits. */
typedef struct DeviceAccessTable {
  /* Implements device_reach. */
  bool (*reach)(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err);
  /* Lets tasks use a foreign tree (RtTree.foreign) until it is forgotten. */
  bool (*adopt)(Device *device, RtTree *tree, Error *err);
} DeviceAccessTable;

/* Tasks work in memory of the device, of which the host sees a mirror. Without this group, memory
 * is unified, and both see the same addresses (device_is_unified). */
typedef struct DeviceMirrorTable {
  /* The address at which tasks see what the host sees at `at`, in memory of the tree. */
  bool (*locate)(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address, Error *err);
  /* The address at which the host sees what tasks see at `address`, which may be the host's own
   * memory; returns NULL if the host cannot see it. */
  uint8_t *(*host_at)(Device *device, void *address);
  /* Have all queued operations on the tree ended, launches and those of DeviceRemoteTable? */
  bool (*is_idle)(Device *device, const RtTree *tree);
  /* Tasks may use copies of the elements of counted arrays (RT_COUNTED_COPIED). Call this, like
   * device_reach, before the host uses `size_bytes` at `from` of them between launches; `from`
   * NULL: all elements, and the array may move. */
  bool (*reach_array)(Device *device, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                      DeviceUse use, Error *err);
  /* The array is about to be destroyed; any thread may call this. */
  void (*forget_array)(Device *device, RtCounted *counted);
  /* Copies all elements back and drops the copies; with `forever` the device makes no new ones. */
  bool (*reach_arrays)(Device *device, bool forever, Error *err);
} DeviceMirrorTable;

/* Operations of the host that the device does where tasks work, so that nothing is copied to the
 * host. A device with a mirror has them. Each leaves is_done false if the host must do it after
 * all, in the memory that it sees. */
typedef struct DeviceRemoteTable {
  /* Deactivates and collects all cells of a manager. Call it after device_reach for the tree's
   * counts. */
  bool (*clear)(Device *device, RtTree *tree, int32_t manager, DeviceClear *clear, Error *err);
  /* Visits a cell, after all queued work. */
  bool (*visit)(Device *device, RtTree *tree, DeviceVisit *visit, Error *err);
  /* Three queued operations: `put` writes dense memory, `move` copies it from another tree, and
   * `set` stores a number in all cells. If is_done is false, the host must finish all queued work
   * before it does the same as `set`. */
  bool (*put)(Device *device, RtTree *tree, const DevicePut *put, bool *is_done, Error *err);
  bool (*move)(Device *device, RtTree *tree, RtTree *from_tree, const DeviceMove *move,
               bool *is_done, Error *err);
  bool (*set)(Device *device, RtTree *tree, const DeviceSet *set, bool *is_done, Error *err);
  /* Copies and waits. `to` is NULL if the target is a table. */
  bool (*copy_cells)(Device *device, RtTree *to, RtTree *from, DeviceCopy *copy, Error *err);
} DeviceRemoteTable;

/* External memory: tasks can access memory of the host at the host's addresses. Without this group,
 * tasks cannot share counted arrays with the host, unless memory is unified. */
typedef struct DevicePinTable {
  /* Lets tasks access whole pages until they are unpinned or the device ends. */
  bool (*pin)(Device *device, void *memory, uint64_t size_bytes, Error *err);
  void (*unpin)(Device *device, void *memory);
} DevicePinTable;

/* Windows (memory that processes share) in memory that is not the host's. Without this group, they
 * are in the host's. */
typedef struct DeviceSharingTable {
  /* What other processes need, called with the device as `data`. */
  const SymmetricHeapTable *symmetric;
  /* Moves a tree's memory into a window. Others may then read it, and write it if it is dense, as
   * after DEVICE_EXPOSES; the tree stays on the device until it is destroyed. */
  bool (*share)(Device *device, RtTree *tree, SymmetricHeapPart *part, Error *err);
  /* For a tree with hash levels that other processes read, but not during this call: copies its
   * tables to the host; with `compacts`, first removes tombstones from them. After the next `adopt`
   * a foreign tree's tables equal the host's. */
  bool (*publish)(Device *device, RtTree *tree, bool compacts, Error *err);
} DeviceSharingTable;

typedef struct DeviceTable {
  const char *name;

  /* -- memory */
  /* Reserves `size_bytes`, or less where the system has no more, but at least `least_bytes`. The
   * memory is writable, reads zero until written, and is committed as it is touched. */
  bool (*allocate)(Device *device, DeviceMemory *memory, uint64_t size_bytes, uint64_t least_bytes,
                   Error *err);
  /* Reserves read-only zeros. */
  bool (*allocate_zeros)(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err);
  void (*free)(Device *device, DeviceMemory *memory); /* all zero is fine, and is what it leaves */
  /* Hints on how best to provide memory, without other effect: `prefault` if the whole range will
   * be used, `prefer_huge_pages` if it will be used from its beginning on. */
  void (*prefault)(Device *device, uint8_t *from, uint64_t size_bytes);
  void (*prefer_huge_pages)(Device *device, uint8_t *from, uint64_t size_bytes);
  /* Decommits the whole pages in from..from + size_bytes, which then read zero again. */
  void (*discard)(Device *device, uint8_t *from, uint64_t size_bytes);
  /* The address at which the host accesses the memory between launches; valid until it is freed. */
  uint8_t *(*map)(Device *device, const DeviceMemory *memory);
  /* Copies from mapped memory to the host's. */
  void (*copy)(Device *device, void *to, const uint8_t *from, uint64_t size_bytes);
  /* Frees what the device keeps for a tree (RtTree.device): before the tree's memory is freed, and
   * when memory is short; the next launch builds it again. */
  void (*forget)(Device *device, RtTree *tree);

  /* -- code */
  /* Loads a kernel's objects, one for each of device->processors, with `task_count` tasks. Returns
   * NULL with err. */
  DeviceCode *(*load)(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                      int32_t task_count, Error *err);
  void (*unload)(Device *device, DeviceCode *code); /* NULL is fine */
  /* Describes what the driver's own compiler made of task `number`; false if that is unknown. */
  bool (*describe)(Device *device, const DeviceCode *code, const DeviceTask *tasks, int32_t number,
                   DeviceTaskCode *out);

  /* -- queue */
  /* Runs the host region, which runs the tasks. Returns when all is done or queued, and every tree
   * is refreshed and collected: the next task sees what a task or the host region changed. At most
   * device->max_queued launches, of max_words slots and trees each, can be queued. */
  bool (*launch)(Device *device, DeviceLaunch *launch, Error *err);
  /* Does the running launch wait for this thread, or might it? True for a worker, and for any
   * thread while the host's job system runs the work. Any thread may call it. */
  bool (*is_within)(Device *device);
  /* Returns when all launches have finished and have been reported. */
  bool (*sync)(Device *device, Error *err);
  void (*destroy)(Device *device);

  /* -- optional; NULL: the device has none of a group's functions, otherwise all */
  const DeviceBlockTable *blocks;
  const DeviceTicketTable *tickets;
  const DeviceAccessTable *access;
  const DeviceMirrorTable *mirror;
  const DeviceRemoteTable *remote;
  const DevicePinTable *pins;
  const DeviceSharingTable *sharing;
} DeviceTable;

/* Does it have every required function, and all functions of each group that it has? */
bool device_table_is_complete(const DeviceTable *table);

struct Device {
  const DeviceTable *table;
  Heap *heap;
  int32_t worker_count;
  bool times_launches; /* it times every launch; otherwise only those with is_timed */
  /* what to compile for, by target, as in RgCodegenRequest */
  const char *processors[RG_TARGET_COUNT];
  const char *name;      /* the driver's name for it; NULL: the host */
  uint64_t memory_bytes; /* of its own; 0: it uses the host's */
  RtBudget *budget;      /* of the runtime */
  int32_t vector_bytes;  /* width of the widest vector registers */
  bool fast_gathers;     /* a gather of 64 bits per lane is faster than a load per lane */
  /* the context (workers and callbacks, no trees) of native calls into the runtime */
  RtContext native;
  /* number of unfinished launches. Before the host reads what they may have changed, the device
   * calls `report_all`, which finishes and reports them; it returns false if one failed */
  int32_t queued, max_queued;
  int64_t max_words;
  bool maintains_idle; /* it maintains RtTree.idle: the host may access the tree */
  bool (*report_all)(void *data, Error *err);
  /* the same for one launch and the earlier ones on its stream */
  bool (*report_stream)(void *data, int32_t stream, uint64_t ticket, Error *err);
  void *report_data;
  Cache *cache; /* holds code that its driver compiled; NULL: none */
  bool shuffle_tasks, gc_each_launch, guard_pages;
  _Atomic bool fails_in_task; /* the next task fails, once */
  uint64_t seed;
};

typedef struct DeviceOptions {
  int32_t threads; /* 0: all cores */
  /* the embedding program's job system (pool.h), which has `threads` workers; NULL: our own
   * threads */
  PoolHost *host;
  void *host_data;
  const char *processor; /* CPU to compile for; borrowed from an option */
  uint64_t seed;         /* seed for shuffle_tasks */
  bool shuffle_tasks, gc_each_launch, guard_pages, fails_in_task; /* RG_STRESS */
  bool finds_races; /* a launch fails if llvm_bc/race.c finds a race */
} DeviceOptions;

/* How well code for the processor ("x86-64-v3", "sm_80") suits the device: more is better; -1: it
 * cannot run it, or runs code for another target. */
int device_rank_of(const Device *device, RgTarget target, const char *processor);

Device *device_cpu_create(Heap *heap, const DeviceOptions *options, Error *err);
/* A GPU, through its driver, which this opens. NULL with device.missing if none can be used. */
Device *device_cuda_create(Heap *heap, const DeviceOptions *options, Error *err);

/* Call this before the host uses memory of the tree outside kernels: `size_bytes` at `from`, or, if
 * that is NULL, all of it, as do callers that change topology or walk the tables of a sparse tree.
 * Waits for launches, and reports their messages and failures first. */
static inline bool device_reach(Device *device, RtTree *tree, const uint8_t *from,
                                uint64_t size_bytes, DeviceUse use, Error *err) {
  const DeviceAccessTable *access = device->table->access;
  return !access || access->reach(device, tree, from, size_bytes, use, err);
}
static inline bool device_adopt(Device *device, RtTree *tree, Error *err) {
  const DeviceAccessTable *access = device->table->access;
  return !access || access->adopt(device, tree, err);
}
/* A byte that is 1 while the host may use the tree's memory without device_reach: `has_memory`
 * itself if work is done when its call returns. NULL if no such byte exists. */
static inline const uint8_t *device_alive(const Device *device, const RtTree *tree,
                                          const bool *has_memory) {
  if (!device->table->access) return (const uint8_t *)has_memory;
  return device->maintains_idle ? &tree->idle : NULL;
}
/* Has a queued launch ended? Never waits. */
static inline bool device_is_done(Device *device, uint64_t ticket) {
  return !device->table->tickets || device->table->tickets->is_done(device, ticket);
}
/* Do tasks work in the memory that the host sees? */
static inline bool device_is_unified(const Device *device) { return !device->table->mirror; }
static inline bool device_locate(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address,
                                 Error *err) {
  const DeviceMirrorTable *mirror = device->table->mirror;
  *address = (uint64_t)(uintptr_t)at;
  return !mirror || mirror->locate(device, tree, at, address, err);
}
/* What processes need to share memory of the device; NULL: they share the host's. */
static inline const SymmetricHeapTable *device_symmetric_heap(const Device *device) {
  return device->table->sharing ? device->table->sharing->symmetric : NULL;
}

#endif
