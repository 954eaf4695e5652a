/* private_copies.c - see private_copies.h.
 * One reserved range holds the copies of all workers but the first, which works in the tree itself:
 *
 *     | worker 1: as large as the tree's range, sinks included | gap | worker 2 .. |
 *
 * The gap prevents the same element of two copies from being a multiple of a page apart. Invariant:
 * between tasks every copy is zero, so that activations and deactivations can ignore them. However
 * a task ends, all that it added is removed again: each worker handles a part of the elements,
 * through all copies. tree->private_copies is NULL if that failed. A zero is skipped: nothing was
 * added there, and -0 is preserved. */
#include "device/private_copies.h"

#include <string.h>

#include "base/bits.h"

enum { GAP = 33 * RT_GRANULE };

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct PrivateCopies { /* RtTree.device */
  DeviceMemory memory;
  uint64_t charged;           /* to the tree's budget */
  bool is_refused;            /* there was no room once; not tried again */
  int64_t offsets[];          /* the value of tree->private_copies if there is room */
} PrivateCopies;

static uint64_t copies_of(const Device *device) { return (uint64_t)device->worker_count - 1; }

static uint64_t distance(const Device *device, const RtTree *tree) {
  uint64_t sinks = 0;
  for (int32_t m = 0; m < tree->manager_count; m++) sinks += tree->managers[m].node_size;
  return align_up(tree->reserved + align_up(sinks * (uint64_t)device->worker_count, RT_SEGMENT),
                  RT_SEGMENT) +
         GAP;
}

static bool reserve(Device *device, RtTree *tree) {
  Error unused;
  error_clear(&unused);
  uint64_t count = copies_of(device), bytes = count * distance(device, tree);
  PrivateCopies *copies =
      heap_alloc(device->heap, sizeof *copies + sizeof copies->offsets[0] * (size_t)(count + 1));
  tree->device = copies;
  if (!copies) return false;
  copies->is_refused =
      count && !device->table->allocate(device, &copies->memory, bytes, bytes, &unused);
  if (copies->is_refused) return false;
  if (!tree->manager_count) device->table->enlarge(device, copies->memory.base, bytes);
  int64_t first = copies->memory.base - tree->base;
  for (uint64_t w = 1; w <= count; w++)
    copies->offsets[w] = first + (int64_t)((w - 1) * distance(device, tree));
  return true;
}

/* The possible size of the copies is charged as the tree grows. Half of the budget is left for
 * trees. */
static bool charge(const Device *device, const RtTree *tree) {
  PrivateCopies *copies = tree->device;
  RtBudget *budget = tree->budget;
  uint64_t needed = copies_of(device) * (tree->root_size + rt_tree_bytes(tree));
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
  if (copies ? copies->is_refused : !reserve(device, tree)) return;
  if (!charge(device, tree)) return;
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
  RUN_ELEMENTS = 16384, /* worth handing out */
  STRETCH = 256         /* bytes that are looked at before they are added */
};

static uint64_t scalar_size(DeviceScalar scalar) {
  switch (scalar) {
  case DEVICE_I8: return 1;
  case DEVICE_I16: return 2;
  case DEVICE_I32: case DEVICE_F32: return 4;
  default: return 8;
  }
}

#define ADD_RUN(NAME, TYPE)                                             \
  static void NAME(TYPE *restrict to, TYPE *restrict from, uint64_t n) { \
    for (uint64_t i = 0; i < n; i++) {                                  \
      TYPE sum = (TYPE)(to[i] + from[i]);                               \
      to[i] = from[i] == 0 ? to[i] : sum;                               \
      from[i] = 0;                                                      \
    }                                                                   \
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

/* No bit of so many bytes is set. */
static bool is_zero(const uint8_t *memory) {
  uint64_t words[STRETCH / sizeof(uint64_t)], any = 0;
  memcpy(words, memory, STRETCH);
  for (size_t i = 0; i < STRETCH / sizeof words[0]; i++) any |= words[i];
  return !any;
}

/* Mostly a worker has added to a small part of its copy: the rest is read once, and neither it nor
 * the tree is written. */
static void add_run(DeviceScalar scalar, uint8_t *to, uint8_t *from, uint64_t count) {
  uint64_t bytes = count * scalar_size(scalar), at = 0;
  while (bytes - at >= STRETCH) {
    uint64_t begin = at;
    while (bytes - at >= STRETCH && !is_zero(from + at)) at += STRETCH;
    add_all(scalar, to + begin, from + begin, (at - begin) / scalar_size(scalar));
    while (bytes - at >= STRETCH && is_zero(from + at)) at += STRETCH;
  }
  add_all(scalar, to + at, from + at, (bytes - at) / scalar_size(scalar));
}

/* Elements begin..end of the run nest's level. */
static void add_nest(const DeviceSum *sum, int32_t level, uint64_t begin, uint64_t end, uint8_t *to,
                     uint8_t *from) {
  uint64_t stride = sum->strides[level];
  if (level == sum->depth - 1) {
    add_run(sum->scalar, to + begin * stride, from + begin * stride, end - begin);
    return;
  }
  for (uint64_t i = begin; i < end; i++)
    add_nest(sum, level + 1, 0, sum->counts[level + 1], to + i * stride, from + i * stride);
}

typedef struct Adding {
  const DeviceSum *sum;
  uint64_t offset;            /* of the elements in a node */
  const RtTree *tree;
  const uint8_t *took_part;
  int32_t worker_count;
} Adding;

static void add_copies(const Adding *adding, uint8_t *node, uint64_t begin, uint64_t end) {
  uint8_t *to = node + adding->offset;
  for (int32_t w = 1; w < adding->worker_count; w++)
    if (adding->took_part[w])
      add_nest(adding->sum, 0, begin, end, to, to + adding->tree->private_copies[w]);
}

static void add_root(void *data, int32_t worker, int64_t begin, int64_t end) {
  const Adding *adding = data;
  add_copies(adding, adding->tree->root, (uint64_t)begin, (uint64_t)end);
}

static void add_nodes(void *data, int32_t worker, int64_t begin, int64_t end) {
  const Adding *adding = data;
  const RtListEntry *list = adding->tree->managers[adding->sum->manager].list;
  for (int64_t i = begin; i < end; i++)
    add_copies(adding, adding->tree->base + (uint64_t)list[i].handle * RT_GRANULE, 0,
               adding->sum->counts[0]);
}

static int64_t elements_below(const DeviceSum *sum, int32_t level) {
  uint64_t count = 1;
  for (int32_t k = level; k < sum->depth; k++) count *= sum->counts[k];
  return (int64_t)min_i64((int64_t)count, INT64_MAX / 2);
}

/* The sum with its counts, which a tree may tell by its size. */
static DeviceSum counted(const DeviceSum *sum, const RtTree *tree) {
  DeviceSum out = *sum;
  if (out.is_whole) out.counts[0] = tree->root_size / out.strides[0];
  return out;
}

static void add_up(Pool *pool, RtContext *context, const DeviceSum *given,
                   const uint8_t *took_part) {
  RtTree *tree = context->trees[given->tree];
  const DeviceSum with_counts = counted(given, tree), *sum = &with_counts;
  uint64_t place = sum->place ? context->frame[sum->place - 1] : 0;
  Adding adding = {sum, sum->offset + place, tree, took_part, context->worker_count};
  if (sum->manager < 0) {
    pool_parallel_for(pool, (int64_t)sum->counts[0], RUN_ELEMENTS / elements_below(sum, 1) + 1, 0,
                      add_root, &adding);
    return;
  }
  if (!rt_list_update(context, tree, sum->manager)) {
    tree->private_copies = NULL; /* they hold partial sums: copies_prepare zeroes all of them */
    return;
  }
  int64_t count = (int64_t)tree->managers[sum->manager].list_count;
  if (count)
    pool_parallel_for(pool, count, RUN_ELEMENTS / elements_below(sum, 0) + 1, 0, add_nodes,
                      &adding);
}

void copies_add_up(Pool *pool, RtContext *context, const DeviceTask *privatised,
                   const uint8_t *took_part) {
  bool any = false;
  for (int32_t w = 1; w < context->worker_count; w++) any |= took_part[w] != 0;
  for (int32_t i = 0; any && i < privatised->sum_count; i++)
    if (context->trees[privatised->sums[i].tree]->private_copies)
      add_up(pool, context, &privatised->sums[i], took_part);
}

/* Nodes to sum over. After the loop there may be more; a tree that was just emptied is likely to
 * grow back. */
static double count_nodes(const RtTree *tree, int32_t manager) {
  if (manager < 0) return 1;
  int64_t live = rt_manager_live(tree, manager);
  return live > 0 ? (double)live : tree->managers[manager].node_count;
}

/* An element takes about a nanosecond to sum, split among the workers like the loop. */
bool copies_pay(const RtContext *context, const DeviceTask *privatised, int64_t total,
                bool is_sure) {
  double elements = 0;
  for (int32_t i = 0; i < privatised->sum_count; i++) {
    const RtTree *tree = context->trees[privatised->sums[i].tree];
    DeviceSum sum = counted(&privatised->sums[i], tree);
    if (!tree->private_copies) return false;
    elements += count_nodes(tree, sum.manager) * (double)elements_below(&sum, 0);
  }
  return is_sure || context->worker_count == 1 ||
         elements * (context->worker_count - 1) <= (double)total * (double)privatised->cost;
}
