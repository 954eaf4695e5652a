/* kind_dense.c - the `dense` SNode, and the root: all cells exist, contiguous in memory. A list's
 * chunk, once reached, is dense, too. If no sparse level is above, all cells are always active. */
#include "pass/trees/kind.h"

/* A level without axes has one cell. */
static ActivePlan plan(const SNode *sparse, const SNode *cells) {
  ActivePlan plan = {
      .kind = TASK_RANGE, .axis_count = cells->rank, .over = "all cells, which are always active"};
  for (int k = 0; k < cells->rank; k++) plan.counts[k] = cells->shape[k];
  if (!cells->rank) plan.counts[plan.axis_count++] = 1;
  return plan;
}

static void nest_all(Nest *nest, const SNode *sparse, const SNode *cells, IrInst **indices) {
  for (int k = 0; k < cells->rank; k++) indices[k] = nest_count(nest, cells->shape[k]);
}

const Kind kind_dense = {.descend = address_cell, .plan = plan, .nest = nest_all};
const Kind kind_root = {.descend = address_cell, .plan = plan, .nest = nest_all};
