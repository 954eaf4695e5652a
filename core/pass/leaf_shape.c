/* leaf_shape.c - see leaf_shape.h. Only declarations are read; nothing here knows a kernel's insts. */
#include "pass/leaf_shape.h"

static bool divides(const SNode *node, int axis) {
  for (int k = 0; k < node->axis_count; k++)
    if (node->axes[k] == axis) return true;
  return false;
}

static bool add_axis(LeafShape *shape, int axis) {
  int a = shape->axis_count++;
  int64_t extent = snode_divisor(shape->listed, shape->cells, axis);
  shape->index[a] = snode_axis_position(shape->cells, axis);
  shape->coordinate[a] = snode_axis_position(shape->listed, axis);
  shape->extent[a] = (int32_t)extent;
  return extent <= INT32_MAX;
}

bool leaf_shape_of(const SNode *listed, const SNode *cells, LeafShape *shape) {
  *shape = (LeafShape){.listed = listed, .cells = cells};
  bool fits = true;
  for (int k = 0; k < cells->rank; k++)
    if (!divides(cells, cells->level_axes[k])) fits &= add_axis(shape, cells->level_axes[k]);
  for (int k = 0; k < cells->axis_count; k++) fits &= add_axis(shape, cells->axes[k]);
  return fits;
}

bool leaf_shape_of_task(const IrKernel *kernel, const IrTask *task, LeafShape *shape) {
  return leaf_shape_of(kernel->levels.items[task->level].node, kernel->levels.items[task->cells_level].node, shape);
}

bool leaf_shape_holds(const LeafShape *shape, const SNode *node) {
  if (node == shape->cells) return true;
  if (snode_listed(node) != shape->listed || node->rank != shape->cells->rank) return false;
  for (int k = 0; k < node->rank; k++) {
    int axis = node->level_axes[k];
    if (axis != shape->cells->level_axes[k]) return false;
    if (snode_divisor(shape->listed, node, axis) != snode_divisor(shape->listed, shape->cells, axis)) return false;
  }
  return true;
}

bool leaf_shape_has_runs(const LeafShape *shape, const SNode *node) {
  if (node->kind == SNODE_DYNAMIC) return true; /* a chunk is a run, and a row */
  if (node->kind != SNODE_DENSE && node->kind != SNODE_BITMASKED) return false;
  int last = node->axis_count - 1, row = shape->cells->axes[shape->cells->axis_count - 1];
  return node->axes[last] == row && node->sizes[last] == shape->extent[shape->axis_count - 1];
}

/* Bytes between cells of one dense container along an axis; 0: it does not divide it. */
static int64_t step_within(const SNode *node, uint64_t stride, int axis) {
  int64_t step = (int64_t)stride;
  for (int k = node->axis_count - 1; k >= 0; step *= node->sizes[k], k--)
    if (node->axes[k] == axis && node->sizes[k] > 1) return step;
  return 0;
}

int64_t leaf_shape_step(const LeafShape *shape, const SNode *node, int component, int leaf_axis) {
  int axis = shape->cells->level_axes[shape->index[leaf_axis]], levels = 0;
  int64_t step = 0;
  for (; node != shape->listed; component = (int)node->component_in_parent, node = node->parent) {
    int64_t here = step_within(node, node->components[component].stride, axis);
    if (!here) continue;
    step = here;
    levels++;
  }
  return levels == 1 ? step : 0;
}
