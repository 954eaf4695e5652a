/* rt.h - the contract between the core and the runtime: layouts, and the entry points of both. The
 * runtime is plain C without libc, compiled three times: natively into libregolith, as bitcode for
 * the host (fast paths inline into kernels), and for nvptx64. No thread-local, no mutable global,
 * no 128-bit division.
 *
 * Memory of one tree: one arena, a reserved address range. `address = base + 64 * handle`; handle 0
 * is an empty slot, 1 a claimed one; granules 0 and 1 are never handed out. The root's container
 * starts at granule 2 (dense trees: their own exact allocation). After it come nodes, carved from
 * chunks that never move.
 *
 *     slot: EMPTY 0 --claim (CAS)--> BUSY 1 --publish (release)--> LIVE handle --deactivate-->
 *     EMPTY
 *
 * Readers take no lock and read 0 and 1 as empty: they get the ambient, read-only zeros. */
#ifndef RG_RT_H
#define RG_RT_H

#include <stdint.h>

#include "counted.h"

/* The version of everything that compiled kernels assume of the library that runs them: the layouts
 * and entry points of this file and of counted.h, the names of loader/symbols.def, the words of a
 * pattern (core/kernel/versions/pattern.c), and the bytes of compiled kernels (compile/bytes.c).
 * Modules (core/module) are built for one version, and run with all releases that keep it: raise it
 * with any change after which code that was compiled before would compute something else. Entry
 * points may be added. tests/support/kernel_abi.lua checks this. */
enum { RT_ABI = 1 };

enum {
  RT_GRANULE = 64,   /* bytes per handle step */
  RT_MAX_TABLE = 32, /* upper bound for log2 of a hash's entries */
  RT_FIRST_GRANULE = 2,
  RT_NO_CHUNK = -1,
  RT_SEGMENT = 65536, /* bytes: chunks are whole segments */
  RT_LARGE = 2 << 20, /* bytes: more than the caches near a processor hold */
  RT_MAX_AXES = 8,
  RT_MAX_LEVELS = 16,
  RT_SLOT_EMPTY = 0,
  RT_SLOT_BUSY = 1,
  /* layout of a dynamic SNode's container, in words of 4 bytes: number of elements */
  RT_LIST_LENGTH = 0,
  RT_LIST_LOCK = 1,
  RT_LIST_SLOTS = 2, /* one per chunk from here on */
  RT_TOUCHED_END = 1,
  RT_AHEAD = 16,        /* prefetch distance of look-ups in a hash, in iterations: HASH_AHEAD */
  RT_NATIVE_VALUES = 6, /* arguments of a function of an extension */
  RT_MESSAGE_WORDS = 1 << 23, /* limit of one worker's records between two tasks: 64 MiB */
  /* limit of nested calls of recursive functions; lua/regolith/oracle.lua has the same number */
  RT_MOST_CALLS = 4000,
  /* the same on a GPU, where each thread's stack is sized for so many calls, or for fewer if memory
   * is short: RtWorker.most_calls, core/device/cuda/code.c */
  RT_MOST_CALLS_GPU = 128
};

/* how an iteration changes a list */
typedef enum RtListWay {
  RT_LIST_SHARED, /* other iterations do the same, and nothing else */
  RT_LIST_LOCKED, /* other iterations change it in other ways */
  RT_LIST_OWN     /* no other iteration changes it */
} RtListWay;

/* One fault of device code: the first one wins. */
typedef enum RtErrorKind {
  RT_OK,
  RT_ERROR_BUDGET, /* a node needed memory that the budget or the arena does not have */
  RT_ERROR_STOPPED,
  RT_ERROR_MEMORY, /* the host refused memory for a list */
  RT_ERROR_FULL,   /* a list of a dynamic SNode is full */
  /* a function of an extension failed: `manager` is its number; the extension holds the reason */
  RT_ERROR_NATIVE,
  /* the kernel's own: `manager` is the number of its message, which the records contain */
  RT_ERROR_FAULT
} RtErrorKind;
typedef struct RtError {
  uint32_t kind; /* claimed by compare-and-swap from RT_OK */
  int32_t tree;  /* RtTree.number */
  int32_t manager;
  int32_t task; /* RtContext.task; -1: the host region */
} RtError;

/* The budget all trees of a runtime share, in bytes. */
typedef struct RtBudget {
  uint64_t limit; /* atomic */
  uint64_t used;  /* atomic: committed chunks, root containers, logs */
  uint64_t peak;  /* atomic */
  /* asks the host for a larger limit when `bytes` in total are needed; returns the new limit. Any
   * worker may call it concurrently. NULL if the limit is fixed. */
  uint64_t (*ask)(void *data, uint64_t bytes);
  void *ask_data;
} RtBudget;

/* A node's life: FRESH -> LIVE -> USED -> LIVE .. A FRESH node's memory is known to be zero; a USED
 * one (freed, or about to be) is zeroed when it is handed out again. */
typedef enum RtNodeState { RT_NODE_FRESH, RT_NODE_LIVE, RT_NODE_USED } RtNodeState;

/* A node's side-table entry; coordinates are those of its cell in the level's index space (the
 * pointer SNode's own cells), one per axis of that level, ascending. */
typedef struct RtNodeInfo {
  uint32_t parent; /* handle of the node that holds its slot; 0: the root's container */
  uint32_t next;   /* handle of the next node on a free or recycled list; 0: end */
  uint64_t slot;   /* bytes from RtTree.base to its slot; of a hash: 0 */
  /* axis_count of them; a dynamic SNode has one more: the number of elements when a loop began */
  int64_t coordinates[];
} RtNodeInfo;

/* How a slot's offset splits into digits: one row per SNode on the way from the parent node (or the
 * root's container) down to and including the pointer SNode, outermost first; the root SNode itself
 * has no row.
 *
 *     slot = start + sum over rows of (offset + cell * stride)
 *
 * A row's offset leads from the cell selected by the row above (first row: from the parent node or
 * the root's container) to the component of its cells that holds the next row, which repeats every
 * `stride` bytes; in the last row these are the slots, 4 bytes each. The core reads it off the
 * path's table (snode/path.h). */
typedef struct RtLevel {
  uint64_t offset, stride; /* bytes */
  uint64_t cell_count;     /* product of sizes */
  int32_t axis_count;
  /* of each digit's axis in the coordinates, the last digit fastest */
  int32_t positions[RT_MAX_AXES];
  int64_t sizes[RT_MAX_AXES];
  int64_t weights[RT_MAX_AXES]; /* cells of the manager's level per step of this digit */
} RtLevel;

/* Whole segments: the nodes, their infos, and their other tables. */
typedef struct RtChunk {
  uint8_t *nodes;      /* first node */
  uint8_t *infos;      /* first RtNodeInfo, RtManager.info_stride apart */
  uint32_t *positions; /* in the manager's list, + 1; 0: not in it */
  /* links of RtLocal.touched: handle of the next; RT_TOUCHED_END; 0: not on one */
  uint32_t *touched;
  uint8_t *states; /* RtNodeState, 8-byte aligned */
  /* nodes in the chunks before it: so nodes of a manager are numbered without gaps */
  uint32_t first_number;
  uint32_t node_count;
  uint32_t handed; /* the first nodes: LIVE or on a free list; none of the others is */
  uint32_t next;   /* next chunk of its manager, or next free record: index + 1; 0: none */
  int32_t manager; /* -1: a free record */
  uint32_t segments;
  uint32_t first_position; /* while a list is built: the position of its first live node */
  uint32_t pad;
} RtChunk;

typedef struct RtListEntry {
  uint32_t handle, pad;
  const int64_t *coordinates; /* RtNodeInfo.coordinates: valid as long as the tree */
} RtListEntry;

/* A worker's log of appends to many lists, kept until the loop ends: see node_dynamic_log.c. A row
 * names its list in 4 bytes, followed by the numbers of an element (RtNumber.row). */
enum { RT_LOG_PIECES = 64, RT_LOG_SLABS = 256, RT_ROW_NUMBERS = 4 /* bytes before them */ };
typedef struct RtLogBlock {
  struct RtLogBlock *next;
  uint8_t *end;             /* of its rows; of the last block: the piece's `at` */
  uint64_t base;            /* its rows name a list by its distance from this address, in words */
} RtLogBlock;               /* rows follow */
typedef struct RtLogPiece { /* the rows of some of the lists */
  uint8_t *at, *end;        /* where the next row goes, and the place after the last that fits */
  uint64_t base;            /* the last block's */
  RtLogBlock *first, *last;
} RtLogPiece;
typedef struct RtLog {
  uint32_t shift;       /* lists whose addresses agree above this many bits share a piece */
  uint32_t block_count; /* in use, of the first slabs */
  uint32_t locks[RT_LOG_PIECES]; /* used in worker 0's log: one for the lists of each piece */
  RtLogPiece pieces[RT_LOG_PIECES];
  /* blocks; from RtContext.grow, the tree's owner frees them */
  uint8_t *slabs[RT_LOG_SLABS];
} RtLog;

/* Elements that a worker appends to one list, staged until there are enough of them or the loop
 * ends: see node_dynamic.c. */
enum { RT_STAGE_ROWS = 128 };
typedef struct RtStage {
  uint32_t *list; /* to which the rows will be appended; NULL: none */
  uint64_t count;
  RtLog log;
  uint8_t rows[]; /* RT_STAGE_ROWS, like a log's rows but without the list's name */
} RtStage;

/* A number of a list's elements, which are `stride` bytes apart in a chunk's node. */
typedef struct RtNumber {
  uint64_t offset, stride;
  uint32_t size; /* bytes: 1, 2, 4, 8 */
  uint32_t row;  /* its offset in a row; a number takes 4 or 8 bytes there */
} RtNumber;

typedef struct RtLocal {  /* one worker's share of a manager; a cache line each */
  uint32_t free;          /* handles, linked by RtNodeInfo.next */
  uint32_t recycled;      /* unlinked since the last refresh */
  uint32_t recycled_last; /* end of that list */
  /* nodes taken or recycled since the list was last updated, each once */
  uint32_t touched;
  uint64_t touched_count;
  uint64_t activations, deactivations; /* since the last refresh */
  /* writable scratch for failed activations: node_size bytes, initially zero. A worker's managers
   * may share one sink, except those whose nodes hold slots */
  uint8_t *sink;
  RtStage *stage;   /* of a list's manager: given by the caller, empty; else NULL */
  uint64_t permits; /* of a hash: entries of its table that this worker has reserved */
} RtLocal;

typedef struct RtTable { /* of one hash manager: from coordinates to nodes; see hash_table.c */
  /* atomic: bytes from RtTree.base to its entries | log2 of their number; 0: none yet */
  uint64_t current;
  uint64_t memory[RT_MAX_TABLE + 1]; /* by log2 of the entries: its offset from base; 0: none */
  uint64_t bytes;                    /* of all its memory */
  uint64_t used;       /* atomic: entries that are not empty, and the workers' permits */
  uint64_t tombstones; /* entries of deactivated cells. Under the lock */
  uint32_t lock;       /* of deactivations and of growth */
  uint32_t pad;
} RtTable;

/* The dense index of a hash below the root's container: if its cells fill a good part of their
 * bounding box, their handles by position in the box; see hash_direct.c. */
typedef struct RtDirect {
  uint64_t asked;             /* worker 0's look-ups since an index was last considered */
  uint64_t refused;           /* the version whose box was too large. Under the table's lock */
  int64_t first[RT_MAX_AXES]; /* the box: its first cell, and its size along each axis */
  uint64_t counts[RT_MAX_AXES];
  uint64_t capacity; /* handles */
  uint32_t *handles; /* 0: no cell; from RtContext.grow, the tree's owner frees it */
  /* atomic: the manager's version that the rest reflects; 0: none. It is not in the cache line of
   * `asked`, which changes often */
  uint64_t version;
} RtDirect;

/* Coordinates of a manager's active nodes, ascending, for walks in index order; see order.c. */
typedef struct RtOrder {
  uint64_t version;        /* the manager's version that it reflects */
  int64_t count, capacity; /* rows; twice the capacity is allocated */
  int32_t axis_count;
  /* on a GPU, work for the entries launched next: all threads build the order, and sort it if it is
   * disordered; `stale` is its memory from before it grew, which they zero */
  uint16_t is_due, is_disordered;
  uint64_t *stale;
  uint64_t stale_bytes;
  int64_t rows[]; /* count rows of axis_count coordinates */
} RtOrder;

typedef struct RtManager { /* one per SNode whose cells are in nodes: the node manager */
  /* -- given by the caller */
  uint64_t node_size;   /* bytes, a multiple of 64 */
  int32_t chunk;        /* elements per node of a dynamic SNode; else 0, as these four are: */
  int32_t capacity;     /* the largest length of a list */
  int32_t number_count; /* of an element */
  int32_t row_bytes;    /* of a row of a log */
  const RtNumber *numbers;
  int32_t parent; /* manager whose nodes hold its slots; -1: the root's container */
  int32_t axis_count;
  /* of each axis in the parent's coordinates; -1: not an axis of the parent */
  int32_t parent_positions[RT_MAX_AXES];
  int64_t parent_weights[RT_MAX_AXES]; /* cells of this level per cell of the parent's */
  int32_t level_count;
  RtLevel levels[RT_MAX_LEVELS];
  int32_t is_hash;         /* nodes are found by coordinates, not by slots: level_count is 0 */
  uint32_t recycled_count; /* kept by the runtime: nodes on the list `recycled` */
  RtLocal *locals;         /* per worker, zero except for the sinks; should be 64-byte aligned */
  /* -- set by rt_tree_init, kept by the runtime */
  uint64_t info_stride; /* bytes */
  /* of a hash below the root's container: bits per coordinate in an exact tag (hash.h); else 0 */
  uint32_t exact_bits;
  int32_t child_count; /* managers whose parent is this one */
  uint32_t lock;       /* guards free, starved and the chain of chunks while tasks run */
  uint32_t free;       /* shared free list */
  uint32_t recycled, recycled_last; /* refreshed; the next collection moves them to `free` */
  /* a worker found no node: the next refresh takes the workers' free nodes back */
  uint32_t starved;
  uint32_t first_chunk, last_chunk; /* index + 1 into RtTree.chunks; 0: none */
  uint32_t open_chunk; /* the first that may have nodes past `handed`; index + 1; 0: none */
  uint32_t chunk_count;
  uint32_t node_count; /* of all chunks */
  uint64_t chunk_bytes;
  uint64_t live_count;   /* as of the last refresh */
  uint64_t version;      /* grows when the set of live nodes changes; from 1 */
  uint64_t list_version; /* the version that `list` reflects */
  RtListEntry *list;     /* active nodes; from RtContext.grow, the tree's owner frees it */
  uint64_t list_count, list_capacity;
  uint64_t list_drift; /* changes since it was rebuilt; each moves it away from memory order */
  /* on a GPU, work for the entry launched next: all its threads build the list, and zero freed
   * nodes for the next refresh to find (`cleared`: those that were never on a recycled list) */
  uint16_t list_is_due, zeroing_is_due;
  uint32_t cleared;
  RtTable table; /* of a hash */
  RtDirect direct;
  /* by nesting depth: how many walks in index order enclose the one that uses it; NULL: not made
   * yet. The table and the orders come from RtContext.grow; the tree's owner frees them */
  RtOrder **orders;
  uint64_t order_count;
  uint64_t log_bytes; /* atomic: size of the workers' logs, charged to the budget */
  uint64_t activations, deactivations, lists; /* counts since the tree was made; lists: rebuilds */
} RtManager;

/* Bytes inside a cell: `size` of them at
 *     start + offset + cell * stride + sum over k of digit_k * steps[k]
 * for every digit_k below counts[k]. */
typedef struct RtRun {
  uint64_t offset, stride, size;
  int32_t manager;       /* the bytes are slots of this manager; -1: plain memory */
  int32_t list_capacity; /* they are a list of that manager with this capacity; 0: no list */
  int32_t is_words;      /* they are mask words */
  int32_t depth;
  uint64_t counts[RT_MAX_LEVELS], steps[RT_MAX_LEVELS];
} RtRun;

/* Which cells of a hash are in one cell of a bitmasked SNode above it, with no node in between:
 * those with coordinates from the masked cell's on, `spans` of them along each axis. */
typedef struct RtInCell {
  int32_t manager; /* of the hash; its parent is the mask's holder */
  int32_t level_count;
  /* from the holder to the masked SNode, which has the last row; in coordinates of the hash */
  RtLevel levels[RT_MAX_LEVELS];
  int64_t spans[RT_MAX_AXES]; /* 0: any coordinate, since the masked level does not have the axis */
} RtInCell;

typedef struct RtMask { /* one per bitmasked SNode */
  /* -- given by the caller */
  int32_t holder; /* manager whose nodes hold its containers; -1: the root's container */
  int32_t run_count;
  uint64_t mask_offset; /* of the words in a container */
  uint64_t cell_count;
  RtRun containers; /* in a holder's node; stride 0 */
  /* a cell's contents, as offsets in the container: mask words, an outer level's before an inner
   * one's; then slots and lists; then plain memory */
  const RtRun *runs;
  int32_t hash_count;
  const RtInCell *hashes; /* below it, in the same node */
  /* -- kept by the runtime */
  /* the words as last saved, by container; from RtContext.grow, the tree's owner frees it.
   * Containers are numbered by the holder's node numbers, then inside a node */
  uint64_t *was;
  uint64_t was_count, was_capacity; /* words */
} RtMask;

/* The owner of the root's container of a tree without managers. Foreign memory may change between
 * launches, and may overlap that of other trees. */
typedef enum RtForeign { RT_OWN, RT_FOREIGN, RT_FOREIGN_CONSTANT } RtForeign;

/* Whether the host may read a tree's memory without asking a device that queues its work.
 * IN_USE: no, queued work uses the tree, or may have failed. IDLE: yes. EXPOSED: never, since
 * code outside the runtime has its address. */
typedef enum RtIdle { RT_IN_USE, RT_IDLE, RT_EXPOSED } RtIdle;

typedef struct RtTree {
  /* -- given by the caller, all zero-filled before */
  uint8_t *base; /* of the arena, 64 KiB aligned; slots' handles count from here */
  uint8_t
      *root; /* the root's container, zero: at base + RT_FIRST_GRANULE * RT_GRANULE when there are
                             * managers */
  uint64_t root_size;
  /* bytes of the address range, readable and writable, zero until written; 256 GiB at most */
  uint64_t reserved;
  int32_t number; /* for errors */
  int32_t manager_count;
  RtManager *managers;
  int32_t mask_count;
  RtMask *masks;
  /* zero; room for one per segment: reserved / RT_SEGMENT (a lazily committed range) */
  RtChunk *chunks;
  /* zero; one per segment: chunk index + 1; RT_NO_CHUNK: part of a table; 0: root or unused */
  uint32_t *segment_owner;
  RtBudget *budget;
  uint32_t tiny_chunks; /* RG_STRESS: few nodes per chunk, no batches */
  /* By worker: the distance in bytes from the arena to that worker's private copy, which is all
   * zero between tasks (sinks count as part of the arena; the contents of their copies are
   * ignored). 0 for worker 0, which works in the tree itself. NULL if the device has not prepared
   * any; kernels then do without. */
  const int64_t *private_copies;
  void *device;      /* the device's own data for the tree; initially NULL */
  uint64_t last_use; /* the server's: the ticket of the last work that uses it; 0: none */
  uint8_t idle;      /* likewise: RtIdle */
  /* other processes look up its hashes while it changes, so their tables must not move */
  uint8_t is_read;
  /* added to node addresses in `chunks` to get addresses in this process: not 0 only for a tree of
   * another process, whose tables are used directly */
  int64_t away;
  /* -- set by rt_tree_init, kept by the runtime */
  /* atomic: some worker activated, deactivated or starved since the last refresh */
  uint32_t changed;
  uint64_t top;    /* bytes used from base, whole segments */
  uint64_t bottom; /* bytes of the root's segments */
  uint64_t vacant; /* unused bytes between the two */
  /* guards the three, segment_owner and the chunks' records while tasks run */
  uint32_t lock;
  uint32_t chunk_count; /* records used so far, including free ones */
  uint32_t free_record; /* index + 1; 0: none */
  uint32_t foreign;     /* RtForeign: given by the caller */
  uint32_t was_dropped; /* a level was emptied as a whole since the last collection */
} RtTree;

/* How a counted array is used next (RtContext.move). */
typedef enum RtArrayUse {
  RT_ARRAY_TASKS_READ,
  RT_ARRAY_TASKS_WRITE,
  RT_ARRAY_TASKS_FOLLOW, /* tasks also access arrays through their headers */
  RT_ARRAY_HOST_READS,
  RT_ARRAY_HOST_WRITES,
  RT_ARRAY_HOST_RESIZES /* its elements may move */
} RtArrayUse;

struct RtContext;
/* Writes out of bounds, which have no effect. */
typedef struct RtOutside {
  uint64_t count;
  /* of the first one */
  int32_t site; /* its number in the kernel: IrSite */
  int32_t axis_count;
  int64_t index[RT_MAX_AXES];
} RtOutside;

/* A runtime's random numbers: streams are numbered from its seed on. Each rank has different
 * streams. Global streams, which loops over indices of the whole simulation use, have a counter of
 * their own, so that they are the same on any number of ranks. */
typedef struct RtRandom {
  uint64_t seed, streams, global_streams;
  uint64_t rank;
} RtRandom;

/* Records of a kernel's messages; see message.c. */
typedef struct RtMessages {
  uint64_t *words;         /* from RtContext.grow, the workers' owner frees it */
  uint64_t used, capacity; /* words */
  uint64_t lost;           /* records dropped for lack of space */
} RtMessages;

/* An access that the race detector reports. */
typedef struct RtTouch {
  int64_t iteration;
  int32_t site; /* the message that describes it */
} RtTouch;

/* The race detector's state of one element: see race.c. */
typedef struct RtShadow {
  uint32_t state; /* the loop's epoch, + 1 while it is locked */
  int32_t what;   /* the field, by its number in the kernel */
  uint64_t element;
  /* two writers, then two that read or updated it; site -1: none */
  int64_t iterations[4];
  int32_t sites[4];
} RtShadow;

typedef struct RtRaces {
  RtShadow *entries;
  uint64_t capacity; /* a power of two */
  uint32_t epoch;    /* of the running task: even, another for each */
  uint32_t found;    /* there is a race */
  uint32_t lost;     /* accesses not recorded because the table was full */
  uint32_t pad;
} RtRaces;

typedef struct RtWorker {
  int32_t index;
  uint32_t pad;
  /* stack limit: a call of a user's function fails once the stack pointer is below this address.
   * The device sets it before it runs something on the worker's thread; 0: no limit */
  uint64_t stack_end;
  uint64_t most_calls; /* on a GPU: limit of nested calls */
  RtOutside outside;
  RtMessages messages;
} RtWorker;

/* Body of one task for positions begin..end of its iteration space. */
typedef void RT_CALL RtTaskFunction(struct RtContext *context, RtWorker *worker, int64_t begin,
                                    int64_t end);
typedef void RT_CALL RtHostFunction(struct RtContext *context);
/* A part of the runtime's own work between tasks. */
typedef void RT_CALL RtPart(struct RtContext *context, RtWorker *worker, void *data, int64_t begin,
                            int64_t end);

typedef struct RtContext {
  uint64_t *frame; /* slots of the launch: task.h */
  RtTree **trees;
  uint8_t *ambient; /* read-only zeros, as large as the largest node */
  RtWorker *workers;
  int32_t worker_count;
  /* 1: leave as soon as possible; polled per chunk of work and on unbounded back edges */
  uint32_t stop;
  RtError error;
  int32_t tree_count; /* of `trees` */
  int32_t task;       /* the running task; -1: the host region. Set by the device */
  RtRandom *random;   /* of the runtime; NULL: nothing draws */
  void *host;         /* the device's own data, passed to the callbacks below */
  /* runs task number `task` over all its positions, in parallel where that pays, and returns when
   * done */
  void(RT_CALL *run)(struct RtContext *context, int32_t task);
  /* provides zeroed memory for tables that grow (lists, chunk tables), keeping old contents; NULL
   * if refused */
  void *(RT_CALL *grow)(struct RtContext *context, void *memory, uint64_t old_bytes,
                        uint64_t new_bytes);
  /* calls `part` on pieces that cover 0..count, on any workers, each worker one at a time; NULL:
   * the caller's thread does it all */
  void(RT_CALL *parallel)(struct RtContext *context, int64_t count, RtPart *part, void *data);
  /* returns whole segments to the system; they then read zero. NULL: memory is kept */
  void(RT_CALL *discard)(struct RtContext *context, void *memory, uint64_t bytes);
  RtRaces *races; /* of the race detector; NULL: it is off */
  /* calls a function of an extension, from any worker: `values` holds the arguments, then the
   * result; returns 0 if it failed. NULL if no extension is loaded */
  int32_t(RT_CALL *native)(struct RtContext *context, int32_t function, int64_t *values);
  void *extensions; /* for `native` */
  /* Moves a counted array to where it is used next (`use`, an RtArrayUse): `size_bytes` at `from`
   * for the host region, or everything from `from` on for the tasks that follow. Returns where they
   * find it. NULL if host and tasks share memory. */
  const uint8_t *(RT_CALL *move)(struct RtContext *context, RtCounted *counted, const uint8_t *from,
                                 uint64_t size_bytes, int32_t use);
  RtAllocator *allocator; /* of counted memory; NULL: there is none. A GPU has heap_gpu.h */
  /* loops that read and write at least this many bytes may use non-temporal stores */
  uint64_t stream_bytes;
} RtContext;

/* What a task's entry on a GPU takes, by value: positions begin..end, as on the CPU. All pointers
 * are the device's. Any number of threads may run it: thread t of T runs the positions begin + t,
 * begin + t + T, .. Ordered and serial tasks are for one thread. `end` RT_ALL_NODES, of a task over
 * nodes: the active list's length, read on the device. */
enum { RT_ALL_NODES = -1 };
typedef struct RtGpuLaunch {
  RtContext *context;
  int64_t begin, end;
} RtGpuLaunch;

/* What a service entry takes, by value: see service_cuda.c. One thread runs the first of each pair;
 * any number of threads run the second, which follows it and returns at once if no work is left.
 *     rg_service_trees   refreshes every tree of the context and, unless `number` is 1, collects;
 *                        run by one block, whose threads divide the descendants of freed nodes.
 *                        Adds the number of trees that freed nodes to *result, unless it is NULL
 *     rg_service_zero    zeroes the freed nodes
 *     rg_service_clear, rg_service_clear_end
 *                        after a refresh, free all nodes of manager `number` of tree `tree`; any
 *                        number of threads may run the first
 *     rg_service_clear_cells    after those, clears all cells of mask `number`; any number of
 *                        threads
 *     rg_service_visit   does what the frame, an RtVisit, asks of tree 0, then refreshes the tree
 *                        unless the way was CLEAR; one thread
 *     rg_service_list    updates the list of manager `number` of tree `tree`,
 *     rg_service_fill    or leaves it to this entry, which builds it in any order; with `in_order`
 *     rg_service_enter   whole warps count in `fill` and enter nodes here; result: a count per warp
 *     rg_service_order   gets memory for order `depth` of that list; then many threads run
 *     rg_service_order_look    is the list sorted already?
 *     rg_service_order_copy    copies rows of the list and sorts runs of them
 *     rg_service_order_merge   merges RT_ORDER_RUNS runs at once; repeated with `merge` 0, 1 ..
 *                        until RT_ORDER_RUN * RT_ORDER_RUNS^merge covers all rows */
enum { RT_GPU_LANES = 32 }; /* threads of a warp */
/* How the threads of a GPU combine numbers (together.c), and what these are: floats, or integers
 * that are extended to 32 or 64 bits. */
typedef enum RtCombine {
  RT_COMBINE_ADD,
  RT_COMBINE_MUL,
  RT_COMBINE_MIN,
  RT_COMBINE_MAX,
  RT_COMBINE_AND,
  RT_COMBINE_OR,
  RT_COMBINE_XOR
} RtCombine;
typedef enum RtScalar {
  RT_SCALAR_I32,
  RT_SCALAR_U32,
  RT_SCALAR_I64,
  RT_SCALAR_U64,
  RT_SCALAR_F32,
  RT_SCALAR_F64
} RtScalar;
enum { RT_ORDER_RUN = 32, RT_ORDER_RUNS = 8 };
typedef struct RtGpuService {
  RtContext *context;
  uint64_t *result;
  int32_t tree, number;
  union {
    int32_t in_order, depth;
  }; /* rt_list_begin; of an order */
  union {
    int32_t nodes_per_change, merge;
  };
} RtGpuService;

/* What rg_begin_block takes, by value: it copies `count` words to `to`, a launch's block, except
 * that those from RtContext.stop to the end of its error come from the block of the launch before,
 * if there is one. Run by the threads of one block. */
enum { RT_GPU_BLOCK_WORDS = 256 };
typedef struct RtGpuBlock {
  uint32_t *to;
  const uint32_t *before; /* NULL: none */
  uint64_t count;
  uint32_t words[RT_GPU_BLOCK_WORDS];
} RtGpuBlock;

/* All active cells of a level: in each live node of a manager, at
 * offset + sum of digit_k * strides[k], for every digit_k below counts[k]. */
typedef struct RtGpuCells {
  int32_t manager, depth; /* manager -1: the root's container; the offsets are addresses */
  int32_t masked;         /* the last digit that has mask bits; -1: none */
  int32_t is_list;        /* the only digit counts elements of a list, up to the list's end */
  uint64_t offset;
  uint64_t mask_offset; /* of the mask words; the digits before `masked` apply to it, too */
  uint64_t counts[RT_MAX_LEVELS], strides[RT_MAX_LEVELS];
} RtGpuCells;

/* What rg_service_set takes, by value: it stores `bits` in one number of every cell, or, if it
 * copies, the number at from_offset and from_strides of the same node. Any number of threads. */
typedef struct RtGpuSet {
  RtTree *tree;
  RtGpuCells cells;
  uint64_t size, bits;
  uint64_t copies, from_offset, from_strides[RT_MAX_LEVELS];
} RtGpuSet;

/* A host access to one cell of a tree that is on a GPU, done by one thread. The frame holds an
 * RtVisit, its steps from the root on, and the numbers of the cell to write or read. */
typedef enum RtVisitWay {
  RT_VISIT_FIND, /* of a list: its length */
  RT_VISIT_ENSURE,
  RT_VISIT_CLEAR,  /* deactivates the cell, or empties the list */
  RT_VISIT_APPEND, /* of a list: the cell is the element that it adds */
  RT_VISIT_POP     /* or removes */
} RtVisitWay;
typedef enum RtVisitKind {
  RT_VISIT_DENSE,
  RT_VISIT_SLOTS,
  RT_VISIT_BITS,
  RT_VISIT_CHUNKS, /* of a list, on the way to an element of it */
  RT_VISIT_HASH,
  RT_VISIT_LIST /* the last step: the list itself */
} RtVisitKind;

typedef struct RtVisit {
  int32_t way, step_count, part_count;
  int32_t reads;    /* the numbers; else they are written */
  int64_t is_there; /* out: 1 if all steps led to existing cells */
  int64_t value;    /* out, of a list: its length, else which element; -1: none */
} RtVisit;
typedef struct RtVisitStep { /* as a step of snode/path.h */
  uint64_t offset, stride;   /* bytes: from the cell above to the container */
  uint64_t cell;             /* its number in the container; of a list: capacity */
  uint64_t words;            /* BITS: bytes into the container */
  int32_t kind;              /* RtVisitKind */
  int32_t number;            /* the manager, or the mask */
  int32_t chunk, pad;        /* of a list */
  int64_t key[RT_MAX_AXES];  /* of a hash; CHUNKS: the element */
} RtVisitStep;
typedef struct RtVisitPart {
  uint64_t offset, stride; /* in the cells' container, or node */
  uint64_t size;           /* bytes: 1, 2, 4, 8 */
  uint64_t bits;
} RtVisitPart;

/* What rg_service_copy does, by any number of threads: it copies numbers of all active cells of a
 * level to the cells with the same indices in tree 0, activating those, or to a table, row by row.
 * The frame holds an RtGpuCopy, an RtGpuDigits for each of cells.counts, the RtGpuCopySteps in
 * tree 0 from the root on, and the RtGpuCopyParts. */
typedef struct RtGpuDigits { /* as those of a step of snode/path.h */
  int64_t count;
  int64_t positions[RT_MAX_AXES], sizes[RT_MAX_AXES], weights[RT_MAX_AXES];
  int64_t wraps[RT_MAX_AXES]; /* 1: the index has more than this digit */
} RtGpuDigits;
typedef struct RtGpuCopy {
  RtTree *from;               /* not tree 0 */
  uint8_t *table;             /* NULL: to tree 0 */
  int64_t first, count;       /* its elements */
  int64_t shape[RT_MAX_AXES]; /* of all elements */
  int32_t rank, step_count, part_count, pad;
  /* index k starts at weights[k] * the node's coordinates[positions[k]]; position -1: at 0 */
  int64_t positions[RT_MAX_AXES], weights[RT_MAX_AXES];
  RtGpuCells cells; /* strides lead to the places of cells, the last is 0 */
} RtGpuCopy;
typedef struct RtGpuCopyStep {
  RtVisitStep step; /* without the cell's number and key */
  RtGpuDigits digits;
} RtGpuCopyStep;
typedef struct RtGpuCopyPart { /* bytes */
  uint64_t from_offset, from_stride, to_offset, to_stride, size;
} RtGpuCopyPart;

/* A GPU's memory for arrays that kernels make: RtContext.allocator, see heap_gpu.h. */
enum { RT_GPU_UNIT = 64, RT_GPU_SIZES = 34, RT_GPU_STACKS = 256 };

typedef struct RtGpuHeap {
  /* the allocator that headers name; all zero: nothing is counted or checked */
  _Alignas(64) RtAllocator allocator;
  uint64_t at;       /* address, whole units; only the host writes this and `capacity` */
  uint64_t capacity; /* bytes; grows between tasks */
  uint64_t top;      /* bytes; atomic */
  uint64_t free[RT_GPU_STACKS][RT_GPU_SIZES]; /* atomic; 0: there are none */
} RtGpuHeap;
/* `stack`: any number, ideally different for each thread. NULL if out of memory. */
void *rt_gpu_heap_take(RtGpuHeap *heap, uint64_t size_bytes, uint32_t stack);
void rt_gpu_heap_give(RtGpuHeap *heap, void *memory, uint64_t size_bytes, uint32_t stack);

#include "entry.h" /* what compiled code calls */

/* -- entry points that the core calls (native build); no task may be running ------------------- */
/* Initialises a tree whose caller-given members are set. Allocates nothing; charging the budget for
 * the root's container is left to the caller. */
void rt_tree_init(RtTree *tree, int32_t worker_count);
/* To be called after a task or host call that may have changed topology: frees the descendants of
 * deactivated nodes and updates live counts and versions; nothing is reused yet. Returns at once if
 * nothing changed. */
void rt_tree_refresh(RtContext *context, RtTree *tree);
/* Refreshes, then returns recycled nodes to the free lists; 0: there was nothing to do. */
int rt_tree_collect(RtContext *context, RtTree *tree);
/* Collects, then frees chunks without a live node: to the system (RtContext.discard), the budget
 * and the arena's vacant segments. Returns the bytes freed. */
uint64_t rt_tree_compact(RtContext *context, RtTree *tree);
/* Adds a chunk of that many segments, to recreate a tree's chunks in their original order. 0 if out
 * of memory, or if the chunk is too small for a node. */
int rt_chunk_make(RtTree *tree, int32_t manager, uint64_t segments);
/* Refreshes, then updates the list of active nodes of a manager; 0 if it cannot grow
 * (context->error). */
int rt_list_update(RtContext *context, RtTree *tree, int32_t manager);
/* Whether the entry, of the current epoch, is a race; then stores a writer and the lowest other
 * iteration. */
int rt_race_of(const RtShadow *entry, RtTouch *writer, RtTouch *other);
/* Charges the budget, asking the host for a larger one if it is too small; 0 if that fails. */
int rt_budget_take(RtBudget *budget, uint64_t bytes);
/* The key of stream `number` of a seed. */
uint64_t rt_random_key(uint64_t seed, uint64_t number);
uint64_t rt_random_next_key(RtRandom *random, uint32_t is_global);
uint64_t rt_random_own_key(const RtRandom *random);           /* of the host's own stream */
int64_t rt_manager_live(const RtTree *tree, int32_t manager); /* as of the last refresh */
/* Size of its chunks, tables and logs: its share of the budget without the root. */
uint64_t rt_tree_bytes(const RtTree *tree);

#endif
