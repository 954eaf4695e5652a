/* split.c - see part.h: assigns tasks in descending order of weight, each to the lightest partition
 * so far. Decision D-jit-01. */
#include "ir/task.h"
#include "jit/part.h"

enum {
  MIN_INSTS = 150, /* of a partition: a separate module costs about a third of compiling so many */
  FUNCTION_COST = 60 /* constant cost of a function, in insts */
};

static bool count_inst(void *data, IrInst *inst) {
  (void)inst;
  ++*(int64_t *)data;
  return true;
}

static int64_t weight_of(IrRegion *region) {
  int64_t count = 0;
  if (region) ir_walk(region, count_inst, &count);
  return count;
}

static int64_t weight_of_task(const IrTask *task) {
  return FUNCTION_COST + weight_of(task->body) + weight_of(task->interior);
}

static int lightest(const int64_t *weights, int count) {
  int best = 0;
  for (int i = 1; i < count; i++)
    if (weights[i] < weights[best]) best = i;
  return best;
}

static int count_partitions(const int64_t *weights, int task_count) {
  int64_t all = 0, heaviest = 1;
  for (int i = 0; i < task_count; i++) {
    all += weights[i];
    if (weights[i] > heaviest) heaviest = weights[i];
  }
  int64_t partitions = all / MIN_INSTS, useful = 2 * all / heaviest;
  if (partitions > useful) partitions = useful; /* the heaviest task bounds the total time anyway */
  if (partitions > task_count) partitions = task_count;
  return partitions < 2 ? 1 : partitions > MAX_PARTITIONS ? MAX_PARTITIONS : (int)partitions;
}

int split_tasks(Scratch *scratch, const IrKernel *kernel, int *partition_of_task,
                int64_t sums[MAX_PARTITIONS]) {
  int count = kernel->tasks.count;
  int64_t *weights = scratch_array(scratch, int64_t, count + 1);
  bool *is_assigned = scratch_array(scratch, bool, count + 1);
  for (int i = 0; i < count; i++) weights[i] = weight_of_task(kernel->tasks.items[i]);
  /* every task may call any function, of which there is one copy */
  int partitions = kernel->functions.count ? 1 : count_partitions(weights, count);
  sums[0] = weight_of(kernel->body);
  for (int i = 1; i < partitions; i++) sums[i] = 0;
  for (int n = 0; n < count; n++) {
    int heaviest = -1;
    for (int i = 0; i < count; i++)
      if (!is_assigned[i] && (heaviest < 0 || weights[i] > weights[heaviest])) heaviest = i;
    int partition = lightest(sums, partitions);
    is_assigned[heaviest] = true;
    partition_of_task[heaviest] = partition;
    sums[partition] += weights[heaviest];
  }
  return partitions;
}
