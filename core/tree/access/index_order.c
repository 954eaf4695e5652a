/* index_order.c - walks active cells in index order, one by one.
 *
 * The state is the row-major number of the next candidate. Active nodes are sorted by coordinates
 * once per topology version; then binary searches find the next active cell axis by axis: at each
 * axis, among the nodes that agree with the index on the previous axes, the search continues in the
 * node column of the index if that has a later cell, otherwise in the next column. As a short cut,
 * the node of the last cell and the next one in its row are tried first. So the time of a walk
 * depends on the number of cells, not on the shape. With an unbounded axis there is no row-major
 * number: the walk continues from the index of the last call. */
#include <stdlib.h>

#include "base/bits.h"
#include "tree/access/cell.h"

struct NodeOrder {
  uint64_t version;
  int64_t count;
  int64_t found; /* the row of the last cell that was found */
  int rank;
  /* `count` sorted rows, one number per axis of the path; 0 for an axis that nodes do not have */
  int64_t coordinates[];
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

/* The step whose cells are nodes. */
static const SNodeStep *node_step(const SNode *level) {
  DEBUG_ASSERT(level->path->node_step >= 0, "only nodes are ordered");
  return &level->path->steps[level->path->node_step];
}

static bool update_order(Node *node, Error *err) {
  const SNode *level = node->snode;
  const SNodeStep *step = node_step(level);
  int64_t count = cell_list(node->tree, step->manager, err);
  if (count < 0) return false;
  RtContext *context = &node->tree->store->host;
  uint64_t version = node->tree->rt.managers[step->manager].version;
  if (node->order && node->order->version == version) return true;
  node_order_free(node);
  NodeOrder *order = heap_alloc(node->tree->store->heap,
                                sizeof *order + sizeof(int64_t) * (size_t)(count * level->rank));
  if (!order)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left to sort active cells");
  *order = (NodeOrder){.version = version, .count = count, .rank = level->rank};
  for (int64_t n = 0; n < count; n++) {
    const int64_t *from = rt_list_coordinates(context, 0, step->manager, n);
    for (int k = 0; k < level->rank; k++)
      order->coordinates[n * level->rank + k] =
          step->coordinate[k] < 0 ? 0 : from[step->coordinate[k]];
  }
  qsort_r(order->coordinates, (size_t)count, sizeof(int64_t) * (size_t)level->rank, compare_rows,
          &order->rank);
  node->order = order;
  return true;
}

/* The first row in begin..end whose coordinate `axis` is at least `value`. */
static int64_t lower_bound(const NodeOrder *order, int64_t begin, int64_t end, int axis,
                           int64_t value) {
  DEBUG_ASSERT(axis < order->rank && end <= order->count, "rows and columns of the order");
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (order->coordinates[middle * order->rank + axis] < value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/* The first row after those whose coordinate is `value`. */
static int64_t upper_bound(const NodeOrder *order, int64_t begin, int64_t end, int axis,
                           int64_t value) {
  return value == INT64_MAX ? end : lower_bound(order, begin, end, axis, value + 1);
}

static int64_t first_index(const SNode *level, int axis) {
  return level->shape[axis] ? 0 : INT64_MIN;
}

/* Rows begin..end agree with the index on the axes before `axis`; advances the rest of the index to
 * the first active cell at or after it. False if there is none. */
static bool advance(const SNode *level, NodeOrder *order, int axis, int64_t begin, int64_t end,
                    int64_t *index) {
  if (begin == end) return false;
  if (axis == level->rank) {
    order->found = begin;
    return true;
  }
  int64_t weight = node_step(level)->weight[axis], column = floor_div(index[axis], weight);
  int64_t first = lower_bound(order, begin, end, axis, column);
  int64_t past = upper_bound(order, first, end, axis, column);
  if (first < past && advance(level, order, axis + 1, first, past, index)) return true;
  for (int k = axis + 1; k < level->rank; k++) index[k] = first_index(level, k);
  if (index[axis] == INT64_MAX) return false;
  index[axis]++;
  if (first == past || floor_div(index[axis], weight) != column) {
    if (past == end) return false;
    column = order->coordinates[past * order->rank + axis];
    index[axis] = column * weight;
    first = past;
    past = upper_bound(order, first, end, axis, column);
  }
  return advance(level, order, axis + 1, first, past, index);
}

/* Compares an index with a row's node: -1 before it, 0 in it, 1 past it along the last axis; 2 if
 * they differ on another axis. */
static int compare_last(const SNode *level, const int64_t *row, const int64_t *index) {
  const int64_t *weights = node_step(level)->weight;
  int last = level->rank - 1;
  for (int k = 0; k < last; k++)
    if (floor_div(index[k], weights[k]) != row[k]) return 2;
  int64_t column = floor_div(index[last], weights[last]);
  return column < row[last] ? -1 : column > row[last];
}

/* The same as `advance`, for the usual case that the cell is in the node of the last one, or in the
 * next node of its row. False if it may be elsewhere. */
static bool advance_near(const SNode *level, NodeOrder *order, int64_t *index) {
  int last = level->rank - 1;
  if (last < 0 || order->found >= order->count) return false;
  const int64_t *row = &order->coordinates[order->found * order->rank];
  int where = compare_last(level, row, index);
  if (where == 0) return true;
  if (where != 1 || order->found + 1 >= order->count) return false;
  row += order->rank;
  where = compare_last(level, row, index);
  if (where > 0) return false;
  order->found++;
  if (where < 0) index[last] = row[last] * node_step(level)->weight[last];
  return true;
}

static bool advance_from(const SNode *level, NodeOrder *order, int64_t *index) {
  return advance_near(level, order, index) || advance(level, order, 0, 0, order->count, index);
}

static bool split(const SNode *level, int64_t number, int64_t *index) {
  for (int k = level->rank - 1; k >= 0; k--) {
    DEBUG_ASSERT(level->shape[k] > 0, "cells of bounded levels are numbered");
    index[k] = floor_mod(number, level->shape[k]);
    number = floor_div(number, level->shape[k]);
  }
  return number == 0; /* if not 0, past the last cell */
}

static int64_t join(const SNode *level, const int64_t *index) {
  int64_t number = 0;
  for (int k = 0; k < level->rank; k++) number = number * level->shape[k] + index[k];
  return number;
}

static bool check_size(const SNode *level, Error *err) {
  int64_t cells = 2;
  for (int k = 0; k < level->rank; k++)
    if (__builtin_mul_overflow(cells, level->shape[k], &cells))
      return error_set(err, RG_ERROR_TREE_TOO_LARGE,
                       "a shape of more than 2^62 cells cannot be walked in index order");
  return true;
}

static bool is_unbounded(const SNode *level) {
  for (int k = 0; k < level->rank; k++)
    if (!level->shape[k]) return true;
  return false;
}

/* Even in an active node, a cell may have a clear mask bit, or be past the end of its list. */
static bool is_active(Node *node, const int64_t *index) {
  const SNode *level = node->snode;
  Cell cell;
  bool has_all = level->path->sparse_step == level->path->node_step && !snode_has_lists(level);
  return has_all || cell_find(storage_context(node->tree), level, index, &cell);
}

/* Advances to the next index; false if this is the last. */
static bool step(const SNode *level, int64_t *index) {
  for (int k = level->rank - 1; k >= 0; k--) {
    if (index[k] < INT64_MAX) {
      index[k]++;
      return true;
    }
    index[k] = first_index(level, k);
  }
  return false;
}

static bool next_unbounded(Node *node, int64_t *state, int64_t *index, Error *err) {
  const SNode *level = node->snode;
  bool is_there = true;
  if (!update_order(node, err)) return false;
  if (*state == 0)
    for (int k = 0; k < level->rank; k++) index[k] = first_index(level, k);
  else is_there = step(level, index);
  is_there = is_there && advance_from(level, node->order, index);
  while (is_there && !is_active(node, index))
    is_there = step(level, index) && advance_from(level, node->order, index);
  *state = is_there ? 1 : -1;
  return true;
}

bool node_next(Node *node, int64_t *state, int64_t *index, Error *err) {
  if (*state < 0) return true;
  if (!tree_prepare(node->tree, DEVICE_READS, err) || !tree_check_own(node->tree, err))
    return false;
  const SNode *level = node->snode;
  if (is_unbounded(level)) return next_unbounded(node, state, index, err);
  if (!check_size(level, err)) return false;
  bool is_there = split(level, *state, index);
  bool has_nodes = level->path->node_step >= 0;
  if (is_there && has_nodes && !update_order(node, err)) return false;
  while (is_there) {
    is_there = !has_nodes || advance_from(level, node->order, index);
    if (!is_there || is_active(node, index)) break;
    is_there = split(level, join(level, index) + 1, index);
  }
  *state = is_there ? join(level, index) + 1 : -1;
  return true;
}

bool node_next_after(Node *node, bool has_begun, int64_t *index, bool *is_there, Error *err) {
  if (!tree_lay_out(node->tree, "its first use", err)) return false;
  const SNode *level = node->snode;
  int64_t state = 0;
  if (has_begun) state = is_unbounded(level) ? 1 : join(level, index) + 1;
  if (!node_next(node, &state, index, err)) return false;
  *is_there = state >= 0;
  return true;
}
