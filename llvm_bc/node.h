/* node.h - how the runtime's own files refer to nodes: by handle, by address, by index in a chunk;
 * and the functions they share. No file outside this room includes it. */
#ifndef RG_RT_NODE_H
#define RG_RT_NODE_H

#include "atomic.h"
#include "group.h"
#if defined(RG_DEBUG)
#include "valid.h"
#endif

typedef struct RtNode { /* a node and its entries in the tables */
  uint8_t *memory;
  RtNodeInfo *info;
  uint8_t *state;               /* an RtNodeState */
  uint32_t *position, *touched; /* RtChunk.positions, .touched */
} RtNode;

/* Whether no other worker exists: then no locked instructions are needed, which wait until all
 * earlier stores have reached a cache, 100 ns if those miss. */
static inline int rt_is_alone(const RtContext *context) {
#if defined(__NVPTX__)
  return 0; /* a worker is shared by threads */
#else
  return context->worker_count == 1;
#endif
}

static inline int handle_is_live(uint32_t handle) { return handle > RT_SLOT_BUSY; }

static inline uint8_t *node_address(const RtTree *tree, uint32_t handle) {
  return tree->base + (uint64_t)RT_GRANULE * handle;
}
static inline uint32_t node_handle(const RtTree *tree, const uint8_t *memory) {
  return (uint32_t)((uint64_t)(memory - tree->base) / RT_GRANULE);
}

/* False only for new parts of another process's tree on a GPU, which are mapped here later. */
static inline int handle_is_mapped(const RtTree *tree, uint32_t handle) {
  return !RT_SHARED || (uint64_t)RT_GRANULE * handle < tree->reserved;
}

/* False for a slot or list in a sink or the ambient, into which nothing is ever linked. */
static inline int node_is_in_arena(const RtTree *tree, const void *place) {
  return (uint64_t)place - (uint64_t)tree->base < tree->reserved;
}

/* The chunk that contains an address of the arena, or NULL: the root's container. */
static inline RtChunk *node_chunk(const RtTree *tree, const uint8_t *address) {
  /* a table has no nodes */
  uint32_t owner = tree->segment_owner[(uint64_t)(address - tree->base) / RT_SEGMENT];
  return owner ? &tree->chunks[owner - 1] : 0;
}

static inline RtNode node_in_chunk(const RtManager *manager, const RtChunk *chunk, uint64_t index) {
  return (RtNode){chunk->nodes + index * manager->node_size,
                  (RtNodeInfo *)(chunk->infos + index * manager->info_stride),
                  chunk->states + index, chunk->positions + index, chunk->touched + index};
}

/* The node so many bytes from the chunk's first one. Granules of an arena fit 32 bits, whose
 * division costs a third of a 64-bit one. */
static inline RtNode node_at(const RtManager *manager, const RtChunk *chunk, uint64_t bytes) {
  uint32_t granules = (uint32_t)(bytes / RT_GRANULE);
  return node_in_chunk(manager, chunk, granules / (uint32_t)(manager->node_size / RT_GRANULE));
}

/* The node of `manager` that holds `address`. */
static inline RtNode node_around(const RtTree *tree, const RtManager *manager,
                                 const uint8_t *address) {
  const RtChunk *chunk = node_chunk(tree, address);
  return node_at(manager, chunk, (uint64_t)(address - chunk->nodes));
}
static inline RtNode node_get(const RtTree *tree, const RtManager *manager, uint32_t handle) {
  return node_around(tree, manager, node_address(tree, handle));
}

/* A worker's share of a manager. */
static inline RtLocal *local_of(const RtManager *manager, const RtWorker *worker) {
  return &manager->locals[RT_SHARED ? 0 : worker->index];
}

/* Increments a counter of an RtLocal. */
static inline void local_count(uint64_t *count) {
  if (!RT_SHARED) {
    ++*count;
    return;
  }
  RtGroup group = rt_group_of(rt_group_key(count));
  if (!group.rank) rt_add_long(count, group.count);
}

/* Pushes handles onto a list that threads share; those of a group are pushed as one chain. Returns
 * the handle that follows `handle` there, or 0 at the end. */
static inline uint32_t shared_push(uint32_t *list, uint32_t handle) {
  RtGroup group = rt_group_of(rt_group_key(list));
  uint32_t before = 0, next = rt_group_next(group, handle);
  if (!group.rank) before = rt_exchange(list, handle);
  before = rt_group_share(group, before);
  return next ? next : before;
}

/* Puts the node on the touched list. Only the thread that has just taken the node, or unlinked it
 * from its slot, may call this. */
static inline void node_note(RtLocal *local, RtNode node, uint32_t handle) {
  if (*node.touched) return;
  if (RT_SHARED) { /* the list is read after the task; until then it may be incomplete */
    *node.touched = RT_TOUCHED_END;
    uint32_t next = shared_push(&local->touched, handle);
    if (next) *node.touched = next;
  } else {
    *node.touched = local->touched ? local->touched : RT_TOUCHED_END;
    local->touched = handle;
  }
  local_count(&local->touched_count);
}

/* Puts a LIVE node on the worker's recycled list; it becomes USED. */
static inline void node_retire(RtLocal *local, RtNode node, uint32_t handle) {
  *node.state = RT_NODE_USED;
  if (RT_SHARED) {
    uint32_t next = shared_push(&local->recycled, handle);
    rt_store(&node.info->next, next); /* a thread that lost a race for it may still read this */
    if (!next) local->recycled_last = handle;
  } else {
    node.info->next = local->recycled;
    if (!local->recycled) local->recycled_last = handle;
    local->recycled = handle;
  }
  local_count(&local->deactivations);
  node_note(local, node, handle);
}

/* For a dynamic SNode: the list to which a chunk's node belongs, and which chunk it is. */
static inline uint32_t *dynamic_list(const RtTree *tree, const RtManager *manager,
                                     const RtNodeInfo *info, int64_t *chunk) {
  *chunk = info->coordinates[manager->levels[manager->level_count - 1].positions[0]];
  return (uint32_t *)(tree->base + info->slot) - *chunk - RT_LIST_SLOTS;
}
/* The number of elements in the node; pop leaves empty chunks. */
static inline int32_t dynamic_cells(const RtTree *tree, const RtManager *manager,
                                    const RtNodeInfo *info) {
  int64_t chunk;
  const uint32_t *list = dynamic_list(tree, manager, info, &chunk);
  int64_t cells =
      (int64_t)__atomic_load_n(&list[RT_LIST_LENGTH], __ATOMIC_RELAXED) - chunk * manager->chunk;
  return cells < 0 ? 0 : cells > manager->chunk ? manager->chunk : (int32_t)cells;
}

/* The piece of a log that holds the rows of a list. */
static inline RtLogPiece *log_piece(RtLog *log, const uint32_t *list) {
  return &log->pieces[((uint64_t)list >> log->shift) % RT_LOG_PIECES];
}

/* Can a row name a list at this distance from its block's base? */
static inline int log_names(uint64_t from_base) { return !(from_base >> 34); }

/* -- coordinates: decoding a position by the rows of RtLevel -- */

/* The outermost digit is the remaining quotient, which saves a division (as slow as ten other
 * instructions). */
static inline void add_digits(const RtLevel *level, uint64_t cell, int64_t *coordinates) {
  for (int32_t k = level->axis_count - 1; k > 0; k--) {
    uint64_t size = (uint64_t)level->sizes[k];
    coordinates[level->positions[k]] += (int64_t)(cell % size) * level->weights[k];
    cell /= size;
  }
  coordinates[level->positions[0]] += (int64_t)cell * level->weights[0];
}

/* The coordinates of a place, given its distance in bytes from where the rows start: the parent
 * node, or the root's container (`parent` is NULL). */
static inline void coordinates_of(const RtManager *manager, const RtLevel *levels,
                                  int32_t level_count, const RtNodeInfo *parent, uint64_t bytes,
                                  int64_t *coordinates) {
  for (int32_t a = 0; a < manager->axis_count; a++) {
    int32_t position = manager->parent_positions[a];
    int comes_down = parent && position >= 0;
    coordinates[a] = comes_down ? parent->coordinates[position] * manager->parent_weights[a] : 0;
  }
  for (int32_t l = 0; l < level_count; l++) {
    bytes -= levels[l].offset;
    add_digits(&levels[l], bytes / levels[l].stride, coordinates);
    bytes %= levels[l].stride;
  }
}

static inline RtChunk *chunk_first(const RtTree *tree, const RtManager *manager) {
  return manager->first_chunk ? &tree->chunks[manager->first_chunk - 1] : 0;
}
static inline RtChunk *chunk_next(const RtTree *tree, const RtChunk *chunk) {
  return chunk->next ? &tree->chunks[chunk->next - 1] : 0;
}

/* RtContext.grow; NULL: refused. */
static inline void *table_grow(RtContext *context, void *memory, uint64_t old_bytes,
                               uint64_t new_bytes) {
  return RT_ALONE ? 0 : context->grow(context, memory, old_bytes, new_bytes);
}

/* node_manager.c: adds a chunk, under the manager's lock; 0 if out of memory. */
int rt_chunk_add(RtTree *tree, RtManager *manager);
/* node_manager.c, node_shared.c: allocates a node for this worker, zeroed and LIVE, and returns its
 * handle and info; 0 if out of memory. */
uint32_t rt_node_take(RtTree *tree, RtManager *manager, RtLocal *local, RtNodeInfo **info);
/* Returns a node of rt_node_take that has not been written. */
void rt_node_return(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle);
/* node_retire, by handle. */
void rt_node_recycle(RtTree *tree, RtManager *manager, RtLocal *local, uint32_t handle);
/* Prepends a list to another, touching one entry. */
void rt_node_splice(RtTree *tree, RtManager *manager, uint32_t first, uint32_t last,
                    uint32_t *list);

/* node_dynamic_grow.c: appends as many elements as fit, up to `wanted`, and returns their number;
 * *first is the first of them. The caller writes them. */
uint32_t rt_dynamic_claim(RtContext *context, RtWorker *worker, int32_t tree, int32_t number,
                          uint32_t *list, uint32_t wanted, uint32_t *first);

/* The same file: writes `count` claimed elements of a list, from number `first` on. */
void rt_dynamic_write(const RtTree *tree, const RtManager *manager, const uint32_t *list,
                      uint32_t first, uint32_t count, const uint8_t *rows);

/* node_dynamic_log.c; no task may be running: appends what the workers have logged. */
void rt_dynamic_unlog(RtContext *context, int32_t tree, int32_t manager);
/* hash_table.c; no task may be running. After a refresh, or after a parent's nodes were freed: */
/* deactivates nodes whose parent is dead: every `step`th of a chunk, from `first` on */
void rt_hash_drop_orphans(RtTree *tree, RtManager *manager, uint64_t first, uint64_t step);
/* frees outgrown tables, and drops tombstones if there are many */
void rt_hash_refresh(RtContext *context, RtTree *tree, RtManager *manager);
/* the latter in parts: if there are many, find all shares first, then purge each */
typedef struct RtPurge { /* a range of entries, which may run past the table's end and wrap */
  uint64_t begin, end;
} RtPurge;
int rt_hash_wants_purge(const RtTree *tree, const RtManager *manager);
RtPurge rt_hash_purge_begin(const RtTree *tree, const RtManager *manager, uint64_t share,
                            uint64_t shares);
void rt_hash_purge(const RtTree *tree, const RtManager *manager, RtPurge purge);
void rt_hash_purge_end(RtManager *manager);
/* removes everything; or in parts: zeroes every `step`th entry from `first` on, then resets the
 * rest */
void rt_hash_empty(RtTree *tree, RtManager *manager, int32_t worker_count);
void rt_hash_zero(const RtTree *tree, const RtManager *manager, uint64_t first, uint64_t step);
void rt_hash_forget(RtManager *manager, int32_t worker_count);
/* also within a task: frees the cells of a hash that are in one cell of a masked container */
void rt_hash_clear_in_cell(RtTree *tree, RtWorker *worker, const RtInCell *hash,
                           const uint8_t *container, uint64_t cell);
/* segments.c: `bytes` of zeroed whole segments, charged to the budget, or NULL. */
uint8_t *rt_segments_take(RtTree *tree, uint64_t bytes);
/* Frees them; they read zero. */
void rt_segments_give(RtTree *tree, uint8_t *memory, uint64_t bytes);
/* Makes and frees a record (index + 1) for a chunk over allocated segments. */
uint32_t rt_record_take(RtTree *tree, uint8_t *memory, uint64_t bytes);
void rt_record_give(RtTree *tree, uint32_t record);

/* clear.c: puts all idle nodes on the shared free list, lowest address first, or makes them fresh
 * again. */
void rt_free_order(RtTree *tree, RtManager *manager, int32_t worker_count);
/* list_gen.c: empties the list of a manager that has no live node any more. */
void rt_list_empty(RtTree *tree, RtManager *manager, int32_t worker_count);
/* The same after `positions` and `touched` of its nodes have been cleared. */
void rt_list_forget(RtManager *manager, int32_t worker_count);

/* Updating a list on a GPU (RT_ALONE). One thread calls `begin`, which makes the changes itself
 * unless a rebuild by all threads is faster: one change is taken to cost as much as entering
 * `nodes_per_change` nodes. With `in_order` it rebuilds as often as a processor would, so that the
 * order depends on the nodes alone. Then all threads, in whole warps, call `fill` with their
 * numbers, and, if in order, `enter`. `counts`: one per warp. */
void rt_list_begin(RtContext *context, RtTree *tree, int32_t manager, int in_order,
                   uint64_t nodes_per_change);
void rt_list_fill(RtTree *tree, int32_t manager, uint64_t thread, uint64_t threads,
                  uint64_t *counts);
void rt_list_enter(RtTree *tree, int32_t manager, uint64_t thread, uint64_t threads,
                   const uint64_t *counts);
/* order_make.c, on a GPU: builds the order that rt_list_order then finds. One thread calls `begin`,
 * after the list is up to date; then all threads call the others: see rg_service_order. */
void rt_order_begin(RtContext *context, RtTree *tree, int32_t manager, int32_t depth);
void rt_order_look(RtTree *tree, int32_t manager, int32_t depth, uint64_t thread, uint64_t threads);
void rt_order_copy(RtTree *tree, int32_t manager, int32_t depth, uint64_t thread, uint64_t threads);
void rt_order_merge(RtTree *tree, int32_t manager, int32_t depth, int32_t merge, uint64_t thread,
                    uint64_t threads);
/* cells_gpu.c: walks one thread's share of all active cells of a level; `next` returns 0 at the
 * end. */
typedef struct RtGpuShare {
  const RtTree *tree;
  const RtGpuCells *cells;
  const RtChunk *chunk;
  uint64_t first, at, threads, per_node;
  uint8_t *node; /* of the cell; NULL: it is in the root's container */
  const RtNodeInfo *info;
  uint64_t cell; /* its digits, the last fastest */
} RtGpuShare;
RtGpuShare rt_cells_begin(const RtTree *tree, const RtGpuCells *cells, uint64_t thread,
                          uint64_t threads);
int rt_cells_next(RtGpuShare *share);
/* visit_gpu.c: carries out a visit of tree 0; copies a thread's share of cells. */
void rt_visit(RtContext *context, RtVisit *visit);
void rt_copy_cells(RtContext *context, const RtGpuCopy *copy, uint64_t thread, uint64_t threads);
/* gc.c: rt_tree_refresh, by all threads of a block, which call it together. */
void rt_tree_refresh_together(RtContext *context, RtTree *tree, uint64_t thread, uint64_t threads);
/* clear.c: rt_tree_clear of a refreshed tree in two parts: a thread's share of the nodes, and, once
 * all threads have finished, the rest. */
void rt_clear_nodes(RtTree *tree, int32_t manager, uint64_t thread, uint64_t threads);
void rt_clear_end(RtContext *context, RtTree *tree, int32_t manager);
/* mask.c, on a GPU: the rest of rt_mask_clear_all, after everything below the cells is freed. */
void rt_mask_zero(RtTree *tree, int32_t mask, uint64_t thread, uint64_t threads);
/* Makes every node available again; none may be live. */
void rt_nodes_reopen(RtTree *tree, RtManager *manager, int32_t worker_count);

/* The argument of work over the chunks of one manager: positions are indices into tree->chunks, in
 * which those of other managers are skipped. */
typedef struct RtChunkWork {
  RtTree *tree;
  int32_t manager;
} RtChunkWork;

/* Split among the workers, unless there are too few chunks. */
static inline void share_chunks(RtContext *context, RtTree *tree, int32_t manager, RtPart *part) {
  enum { FEW_CHUNKS = 4 };
  RtChunkWork work = {tree, manager};
  if (!RT_ALONE && context->parallel && tree->chunk_count > FEW_CHUNKS)
    context->parallel(context, tree->chunk_count, part, &work);
  else part(context, &context->workers[0], &work, 0, tree->chunk_count);
}

/* gc.c: the slots of a manager within one parent, in contiguous runs, which are numbered by the
 * cells of all rows but the last. */
const uint32_t *rt_slot_run(const RtManager *child, const uint8_t *parent, uint64_t run);
uint64_t rt_run_count(const RtManager *child);
uint64_t rt_run_length(const RtManager *child); /* slots of a run */

/* Checks in debug builds what must hold of a tree between tasks. */
static inline void expect_valid(const RtContext *context, const RtTree *tree) {
#if defined(RG_DEBUG)
  rt_tree_expect_valid(tree, context->worker_count);
#endif
}

/* memory.c */
void rt_memory_zero(void *memory, uint64_t bytes);
void rt_node_zero(uint8_t *node, uint64_t bytes); /* whole granules */
/* the same with non-temporal stores; rt_node_zero_end orders later stores after them */
void rt_node_zero_past(uint8_t *node, uint64_t bytes);
void rt_node_zero_end(void);
void rt_memory_copy(void *to, const void *from, uint64_t bytes);

/* Tells the next refresh that there is work. Only the first call writes, so that workers can share
 * the cache line. */
void rt_tree_touch(RtTree *tree);

#endif
