/* path.c - see path.h. Steps are filled from the last one upward, so that the cells below a step
 * along each axis are known. */
#include "snode/path.h"

static int8_t step_above(const SNode *node, int axis) {
  for (node = node->parent; node; node = node->parent)
    if (snode_divides(node, axis)) return (int8_t)node->depth;
  return -1;
}

static void add_digit(SNodeStep *step, const SNode *of, int axis, int64_t size, int above) {
  int position = snode_axis_position(of, axis);
  step->digits[step->digit_count++] = (SNodeDigit){.axis = (uint8_t)axis,
                                                   .position = (uint8_t)position,
                                                   .above = (int8_t)above,
                                                   .size = size,
                                                   .weight = step->weight[position]};
}

/* Begins a step of `node`, whose container is at the end of the step above; `weights`: see
 * SNodeStep.weight. */
static void begin_step(SNodeStep *step, const SNode *node, const SNode *of,
                       const int64_t weights[SNODE_MAX_AXES]) {
  *step = (SNodeStep){.node = node, .kind = SNODE_DENSE, .manager = -1, .mask = -1};
  for (int k = 0; k < of->rank; k++) {
    step->weight[k] = weights[k];
    step->coordinate[k] = (int8_t)snode_axis_position(node, of->level_axes[k]);
  }
}

/* Fills the step to the element in a list's chunk. */
static void fill_chunk_step(SNodeStep *step, const SNode *list, int64_t weights[SNODE_MAX_AXES]) {
  begin_step(step, list, list, weights);
  step->cell_count = (uint64_t)list->chunk;
  add_digit(step, list, list->axes[0], list->chunk, list->depth);
  weights[snode_axis_position(list, list->axes[0])] = list->chunk;
}

/* Adds the digits of a step. A hash has no container: all coordinates of its level identify a cell.
 * A list has a slot per chunk. */
static void add_digits(SNodeStep *step, const SNode *of) {
  const SNode *node = step->node;
  bool is_keyed = snode_has(node, SNODE_KEYED);
  int count = is_keyed ? node->rank : node->axis_count;
  for (int k = 0; k < count; k++) {
    int axis = is_keyed ? node->level_axes[k] : node->axes[k];
    int64_t size = is_keyed                ? 0
                   : snode_has_lists(node) ? (int64_t)step->cell_count
                                           : node->sizes[k];
    add_digit(step, of, axis, size, step_above(node, axis));
  }
}

static void fill_step(SNodeStep *step, const SNode *node, const SNode *of,
                      const int64_t weights[SNODE_MAX_AXES]) {
  begin_step(step, node, of, weights);
  step->kind = node->kind;
  step->manager = node->manager;
  step->mask = node->mask;
  step->mask_offset = node->mask_offset;
  step->cell_count = node->cell_count;
  if (snode_has_lists(node)) {
    step->slots = SNODE_DYNAMIC_SLOTS;
    step->cell_count = (node->cell_count + (uint64_t)node->chunk - 1) / (uint64_t)node->chunk;
  }
  if (node->parent) {
    const SNodeComponent *component = &node->parent->components[node->component_in_parent];
    step->offset = component->offset;
    step->stride = component->stride;
  }
  add_digits(step, of);
}

/* Multiplies the weights for the step above `node`: one of its cells contains a whole container of
 * `node`. Below a hash the product may wrap, as no index is that large. */
static void multiply_weights(const SNode *node, const SNode *of, int64_t weights[SNODE_MAX_AXES]) {
  for (int k = 0; k < node->axis_count; k++) {
    int64_t *weight = &weights[snode_axis_position(of, node->axes[k])];
    *weight = snode_has_lists(node) ? node->sizes[k]
                                    : (int64_t)((uint64_t)*weight * (uint64_t)node->sizes[k]);
  }
}

static int depth_of(const SNode *node) { return node ? node->depth : -1; }

SNodePath *snode_path_create(const SNode *node) {
  int count = node->depth + 1 + snode_has_lists(node);
  SNodePath *path =
      heap_alloc(node->tree->heap, sizeof *path + sizeof path->steps[0] * (size_t)count);
  int64_t weights[SNODE_MAX_AXES];
  if (!path) return NULL;
  *path = (SNodePath){.node = node,
                      .step_count = count,
                      .node_step = depth_of(snode_node_level(node)),
                      .sparse_step = depth_of(snode_sparse_level(node))};
  for (int k = 0; k < node->rank; k++) weights[k] = 1;
  if (snode_has_lists(node)) fill_chunk_step(&path->steps[count - 1], node, weights);
  for (const SNode *at = node; at; at = at->parent) {
    fill_step(&path->steps[at->depth], at, node, weights);
    multiply_weights(at, node, weights);
  }
  return path;
}

int64_t snode_divisor(const SNode *node, const SNode *below, int axis) {
  return snode_step(node, below)->weight[snode_axis_position(below, axis)];
}

bool snode_has_same_digits(const SNodeStep *a, const SNodeStep *b) {
  if (a->digit_count != b->digit_count) return false;
  for (int k = 0; k < a->digit_count; k++)
    if (a->digits[k].position != b->digits[k].position || a->digits[k].size != b->digits[k].size ||
        a->digits[k].weight != b->digits[k].weight)
      return false;
  return true;
}
