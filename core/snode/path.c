/* path.c - questions about where a level stands: its path, its axes, how a coordinate splits. */
#include "snode/tree.h"

int snode_path(const SNode *node, const SNode *path[SNODE_MAX_DEPTH]) {
  int count = node->depth + 1;
  for (int k = count - 1; k >= 0; k--, node = node->parent) path[k] = node;
  return count;
}

const SNode *snode_listed(const SNode *node) {
  while (node && !snode_is_managed(node)) node = node->parent;
  return node;
}

const SNode *snode_decider(const SNode *node) {
  while (node && !snode_is_managed(node) && node->kind != SNODE_BITMASKED) node = node->parent;
  return node;
}

bool snode_is_masked(const SNode *node, const SNode *above) {
  while (node != above && node->kind != SNODE_BITMASKED && node->parent) node = node->parent;
  return node != above && node->kind == SNODE_BITMASKED;
}

int64_t snode_divisor(const SNode *node, const SNode *below, int axis) {
  bool is_list = node->kind == SNODE_DYNAMIC && node->axes[0] == axis;
  int64_t divisor = is_list ? node->chunk : 1;
  for (; below != node; below = below->parent)
    for (int k = 0; k < below->axis_count; k++)
      if (below->axes[k] == axis) divisor *= below->sizes[k];
  return divisor;
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
