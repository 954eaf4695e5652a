/* kind.c - see kind.h. */
#include "pass/trees/kind.h"

static const Kind *const kinds[SNODE_KIND_COUNT] = {
#define KIND(NAME, WORD, FACTS) [SNODE_##NAME] = &kind_##WORD,
#include "snode/kind.def"
#undef KIND
};

const Kind *kind_of(const SNode *node) { return kinds[node->kind]; }
const Kind *kind_of_step(const SNodeStep *step) { return kinds[step->kind]; }

const Kind *kind_of_active(const SNode *cells) {
  const SNode *sparse = snode_sparse_level(cells);
  return sparse ? kind_of(sparse) : &kind_dense;
}

ActivePlan kind_plan_nodes(const SNode *sparse, const SNode *cells) {
  if (sparse == cells)
    return (ActivePlan){.kind = TASK_NODES, .level = sparse, .over = "the active nodes"};
  return (ActivePlan){.kind = TASK_LEAVES,
                      .level = sparse,
                      .has_cells = true,
                      .over = "the active leaves, cell by cell"};
}

AddressIndex kind_descend_to_node(Address *a, const SNodeStep *step) {
  IrInst *operands[ADDRESS_MAX_NAME];
  const Kind *kind = kind_of_step(step);
  ASSERT(kind->name && kind->find && kind->ensure, "cells that are nodes are found by calls");
  int count = kind->name(a, step, operands);
  a->at = a->node = ir_call(a->b, a->ensures ? kind->ensure : kind->find, a->tree, step->manager,
                            count, operands);
  return (AddressIndex){0};
}
