/* level.c - queries about a level's position: the levels above it, and its axes. Also valid before
 * layout. */
#include "snode/snode.h"

const SNode *snode_node_level(const SNode *node) {
  while (node && !snode_is_managed(node)) node = node->parent;
  return node;
}

const SNode *snode_sparse_level(const SNode *node) {
  while (node && !snode_is_managed(node) && !snode_has_bits(node)) node = node->parent;
  return node;
}

bool snode_is_masked(const SNode *node, const SNode *above) {
  while (node != above && !snode_has_bits(node) && node->parent) node = node->parent;
  return node != above && snode_has_bits(node);
}

int64_t snode_cells_along(const SNode *node, int axis) {
  int64_t cells = 1;
  for (; node; node = node->parent)
    for (int k = 0; k < node->axis_count; k++)
      if (node->axes[k] == axis && node->sizes[k]) cells *= node->sizes[k];
  return cells;
}

int snode_axis_position(const SNode *node, int axis) {
  for (int k = 0; k < node->rank; k++)
    if (node->level_axes[k] == axis) return k;
  return -1;
}

bool snode_divides(const SNode *node, int axis) {
  for (int k = 0; k < node->axis_count; k++)
    if (node->axes[k] == axis) return true;
  return false;
}
