/* kind_pointer.c - the `pointer` SNode: a slot per cell leads to the cell's node. A read of an empty slot meets the
 * ambient's zeros. */
#include "pass/kind.h"

static int name(Address *a, const SNodeStep *step, IrInst **operands) {
  address_add_cells(a, address_cell(a, step), sizeof(uint32_t));
  operands[0] = address_settle(a);
  return 1;
}

const Kind kind_pointer = {.descend = kind_descend_to_node,
                           .name = name,
                           .find = RT_SLOT_FIND,
                           .ensure = RT_SLOT_ENSURE,
                           .live = RT_SLOT_LIVE,
                           .clear = RT_SLOT_CLEAR,
                           .count = RT_LIST_COUNT,
                           .clear_all = RT_TREE_CLEAR};
