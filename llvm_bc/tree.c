/* tree.c - initialises a tree's tables. */
#include "node.h"

enum { EXACT_BITS = 31 }; /* of an exact tag, for all coordinates; its last bit marks it as exact */

static void manager_init(RtTree *tree, RtManager *manager) {
  manager->info_stride =
      sizeof(RtNodeInfo) + sizeof(int64_t) * (uint64_t)(manager->axis_count + (manager->chunk > 0));
  manager->version = 1;
  int is_at_root = manager->is_hash && manager->parent < 0;
  manager->exact_bits = is_at_root ? (uint32_t)(EXACT_BITS / manager->axis_count) : 0;
  if (manager->parent >= 0) tree->managers[manager->parent].child_count++;
}

void rt_tree_init(RtTree *tree, int32_t worker_count) {
  (void)worker_count;
#if defined(RG_DEBUG)
  rt_tree_expect_declared(tree);
#endif
  for (int32_t m = 0; m < tree->manager_count; m++) manager_init(tree, &tree->managers[m]);
  if (!tree->manager_count) return;
  uint64_t root_end = (uint64_t)(tree->root - tree->base) + tree->root_size;
  tree->top = tree->bottom = (root_end + RT_SEGMENT - 1) / RT_SEGMENT * RT_SEGMENT;
}

int64_t rt_manager_live(const RtTree *tree, int32_t manager) {
  return (int64_t)tree->managers[manager].live_count;
}

uint64_t rt_tree_bytes(const RtTree *tree) {
  uint64_t bytes = 0;
  for (int32_t m = 0; m < tree->manager_count; m++)
    bytes +=
        tree->managers[m].chunk_bytes + tree->managers[m].table.bytes + tree->managers[m].log_bytes;
  return bytes;
}
