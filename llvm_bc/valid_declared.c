/* valid_declared.c - checks the members that a tree's owner fills in before rt_tree_init: every
 * slot lies in its parent, and the weights of digits follow from the sizes of levels. */
#include "valid_check.h"

/* The byte past the last slot, from the start of the parent or the root's container. */
static uint64_t slots_end(const RtManager *manager) {
  uint64_t end = 0;
  for (int32_t l = 0; l < manager->level_count; l++) {
    const RtLevel *level = &manager->levels[l];
    end += level->offset + (level->cell_count - 1) * level->stride;
  }
  return end + sizeof(uint32_t);
}

static int level_is_valid(const Check *c, const RtLevel *level, int64_t *weights) {
  uint64_t cells = 1;
  EXPECT(level->axis_count >= 0 && level->axis_count <= RT_MAX_AXES && level->stride, 0,
         "a level has axes and a stride");
  for (int32_t k = level->axis_count - 1; k >= 0; k--) {
    int32_t position = level->positions[k];
    EXPECT(position >= 0 && position < c->manager->axis_count, 0,
           "a level's axes are axes of its manager");
    EXPECT(level->weights[k] == weights[position], 0,
           "a digit weighs the cells of the levels below");
    weights[position] *= level->sizes[k];
    cells *= (uint64_t)level->sizes[k];
  }
  EXPECT(cells == level->cell_count, 0, "the cells of a level are the product of its sizes");
  return 1;
}

/* Goes from the innermost level outward, since weights multiply that way. */
static int levels_are_valid(const Check *c) {
  const RtManager *manager = c->manager;
  int64_t weights[RT_MAX_AXES];
  EXPECT(manager->is_hash ? !manager->level_count
                          : manager->level_count >= 1 && manager->level_count <= RT_MAX_LEVELS,
         0, "slots are reached through levels, nodes of a hash through none");
  for (int32_t a = 0; a < RT_MAX_AXES; a++) weights[a] = 1;
  for (int32_t l = manager->level_count - 1; l >= 0; l--)
    if (!level_is_valid(c, &manager->levels[l], weights)) return 0;
  for (int32_t a = 0; a < manager->axis_count && !manager->is_hash; a++)
    EXPECT(manager->parent_weights[a] == weights[a], 0,
           "a step of the parent weighs the cells of all levels");
  return 1;
}

static int parent_is_valid(const Check *c) {
  const RtManager *manager = c->manager;
  EXPECT(manager->parent >= -1 && manager->parent < c->number, 0,
         "a manager's parent comes before it");
  const RtManager *parent = manager->parent < 0 ? 0 : &c->tree->managers[manager->parent];
  uint64_t room = parent ? parent->node_size : c->tree->root_size;
  for (int32_t a = 0; a < manager->axis_count; a++)
    EXPECT(manager->parent_positions[a] >= -1 &&
               manager->parent_positions[a] < (parent ? parent->axis_count : 0),
           0, "an axis is an axis of the parent, or new");
  EXPECT(manager->is_hash || slots_end(manager) <= room, 0, "slots lie in their parent");
  return 1;
}

int rt_tree_is_declared(const RtTree *tree, RtBroken *broken) {
  for (int32_t m = 0; m < tree->manager_count; m++) {
    const Check check = check_of(tree, m, 0, broken), *c = &check;
    EXPECT(c->manager->node_size && c->manager->node_size % RT_GRANULE == 0, 0,
           "a node is whole granules");
    EXPECT(c->manager->axis_count >= 0 && c->manager->axis_count <= RT_MAX_AXES, 0,
           "a manager has at most RT_MAX_AXES axes");
    EXPECT(c->manager->locals && tree->chunks && tree->segment_owner && tree->budget, 0,
           "a tree with managers has all of its tables");
    if (!levels_are_valid(c) || !parent_is_valid(c)) return 0;
  }
  return 1;
}
