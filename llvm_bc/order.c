/* order.c - walks in index order over the nodes of an unbounded tree: the part inlined into
 * kernels. Rows of coordinates are sorted (order_make.c); rows that agree on the axes before one
 * are adjacent, and among them those that also agree on that axis. So a loop per axis goes from
 * group to group. The next group is found by galloping search, which is logarithmic in the
 * distance. */
#include "rt.h"

static const RtOrder *order_get(uint64_t order) { return (const RtOrder *)(uintptr_t)order; }

int64_t rt_order_count(uint64_t order) { return order ? order_get(order)->count : 0; }

int64_t rt_order_at(uint64_t order, int64_t row, int32_t axis) {
  const RtOrder *rows = order_get(order);
  return rows->rows[row * rows->axis_count + axis];
}

int64_t rt_order_end(uint64_t order, int64_t row, int64_t end, int32_t axis) {
  int64_t value = rt_order_at(order, row, axis), step = 1, same = row;
  while (step < end - same && rt_order_at(order, same + step, axis) == value) {
    same += step;
    step *= 2;
  }
  int64_t other = step < end - same ? same + step : end;
  while (other - same > 1) {
    int64_t middle = same + (other - same) / 2;
    if (rt_order_at(order, middle, axis) == value) same = middle;
    else other = middle;
  }
  return other;
}
