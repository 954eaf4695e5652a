/* ops.c - one map over all tables. */
#include "ops.h"

static Names names;
static struct {
  const Op **at;
  uint32_t count, room;
} ops;

static void add(const Op *table, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    names_set(&names, (Slice){table[i].name, (uint32_t)strlen(table[i].name)}, ops.count);
    PUSH(ops, &table[i]);
  }
}

const Op *op_find(Slice name) {
  if (!ops.count) {
    add(integer_ops, integer_op_count);
    add(float_ops, float_op_count);
    add(half_ops, half_op_count);
  }
  uint32_t found = names_find(&names, name);
  return found == NAME_NONE ? NULL : ops.at[found];
}
