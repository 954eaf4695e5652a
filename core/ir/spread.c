/* spread.c - over how many threads of a GPU one leaf is spread. Each of them looks up the leaf and
 * its neighbours; then they share its rows and cells. Only where all that has an effect is inside
 * rows: what comes before them each thread does for itself. */
#include "base/bits.h"
#include "ir/task.h"

enum { MOST_THREADS = 128 }; /* of a block */

typedef struct Survey {
  int64_t cells;   /* of the largest grid of rows */
  bool is_obstructed;
} Survey;

/* Done by many threads it does what it does by one. */
static bool may_repeat(const IrInst *inst) {
  switch (inst->op) {
  case IR_PRINT: case IR_FAULT: case IR_REDUCE: case IR_INVOKE: return false;
  case IR_CALL:
    if (inst->entry == RT_SLOT_ENSURE || inst->entry == RT_HASH_ENSURE) return true;
    if (inst->entry == RT_OUTSIDE || inst->entry == RT_TOUCH) return false;
    break;
  default: break;
  }
  return !(ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_ONCE));
}

static void survey(const IrRegion *region, int64_t rows, Survey *s) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    int64_t inner = rows;
    if (inst->op == IR_ROW) {
      s->is_obstructed |= inst->width > 1 || inst->lanes > 1; /* made for a CPU */
      s->cells = max_i64(s->cells, rows * (inst->end - inst->begin));
      continue;
    }
    s->is_obstructed |= !may_repeat(inst);
    if (inst->op == IR_GRID)
      for (int k = 0; k < inst->regions[0]->params.count; k++) inner *= max_i64(1, inst->extent[k]);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      survey(inst->regions[i], min_i64(inner, MOST_THREADS), s);
  }
}

int ir_spread(const IrTask *task) {
  Survey s = {0};
  if (task->kind != TASK_LEAVES) return 1;
  survey(task->body, 1, &s);
  int threads = 1;
  while (!s.is_obstructed && threads < s.cells && threads < MOST_THREADS) threads *= 2;
  return threads;
}
