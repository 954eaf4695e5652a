/* kind_hash.c - the `hash` SNode: a table maps the parent node and the coordinates to the cell's
 * node. */
#include "pass/trees/kind.h"

/* Discards the offset since the parent node: a hash occupies no memory in it. */
static int name(Address *a, const SNodeStep *step, IrInst **operands) {
  a->pending = 0;
  operands[0] = a->node;
  for (int k = 0; k < step->digit_count; k++)
    operands[1 + k] = address_sum(a, address_coordinate(a, &step->digits[k]));
  return 1 + step->digit_count;
}

const Kind kind_hash = {.descend = kind_descend_to_node,
                        .name = name,
                        .find = RT_HASH_FIND,
                        .ensure = RT_HASH_ENSURE,
                        .live = RT_HASH_LIVE,
                        .clear = RT_HASH_CLEAR,
                        .fetch = RT_HASH_FETCH,
                        .count = RT_LIST_COUNT,
                        .clear_all = RT_TREE_CLEAR,
                        .is_safe_to_clear = true,
                        .plan = kind_plan_nodes};
