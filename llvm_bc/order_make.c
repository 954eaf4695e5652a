/* order_make.c - the coordinates of a manager's active nodes, ascending.
 * Rebuilt after the manager's version changed: copied from its list, which later updates may
 * reorder during a walk, and sorted by merging runs, of which there are few if memory order is
 * close to coordinate order. A nested walk has its own order, by depth, so that the outer one's
 * does not change.
 * Sizes: 16 bytes per node and axis. */
#include "atomic.h"
#include "node.h"

enum { LEAST_ROWS = 64 };

#if RT_ALONE
static uint64_t in_segments(uint64_t bytes) {
  return (bytes + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT;
}

/* Without a host to ask: segments of the tree's own arena. */
static void *grow(RtContext *context, RtTree *tree, void *memory, uint64_t old_bytes,
                  uint64_t new_bytes) {
  uint8_t *grown = rt_segments_take(tree, in_segments(new_bytes));
  if (!grown) return 0;
  rt_memory_copy(grown, memory, old_bytes);
  if (memory) {
    rt_memory_zero(memory, in_segments(old_bytes));
    rt_segments_give(tree, memory, in_segments(old_bytes));
  }
  return grown;
}
#else
static void *grow(RtContext *context, RtTree *tree, void *memory, uint64_t old_bytes,
                  uint64_t new_bytes) {
  return context->grow(context, memory, old_bytes, new_bytes);
}
#endif

static void *order_grow(RtContext *context, RtTree *tree, const RtManager *manager, void *memory,
                        uint64_t old_bytes, uint64_t new_bytes) {
  void *grown = grow(context, tree, memory, old_bytes, new_bytes);
  if (!grown)
    rt_error_set(context, RT_ERROR_MEMORY, tree->number, (int32_t)(manager - tree->managers));
  return grown;
}

/* -- sorting ----------------------------------------------------------------------------------- */

static int is_before(const int64_t *a, const int64_t *b, int32_t axis_count) {
  for (int32_t k = 0; k < axis_count; k++)
    if (a[k] != b[k]) return a[k] < b[k];
  return 0;
}

static void copy_rows(int64_t *to, const int64_t *from, int64_t numbers) {
  for (int64_t n = 0; n < numbers; n++) to[n] = from[n];
}

/* Two sorted runs of `from`, begin..middle and middle..end, become one of `to`. */
static void merge(int64_t *to, const int64_t *from, int64_t begin, int64_t middle, int64_t end,
                  int32_t axes) {
  int64_t left = begin, right = middle;
  for (int64_t row = begin; row < end; row++) {
    int takes_left = right == end ||
                     (left < middle && !is_before(from + right * axes, from + left * axes, axes));
    int64_t *next = takes_left ? &left : &right;
    copy_rows(to + row * axes, from + *next * axes, axes);
    ++*next;
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int is_sorted(const RtOrder *order) {
  int32_t axes = order->axis_count;
  for (int64_t row = 1; row < order->count; row++)
    if (is_before(order->rows + row * axes, order->rows + (row - 1) * axes, axes)) return 0;
  return 1;
}

static void sort(RtOrder *order) {
  int32_t axes = order->axis_count;
  int64_t *rows = order->rows, *other = order->rows + order->capacity * axes, count = order->count;
  if (is_sorted(order)) return;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run)
      merge(other, rows, begin, least(begin + run, count), least(begin + 2 * run, count), axes);
    int64_t *swapped = rows;
    rows = other;
    other = swapped;
  }
  if (rows != order->rows) copy_rows(order->rows, rows, count * axes);
}

/* -- which ------------------------------------------------------------------------------------- */

static RtOrder **find_place(RtContext *context, RtTree *tree, RtManager *manager,
                            uint64_t depth) {
  uint64_t count = manager->order_count;
  if (depth >= count) {
    RtOrder **orders = order_grow(context, tree, manager, manager->orders, count * sizeof *orders,
                                  (depth + 1) * sizeof *orders);
    if (!orders) return 0;
    for (uint64_t k = count; k <= depth; k++) orders[k] = 0;
    manager->orders = orders;
    manager->order_count = depth + 1;
  }
  return &manager->orders[depth];
}

static uint64_t order_bytes(const RtManager *manager, int64_t capacity) {
  return sizeof(RtOrder) + 2 * sizeof(int64_t) * (uint64_t)capacity * (uint64_t)manager->axis_count;
}

static RtOrder *reserve(RtContext *context, RtTree *tree, RtManager *manager,
                        RtOrder **place) {
  int64_t old = *place ? (*place)->capacity : 0, capacity = old ? old : LEAST_ROWS;
  while ((uint64_t)capacity < manager->list_count) capacity *= 2;
  if (*place && capacity == old) return *place;
  uint64_t old_bytes = *place ? order_bytes(manager, old) : 0;
  RtOrder *order =
      order_grow(context, tree, manager, *place, old_bytes, order_bytes(manager, capacity));
  if (!order) return 0;
  *place = order;
  order->version = 0;
  order->capacity = capacity;
  order->axis_count = manager->axis_count;
  return order;
}

uint64_t rt_list_order(RtContext *context, int32_t tree_index, int32_t number, int32_t depth) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[number];
  if (!rt_list_update(context, tree, number)) return 0;
  RtOrder **place = find_place(context, tree, manager, (uint64_t)depth);
  RtOrder *order = place ? reserve(context, tree, manager, place) : 0;
  if (!order || order->version == manager->version) return (uint64_t)(uintptr_t)order;
  order->count = (int64_t)manager->list_count;
  for (int64_t row = 0; row < order->count; row++)
    copy_rows(order->rows + row * order->axis_count, manager->list[row].coordinates,
              order->axis_count);
  sort(order);
  order->version = manager->version;
  return (uint64_t)(uintptr_t)order;
}
