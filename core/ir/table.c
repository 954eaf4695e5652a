/* table.c - the constant tables of a kernel, which ITEMs read and SHUFFLEs follow. */
#include "ir/task.h"

int ir_add_table(IrKernel *kernel, Type type, int count, const int64_t *values) {
  ASSERT(count >= 0, "a table has a number of values");
  size_t bytes = sizeof *values * (size_t)count;
  for (int i = 0; i < kernel->tables.count; i++) {
    const IrTable *table = &kernel->tables.items[i];
    if (table->count == count && type_equal(table->type, type) &&
        !memcmp(table->values, values, bytes))
      return i;
  }
  int64_t *copy = scratch_array(kernel->scratch, int64_t, count);
  if (count) memcpy(copy, values, bytes);
  IrTable table = {.type = type, .count = count, .values = copy};
  vec_push(kernel->scratch, &kernel->tables, table);
  return kernel->tables.count - 1;
}

typedef struct Used {
  int *numbers; /* by table: first 1 if it is read; later its new number + 1 */
  int count;    /* of tables when the walk began */
  bool renumbers;
} Used;

static bool visit_item(void *data, IrInst *inst) {
  const Used *used = data;
  if (inst->op != IR_ITEM && inst->op != IR_SHUFFLE) return true;
  DEBUG_ASSERT(inst->imm >= 0 && inst->imm < used->count, "a table of the kernel");
  if (used->renumbers) inst->imm = used->numbers[inst->imm] - 1;
  else used->numbers[inst->imm] = 1;
  return true;
}

void ir_drop_tables(IrKernel *kernel) {
  Used used = {.count = kernel->tables.count};
  int kept = 0;
  if (!kernel->tables.count) return;
  used.numbers = scratch_array(kernel->scratch, int, kernel->tables.count);
  ir_walk_kernel(kernel, visit_item, &used);
  for (int i = 0; i < kernel->tables.count; i++) {
    if (!used.numbers[i]) continue;
    kernel->tables.items[kept++] = kernel->tables.items[i];
    used.numbers[i] = kept;
  }
  if (kept == kernel->tables.count) return;
  kernel->tables.count = kept;
  used.renumbers = true;
  ir_walk_kernel(kernel, visit_item, &used);
}
