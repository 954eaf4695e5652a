/* device.h - the table of functions every device fills in: cpu.c, cuda.c. Its users (trees,
 * kernels) say what they need. Where memory is, how positions are split, what the workers are, what
 * the runtime's callbacks do, and private copies are up to the device.
 * Memory is what the host sees of it: on the CPU the memory itself, elsewhere a mirror, which the
 * device brings up to date when the host says what it is about to do (device_reach).
 * One thread at a time; only `stop` may be called from any thread. */
#ifndef RG_DEVICE_DEVICE_H
#define RG_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "jit/codegen_border.h"
#include "loader/cache.h"
#include "memory/commons.h"
#include "rt.h"
#include "thread/pool.h"

typedef struct Device Device;

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct DeviceMemory { /* an address range, as the host addresses it; all zero: none */
  uint8_t *base;              /* 64 KiB aligned */
  uint64_t reserved;
  struct MemoryBlock *block;  /* that a server took it from; NULL: it is the device's */
} DeviceMemory;

/* Memory that belongs to no tree, an array's. */
typedef struct DeviceBlock {
  uint8_t *base;              /* as the host addresses it, 64-byte aligned; NULL: none */
  struct MemoryBlock *block;  /* of the device's memory manager; NULL: it is a range of its own, */
  DeviceMemory range;
} DeviceBlock;

/* What the host is about to do with a tree outside kernels: ask its counts (RtManager, budget), or
 * its tables of chunks, too; read its memory, read and write it, or let others have the address
 * that tasks use: from then on they may read and write there between launches. */
typedef enum DeviceUse {
  DEVICE_COUNTS,
  DEVICE_TABLES,
  DEVICE_READS,
  DEVICE_WRITES,
  DEVICE_SHOWS
} DeviceUse;

/* -- code -------------------------------------------------------------------------------------- */

typedef struct DeviceCode {   /* a compiled kernel, loaded */
  RtHostFunction *host;       /* its host region, which always runs on the host */
  /* by number, in the device's own form: the CPU's are RtTaskFunction */
  void *const *tasks;
} DeviceCode;

/* What a device's own compiler made of a task; -1: that is not known. */
typedef struct DeviceTaskCode {
  const char *processor;      /* "sm_80" */
  int32_t ptx_version;        /* of the text that it was made from: 70 is 7.0 */
  int32_t threads;            /* of a block, unless the tuner has chosen otherwise */
  int32_t registers, local_bytes, spilled_bytes; /* of a thread; the last is part of its memory */
  int32_t shared_bytes;       /* of a block */
} DeviceTaskCode;

/* -- launches ---------------------------------------------------------------------------------- */

/* Of kernels that a GPU runs: SERIAL: once, by one thread; CLEAR: all nodes of a manager go, or all
 * cells of a mask, for which code by one thread is there, too */
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
} DeviceScalar; /* u8 adds as i8 */

/* Elements that a task adds to in each worker's private copy: a nest of runs per node of
 * `manager`. */
typedef struct DeviceSum {
  /* in launch->trees, -1: in none, and there are no copies: the task runs in one chunk; manager -1:
   * the root's container */
  int32_t tree, manager;
  DeviceScalar scalar;
  uint64_t offset;            /* bytes in the node */
  int32_t place;              /* k: plus those in frame slot k - 1; 0: no more */
  /* of counts and strides, outermost first; the innermost elements are contiguous */
  int32_t depth;
  uint64_t counts[RT_MAX_LEVELS + 1], strides[RT_MAX_LEVELS + 1];
  bool is_whole;              /* all of the root's container; counts[0] is what it holds */
} DeviceSum;

/* The order of a manager's nodes that a serial task asks for (rt_list_order). */
enum { DEVICE_MOST_ORDERS = 4 };
typedef struct DeviceOrder {
  int32_t tree, manager, depth;
} DeviceOrder;

enum { DEVICE_MOST_ARRAYS = 8 };
typedef struct DeviceTask {   /* what running a task needs; filled from IrTask by kernel */
  DeviceTaskKind kind;
  int32_t axis_count;
  int32_t bounds;             /* RANGE: frame slot of the (begin, end) pairs */
  /* NODES, CLEAR: number in launch->trees; CLEAR_CELLS: `manager` is the mask */
  int32_t tree, manager;
  int32_t block;              /* positions per chunk requested by the user; 0: choose */
  /* estimated ns per position, at least 1: small loops stay on the caller */
  int64_t cost;
  /* number of its privatised version, to run instead if that pays; 0: none */
  int32_t privatised;
  const DeviceSum *sums;      /* of a privatised version */
  int32_t sum_count;
  /* On a GPU: this many threads share a position where as many times the positions run */
  int32_t spread;
  bool is_ordered;            /* one worker runs it, in order */
  bool lists_are_ordered;     /* the order of active nodes may not depend on threads */
  bool writes_frame;          /* the host region or the host reads slots that it writes */
  bool uses_arrays;           /* that the host has, too: counts references, or */
  bool reaches_arrays;        /* reaches their elements by their headers: */
  int32_t array_count;        /* those in these slots of the frame alone; -1: others, too */
  int32_t array_slots[DEVICE_MOST_ARRAYS];
  bool may_change_topology, may_deactivate; /* false: trees are unchanged after it */
  /* of a SERIAL one: some of the orders it asks for, if any; a device makes them faster before it,
   * by many threads. Those it makes take memory of the tree */
  int32_t order_count;
  DeviceOrder orders[DEVICE_MOST_ORDERS];
} DeviceTask;

/* How a launch is run, where its results leave a choice (order of iterations); 0: the device
 * decides. */
typedef enum DeviceCopies { COPIES_IF_WORTH, COPIES_ALWAYS, COPIES_NEVER } DeviceCopies;
typedef struct DeviceSwitches {
  int32_t workers;            /* at most so many */
  int32_t chunks;             /* so many per worker, unless the user asked for blocks */
  DeviceCopies copies;        /* private ones, where a task can have them */
  int32_t threads;            /* of a GPU's block, where the code allows so many */
  int32_t blocks;             /* of a GPU, per processor at most: fewer have more positions each */
} DeviceSwitches;

typedef struct DeviceLaunch {
  /* -- given by the caller */
  const DeviceCode *code;
  const DeviceTask *tasks;
  int32_t task_count;
  uint64_t *frame;            /* arguments in, results out */
  int32_t frame_slots;
  RtTree **trees;             /* as the host sees them */
  int32_t tree_count;
  /* after them, for devices with a mirror: the arrays whose addresses are in the frame */
  int32_t array_count;
  uint8_t *ambient;           /* read-only zeros, as large as the largest node */
  RtRandom *random;           /* of the runtime */
  bool has_sums;              /* some task is privatised */
  /* by message: how many indices end its records, by which they are ordered */
  const int32_t *message_axes;
  bool gc_is_stopped;         /* the caller collects freed nodes itself */
  bool says;                  /* it may print; then nothing is queued before it */
  bool makes_arrays;          /* counted ones; or may use some */
  /* that the host has, too (context.allocator); its host region does something with them; tasks may
   * need memory for them */
  bool shares_arrays, host_has_arrays, grows_arrays;
  bool has_arrays_in_place;   /* rg.arrays in the memory of such are used there */
  int32_t stream;             /* where order is that of launches; 0: the default */
  DeviceSwitches switches;
  bool is_timed;              /* `ticks` are wanted, also where they cost something */
  /* Better code for the same tasks, which takes some time to make: asked for once, when
   * `improve_at` (base/clock.h) is past, by any worker, in the middle of the launch. It gives NULL
   * where there is none. NULL: the code is as good as it gets. The CPU's alone. */
  const DeviceCode *(*improve)(void *data);
  void *improve_data;
  uint64_t improve_at;
  /* -- filled by the device */
  /* its `error` is the launch's; `stop` is the caller's: 0 when the launch begins, and any thread
   * may set it to 1 */
  RtContext context;
  uint64_t runs, collections; /* tasks run, collections that freed something */
  uint64_t ticks;             /* how long it took (base/clock.h); 0: not known */
  uint64_t work;              /* positions of its tasks, by what they cost; 0: not known */
  bool is_skipped;            /* one before it, on its stream, has failed: it did not run */
  bool has_waited;            /* for tasks of it, perhaps all: its caller may as well ask now */
  RtOutside outside;          /* the first of the first worker that has one; the count is of all */
  /* What the kernel said, as records of llvm_bc/message.c: task after task, in a task by the
   * indices of its iterations. The device's, until the next launch. */
  const uint64_t *messages;
  uint64_t message_words;
  uint64_t messages_lost;     /* how many records found no room */
  uint64_t touches_lost;      /* accesses that the race detector had no room for */
  /* Not 0: the launch is queued, and all of this is not known before `finish`. Of one stream they
   * grow. */
  uint64_t ticket;
} DeviceLaunch;

typedef struct DeviceClear {
  bool gc_is_stopped;         /* given: freed nodes stay as they are */
  bool is_done;
  uint64_t collections;       /* that freed something */
} DeviceClear;

/* Of a cell of a sparse tree (rt.h, RtVisit), where tasks work. */
typedef struct DeviceVisit {
  uint64_t *words;            /* in and out: the RtVisit and what follows it */
  int32_t word_count;
  bool could_look;            /* the host can do it by device_reach of few pages, too */
  bool gc_is_stopped;
  bool is_done;
  RtError error;              /* then: the runtime's; where it is a budget's, it is not done */
  uint64_t collections;       /* that freed something */
} DeviceVisit;

/* What the host changes of memory, addressed as it sees it; queued on a stream. */
typedef struct DevicePut {
  uint8_t *to;
  const void *bytes;          /* may change when it returns */
  uint64_t size_bytes;
  int32_t stream;
} DevicePut;
typedef struct DeviceMove {
  uint8_t *to;
  const uint8_t *from;
  uint64_t size_bytes;
  int32_t stream;
} DeviceMove;
typedef struct DeviceSet {    /* one number of all cells: as RtGpuSet has it */
  RtGpuCells cells;           /* of the root's container: offsets in it */
  uint64_t size, bits;
  RtTree *from;               /* another number, also of another tree's root; NULL: `bits` */
  uint64_t from_offset, from_strides[RT_MAX_LEVELS];
} DeviceSet;

/* Numbers of all active cells of a level go to those of another tree, or to a table. */
typedef struct DeviceCopy {
  /* in: an RtGpuCopy and what follows it, but for addresses; its cells are of the root's container
   * in offsets from there */
  uint64_t *words;
  int32_t word_count;
  uint64_t positions;         /* nodes that may come to be, roughly */
  uint8_t *table;             /* NULL: to another tree */
  uint64_t element_bytes;     /* of the table */
  bool is_done;
  RtError error;              /* then: the runtime's */
} DeviceCopy;

/* -- the table --------------------------------------------------------------------------------- */

typedef struct DeviceTable {
  const char *name;
  /* Up to `size_bytes`, at least `least_bytes` where the system has no more: writable, zero until
   * written, and taking memory as it is touched. */
  bool (*allocate)(Device *device, DeviceMemory *memory, uint64_t size_bytes, uint64_t least_bytes,
                   Error *err);
  /* The range is going to be used as a whole, or from its beginning on: both say how memory is best
   * provided, and change nothing else. */
  void (*settle)(Device *device, uint8_t *from, uint64_t size_bytes);
  void (*enlarge)(Device *device, uint8_t *from, uint64_t size_bytes);
  /* Read-only zeros. */
  bool (*allocate_zeros)(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err);
  void (*free)(Device *device, DeviceMemory *memory); /* none is fine; leaves none */
  /* A block of zeros. NULL, of a device without a server (server/server.h): there are none. */
  bool (*take)(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err);
  /* `tree`: what launches knew of it. Work that uses it may still be to be done. */
  void (*give)(Device *device, DeviceBlock *block, RtTree *tree);
  /* Now and then: blocks' memory that nobody has held for some time goes back. NULL likewise. */
  void (*tidy)(Device *device);
  /* Decommits the whole pages in from..from + size_bytes, which then read zero again. */
  void (*discard)(Device *device, uint8_t *from, uint64_t size_bytes);
  /* The address at which the host accesses the memory between launches, until it is freed. */
  uint8_t *(*map)(Device *device, const DeviceMemory *memory);
  /* From mapped memory to the host's. */
  void (*copy)(Device *device, void *to, const uint8_t *from, uint64_t size_bytes);
  /* device_reach; NULL: tasks work in the memory that the host sees. */
  bool (*reach)(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err);
  /* Deactivates all cells of a manager, and collects them, where tasks work; NULL, or not done: the
   * host does. After device_reach for the tree's counts. */
  bool (*clear)(Device *device, RtTree *tree, int32_t manager, DeviceClear *clear, Error *err);
  /* A cell is visited, where tasks work; NULL, or not done: the host does what is asked, in the
   * memory that it sees. What is queued comes first. */
  bool (*visit)(Device *device, RtTree *tree, DeviceVisit *visit, Error *err);
  /* Dense memory is written, or copied from another tree's; numbers of a tree are set: where tasks
   * work, queued. NULL, or not done: the host does. `set` only after what is queued is settled. */
  bool (*put)(Device *device, RtTree *tree, const DevicePut *put, bool *is_done, Error *err);
  bool (*move)(Device *device, RtTree *tree, RtTree *from_tree, const DeviceMove *move,
               bool *is_done, Error *err);
  /* Has all of that, and what else is queued with the tree, ended? NULL: RtTree.last_use says. */
  bool (*is_idle)(Device *device, const RtTree *tree);
  bool (*set)(Device *device, RtTree *tree, const DeviceSet *set, bool *is_done, Error *err);
  /* Waits. `to` is NULL if it goes to a table. NULL, or not done: the host does. */
  bool (*copy_cells)(Device *device, RtTree *to, RtTree *from, DeviceCopy *copy, Error *err);
  /* Where tasks find what the host finds at `at`, in memory of the tree; NULL: there. */
  bool (*locate)(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address, Error *err);
  /* Where the host sees what tasks find at `address`, or the host's own memory; NULL: nowhere. No
   * such function: there. */
  uint8_t *(*host_at)(Device *device, void *address);
  /* Of a device that shows_host: tasks reach whole pages of the host's memory at its addresses,
   * from now on until they are unpinned, or the device ends. */
  bool (*pin)(Device *device, void *memory, uint64_t size_bytes, Error *err);
  void (*unpin)(Device *device, void *memory);
  /* Tasks may have copies of the elements of counted arrays (RT_COUNTED_COPIED). Before the host
   * uses `size_bytes` at `from` of them between launches, as device_reach; NULL: all, and they may
   * move. NULL in the table: there are no copies. */
  bool (*reach_array)(Device *device, RtCounted *counted, const uint8_t *from,
                      uint64_t size_bytes, DeviceUse use, Error *err);
  /* It is about to end; any thread. */
  void (*forget_array)(Device *device, RtCounted *counted);
  /* All elements are the host's alone from now on, and, `for_good`, until the device ends. */
  bool (*reach_arrays)(Device *device, bool for_good, Error *err);
  /* Tasks may use a foreign tree (RtTree.foreign) from now on, until it is forgotten; NULL: they
   * may. */
  bool (*adopt)(Device *device, RtTree *tree, Error *err);
  /* Windows of memory that is not the host's: what other processes do with it, with the device as
   * `data`; and a tree's memory becomes such. Others may read it from then on, and a dense one's
   * they write, as with DEVICE_SHOWS; it is not forgotten before its end. NULL: memory is the
   * host's. */
  const CommonsTable *commons;
  bool (*share)(Device *device, RtTree *tree, CommonsPart *part, Error *err);
  /* Of a tree with hashes that others read: while they do not, its tables are tidied where tasks
   * work, and come to the host. After `adopt` once more a foreign one's are as on the host. */
  bool (*rest)(Device *device, RtTree *tree, bool tidies, Error *err);
  /* Loads a kernel's objects, one for each of device->processors, with `task_count` tasks; NULL
   * with err. */
  DeviceCode *(*load)(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                      int32_t task_count, Error *err);
  void (*unload)(Device *device, DeviceCode *code); /* NULL is fine */
  /* False: it cannot be asked. NULL: there is nothing to tell. */
  bool (*describe)(Device *device, const DeviceCode *code, const DeviceTask *tasks, int32_t number,
                   DeviceTaskCode *out);
  /* Runs the host region, which runs tasks. Returns when all is done or queued, with every tree
   * refreshed and collected: what a task or the host region changed shows before the next task
   * runs. At most device->most_queued launches, of most_words slots and trees each, are queued. */
  bool (*launch)(Device *device, DeviceLaunch *launch, Error *err);
  /* Of launches that are queued: each once, of a stream in their order, with code, frame and trees
   * as they were launched. Waits, and fills the rest. What follows one on its stream that failed
   * has not run. */
  bool (*finish)(Device *device, DeviceLaunch *launch, Error *err);
  /* Has a queued launch ended, so that `finish` need not wait? NULL: who knows. */
  bool (*is_done)(Device *device, uint64_t ticket);
  /* Room for a launch on the stream; false: not before one of it is finished. NULL: there is room
   * for most_queued. */
  bool (*has_room)(Device *device, int32_t stream);
  /* Whatever is queued fails soon: any thread. False: nothing was. NULL: nothing is. */
  bool (*stop)(Device *device);
  /* Does the running launch wait for this thread, or may it: a worker, or any thread while a host's
   * job system has the work? Any thread may ask. */
  bool (*is_within)(Device *device);
  /* Returns when all launches have finished, and been reported. */
  bool (*sync)(Device *device, Error *err);
  /* Gives back what the device keeps beside a tree (RtTree.device): before the tree's memory is
   * freed, and when memory is asked back; a launch makes it again. */
  void (*forget)(Device *device, RtTree *tree);
  void (*destroy)(Device *device);
} DeviceTable;

struct Device {
  const DeviceTable *table;
  Heap *heap;
  int32_t worker_count;
  bool knows_times;           /* of every launch; else of those that are to be timed */
  const char *processors[RG_TARGET_COUNT]; /* its processors by target, as in RgCodegenRequest */
  const char *name;           /* as its driver calls it; NULL: it is the host */
  uint64_t memory_bytes;      /* that it has of its own; 0: the host's */
  RtBudget *budget;           /* of the runtime */
  bool shows_host;            /* tasks reach memory of the host that is pinned: `pin` */
  int32_t vector_bytes;       /* the widest vectors of what runs its tasks */
  /* the context of native calls into the runtime, without trees: workers and callbacks */
  RtContext native;
  /* launches that are not finished: before the host looks at what they may have changed, the device
   * calls `settle`, which finishes them; false: one has failed */
  int32_t queued, most_queued;
  int64_t most_words;
  bool keeps_still;           /* RtTree.still says when the host may look */
  bool (*settle)(void *data, Error *err);
  /* the same for one launch and those before it on its stream */
  bool (*settle_one)(void *data, int32_t stream, uint64_t ticket, Error *err);
  void *settle_data;
  Cache *cache;               /* for what its driver makes of code; NULL: none */
  bool shuffle_tasks, gc_each_launch, guard_pages;
  _Atomic bool fails_in_task; /* once */
  uint64_t seed;
};

typedef struct DeviceOptions {
  int32_t threads;            /* 0: all cores */
  /* the embedding program's job system (pool.h), which then has `threads` workers; NULL: our own */
  PoolHost *host;
  void *host_data;
  const char *processor;      /* of the host; borrowed: an option's text */
  uint64_t seed;              /* of shuffled tasks */
  bool shuffle_tasks, gc_each_launch, guard_pages, fails_in_task; /* RG_STRESS */
  bool finds_races;           /* launches end with a race that llvm_bc/race.c sees */
} DeviceOptions;

Device *device_cpu_create(Heap *heap, const DeviceOptions *options, Error *err);
/* One GPU, through its driver, which is opened now: device.missing says why there is none. */
Device *device_cuda_create(Heap *heap, const DeviceOptions *options, Error *err);

/* Before the host uses memory of the tree outside kernels: `size_bytes` at `from`, or, where that
 * is NULL, anything in it. Waits for launches; what they said and where they failed comes first.
 * Whoever changes what is active, or calls what walks over tables, uses all of a sparse tree. */
static inline bool device_reach(Device *device, RtTree *tree, const uint8_t *from,
                                uint64_t size_bytes, DeviceUse use, Error *err) {
  return !device->table->reach || device->table->reach(device, tree, from, size_bytes, use, err);
}
/* What is 1 while the host may use the tree's memory in place, without device_reach: `has_memory`
 * itself, where work is done when its call returns; NULL: there is nothing that would say so. */
static inline const uint8_t *device_alive(const Device *device, const RtTree *tree,
                                          const bool *has_memory) {
  if (!device->table->reach) return (const uint8_t *)has_memory;
  return device->keeps_still ? &tree->still : NULL;
}
/* Has a queued launch ended, as far as the device knows without waiting? */
static inline bool device_is_done(Device *device, uint64_t ticket) {
  return !device->table->is_done || device->table->is_done(device, ticket);
}
static inline bool device_locate(Device *device, RtTree *tree, const uint8_t *at,
                                 uint64_t *address, Error *err) {
  *address = (uint64_t)(uintptr_t)at;
  return !device->table->locate || device->table->locate(device, tree, at, address, err);
}

#endif
