/* rt.h - the contract between the core and the runtime: layouts, and the entry points of both.
 * The runtime is plain C without libc, compiled three times: natively into libregolith, as bitcode for the
 * host (fast paths inline into kernels), and for nvptx64. No thread-local, no mutable global, no 128-bit division.
 *
 * Memory of one tree: one arena, a reserved address range. `address = base + 64 * handle`; handle 0 is an
 * empty slot, 1 a claimed one; granules 0 and 1 are never handed out. The root's container starts at granule 2
 * (dense trees: their own exact allocation). Behind it nodes, carved from chunks that never move.
 *
 *     slot: EMPTY 0 --claim (CAS)--> BUSY 1 --publish (release)--> LIVE handle --deactivate--> EMPTY
 *
 * Readers take no lock and read 0 and 1 as empty: they get the ambient, read-only zeros. */
#ifndef RG_RT_H
#define RG_RT_H

#include <stdint.h>

enum {
  RT_GRANULE = 64,          /* bytes per handle step */
  RT_MAX_TABLE = 32,        /* log2 of a hash's entries at most */
  RT_FIRST_GRANULE = 2,
  RT_NO_CHUNK = -1,
  RT_SEGMENT = 65536,       /* bytes: what a chunk is a whole number of */
  RT_MAX_AXES = 8,
  RT_MAX_LEVELS = 16,
  RT_SLOT_EMPTY = 0,
  RT_SLOT_BUSY = 1,
  RT_LIST_LENGTH = 0,       /* of a dynamic SNode's container, in words of 4 bytes: elements there are */
  RT_LIST_LOCK = 1,
  RT_LIST_SLOTS = 2,        /* one per chunk from here on */
  RT_TOUCHED_END = 1
};

/* One fault of device code: the first one wins. */
typedef enum RtErrorKind {
  RT_OK,
  RT_ERROR_BUDGET,          /* a node needed memory that the budget or the arena does not have */
  RT_ERROR_STOPPED,
  RT_ERROR_MEMORY,          /* the host refused memory for a list */
  RT_ERROR_FULL,            /* a list of a dynamic SNode has no place left */
  RT_ERROR_FAULT            /* the kernel's own: `manager` is its number, `value` what its sentence ends with */
} RtErrorKind;
typedef struct RtError {
  uint32_t kind;            /* claimed by compare-and-swap from RT_OK */
  int32_t tree;             /* RtTree.number */
  int32_t manager;
  int32_t task;             /* RtContext.task; -1: the host region */
  double value;
} RtError;

/* The budget all trees of a runtime share, in bytes. */
typedef struct RtBudget {
  uint64_t limit;           /* atomic */
  uint64_t used;            /* atomic: committed chunks and root containers */
  uint64_t peak;            /* atomic */
  /* the host's word when `bytes` in all are wanted: the limit from now on. Any worker calls it, several at once; NULL: none */
  uint64_t (*ask)(void *data, uint64_t bytes);
  void *ask_data;
} RtBudget;

/* A node's life: FRESH -> LIVE -> USED -> LIVE .. A FRESH node's memory is known to be zero; a USED one (freed, or
 * about to be) is zeroed when it is handed out again. */
typedef enum RtNodeState { RT_NODE_FRESH, RT_NODE_LIVE, RT_NODE_USED } RtNodeState;

/* A node's side-table entry; coordinates are those of its cell in the level's index space (the pointer SNode's own
 * cells), one per axis of that level, ascending. */
typedef struct RtNodeInfo {
  uint32_t parent;          /* handle of the node that holds its slot; 0: the root's container */
  uint32_t next;            /* handle of the next node on a free or recycled list; 0: end */
  uint64_t slot;            /* bytes from RtTree.base to its slot; of a hash: 0 */
  int64_t coordinates[];    /* axis_count of them; of a dynamic SNode one more: how many elements a loop began with */
} RtNodeInfo;

/* How a slot's place splits into digits: one row per SNode on the way from the parent node (or the root's container)
 * down to the pointer SNode, that one included, outermost first; the root SNode itself has no row.
 *
 *     slot = start + sum over rows of (offset + cell * stride)
 *
 * A row's offset leads from the cell that the row above chose (first row: from the parent node or the root's container)
 * into what its own cells hold of the next row, of which they have one every `stride` bytes; in the last row these are the
 * slots, 4 bytes each. The core reads it off the path's table (snode/path.h). */
typedef struct RtLevel {
  uint64_t offset, stride;      /* bytes */
  uint64_t cell_count;          /* product of sizes */
  int32_t axis_count;
  int32_t positions[RT_MAX_AXES]; /* of each digit's axis in the coordinates, the last digit fastest */
  int64_t sizes[RT_MAX_AXES];
  int64_t weights[RT_MAX_AXES]; /* cells of the manager's level per step of this digit */
} RtLevel;

/* Whole segments: the nodes, their infos, and the rest of what is known of each. */
typedef struct RtChunk {
  uint8_t *nodes;           /* first node */
  uint8_t *infos;           /* first RtNodeInfo, RtManager.info_stride apart */
  uint32_t *positions;      /* in the manager's list, + 1; 0: not in it */
  uint32_t *touched;        /* links of RtLocal.touched: handle of the next; RT_TOUCHED_END; 0: on no such list */
  uint8_t *states;          /* RtNodeState, 8-byte aligned */
  uint32_t first_number;    /* nodes in the chunks before it: numbers nodes of a manager from 0 without gaps */
  uint32_t node_count;
  uint32_t handed;          /* nodes that are LIVE, or on a free list; none of those behind is */
  uint32_t next;            /* next chunk of its manager, or next free record: index + 1; 0: none */
  int32_t manager;          /* -1: a free record */
  uint32_t segments;
  uint32_t first_position;  /* while a list is made: where its nodes begin */
  uint32_t pad;
} RtChunk;

typedef struct RtListEntry {
  uint32_t handle, pad;
  const int64_t *coordinates; /* RtNodeInfo.coordinates: stays while the tree does */
} RtListEntry;

typedef struct RtLocal {    /* one worker's share of a manager; a cache line each */
  uint32_t free;            /* handles, linked by RtNodeInfo.next */
  uint32_t recycled;        /* unlinked since the last settle */
  uint32_t recycled_last;   /* end of that list */
  uint32_t touched;         /* nodes taken or recycled since the list was last brought up to date, each once */
  uint64_t touched_count;
  uint64_t activations, deactivations; /* since the last settle */
  uint8_t *sink;            /* a writable nowhere for failed activations: node_size bytes, zero at first. Managers
                             * whose nodes hold no slots may share one per worker; the others may not share */
  uint64_t pads[2];
} RtLocal;

typedef struct RtTable {    /* of one hash manager: from coordinates to nodes; see hash_table.c */
  uint64_t current;         /* atomic: bytes from RtTree.base to its entries | log2 of their number; 0: none yet */
  uint64_t memory[RT_MAX_TABLE + 1]; /* by log2 of the entries: where, in bytes from base; 0: none */
  uint64_t bytes;           /* of all its memory */
  uint64_t used, tombstones; /* entries that are not empty; those of them that are deactivated cells'. Under the lock */
  uint32_t lock;
  uint32_t pad;
} RtTable;

/* Coordinates of a manager's active nodes, ascending, for walks in index order; see order.c. */
typedef struct RtOrder {
  uint64_t version;         /* of the manager, that it shows */
  int64_t count, capacity;  /* rows; the memory has room for twice the capacity */
  int32_t axis_count;
  uint32_t pad;
  int64_t rows[];           /* count rows of axis_count coordinates */
} RtOrder;

typedef struct RtManager {  /* one per SNode whose cells lie in nodes: the node manager */
  /* -- given by the caller */
  uint64_t node_size;       /* bytes, a multiple of 64 */
  int32_t chunk;            /* elements of a node, of a dynamic SNode; else 0 */
  int32_t parent;           /* manager whose nodes hold its slots; -1: the root's container */
  int32_t axis_count;
  int32_t parent_positions[RT_MAX_AXES]; /* of each axis in the parent's coordinates; -1: the parent lacks it */
  int64_t parent_weights[RT_MAX_AXES];   /* cells of this level per cell of the parent's */
  int32_t level_count;
  RtLevel levels[RT_MAX_LEVELS];
  int32_t is_hash;          /* nodes are found by coordinates, not by slots: level_count is 0 */
  RtLocal *locals;          /* per worker, zero but for the sinks; best 64-byte aligned */
  /* -- set by rt_tree_init, kept by the runtime */
  uint64_t info_stride;     /* bytes */
  int32_t child_count;      /* managers whose parent is this one */
  uint32_t lock;            /* guards free, starved and the chain of chunks while tasks run */
  uint32_t free;            /* shared free list */
  uint32_t recycled, recycled_last; /* settled: back to `free` by the next collection */
  uint32_t starved;         /* a worker got nothing: the next settle takes the workers' free nodes back */
  uint32_t first_chunk, last_chunk; /* index + 1 into RtTree.chunks; 0: none */
  uint32_t open_chunk;      /* the first that may have nodes behind `handed`; index + 1; 0: none */
  uint32_t chunk_count;
  uint32_t node_count;      /* of all chunks */
  uint64_t chunk_bytes;
  uint64_t live_count;      /* as of the last settle */
  uint64_t version;         /* grows when the set of live nodes changes; from 1 */
  uint64_t list_version;    /* version that `list` shows */
  RtListEntry *list;        /* active nodes; from RtContext.grow, the tree's owner frees it */
  uint64_t list_count, list_capacity;
  uint64_t list_drift;      /* changes since it was made anew: nodes near in memory drift apart in it */
  RtTable table;            /* of a hash */
  RtOrder **orders;         /* by how many such walks are around the one that uses it; NULL: not made yet. These and the
                             * table of them from RtContext.grow, the tree's owner frees them */
  uint64_t order_count;
  uint64_t activations, deactivations, lists; /* counted since the tree began; lists: made anew */
} RtManager;

/* Bytes inside a cell: `size` of them at  start + offset + cell * stride + sum over k of digit_k * steps[k]
 * for every digit_k below counts[k]. */
typedef struct RtRun {
  uint64_t offset, stride, size;
  int32_t manager;          /* they are slots of it; -1: plain memory */
  int32_t list_capacity;    /* they are a list of it, of so many elements; 0: they are not */
  int32_t is_words;         /* they are mask words */
  int32_t depth;
  uint64_t counts[RT_MAX_LEVELS], steps[RT_MAX_LEVELS];
} RtRun;

typedef struct RtMask {     /* one per bitmasked SNode */
  /* -- given by the caller */
  int32_t holder;           /* manager whose nodes hold its containers; -1: the root's container */
  int32_t run_count;
  uint64_t mask_offset;     /* of the words in a container */
  uint64_t cell_count;
  RtRun containers;         /* in a holder's node; stride 0 */
  const RtRun *runs;        /* what a cell holds, from the container: mask words, an outer level's before an inner one's;
                             * then slots and lists; then plain memory */
  /* -- kept by the runtime */
  uint64_t *was;            /* words as they were when remembered, by container; from RtContext.grow, the tree's owner
                             * frees it. Containers count by the holder's node numbers, then inside a node */
  uint64_t was_count, was_capacity; /* words */
} RtMask;

typedef struct RtTree {
  /* -- given by the caller, all zero-filled before */
  uint8_t *base;            /* of the arena, 64 KiB aligned; slots' handles count from here */
  uint8_t *root;            /* the root's container, zero: at base + RT_FIRST_GRANULE * RT_GRANULE when there are
                             * managers */
  uint64_t root_size;
  uint64_t reserved;        /* bytes of the address range, readable and writable, zero until written; 256 GiB at most */
  int32_t number;           /* for errors */
  int32_t manager_count;
  RtManager *managers;
  int32_t mask_count;
  RtMask *masks;
  RtChunk *chunks;          /* zero; room for one per segment: reserved / RT_SEGMENT (a lazily committed range) */
  uint32_t *segment_owner;  /* zero; as many; by segment: chunk index + 1; RT_NO_CHUNK: a table's; 0: root or unused */
  RtBudget *budget;
  uint32_t tiny_chunks;     /* RG_STRESS: few nodes per chunk, no batches */
  /* By worker: bytes from a place of the arena to the same place in that worker's own copy, all zero between tasks (sinks
   * count as part of the arena; what lies in their copies counts nothing). 0 for worker 0, which works in the tree itself. NULL: there are none; kernels look only where the device saw them. */
  const int64_t *own;
  void *device;             /* the device's own, beside the tree; NULL at first */
  /* -- set by rt_tree_init, kept by the runtime */
  uint32_t changed;         /* atomic: some worker activated, deactivated or starved since the last settle */
  uint64_t top;             /* bytes used from base, whole segments */
  uint64_t bottom;          /* bytes of the segments that hold the root */
  uint64_t vacant;          /* bytes between the two that nobody uses */
  uint32_t lock;            /* guards the three, segment_owner and the chunks' records while tasks run */
  uint32_t chunk_count;     /* records used so far, free ones among them */
  uint32_t free_record;     /* index + 1; 0: none */
  uint32_t pad;
} RtTree;

struct RtContext;
typedef struct RtWorker {
  int32_t index;
  uint32_t pad;
  uint64_t out_of_range;    /* writes outside a shape */
  uint64_t random[4];
} RtWorker;

/* Body of one task for positions begin..end of its iteration space. */
typedef void RtTaskFunction(struct RtContext *context, RtWorker *worker, int64_t begin, int64_t end);
typedef void RtHostFunction(struct RtContext *context);
/* A piece of the runtime's own work between tasks. */
typedef void RtPart(struct RtContext *context, RtWorker *worker, void *data, int64_t begin, int64_t end);

typedef struct RtContext {
  uint64_t *frame;          /* slots of the launch: task.h */
  RtTree **trees;
  uint8_t *ambient;         /* read-only zeros, as large as the largest node */
  RtWorker *workers;
  int32_t worker_count;
  uint32_t stop;            /* 1: leave as soon as possible; polled per chunk of work and on unbounded back edges */
  RtError error;
  int32_t tree_count;       /* of `trees` */
  int32_t task;             /* the one that runs; -1: the host region. Set by the device */
  void *host;               /* the device's own; the callbacks below get it */
  /* runs task number `task` over all its positions, in parallel where that pays, and returns when done */
  void (*run)(struct RtContext *context, int32_t task);
  /* provides zeroed memory for tables that grow (lists, chunk tables); old contents kept; NULL when refused */
  void *(*grow)(struct RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes);
  /* calls `part` on pieces that cover 0..count, on any workers, none of them twice at once; NULL: the caller's thread
   * does it all */
  void (*parallel)(struct RtContext *context, int64_t count, RtPart *part, void *data);
  /* whole segments go back to the system, and read zero from then on; NULL: memory stays */
  void (*discard)(struct RtContext *context, void *memory, uint64_t bytes);
} RtContext;

#include "entry.h" /* what compiled code calls */

/* -- entry points that the core calls (native build); no task may be running ---------------------------------- */
/* Makes a tree usable whose caller-given members are set. Asks for no memory; the budget's share of the root's
 * container is the caller's affair. */
void rt_tree_init(RtTree *tree, int32_t worker_count);
/* After a task or host call that may have changed topology: nodes under deactivated nodes go too, live counts and
 * versions move; nothing is reused yet. At once when nothing changed. */
void rt_tree_settle(RtContext *context, RtTree *tree);
/* Settles, then recycled nodes go back to the free lists; 0 when there was nothing to do. */
int rt_tree_collect(RtContext *context, RtTree *tree);
/* Collects, then gives chunks without a live node back: to the system (RtContext.discard), to the budget and to whoever
 * needs segments next. Bytes given back. */
uint64_t rt_tree_compact(RtContext *context, RtTree *tree);
/* Settles, then brings the list of active nodes of a manager up to date; 0 when it cannot grow (context->error). */
int rt_list_update(RtContext *context, RtTree *tree, int32_t manager);
/* Charges the budget, asking the host where it is too small; 0: there is no room. */
int rt_budget_take(RtBudget *budget, uint64_t bytes);
int64_t rt_manager_live(const RtTree *tree, int32_t manager); /* as of the last settle */
uint64_t rt_tree_bytes(const RtTree *tree); /* of its chunks: what it holds of the budget beside the root */

#endif
