/* kind.c - see kind.h. Lists are in kind_dynamic.c, bitmasked SNodes in kind_bitmasked.c. */
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

ActivePlan kind_plan_leaves(const SNode *sparse, const SNode *cells) {
  return (ActivePlan){.kind = TASK_LEAVES,
                      .level = sparse,
                      .has_cells = true,
                      .over = "the active leaves, cell by cell"};
}

ActivePlan kind_plan_nodes(const SNode *sparse, const SNode *cells) {
  if (sparse != cells) return kind_plan_leaves(sparse, cells);
  return (ActivePlan){.kind = TASK_NODES, .level = sparse, .over = "the active nodes"};
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

/* -- dense, and the root ----------------------------------------------------------------------- */

/* The `dense` SNode, and the root: all cells exist, contiguous in memory. A list's
 * chunk is dense, too. If no sparse level is above, all cells are always active. */

/* A level without axes has one cell. */
static ActivePlan plan_all_cells(const SNode *sparse, const SNode *cells) {
  ActivePlan plan = {
      .kind = TASK_RANGE, .axis_count = cells->rank, .over = "all cells, which are always active"};
  for (int k = 0; k < cells->rank; k++) plan.counts[k] = cells->shape[k];
  if (!cells->rank) plan.counts[plan.axis_count++] = 1;
  return plan;
}

static void nest_all_cells(Nest *nest, const SNode *sparse, const SNode *cells, IrInst **indices) {
  for (int k = 0; k < cells->rank; k++) indices[k] = nest_count(nest, cells->shape[k]);
}

const Kind kind_dense = {.descend = address_cell, .plan = plan_all_cells, .nest = nest_all_cells};
const Kind kind_root = {.descend = address_cell, .plan = plan_all_cells, .nest = nest_all_cells};

/* -- hash -------------------------------------------------------------------------------------- */

/* The `hash` SNode: a table maps the parent node and the coordinates to the cell's
 * node. */

/* Discards the offset from the parent node, because a hash occupies no memory in it. */
static int name_by_key(Address *a, const SNodeStep *step, IrInst **operands) {
  a->pending = 0;
  operands[0] = a->node;
  for (int k = 0; k < step->digit_count; k++)
    operands[1 + k] = address_sum(a, address_coordinate(a, &step->digits[k]));
  return 1 + step->digit_count;
}

const Kind kind_hash = {.descend = kind_descend_to_node,
                        .name = name_by_key,
                        .find = RT_HASH_FIND,
                        .ensure = RT_HASH_ENSURE,
                        .live = RT_HASH_LIVE,
                        .clear = RT_HASH_CLEAR,
                        .fetch = RT_HASH_FETCH,
                        .count = RT_LIST_COUNT,
                        .clear_all = RT_TREE_CLEAR,
                        .is_safe_to_clear = true,
                        .plan = kind_plan_nodes};

/* -- pointer ----------------------------------------------------------------------------------- */

/* The `pointer` SNode: a slot per cell holds the cell's node. A read through an empty slot gets the
 * ambient node's zeros. */

static int name_slot(Address *a, const SNodeStep *step, IrInst **operands) {
  address_add_cells(a, address_cell(a, step), sizeof(uint32_t));
  operands[0] = address_flush(a);
  return 1;
}

/* -- serial loops ------------------------------------------------------------------------------ */

/* `block`: coordinate of the node along its last axis; the others follow from the indices so
 * far. */
static void open_if_node_active(Nest *nest, const SNode *pointer, const SNode *cells,
                                IrInst *const *indices, IrInst *block) {
  IrInst *coordinates[SNODE_MAX_AXES];
  for (int k = 0; k < pointer->rank - 1; k++) {
    int axis = pointer->level_axes[k];
    coordinates[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)],
                                 snode_divisor(pointer, cells, axis));
  }
  coordinates[pointer->rank - 1] = block;
  nest_if(nest, ir_is_active(&nest->b, pointer, coordinates));
}

/* Along the last of the pointer's axes the loop visits node after node and tests once per node
 * whether it exists; loops along the axes before it cover the whole shape. */
static void nest_nodes(Nest *nest, const SNode *pointer, const SNode *cells, IrInst **indices) {
  int split_axis = pointer->level_axes[pointer->rank - 1];
  for (int i = 0; i < cells->rank; i++) {
    if (cells->level_axes[i] != split_axis) {
      indices[i] = nest_count(nest, cells->shape[i]);
      continue;
    }
    int64_t size = snode_divisor(pointer, cells, split_axis);
    IrInst *block = nest_count(nest, cells->shape[i] / size);
    open_if_node_active(nest, pointer, cells, indices, block);
    indices[i] = block;
    if (size == 1) continue;
    IrInst *local = nest_count(nest, size);
    IrInst *first = ir_binary(&nest->b, IR_MUL, block, ir_const_int(&nest->b, nest->index, size));
    indices[i] = ir_binary(&nest->b, IR_ADD, first, local);
  }
}

const Kind kind_pointer = {.descend = kind_descend_to_node,
                           .name = name_slot,
                           .find = RT_SLOT_FIND,
                           .ensure = RT_SLOT_ENSURE,
                           .live = RT_SLOT_LIVE,
                           .clear = RT_SLOT_CLEAR,
                           .count = RT_LIST_COUNT,
                           .clear_all = RT_TREE_CLEAR,
                           .plan = kind_plan_nodes,
                           .nest = nest_nodes};
