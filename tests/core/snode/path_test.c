/* path_test.c - the table of a path: its steps number by number, and against walks by hand over
 * random trees. */
#include "snode/path.h"

#include "base/bits.h"
#include "check.h"

static Heap heap;

static SNodeTree *read(const char *text) {
  Error err = {0};
  SNodeTree *tree = snode_read(&heap, &text, &err);
  if (!tree) check_fail(__FILE__, __LINE__, err.message);
  return tree;
}

static const SNodeStep *step_of(const SNodeTree *tree, int node, int step) {
  return &tree->nodes[node]->path->steps[step];
}

static void check_step(const SNodeStep *step, uint64_t offset, uint64_t stride, uint64_t cells,
                       int manager) {
  CHECK_INT(step->offset, offset);
  CHECK_INT(step->stride, stride);
  CHECK_INT(step->cell_count, cells);
  CHECK_INT(step->manager, manager);
}

static void check_digit(const SNodeStep *step, int k, int position, int64_t size, int64_t weight,
                        int above) {
  CHECK(k < step->digit_count);
  CHECK_INT(step->digits[k].position, position);
  CHECK_INT(step->digits[k].size, size);
  CHECK_INT(step->digits[k].weight, weight);
  CHECK_INT(step->digits[k].above, above);
}

static void kinds(void) {
  TEST("a step leads through slots into a node, the next counts cells there") {
    SNodeTree *tree = read("root{ pointer \"i\" 32 { f32, dense \"i\" 8 { f32 } } }");
    const SNodePath *path = tree->nodes[2]->path;
    CHECK(path->step_count == 3 && path->node_step == 1 && path->sparse_step == 1 &&
          path->node == tree->nodes[2]);
    check_step(&path->steps[0], 0, 0, 1, -1);
    check_step(&path->steps[1], 0, 128, 32, 0);
    check_digit(&path->steps[1], 0, 0, 32, 8, -1);
    check_step(&path->steps[2], 32, 0, 8, -1);
    check_digit(&path->steps[2], 0, 0, 8, 1, 1);
    CHECK_INT(path->steps[0].digit_count, 0);
    CHECK_INT(path->steps[0].weight[0], 256);
    CHECK_INT(path->steps[0].coordinate[0], -1);
    CHECK_INT(path->steps[1].coordinate[0], 0);
    snode_tree_release(tree);
  }
  TEST("bits are stored after the cells that they describe") {
    SNodeTree *tree = read("root{ bitmasked \"ij\" 4 16 { dense \"j\" 2 { f32 } } }");
    const SNodePath *path = tree->nodes[2]->path;
    CHECK(path->node_step == -1 && path->sparse_step == 1);
    CHECK_INT(path->steps[1].mask, 0);
    CHECK_INT(path->steps[1].mask_offset, 64 * 8);
    check_digit(&path->steps[1], 1, 1, 16, 2, -1);
    check_step(&path->steps[2], 0, 8, 2, -1);
    check_digit(&path->steps[2], 0, 1, 2, 1, 1);
    snode_tree_release(tree);
  }
  TEST("a list takes two steps, to the chunk and to the element in it") {
    SNodeTree *tree = read("root{ dense \"i\" 4 { dynamic \"k\" 100 chunk 16 { f32, u8 } } }");
    const SNodePath *path = tree->nodes[2]->path;
    CHECK(path->step_count == 4 && path->node_step == 2 && path->sparse_step == 2);
    check_step(&path->steps[2], 0, 64, 7, 0);
    CHECK_INT(path->steps[2].slots, SNODE_DYNAMIC_SLOTS);
    check_digit(&path->steps[2], 0, 1, 7, 16, -1);
    check_step(&path->steps[3], 0, 0, 16, -1);
    check_digit(&path->steps[3], 0, 1, 16, 1, 2);
    CHECK(path->steps[3].kind == SNODE_DENSE && path->steps[3].node == tree->nodes[2]);
    CHECK_INT(path->steps[1].weight[1], 100);
    snode_tree_release(tree);
  }
  TEST("the digits of a hash are all coordinates of its level") {
    SNodeTree *tree = read("root{ dense \"j\" 4 { hash \"i\" { dense \"ij\" 2 8 { f32 } } } }");
    const SNodeStep *hash = step_of(tree, 3, 2), *leaf = step_of(tree, 3, 3);
    CHECK_INT(hash->digit_count, 2);
    check_step(hash, 0, 0, 1, 0);
    check_digit(hash, 0, 0, 0, 2, -1);
    check_digit(hash, 1, 1, 0, 8, 1);
    check_digit(leaf, 0, 0, 2, 1, 2);
    check_digit(leaf, 1, 1, 8, 1, 1);
    snode_tree_release(tree);
  }
  TEST("the distance of two records is the size of their fields") {
    SNodeTree *tree = read("root{ dense aos \"i\" 4 { f64, dense \"j\" 2 { f32 } } }");
    check_step(step_of(tree, 2, 2), 8, 16, 2, -1);
    snode_tree_release(tree);
  }
}

/* -- against the declaration ------------------------------------------------------------------- */

/* Cells of `node` within a cell of `above` along an axis, by multiplying sizes. */
static int64_t cells_in(const SNode *above, const SNode *node, int axis) {
  int64_t cells = 1;
  for (; node != above; node = node->parent)
    for (int k = 0; k < node->axis_count; k++)
      if (node->axes[k] == axis) cells *= node->sizes[k];
  return cells;
}

/* The bytes from the nearest node, or the root's container, to an element: by the declaration
 * alone. */
static uint64_t bytes_by_hand(const SNode *node, int component, const int64_t *index) {
  uint64_t bytes = 0;
  for (const SNode *at = node; at; component = (int)at->component_in_parent, at = at->parent) {
    bytes += at->components[component].offset;
    if (snode_is_managed(at)) break;
    uint64_t number = 0;
    for (int k = 0; k < at->axis_count; k++) {
      int64_t along =
          index[snode_axis_position(node, at->axes[k])] / cells_in(at, node, at->axes[k]);
      number = number * (uint64_t)at->sizes[k] + (uint64_t)(along % at->sizes[k]);
    }
    bytes += number * at->components[component].stride;
  }
  return bytes;
}

static uint64_t bytes_by_table(const SNode *node, int component, const int64_t *index) {
  const SNodePath *path = node->path;
  uint64_t bytes = 0, number = 0;
  for (int s = path->node_step + 1; s < path->step_count; s++) {
    const SNodeStep *step = &path->steps[s];
    bytes += step->offset + number * step->stride;
    number = 0;
    for (int k = 0; k < step->digit_count; k++) {
      const SNodeDigit *digit = &step->digits[k];
      int64_t along = index[digit->position] / digit->weight;
      number = number * (uint64_t)digit->size +
               (uint64_t)(digit->above < 0 ? along : along % digit->size);
    }
  }
  const SNodeComponent *into = &node->components[component];
  return bytes + into->offset + number * into->stride;
}

static void check_node(const SNode *node) {
  int64_t index[SNODE_MAX_AXES];
  for (int64_t n = 0; n < 200; n++) {
    for (int k = 0; k < node->rank; k++) index[k] = (n * 7919 + k * 104729) % node->shape[k];
    for (int c = 0; c < node->component_count; c++)
      CHECK_INT(bytes_by_table(node, c, index), bytes_by_hand(node, c, index));
  }
  for (const SNode *above = node; above; above = above->parent)
    for (int k = 0; k < node->rank; k++)
      CHECK_INT(snode_divisor(above, node, node->level_axes[k]),
                cells_in(above, node, node->level_axes[k]));
}

static void sums(void) {
  static const char *const texts[] = {"root{ dense \"ij\" 6 4 { f32, dense \"ji\" 3 5 { u8, f64 }, "
                                      "dense aos \"k\" 7 { i16, dense \"ik\" 2 2 { f32 } } } }",
                                      "root{ f64, pointer \"ij\" 4 2 { i32, dense \"ij\" 3 8 { "
                                      "f32, bitmasked \"j\" 70 { u8, dense \"i\" 2 { f32 } } } } }",
                                      "root{ dense \"pi\" 3 2 { pointer \"i\" 5 { dense \"p\" 2 { "
                                      "pointer \"ip\" 2 2 { u8, dense \"m\" 9 { f32 } } } } } }"};
  TEST("offsets, strides and digits lead where the declaration says") {
    for (int t = 0; t < 3; t++) {
      SNodeTree *tree = read(texts[t]);
      for (int n = 0; n < tree->node_count; n++) check_node(tree->nodes[n]);
      snode_tree_release(tree);
    }
  }
}

int main(void) {
  heap_init(&heap, 0);
  kinds();
  sums();
  TEST("paths free all memory") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
