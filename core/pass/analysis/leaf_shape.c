/* leaf_shape.c - see leaf_shape.h. Depends only on the trees' declarations, not on insts. */
#include "pass/analysis/leaf_shape.h"

#include "snode/path.h"

static bool add_axis(LeafShape *shape, int axis) {
  int a = shape->axis_count++;
  int64_t extent = snode_divisor(shape->node_level, shape->cells, axis);
  shape->index[a] = snode_axis_position(shape->cells, axis);
  shape->coordinate[a] = snode_axis_position(shape->node_level, axis);
  shape->extent[a] = (int32_t)extent;
  return extent <= INT32_MAX;
}

/* False if an extent exceeds 32 bits. */
static bool shape_of(const SNode *node_level, const SNode *cells, LeafShape *shape) {
  DEBUG_ASSERT(snode_node_level(cells) == node_level, "the cells lie in nodes of that level");
  *shape = (LeafShape){.node_level = node_level, .cells = cells};
  bool fits = true;
  for (int k = 0; k < cells->rank; k++)
    if (!snode_divides(cells, cells->level_axes[k])) fits &= add_axis(shape, cells->level_axes[k]);
  for (int k = 0; k < cells->axis_count; k++) fits &= add_axis(shape, cells->axes[k]);
  return fits;
}

bool leaf_shape_of_task(const IrKernel *kernel, const IrTask *task, LeafShape *shape) {
  return shape_of(kernel->levels.items[task->level].node,
                  kernel->levels.items[task->cells_level].node, shape);
}

/* Do nodes of `level` have cells of `node` at the same indices at which a leaf has its cells? */
static bool divides_alike(const LeafShape *shape, const SNode *level, const SNode *node) {
  if (node->rank != shape->cells->rank) return false;
  for (int k = 0; k < node->rank; k++) {
    int axis = node->level_axes[k];
    if (axis != shape->cells->level_axes[k]) return false;
    if (snode_divisor(level, node, axis) != snode_divisor(shape->node_level, shape->cells, axis))
      return false;
  }
  return true;
}

bool leaf_shape_holds(const LeafShape *shape, const SNode *node) {
  DEBUG_ASSERT(shape->cells && shape->node_level, "the shape was found");
  if (node == shape->cells) return true;
  return snode_node_level(node) == shape->node_level &&
         divides_alike(shape, shape->node_level, node);
}

bool leaf_shape_has_counterpart(const LeafShape *shape, const SNode *node) {
  const SNode *level = snode_node_level(node);
  if (!level || level == shape->node_level || snode_has_lists(level)) return false;
  if (level->rank != shape->node_level->rank) return false;
  for (int k = 0; k < level->rank; k++)
    if (level->level_axes[k] != shape->node_level->level_axes[k]) return false;
  return divides_alike(shape, level, node);
}

bool leaf_shape_is_within(const SNode *own, const SNode *level, int k) {
  return snode_is_unbounded(level, k) ||
         (!snode_is_unbounded(own, k) && own->shape[k] <= level->shape[k]);
}

bool leaf_shape_has_runs(const LeafShape *shape, const SNode *node) {
  DEBUG_ASSERT(shape->axis_count > 0, "a leaf has a row");
  const SNodeStep *last = snode_last_step(node);
  if (last->manager >= 0 || !last->digit_count) return false;
  const SNodeDigit *digit = &last->digits[last->digit_count - 1];
  int row = shape->cells->axes[shape->cells->axis_count - 1];
  return digit->axis == row && digit->size == shape->extent[shape->axis_count - 1];
}

/* Bytes between adjacent cells of one container along an axis, if cells have `stride` bytes; 0 if
 * the container does not divide the axis. */
static int64_t step_within(const SNodeStep *step, uint64_t stride, int axis) {
  int64_t bytes = (int64_t)stride;
  for (int k = step->digit_count - 1; k >= 0; bytes *= step->digits[k].size, k--)
    if (step->digits[k].axis == axis && step->digits[k].size > 1) return bytes;
  return 0;
}

int64_t leaf_shape_step(const LeafShape *shape, const SNode *node, int component, int leaf_axis) {
  DEBUG_ASSERT(leaf_axis >= 0 && leaf_axis < shape->axis_count, "the leaf has such an axis");
  DEBUG_ASSERT(component >= 0 && component < node->component_count, "the level has such a number");
  int axis = shape->cells->level_axes[shape->index[leaf_axis]], levels = 0;
  uint64_t stride = node->components[component].stride;
  int64_t bytes = 0;
  const SNodeStep *level = snode_step(snode_node_level(node), node);
  for (const SNodeStep *step = snode_last_step(node); step > level; step--) {
    int64_t here = step_within(step, stride, axis);
    stride = step->stride;
    if (!here) continue;
    bytes = here;
    levels++;
  }
  return levels == 1 ? bytes : 0;
}
