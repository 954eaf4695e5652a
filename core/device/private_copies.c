/* private_copies.c - see private_copies.h.
 * Invariant: between tasks every copy is zero, so that nodes which come and go need no look. Whatever the end of a task,
 * all that it added is taken out again: each worker takes part of the places, and goes through all copies there.
 * A zero is skipped: nothing was added there, and -0 stays what it is. */
#include "device/private_copies.h"

#include "base/bits.h"

enum { RUN_ELEMENTS = 16384 }; /* worth handing out */

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

static void add_run(DeviceScalar scalar, void *to, void *from, uint64_t count) {
  switch (scalar) {
  case DEVICE_I8: add_i8(to, from, count); return;
  case DEVICE_I16: add_i16(to, from, count); return;
  case DEVICE_I32: add_i32(to, from, count); return;
  case DEVICE_I64: add_i64(to, from, count); return;
  case DEVICE_F32: add_f32(to, from, count); return;
  case DEVICE_F64: add_f64(to, from, count); return;
  }
}

/* Places begin..end of the run nest's level. */
static void add_nest(const DeviceOwn *own, int32_t level, uint64_t begin, uint64_t end, uint8_t *to, uint8_t *from) {
  uint64_t stride = own->strides[level];
  if (level == own->depth - 1) {
    add_run(own->scalar, to + begin * stride, from + begin * stride, end - begin);
    return;
  }
  for (uint64_t i = begin; i < end; i++) add_nest(own, level + 1, 0, own->counts[level + 1], to + i * stride, from + i * stride);
}

typedef struct Sum {
  const DeviceOwn *own;
  const RtTree *tree;
  const uint8_t *took_part;
  int32_t worker_count;
} Sum;

static void add_copies(const Sum *sum, uint8_t *node, uint64_t begin, uint64_t end) {
  uint8_t *to = node + sum->own->offset;
  for (int32_t w = 1; w < sum->worker_count; w++)
    if (sum->took_part[w]) add_nest(sum->own, 0, begin, end, to, to + sum->tree->own[w]);
}

static void add_root(void *data, int32_t worker, int64_t begin, int64_t end) {
  const Sum *sum = data;
  add_copies(sum, sum->tree->root, (uint64_t)begin, (uint64_t)end);
}

static void add_nodes(void *data, int32_t worker, int64_t begin, int64_t end) {
  const Sum *sum = data;
  const RtListEntry *list = sum->tree->managers[sum->own->manager].list;
  for (int64_t i = begin; i < end; i++)
    add_copies(sum, sum->tree->base + (uint64_t)list[i].handle * RT_GRANULE, 0, sum->own->counts[0]);
}

static int64_t elements_below(const DeviceOwn *own, int32_t level) {
  uint64_t count = 1;
  for (int32_t k = level; k < own->depth; k++) count *= own->counts[k];
  return (int64_t)min_i64((int64_t)count, INT64_MAX / 2);
}

static void add_up(Pool *pool, RtContext *context, const DeviceOwn *own, const uint8_t *took_part) {
  RtTree *tree = context->trees[own->tree];
  Sum sum = {own, tree, took_part, context->worker_count};
  if (own->manager < 0) {
    pool_parallel_for(pool, (int64_t)own->counts[0], RUN_ELEMENTS / elements_below(own, 1) + 1, 0, add_root, &sum);
    return;
  }
  if (!rt_list_update(context, tree, own->manager)) {
    tree->own = NULL; /* nobody knows where the sums are: the tree's owner makes the copies anew */
    return;
  }
  int64_t count = (int64_t)tree->managers[own->manager].list_count;
  if (count) pool_parallel_for(pool, count, RUN_ELEMENTS / elements_below(own, 0) + 1, 0, add_nodes, &sum);
}

void own_add_up(Pool *pool, RtContext *context, const DeviceTask *twin, const uint8_t *took_part) {
  bool any = false;
  for (int32_t w = 1; w < context->worker_count; w++) any |= took_part[w] != 0;
  for (int32_t i = 0; any && i < twin->own_count; i++)
    if (context->trees[twin->own[i].tree]->own) add_up(pool, context, &twin->own[i], took_part);
}

/* Nodes to go through. After the loop there may be more; a tree that was just emptied is likely to grow back. */
static double count_nodes(const RtTree *tree, int32_t manager) {
  if (manager < 0) return 1;
  int64_t live = rt_manager_live(tree, manager);
  return live > 0 ? (double)live : tree->managers[manager].node_count;
}

/* An element costs about a nanosecond to add up, and the workers share that as they share the loop. */
bool own_pays(const RtContext *context, const DeviceTask *twin, int64_t total, bool is_one_chunk) {
  double elements = 0;
  for (int32_t i = 0; i < twin->own_count; i++) {
    const DeviceOwn *own = &twin->own[i];
    const RtTree *tree = context->trees[own->tree];
    if (!tree->own) return false;
    elements += count_nodes(tree, own->manager) * (double)elements_below(own, 0);
  }
  bool is_alone = is_one_chunk || context->worker_count == 1;
  return is_alone || elements * (context->worker_count - 1) <= (double)total * (double)twin->cost;
}
