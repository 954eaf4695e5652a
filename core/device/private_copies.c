/* private_copies.c - see private_copies.h.
 * One reserved range holds the copies of all workers but the first, which works in the tree itself:
 *
 *     | worker 1: as large as the tree's range, sinks included | gap | worker 2 .. |
 *
 * The gap prevents the same element of two copies from being a multiple of a page apart. Invariant:
 * between tasks every copy is zero, so that activations and deactivations can ignore them. However
 * a task ends, everything that it added is summed and cleared: each worker handles a part of the
 * elements in all copies. tree->private_copies is NULL if that failed. Zeros are skipped: nothing
 * was added there, and the sum keeps a -0. */
#include "device/private_copies.h"

#include <string.h>

#include "base/bits.h"

enum { GAP = 33 * RT_GRANULE };

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct PrivateCopies { /* RtTree.device */
  DeviceMemory memory;
  uint64_t charged;  /* bytes charged to the tree's budget */
  bool is_refused;   /* reserving failed once, and is not tried again */
  int64_t offsets[]; /* tree->private_copies points here if there is memory */
} PrivateCopies;

static uint64_t copy_count(const Device *device) {
  ASSERT(device->worker_count > 0, "the caller is a worker");
  return (uint64_t)device->worker_count - 1;
}

static uint64_t copy_distance(const Device *device, const RtTree *tree) {
  uint64_t sinks = 0;
  for (int32_t m = 0; m < tree->manager_count; m++) sinks += tree->managers[m].node_size;
  return align_up(tree->reserved + align_up(sinks * (uint64_t)device->worker_count, RT_SEGMENT),
                  RT_SEGMENT) +
         GAP;
}

static bool reserve_copies(Device *device, RtTree *tree) {
  Error unused;
  error_clear(&unused);
  uint64_t count = copy_count(device), bytes = count * copy_distance(device, tree);
  PrivateCopies *copies =
      heap_alloc(device->heap, sizeof *copies + sizeof copies->offsets[0] * (size_t)(count + 1));
  tree->device = copies;
  if (!copies) return false;
  copies->is_refused =
      count && !device->table->allocate(device, &copies->memory, bytes, bytes, &unused);
  if (copies->is_refused) return false;
  if (!tree->manager_count) device->table->prefer_huge_pages(device, copies->memory.base, bytes);
  int64_t first = copies->memory.base - tree->base;
  for (uint64_t w = 1; w <= count; w++)
    copies->offsets[w] = first + (int64_t)((w - 1) * copy_distance(device, tree));
  return true;
}

/* The possible size of the copies is charged as the tree grows. Half of the budget is left for
 * trees. */
static bool charge_budget(const Device *device, const RtTree *tree) {
  PrivateCopies *copies = tree->device;
  RtBudget *budget = tree->budget;
  uint64_t needed = copy_count(device) * (tree->root_size + rt_tree_bytes(tree));
  ASSERT(copies && budget, "copies are reserved before they are charged");
  if (needed <= copies->charged) return true;
  uint64_t more = needed - copies->charged;
  if (more > budget->limit / 2 || budget->used > budget->limit / 2 - more) return false;
  uint64_t used = __atomic_add_fetch(&budget->used, more, __ATOMIC_RELAXED);
  if (used > budget->peak) budget->peak = used;
  copies->charged = needed;
  return true;
}

void copies_prepare(Device *device, RtTree *tree) {
  PrivateCopies *copies = tree->device;
  bool was_lost = copies && !tree->private_copies;
  tree->private_copies = NULL;
  if (copies ? copies->is_refused : !reserve_copies(device, tree)) return;
  if (!charge_budget(device, tree)) return;
  copies = tree->device;
  if (was_lost && copies->memory.base)
    device->table->discard(device, copies->memory.base, copies->memory.reserved);
  tree->private_copies = copies->offsets;
}

void copies_free(Device *device, RtTree *tree) {
  PrivateCopies *copies = tree->device;
  tree->private_copies = NULL;
  tree->device = NULL;
  if (!copies) return;
  __atomic_fetch_sub(&tree->budget->used, copies->charged, __ATOMIC_RELAXED);
  device->table->free(device, &copies->memory);
  heap_free(device->heap, copies);
}

/* -- the sum ----------------------------------------------------------------------------------- */

enum {
  MIN_PIECE = 4096,  /* elements: some microseconds of work */
  MAX_PIECE = 16384, /* larger ones balance badly */
  PIECES_PER_WORKER = 8,
  ZERO_TEST_BYTES = 256 /* bytes tested for zero at a time */
};

static uint64_t scalar_size(DeviceScalar scalar) {
  switch (scalar) {
  case DEVICE_I8: return 1;
  case DEVICE_I16: return 2;
  case DEVICE_I32:
  case DEVICE_F32: return 4;
  default: return 8;
  }
}

#define ADD_RUN(NAME, TYPE) \
  static void NAME(TYPE *restrict to, TYPE *restrict from, uint64_t n) { \
    for (uint64_t i = 0; i < n; i++) { \
      TYPE sum = (TYPE)(to[i] + from[i]); \
      to[i] = from[i] == 0 ? to[i] : sum; \
      from[i] = 0; \
    } \
  }
ADD_RUN(add_i8, uint8_t)
ADD_RUN(add_i16, uint16_t)
ADD_RUN(add_i32, uint32_t)
ADD_RUN(add_i64, uint64_t)
ADD_RUN(add_f32, float)
ADD_RUN(add_f64, double)

static void add_all(DeviceScalar scalar, void *to, void *from, uint64_t count) {
  switch (scalar) {
  case DEVICE_I8: add_i8(to, from, count); return;
  case DEVICE_I16: add_i16(to, from, count); return;
  case DEVICE_I32: add_i32(to, from, count); return;
  case DEVICE_I64: add_i64(to, from, count); return;
  case DEVICE_F32: add_f32(to, from, count); return;
  case DEVICE_F64: add_f64(to, from, count); return;
  }
}

/* Are the next ZERO_TEST_BYTES all zero? */
static bool is_zero(const uint8_t *memory) {
  uint64_t words[ZERO_TEST_BYTES / sizeof(uint64_t)], any = 0;
  memcpy(words, memory, ZERO_TEST_BYTES);
  for (size_t i = 0; i < ZERO_TEST_BYTES / sizeof words[0]; i++) any |= words[i];
  return !any;
}

/* A worker has usually added to a small part of its copy: the rest is read once, and neither the
 * copy nor the tree is written there. */
static void add_run(DeviceScalar scalar, uint8_t *to, uint8_t *from, uint64_t count) {
  uint64_t bytes = count * scalar_size(scalar), at = 0;
  DEBUG_ASSERT(to != from, "the first worker adds in place");
  while (bytes - at >= ZERO_TEST_BYTES) {
    uint64_t begin = at;
    while (bytes - at >= ZERO_TEST_BYTES && !is_zero(from + at)) at += ZERO_TEST_BYTES;
    add_all(scalar, to + begin, from + begin, (at - begin) / scalar_size(scalar));
    while (bytes - at >= ZERO_TEST_BYTES && is_zero(from + at)) at += ZERO_TEST_BYTES;
  }
  add_all(scalar, to + at, from + at, (bytes - at) / scalar_size(scalar));
}

/* Adds elements begin..end at one level of the nested runs. */
static void add_nest(const DeviceSum *sum, int32_t level, uint64_t begin, uint64_t end, uint8_t *to,
                     uint8_t *from) {
  uint64_t stride = sum->strides[level];
  ASSERT(level < sum->depth, "the innermost run is contiguous");
  if (level == sum->depth - 1) {
    add_run(sum->scalar, to + begin * stride, from + begin * stride, end - begin);
    return;
  }
  for (uint64_t i = begin; i < end; i++)
    add_nest(sum, level + 1, 0, sum->counts[level + 1], to + i * stride, from + i * stride);
}

static int64_t elements_below(const DeviceSum *sum, int32_t level) {
  uint64_t count = 1;
  for (int32_t k = level; k < sum->depth; k++) count *= sum->counts[k];
  return (int64_t)min_i64((int64_t)count, INT64_MAX / 2);
}

/* The sum with its counts filled in, as counts[0] may depend on the tree's size. */
static DeviceSum with_counts(const DeviceSum *sum, const RtTree *tree) {
  DeviceSum out = *sum;
  if (out.is_whole) out.counts[0] = tree->root_size / out.strides[0];
  return out;
}

typedef struct Summation {
  const RtContext *context;
  const DeviceTask *task;
  const uint8_t *took_part;
} Summation;

/* Sums begin..end of a task, which lie in the same nodes. Workers take pieces of a part. */
typedef struct Part {
  const RtTree *tree;
  int32_t begin, end;
  int64_t positions; /* nodes, or elements of the root's outermost level */
  int64_t chunk, pieces;
} Part;

static Part find_part(const Summation *summation, int32_t begin) {
  const DeviceSum *sums = summation->task->sums;
  if (sums[begin].tree < 0) return (Part){.begin = begin, .end = begin + 1};
  const RtTree *tree = summation->context->trees[sums[begin].tree];
  DeviceSum first = with_counts(&sums[begin], tree);
  bool is_root = first.manager < 0;
  Part part = {.tree = tree, .begin = begin, .end = begin + 1};
  if (!tree->private_copies) return part;
  int64_t elements = elements_below(&first, is_root);
  for (; !is_root && part.end < summation->task->sum_count; part.end++) {
    const DeviceSum *next = &sums[part.end];
    if (next->tree != first.tree || next->manager != first.manager) break;
    elements += elements_below(next, 0);
  }
  part.positions =
      is_root ? (int64_t)first.counts[0] : (int64_t)tree->managers[first.manager].list_count;
  int64_t workers = summation->context->worker_count,
          even = part.positions / (workers * PIECES_PER_WORKER), min = MIN_PIECE / elements + 1,
          max = MAX_PIECE / elements + 1;
  part.chunk = max_i64(min, min_i64(even, max));
  part.pieces = (part.positions + part.chunk - 1) / part.chunk;
  return part;
}

static void add_copies(const Summation *summation, const DeviceSum *sum, uint8_t *node,
                       uint64_t begin, uint64_t end) {
  const RtContext *context = summation->context;
  uint8_t *to = node + sum->offset + (sum->place ? context->frame[sum->place - 1] : 0);
  for (int32_t w = 1; w < context->worker_count; w++)
    if (summation->took_part[w])
      add_nest(sum, 0, begin, end, to, to + context->trees[sum->tree]->private_copies[w]);
}

static void add_piece(const Summation *summation, const Part *part, int64_t piece) {
  int64_t begin = piece * part->chunk, end = min_i64(begin + part->chunk, part->positions);
  const DeviceSum *sums = summation->task->sums;
  const RtTree *tree = part->tree;
  DeviceSum first = with_counts(&sums[part->begin], tree);
  if (first.manager < 0) {
    add_copies(summation, &first, tree->root, (uint64_t)begin, (uint64_t)end);
    return;
  }
  const RtListEntry *list = tree->managers[first.manager].list;
  for (int64_t i = begin; i < end; i++)
    for (int32_t k = part->begin; k < part->end; k++)
      add_copies(summation, &sums[k], tree->base + (uint64_t)list[i].handle * RT_GRANULE, 0,
                 sums[k].counts[0]);
}

/* Pieces are numbered through all parts. */
static void add_pieces(void *data, int32_t worker, int64_t begin, int64_t end) {
  const Summation *summation = data;
  int64_t before = 0;
  for (int32_t i = 0; i < summation->task->sum_count && before < end;) {
    Part part = find_part(summation, i);
    for (int64_t k = max_i64(begin, before); k < min_i64(end, before + part.pieces); k++)
      add_piece(summation, &part, k - before);
    before += part.pieces;
    i = part.end;
  }
}

/* One loop for all sums, as separate loops would often end before other workers have joined. */
void copies_sum(Pool *pool, RtContext *context, const DeviceTask *privatised,
                const uint8_t *took_part) {
  bool any = false;
  for (int32_t w = 1; w < context->worker_count; w++) any |= took_part[w] != 0;
  if (!any) return;
  for (int32_t i = 0; i < privatised->sum_count; i++) {
    const DeviceSum *sum = &privatised->sums[i];
    if (sum->tree < 0) continue;
    RtTree *tree = context->trees[sum->tree];
    if (tree->private_copies && sum->manager >= 0 && !rt_list_update(context, tree, sum->manager))
      tree->private_copies = NULL; /* they have partial sums: copies_prepare zeroes all of them */
  }
  Summation summation = {context, privatised, took_part};
  int64_t pieces = 0;
  for (int32_t i = 0; i < privatised->sum_count;) {
    Part part = find_part(&summation, i);
    pieces += part.pieces;
    i = part.end;
  }
  if (pieces) pool_parallel_for(pool, pieces, 1, 0, add_pieces, &summation);
}

/* An estimate of the nodes to sum over. There may be more after the loop; a tree that was just
 * emptied is likely to grow back. */
static double count_nodes(const RtTree *tree, int32_t manager) {
  if (manager < 0) return 1;
  int64_t live = rt_manager_live(tree, manager);
  return live > 0 ? (double)live : tree->managers[manager].node_count;
}

/* Summing an element takes about a nanosecond; the workers share it as they share the loop. */
bool copies_are_profitable(const RtContext *context, const DeviceTask *privatised, int64_t total,
                           bool is_one_chunk, bool is_forced) {
  double elements = 0;
  for (int32_t i = 0; i < privatised->sum_count; i++) {
    if (privatised->sums[i].tree < 0 && !is_one_chunk) return false;
    if (privatised->sums[i].tree < 0) continue;
    const RtTree *tree = context->trees[privatised->sums[i].tree];
    DeviceSum sum = with_counts(&privatised->sums[i], tree);
    if (!tree->private_copies) return false;
    elements += count_nodes(tree, sum.manager) * (double)elements_below(&sum, 0);
  }
  return is_one_chunk || is_forced || context->worker_count == 1 ||
         elements * (context->worker_count - 1) <= (double)total * (double)privatised->cost;
}

enum { ATOMIC_NS = 20 }; /* cost of an uncontended atomic update */

bool copies_prefer_one_chunk(const RtContext *context, const DeviceTask *privatised) {
  int64_t atomic = 0, others = context->worker_count - 1;
  for (int32_t i = 0; i < privatised->sum_count; i++)
    atomic += privatised->sums[i].tree < 0 ? ATOMIC_NS : 0;
  return atomic && others * privatised->cost <= atomic;
}
