/* node_cursors.c - in a loop over nodes, accesses elements of the visited node through its cursor.
 *
 *   task = nodes l0 (%i) {                              (l0 is block, f1 is in dense 8 below it)
 *     load place f0 %i                                  =>      load place f0 here %i
 *     for 0, 7 (%a) { load place f1 8 * %i + %a }       .. load place f1 here 8 * %i + %a ..
 *
 * The node exists until the loop ends, so these accesses need neither checks nor look-ups:
 * `lower_places` gives the body a last parameter, the node's cursor. This holds in trees in which
 * the body deactivates nothing. Sets PLACE.in_visited_node, PLACE.in_bounds. */
#include "pass/analysis/effects.h"

typedef struct Nodes {
  IrKernel *kernel;
  const IrTask *task;
  const SNode *node_level;
} Nodes;

/* Are there only dense levels between the node level and the field, so that every cell exists? */
static bool lies_in_node(const Nodes *n, const SNode *node) {
  return snode_node_level(node) == n->node_level && !snode_is_masked(node, n->node_level);
}

/* Is the value parameter k times `by`? */
static bool is_multiple(const Nodes *n, const IrInst *base, int k, int64_t by) {
  Affine sum;
  return facts_affine(base, NULL, &sum) && sum.count == 1 && !sum.constant &&
         sum.factors[0] == by && ranges_param(n->task->body, sum.values[0]) == k;
}

/* Does the index stay in the node along the axis? Indices that may have wrapped are not
 * multiples. */
static bool stays_in_node(const Nodes *n, const SNode *node, int axis, const IndexRange *range) {
  int k = snode_axis_position(n->node_level, axis), position = snode_axis_position(node, axis);
  int64_t cells = k >= 0 ? snode_divisor(n->node_level, node, axis) : node->shape[position];
  if (!range->known || range->low < 0 || range->high >= cells) return false;
  if (k < 0 || !range->base) return k < 0 && !range->base;
  return ranges_hold_below(range, snode_extent(node, position)) &&
         is_multiple(n, range->base, k, cells);
}

static void mark_place(const Nodes *n, const EffectPlace *place) {
  const SNode *node = n->kernel->fields.items[place->inst->field].node;
  if (place->is_called || !node || !lies_in_node(n, node)) return;
  for (int k = 0; k < place->inst->operand_count; k++)
    if (!stays_in_node(n, node, node->level_axes[k], &place->index[k])) return;
  place->inst->in_visited_node = place->inst->in_bounds = true;
}

bool pass_node_cursors(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_NODES) continue;
    Nodes n = {
        .kernel = kernel, .task = task, .node_level = kernel->levels.items[task->level].node};
    const Effects *effects = effects_of(ctx, kernel, task);
    DEBUG_ASSERT(n.node_level->manager >= 0, "a task over nodes has a level of nodes");
    if (effects->trees[kernel->levels.items[task->level].tree] & EFFECT_DEACTIVATES) continue;
    for (int p = 0; p < effects->places.count; p++) mark_place(&n, effects->places.items[p]);
  }
  return true;
}
