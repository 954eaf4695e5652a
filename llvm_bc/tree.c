/* tree.c - a tree's tables made ready: what follows from the declaration is computed once, here, so that the caller
 * states only sizes, offsets and letters. */
#include "node.h"

static int32_t position_of(int32_t letter, const RtManager *manager) {
  for (int32_t a = 0; a < manager->axis_count; a++)
    if (manager->axes[a] == letter) return a;
  return -1;
}

/* From the innermost row outward: one step of a digit is worth all the cells that the rows below divide it into, and
 * one step of the parent's coordinate all the cells of these rows. */
static void weigh_levels(RtManager *manager) {
  int64_t weights[RT_MAX_AXES];
  for (int32_t a = 0; a < RT_MAX_AXES; a++) weights[a] = 1;
  for (int32_t l = manager->level_count - 1; l >= 0; l--) {
    RtLevel *level = &manager->levels[l];
    for (int32_t k = 0; k < level->axis_count; k++) {
      int32_t position = position_of(level->axes[k], manager);
      level->positions[k] = position;
      level->weights[k] = weights[position];
      weights[position] *= level->sizes[k];
    }
  }
  for (int32_t a = 0; a < manager->axis_count; a++) manager->parent_weights[a] = weights[a];
}

static void manager_init(RtTree *tree, RtManager *manager) {
  weigh_levels(manager);
  manager->info_stride = sizeof(RtNodeInfo) + sizeof(int64_t) * (uint64_t)(manager->axis_count + (manager->chunk > 0));
  manager->version = 1;
  if (manager->parent < 0) {
    for (int32_t a = 0; a < manager->axis_count; a++) manager->parent_positions[a] = -1;
    return;
  }
  RtManager *parent = &tree->managers[manager->parent];
  parent->child_count++;
  for (int32_t a = 0; a < manager->axis_count; a++)
    manager->parent_positions[a] = position_of(manager->axes[a], parent);
}

void rt_tree_init(RtTree *tree, int32_t worker_count) {
  (void)worker_count;
  for (int32_t m = 0; m < tree->manager_count; m++) manager_init(tree, &tree->managers[m]);
  if (!tree->manager_count) return;
  uint64_t root_end = (uint64_t)(tree->root - tree->base) + tree->root_size;
  tree->top = tree->bottom = (root_end + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT;
}

int64_t rt_manager_live(const RtTree *tree, int32_t manager) { return (int64_t)tree->managers[manager].live_count; }

uint64_t rt_tree_bytes(const RtTree *tree) {
  uint64_t bytes = 0;
  for (int32_t m = 0; m < tree->manager_count; m++) bytes += tree->managers[m].chunk_bytes + tree->managers[m].table.bytes;
  return bytes;
}
