/* index_order.c - active cells in index order, one after the other.
 *
 * The state is the row-major number of the next candidate. Active nodes are sorted by coordinates once per topology
 * version; from there the next active cell is found axis by axis with binary searches: at axis a, among the nodes that
 * agree with the index on the axes before, go on in the index's own node column if something follows there, else in
 * the nearest column behind. So a walk over few cells of a huge shape costs the cells, not the shape.
 * Where an axis has no ends there is no such number: the walk goes on from the index that the last call left. */
#include <stdlib.h>

#include "base/bits.h"
#include "tree/cell.h"

struct NodeOrder {
  uint64_t version;
  int64_t count;
  int rank;
  int64_t coordinates[]; /* count rows of the path's rank, sorted; 0 for an axis that nodes lack */
};

void node_order_free(Node *node) {
  heap_free(node->tree->store->heap, node->order);
  node->order = NULL;
}

static int compare_rows(const void *a, const void *b, void *rank) {
  const int64_t *x = a, *y = b;
  for (int k = 0; k < *(int *)rank; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static bool update_order(Node *node, Error *err) {
  const CellPath *path = node->path;
  int64_t count = cell_list(node->tree, path->listed_manager, err);
  if (count < 0) return false;
  RtContext *context = &node->tree->store->host;
  uint64_t version = node->tree->rt.managers[path->listed_manager].version;
  if (node->order && node->order->version == version) return true;
  node_order_free(node);
  NodeOrder *order =
      heap_alloc(node->tree->store->heap, sizeof *order + sizeof(int64_t) * (size_t)(count * path->rank));
  if (!order) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left to put active cells in order");
  *order = (NodeOrder){.version = version, .count = count, .rank = path->rank};
  for (int64_t n = 0; n < count; n++) {
    const int64_t *from = rt_list_coordinates(context, 0, path->listed_manager, n);
    for (int k = 0; k < path->rank; k++)
      order->coordinates[n * path->rank + k] = path->listed_position[k] < 0 ? 0 : from[path->listed_position[k]];
  }
  qsort_r(order->coordinates, (size_t)count, sizeof(int64_t) * (size_t)path->rank, compare_rows, &order->rank);
  node->order = order;
  return true;
}

/* The first row in begin..end whose coordinate `axis` is at least `value`. */
static int64_t lower_bound(const NodeOrder *order, int64_t begin, int64_t end, int axis, int64_t value) {
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (order->coordinates[middle * order->rank + axis] < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

static int64_t first_index(const CellPath *path, int axis) { return path->shape[axis] ? 0 : INT64_MIN; }

/* Rows begin..end agree with the index on the axes before `axis`; moves the rest of the index to the first active
 * cell at or behind it. False when there is none. */
static bool advance(const CellPath *path, const NodeOrder *order, int axis, int64_t begin, int64_t end,
                    int64_t *index) {
  if (begin == end) return false;
  if (axis == path->rank) return true;
  int64_t weight = path->listed_weight[axis], column = floor_div(index[axis], weight);
  int64_t first = lower_bound(order, begin, end, axis, column);
  int64_t behind = lower_bound(order, first, end, axis, column + 1);
  if (first < behind && advance(path, order, axis + 1, first, behind, index)) return true;
  for (int k = axis + 1; k < path->rank; k++) index[k] = first_index(path, k);
  index[axis]++;
  if (first == behind || floor_div(index[axis], weight) != column) {
    if (behind == end) return false;
    column = order->coordinates[behind * order->rank + axis];
    index[axis] = column * weight;
    first = behind;
    behind = lower_bound(order, first, end, axis, column + 1);
  }
  return advance(path, order, axis + 1, first, behind, index);
}

static bool split(const CellPath *path, int64_t number, int64_t *index) {
  for (int k = path->rank - 1; k >= 0; k--) {
    index[k] = number % path->shape[k];
    number /= path->shape[k];
  }
  return number == 0; /* else past the last cell */
}

static int64_t join(const CellPath *path, const int64_t *index) {
  int64_t number = 0;
  for (int k = 0; k < path->rank; k++) number = number * path->shape[k] + index[k];
  return number;
}

static bool check_size(const CellPath *path, Error *err) {
  int64_t cells = 2;
  for (int k = 0; k < path->rank; k++)
    if (__builtin_mul_overflow(cells, path->shape[k], &cells))
      return error_set(err, RG_ERROR_TREE_TOO_LARGE, "a shape of more than 2^62 cells cannot be walked in index order");
  return true;
}

static bool is_unbounded(const CellPath *path) {
  for (int k = 0; k < path->rank; k++)
    if (!path->shape[k]) return true;
  return false;
}

/* What the nodes say is there may still have a clear bit, or lie behind the end of its list. */
static bool is_active(Node *node, const int64_t *index) {
  const CellPath *path = node->path;
  Cell cell;
  return (path->decider_step == path->listed_step && !path->chunk) || cell_find(storage_context(node->tree), path, index, &cell);
}

static bool next_unbounded(Node *node, int64_t *state, int64_t *index, Error *err) {
  const CellPath *path = node->path;
  if (!update_order(node, err)) return false;
  if (*state == 0)
    for (int k = 0; k < path->rank; k++) index[k] = first_index(path, k);
  else
    index[path->rank - 1]++;
  bool is_there = advance(path, node->order, 0, 0, node->order->count, index);
  while (is_there && !is_active(node, index)) {
    index[path->rank - 1]++;
    is_there = advance(path, node->order, 0, 0, node->order->count, index);
  }
  *state = is_there ? 1 : -1;
  return true;
}

bool node_next(Node *node, int64_t *state, int64_t *index, Error *err) {
  if (*state < 0) return true;
  if (!tree_settle(node->tree, "its first use", err)) return false;
  const CellPath *path = node->path;
  if (is_unbounded(path)) return next_unbounded(node, state, index, err);
  if (!check_size(path, err)) return false;
  bool is_there = split(path, *state, index);
  bool is_listed = path->listed_manager >= 0;
  if (is_there && is_listed && !update_order(node, err)) return false;
  while (is_there) {
    is_there = !is_listed || advance(path, node->order, 0, 0, node->order->count, index);
    if (!is_there || is_active(node, index)) break;
    is_there = split(path, join(path, index) + 1, index);
  }
  *state = is_there ? join(path, index) + 1 : -1;
  return true;
}
