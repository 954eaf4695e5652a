/* order_make.c - the coordinates of a manager's active nodes, ascending.
 * Rebuilt after the manager's version changed: copied from its list, which later updates may
 * reorder during a walk, and sorted by merging runs, of which there are few if memory order is
 * close to coordinate order. A nested walk has its own order, by depth, so that the outer one's
 * does not change.
 * A GPU's threads build it together, before the task that uses it: each finds the position of a row
 * by counting the rows before it in the other runs. If it is needed in between, one thread builds
 * it.
 * Sizes: 16 bytes per node and axis. */
#include "atomic.h"
#include "node.h"

enum { LEAST_ROWS = 64 };

static void *report_no_memory(RtContext *context, const RtTree *tree, const RtManager *manager) {
  rt_error_set(context, RT_ERROR_MEMORY, tree->number, (int32_t)(manager - tree->managers));
  return 0;
}

#if RT_ALONE
static uint64_t in_segments(uint64_t bytes) {
  return (bytes + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT;
}

/* On a GPU, which cannot ask the host, memory comes from segments of the tree's arena. */
static RtOrder **grow_table(RtContext *context, RtTree *tree, const RtManager *manager,
                            uint64_t old_bytes, uint64_t new_bytes) {
  RtOrder **grown = (RtOrder **)(void *)rt_segments_take(tree, in_segments(new_bytes));
  if (!grown) return report_no_memory(context, tree, manager);
  if (!manager->orders) return grown;
  rt_memory_copy(grown, manager->orders, old_bytes);
  rt_memory_zero(manager->orders, in_segments(old_bytes));
  rt_segments_give(tree, (uint8_t *)manager->orders, in_segments(old_bytes));
  return grown;
}

/* Its old memory is zeroed before any other memory is taken. */
static RtOrder *grow_order(RtContext *context, RtTree *tree, const RtManager *manager,
                           RtOrder *order, uint64_t old_bytes, uint64_t new_bytes) {
  RtOrder *grown = (RtOrder *)(void *)rt_segments_take(tree, in_segments(new_bytes));
  if (!grown) return report_no_memory(context, tree, manager);
  if (!order) return grown;
  rt_segments_give(tree, (uint8_t *)order, in_segments(old_bytes));
  grown->stale = (uint64_t *)(void *)order;
  grown->stale_bytes = in_segments(old_bytes);
  return grown;
}

static void zero_stale(const RtOrder *order, uint64_t thread, uint64_t threads) {
  for (uint64_t k = thread; k < order->stale_bytes / sizeof *order->stale; k += threads)
    order->stale[k] = 0;
}

static void drop_stale(RtOrder *order) {
  zero_stale(order, 0, 1);
  order->stale_bytes = 0;
}
#else
static RtOrder **grow_table(RtContext *context, RtTree *tree, const RtManager *manager,
                            uint64_t old_bytes, uint64_t new_bytes) {
  RtOrder **grown = context->grow(context, manager->orders, old_bytes, new_bytes);
  return grown ? grown : report_no_memory(context, tree, manager);
}

static RtOrder *grow_order(RtContext *context, RtTree *tree, const RtManager *manager,
                           RtOrder *order, uint64_t old_bytes, uint64_t new_bytes) {
  RtOrder *grown = context->grow(context, order, old_bytes, new_bytes);
  return grown ? grown : report_no_memory(context, tree, manager);
}

static void drop_stale(RtOrder *order) { (void)order; }
#endif

/* -- sorting ----------------------------------------------------------------------------------- */

static int is_before(const int64_t *a, const int64_t *b, int32_t axis_count) {
  for (int32_t k = 0; k < axis_count; k++)
    if (a[k] != b[k]) return a[k] < b[k];
  return 0;
}

static void copy_rows(int64_t *to, const int64_t *from, int64_t numbers) {
  for (int64_t n = 0; n < numbers; n++) to[n] = from[n];
}

/* Merges two sorted runs of `from`, begin..middle and middle..end, into `to`. */
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

/* -- orders by depth --------------------------------------------------------------------------- */

static RtOrder **find_place(RtContext *context, RtTree *tree, RtManager *manager, uint64_t depth) {
  uint64_t count = manager->order_count;
  if (depth >= count) {
    RtOrder **orders =
        grow_table(context, tree, manager, count * sizeof *orders, (depth + 1) * sizeof *orders);
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

static RtOrder *reserve(RtContext *context, RtTree *tree, RtManager *manager, RtOrder **place) {
  int64_t old = *place ? (*place)->capacity : 0, capacity = old ? old : LEAST_ROWS;
  while ((uint64_t)capacity < manager->list_count) capacity *= 2;
  if (*place && capacity == old) return *place;
  uint64_t old_bytes = *place ? order_bytes(manager, old) : 0;
  RtOrder *order =
      grow_order(context, tree, manager, *place, old_bytes, order_bytes(manager, capacity));
  if (!order) return 0;
  *place = order;
  order->version = 0;
  order->capacity = capacity;
  order->axis_count = manager->axis_count;
  return order;
}

/* The list must be up to date. */
static RtOrder *get(RtContext *context, RtTree *tree, RtManager *manager, int32_t depth) {
  RtOrder **place = find_place(context, tree, manager, (uint64_t)depth);
  return place ? reserve(context, tree, manager, place) : 0;
}

uint64_t rt_list_order(RtContext *context, int32_t tree_index, int32_t number, int32_t depth) {
  RtTree *tree = context->trees[tree_index];
  RtManager *manager = &tree->managers[number];
  if (!rt_list_update(context, tree, number)) return 0;
  RtOrder *order = get(context, tree, manager, depth);
  if (!order || order->version == manager->version) return (uint64_t)(uintptr_t)order;
  drop_stale(order);
  order->count = (int64_t)manager->list_count;
  for (int64_t row = 0; row < order->count; row++)
    copy_rows(order->rows + row * order->axis_count, manager->list[row].coordinates,
              order->axis_count);
  sort(order);
  order->version = manager->version;
  return (uint64_t)(uintptr_t)order;
}

/* -- by all threads of a GPU ------------------------------------------------------------------- */

#if RT_ALONE
static RtOrder *find(const RtManager *manager, int32_t depth) {
  return (uint64_t)depth < manager->order_count ? manager->orders[depth] : 0;
}

void rt_order_begin(RtContext *context, RtTree *tree, int32_t number, int32_t depth) {
  RtManager *manager = &tree->managers[number];
  RtOrder *order = find(manager, depth);
  if (order) order->is_due = 0;
  if (manager->list_version != manager->version) return;
  order = get(context, tree, manager, depth);
  if (!order || order->version == manager->version) return;
  order->count = (int64_t)manager->list_count;
  order->version = 0; /* until the last of the rows is in its place */
  order->is_due = 1;
  order->is_disordered = 0;
}

/* The order that is to be built, or NULL. */
static RtOrder *find_due(const RtTree *tree, int32_t number, int32_t depth) {
  RtOrder *order = find(&tree->managers[number], depth);
  return order && order->is_due ? order : 0;
}

void rt_order_look(RtTree *tree, int32_t number, int32_t depth, uint64_t thread, uint64_t threads) {
  const RtListEntry *list = tree->managers[number].list;
  RtOrder *order = find_due(tree, number, depth);
  if (!order) return;
  zero_stale(order, thread, threads);
  for (uint64_t row = thread + 1; row < (uint64_t)order->count; row += threads)
    if (is_before(list[row].coordinates, list[row - 1].coordinates, order->axis_count))
      order->is_disordered = 1;
}

/* The number of merge rounds left for runs of `run` rows; the last round writes to `rows`. */
static int merges_left(const RtOrder *order, uint64_t run) {
  int merges = 0;
  for (; run < (uint64_t)order->count; run *= RT_ORDER_RUNS) merges++;
  return merges;
}

static int64_t *half(RtOrder *order, int merges) {
  return order->rows + (merges % 2 ? order->capacity * order->axis_count : 0);
}

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The number of the run's rows in the list that come before one of them. */
static uint64_t count_before(const RtManager *manager, uint64_t begin, uint64_t end,
                             const int64_t *coordinates) {
  uint64_t count = 0;
  for (uint64_t row = begin; row < end; row++)
    count += (uint64_t)is_before(manager->list[row].coordinates, coordinates, manager->axis_count);
  return count;
}

void rt_order_copy(RtTree *tree, int32_t number, int32_t depth, uint64_t thread, uint64_t threads) {
  const RtManager *manager = &tree->managers[number];
  RtOrder *order = find_due(tree, number, depth);
  if (!order) return;
  if (!thread) order->stale_bytes = 0;
  int32_t axes = order->axis_count;
  uint64_t count = (uint64_t)order->count;
  int sorts = order->is_disordered;
  int merges = sorts ? merges_left(order, RT_ORDER_RUN) : 0;
  int64_t *to = half(order, merges);
  if (!thread && !merges) order->version = manager->version;
  for (uint64_t row = thread; row < count; row += threads) {
    const int64_t *from = manager->list[row].coordinates;
    uint64_t begin = row / RT_ORDER_RUN * RT_ORDER_RUN, place = row;
    if (sorts)
      place = begin + count_before(manager, begin, least_of(begin + RT_ORDER_RUN, count), from);
    copy_rows(to + place * (uint64_t)axes, from, axes);
  }
}

/* The number of sorted rows begin..end that come before another row. */
static uint64_t search(const int64_t *rows, uint64_t begin, uint64_t end, const int64_t *row,
                       int32_t axes) {
  uint64_t low = begin;
  while (low < end) {
    uint64_t middle = low + (end - low) / 2;
    if (is_before(rows + middle * (uint64_t)axes, row, axes)) low = middle + 1;
    else end = middle;
  }
  return low - begin;
}

void rt_order_merge(RtTree *tree, int32_t number, int32_t depth, int32_t merge, uint64_t thread,
                    uint64_t threads) {
  RtOrder *order = find_due(tree, number, depth);
  if (!order || !order->is_disordered) return;
  uint64_t run = RT_ORDER_RUN, count = (uint64_t)order->count;
  while (merge--) run *= RT_ORDER_RUNS;
  int merges = merges_left(order, run);
  if (!merges) return;
  if (!thread && merges == 1) order->version = tree->managers[number].version;
  int32_t axes = order->axis_count;
  const int64_t *from = half(order, merges);
  int64_t *to = half(order, merges - 1);
  for (uint64_t row = thread; row < count; row += threads) {
    const int64_t *own = from + row * (uint64_t)axes;
    uint64_t first = row / (run * RT_ORDER_RUNS) * (run * RT_ORDER_RUNS), place = first + row % run;
    uint64_t end = least_of(first + run * RT_ORDER_RUNS, count);
    for (uint64_t begin = first; begin < end; begin += run)
      if (row / run != begin / run)
        place += search(from, begin, least_of(begin + run, count), own, axes);
    copy_rows(to + place * (uint64_t)axes, own, axes);
  }
}
#endif
