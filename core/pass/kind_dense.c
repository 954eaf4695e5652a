/* kind_dense.c - the `dense` SNode, and the root: every cell is there, in runs. A list's chunk is dense too, once it is
 * reached. */
#include "pass/kind.h"

const Kind kind_dense = {.descend = address_cell};
