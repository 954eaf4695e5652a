/* gpu.c - facts of a task that the passes and the code generator for a GPU must agree on: the
 * shared memory that a block needs, and how many threads share a leaf. */
#include "base/bits.h"
#include "ir/task.h"

/* -- copies of sums in shared memory ----------------------------------------------------------- */

/* One copy per tree, from its first such element to its last. */
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

/* -- threads per leaf -------------------------------------------------------------------------- */

/* Together the threads of a leaf look up its neighbours, then they divide its rows and cells. This
 * requires that all insts with an effect are inside rows, since each thread executes the insts
 * before the rows itself.
 * Usually a leaf has at most one warp, so that a block has several leaves: each thread then has
 * several cells, which outweigh its work per leaf. Memory transactions have at least 32 bytes,
 * which takes 8 adjacent threads. A large leaf gets more warps, since few leaves would otherwise
 * occupy few of a GPU's cores; in a task with `extra_threads`, for very few leaves, threads have
 * one cell each, as long as there are enough threads. Decision D-codegen-12. */
enum {
  FEW_THREADS = 8,
  WARP = 32,
  FEW_CELLS = 4,      /* least cells per thread with up to one warp, */
  MANY_CELLS = 16,    /* and with more than one */
  MOST_ROWS = 1 << 20 /* bound of the survey's row count, against overflow */
};

typedef struct Survey {
  int64_t cells; /* of the largest grid of rows */
  bool is_obstructed;
} Survey;

/* Can every thread execute the inst with the same result as if one did? */
static bool may_repeat(const IrInst *inst) {
  switch (inst->op) {
  case IR_PRINT:
  case IR_FAULT:
  case IR_REDUCE:
  case IR_INVOKE: return false;
  case IR_CALL:
    if (inst->entry == RT_SLOT_ENSURE || inst->entry == RT_HASH_ENSURE) return true;
    if (inst->entry == RT_OUTSIDE || inst->entry == RT_TOUCH) return false;
    break;
  default: break;
  }
  return !(ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_ONCE));
}

static void survey_region(const IrRegion *region, int64_t rows, Survey *s) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    int64_t inner = rows;
    if (inst->op == IR_ROW) {
      s->is_obstructed |= inst->lanes > 1; /* vectorised for a CPU */
      s->cells = max_i64(s->cells, rows * inst->end);
      continue;
    }
    s->is_obstructed |= !may_repeat(inst);
    if (inst->op == IR_GRID)
      for (int k = 0; k < inst->regions[0]->params.count; k++) inner *= max_i64(1, inst->extent[k]);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      survey_region(inst->regions[i], min_i64(inner, MOST_ROWS), s);
  }
}

int ir_leaf_threads(const IrTask *task) {
  Survey s = {0};
  if (task->kind != TASK_LEAVES) return 1;
  survey_region(task->body, 1, &s);
  int64_t usual = max_i64(s.cells / MANY_CELLS, min_i64(WARP, s.cells / FEW_CELLS));
  int64_t wanted = task->extra_threads ? s.cells : usual;
  int threads = 1;
  wanted = min_i64(s.cells, max_i64(FEW_THREADS, wanted));
  while (!s.is_obstructed && threads < wanted && threads < IR_MAX_SPREAD) threads *= 2;
  DEBUG_ASSERT(threads <= IR_MAX_SPREAD, "threads of a block");
  return threads;
}
