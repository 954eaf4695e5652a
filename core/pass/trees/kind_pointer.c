/* kind_pointer.c - the `pointer` SNode: a slot per cell leads to the cell's node. A read through an
 * empty slot gets the ambient's zeros. */
#include "pass/trees/kind.h"

static int name(Address *a, const SNodeStep *step, IrInst **operands) {
  address_add_cells(a, address_cell(a, step), sizeof(uint32_t));
  operands[0] = address_flush(a);
  return 1;
}

/* -- serial loops ------------------------------------------------------------------------------ */

/* `block`: coordinate of the node along its last axis; the others follow from the indices so
 * far. */
static void open_if_active(Nest *nest, const SNode *pointer, const SNode *cells,
                           IrInst *const *indices, IrInst *block) {
  IrInst *coordinates[SNODE_MAX_AXES];
  for (int k = 0; k < pointer->rank - 1; k++) {
    int axis = pointer->level_axes[k];
    coordinates[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)],
                                 snode_divisor(pointer, cells, axis));
  }
  coordinates[pointer->rank - 1] = block;
  nest_if(nest, nest_is_active(nest, pointer, coordinates));
}

/* Along the last of the pointer's axes the loop goes node by node and tests once per node whether
 * it exists; the axes before it run over the whole shape. */
static void nest_nodes(Nest *nest, const SNode *pointer, const SNode *cells, IrInst **indices) {
  int split_axis = pointer->level_axes[pointer->rank - 1];
  for (int i = 0; i < cells->rank; i++) {
    if (cells->level_axes[i] != split_axis) {
      indices[i] = nest_count(nest, cells->shape[i]);
      continue;
    }
    int64_t size = snode_divisor(pointer, cells, split_axis);
    IrInst *block = nest_count(nest, cells->shape[i] / size);
    open_if_active(nest, pointer, cells, indices, block);
    indices[i] = block;
    if (size == 1) continue;
    IrInst *local = nest_count(nest, size);
    IrInst *first = ir_binary(&nest->b, IR_MUL, block, ir_const_int(&nest->b, nest->index, size));
    indices[i] = ir_binary(&nest->b, IR_ADD, first, local);
  }
}

const Kind kind_pointer = {.descend = kind_descend_to_node,
                           .name = name,
                           .find = RT_SLOT_FIND,
                           .ensure = RT_SLOT_ENSURE,
                           .live = RT_SLOT_LIVE,
                           .clear = RT_SLOT_CLEAR,
                           .count = RT_LIST_COUNT,
                           .clear_all = RT_TREE_CLEAR,
                           .plan = kind_plan_nodes,
                           .nest = nest_nodes};
