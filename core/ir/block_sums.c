/* block_sums.c - the shared memory that a GPU block needs for copies of a task's sums: one copy per
 * tree, from its first such element to its last. */
#include "base/bits.h"
#include "ir/task.h"

bool ir_block_span(const IrTask *task, int32_t tree, int64_t *begin, int64_t *end) {
  *begin = INT64_MAX;
  *end = 0;
  for (int i = 0; i < task->block_sums.count; i++) {
    const IrBlockSum *sum = &task->block_sums.items[i];
    if (sum->tree != tree) continue;
    DEBUG_ASSERT(sum->count > 0 && sum->offset >= 0, "a sum has elements in its tree's root");
    int64_t last = (int64_t)sum->offset + ((int64_t)sum->count - 1) * sum->stride;
    *begin = min_i64(*begin, sum->offset);
    *end = max_i64(*end, last + type_size(sum->type));
  }
  *begin &= ~INT64_C(7); /* keeps the alignment of the tree */
  return *end > 0;
}

static bool is_first(const IrTask *task, int number) {
  for (int k = 0; k < number; k++)
    if (task->block_sums.items[k].tree == task->block_sums.items[number].tree) return false;
  return true;
}

int64_t ir_block_bytes(const IrTask *task) {
  int64_t bytes = 0, begin, end;
  for (int i = 0; i < task->block_sums.count; i++)
    if (is_first(task, i) && ir_block_span(task, task->block_sums.items[i].tree, &begin, &end))
      bytes += end - begin;
  return bytes;
}
