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
  RT_FIRST_GRANULE = 2,
  RT_SEGMENT = 65536,       /* bytes: what a chunk is a whole number of */
  RT_MAX_AXES = 8,
  RT_MAX_LEVELS = 16,
  RT_SLOT_EMPTY = 0,
  RT_SLOT_BUSY = 1
};

/* One fault of device code: the first one wins. */
typedef enum RtErrorKind { RT_OK, RT_ERROR_BUDGET, RT_ERROR_STOPPED } RtErrorKind;
typedef struct RtError {
  uint32_t kind;            /* claimed by compare-and-swap from RT_OK */
  int32_t tree;             /* RtTree.number */
  int32_t manager;
  int32_t task;
} RtError;

/* The budget all trees of a runtime share, in bytes. */
typedef struct RtBudget {
  uint64_t limit;
  uint64_t used;            /* atomic: committed chunks and root containers */
  uint64_t peak;            /* atomic */
} RtBudget;

/* A live or recycled node's side-table entry; coordinates are those of its cell in the level's index space
 * (the pointer SNode's own cells), one per axis of that level, ascending. */
typedef struct RtNodeInfo {
  uint32_t parent;          /* handle of the node that holds its slot; 0: the root's container */
  uint32_t next;            /* handle of the next node on a free or recycled list; 0: end */
  uint32_t slot;            /* 4-byte units from the parent node's start (or the root container's) to its slot */
  uint32_t live;            /* 1 while a slot leads to it */
  int64_t coordinates[];    /* axis_count of them */
} RtNodeInfo;

/* How a slot's place inside its parent splits into digits: one row per level between, outermost first;
 * the last row is the pointer SNode itself with stride 4. index[axis] = sum of digits times weights. */
typedef struct RtLevel {
  uint64_t offset;          /* of the component in its cell or container */
  uint64_t stride;          /* bytes between cells of this level's container */
  uint64_t cell_count;
  int32_t axis_count;
  int32_t axes[RT_MAX_AXES];    /* position in the coordinates */
  int64_t sizes[RT_MAX_AXES];
  int64_t weights[RT_MAX_AXES]; /* cells of the manager's level per step of this digit */
} RtLevel;

typedef struct RtChunk {
  uint8_t *nodes;           /* first node */
  uint8_t *infos;           /* first RtNodeInfo, info_stride apart */
  uint32_t first_number;    /* number of its first node */
  uint32_t node_count;
  int32_t manager;
} RtChunk;

typedef struct RtListEntry { uint32_t handle, number; } RtListEntry;

typedef struct RtLocal {    /* one worker's share of a manager; a cache line each */
  uint32_t free;            /* handles, linked by RtNodeInfo.next */
  uint32_t recycled;        /* freed in this launch; handed out only after the next collection */
  uint32_t free_count, recycled_count;
  uint64_t activations, deactivations;
  uint8_t *sink;            /* a node-sized writable nowhere for failed activations */
  uint64_t pad[3];
} RtLocal;

typedef struct RtManager {  /* one per pointer SNode: the node manager */
  uint64_t node_size;       /* bytes, a multiple of 64 */
  uint64_t info_stride;     /* bytes */
  int32_t axis_count;
  int32_t level_count;
  int32_t parent;           /* manager whose nodes hold its slots; -1: the root's container */
  RtLevel levels[RT_MAX_LEVELS]; /* from the parent node down to its own slots */
  uint32_t first_child, child_count; /* managers whose parent is this one: RtTree.children rows */
  uint32_t lock;
  uint32_t free;            /* shared free list */
  uint32_t free_count;
  uint32_t node_count;      /* numbers handed out so far: live, free or recycled */
  uint32_t live_count;      /* atomic */
  uint32_t chunk_count, chunk_capacity;
  uint32_t *chunks;         /* indices into RtTree.chunks */
  uint64_t version;         /* grows when the set of live nodes changes */
  uint32_t changed;         /* set by workers, turned into a new version after the task */
  uint64_t list_version;    /* version that `list` shows */
  RtListEntry *list;        /* active nodes, by number: chunked or reserved, stable while a task runs */
  uint32_t list_count, list_capacity;
  RtLocal *locals;          /* per worker */
} RtManager;

typedef struct RtTree {
  uint8_t *base;            /* of the arena; slots' handles count from here */
  uint8_t *root;            /* the root's container */
  uint64_t root_size;
  uint64_t reserved;        /* bytes of the address range */
  uint64_t top;             /* atomic: bytes used from base; nodes grow it in segments */
  int32_t number;           /* for errors */
  int32_t manager_count;
  RtManager *managers;
  RtChunk *chunks;          /* reserved table */
  uint32_t chunk_count, chunk_capacity; /* atomic */
  uint32_t *segment_owner;  /* by segment: chunk index + 1; 0: root or unused */
  int32_t *children;        /* rows of RtManager.first_child */
  RtBudget *budget;
  uint32_t tiny_chunks;     /* RG_STRESS: few nodes per chunk */
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

typedef struct RtContext {
  uint64_t *frame;          /* slots of the launch: task.h */
  RtTree **trees;
  uint8_t *ambient;         /* read-only zeros */
  RtWorker *workers;
  int32_t worker_count;
  uint32_t stop;            /* 1: leave as soon as possible; polled per chunk of work and on unbounded back edges */
  RtError error;
  void *host;               /* the device's own; the callbacks below get it */
  /* runs task number `task` over all its positions, in parallel where that pays, and returns when done */
  void (*run)(struct RtContext *context, int32_t task);
  /* provides zeroed memory for tables that grow (lists, chunk tables); old contents kept; NULL when refused */
  void *(*grow)(struct RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes);
} RtContext;

/* -- entry points that kernels call; codegen names them, see codegen/call.c ---------------------------------- */
#define RT_ENTRY __attribute__((visibility("default")))

RT_ENTRY uint64_t *rt_frame(RtContext *context);
RT_ENTRY uint8_t *rt_tree_root(RtContext *context, int32_t tree);
RT_ENTRY uint8_t *rt_ambient(RtContext *context);
RT_ENTRY uint8_t *rt_slot_find(RtContext *context, int32_t tree, const uint32_t *slot);
RT_ENTRY uint8_t *rt_slot_ensure(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager, uint32_t *slot);
RT_ENTRY void rt_slot_clear(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager, uint32_t *slot);
RT_ENTRY int32_t rt_slot_live(const uint32_t *slot);
RT_ENTRY void rt_outside(RtWorker *worker);
RT_ENTRY int32_t rt_stopped(RtContext *context);
RT_ENTRY RtWorker *rt_host_worker(RtContext *context);      /* worker 0, for the host region */
RT_ENTRY void rt_run(RtContext *context, int32_t task);
/* host region: number of active nodes; brings the list up to date first */
RT_ENTRY int64_t rt_list_count(RtContext *context, int32_t tree, int32_t manager);
RT_ENTRY void rt_tree_clear(RtContext *context, int32_t tree, int32_t manager);
/* in tasks over nodes */
RT_ENTRY uint8_t *rt_list_node(RtContext *context, int32_t tree, int32_t manager, int64_t position);
RT_ENTRY const int64_t *rt_list_coordinates(RtContext *context, int32_t tree, int32_t manager, int64_t position);

/* -- entry points that the core calls (native build) ---------------------------------------------------------- */
/* Memory a new tree needs is given by the caller in *tree: base, root, reserved, managers with sizes, levels and
 * locals with sinks, segment_owner. Sets the rest. */
void rt_tree_init(RtTree *tree, int32_t worker_count);
/* After every task and host call that may have changed topology: versions move, nothing is collected yet. */
void rt_tree_settle(RtTree *tree, int32_t worker_count);
/* Recycled nodes go back to the free lists; false when there was nothing to do. No task may be running. */
int rt_tree_collect(RtTree *tree, int32_t worker_count);
/* Active nodes of a manager; false when the list cannot grow (context->error is set). */
int rt_list_update(RtContext *context, RtTree *tree, int32_t manager);
int64_t rt_manager_live(const RtTree *tree, int32_t manager);

/* slow paths (native; symbols.def lists them) */
RT_ENTRY uint8_t *rt_slot_activate(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager, uint32_t *slot);
RT_ENTRY void rt_error_set(RtContext *context, uint32_t kind, int32_t tree, int32_t manager);

#endif
