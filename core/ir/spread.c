/* spread.c - over how many threads of a GPU one leaf is spread. Together they look up its
 * neighbours, then they share its rows and cells. Only where all that has an effect is inside
 * rows: what comes before them each thread does for itself.
 * A warp at most, so that a block has several leaves: each thread has several cells, and what it
 * does once for the leaf is little beside them. Memory is read by 32 bytes at least, which takes 8
 * threads side by side. A large leaf has more warps, or few leaves would keep few of a GPU busy;
 * where these are few indeed, threads of a `wide` task have one cell each, as far as they go. */
#include "base/bits.h"
#include "ir/task.h"

enum {
  FEW_THREADS = 8,
  WARP = 32,
  MOST_THREADS = 128,         /* of a block */
  FEW_CELLS = 4,              /* each thread has at least, while they are one warp at most, */
  MANY_CELLS = 16,            /* and when there are more */
  MOST_ROWS = 1 << 20         /* counted */
};

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
      survey(inst->regions[i], min_i64(inner, MOST_ROWS), s);
  }
}

int ir_spread(const IrTask *task) {
  Survey s = {0};
  if (task->kind != TASK_LEAVES) return 1;
  survey(task->body, 1, &s);
  int64_t usual = max_i64(s.cells / MANY_CELLS, min_i64(WARP, s.cells / FEW_CELLS));
  int64_t wanted = task->wide ? s.cells : usual;
  int threads = 1;
  wanted = min_i64(s.cells, max_i64(FEW_THREADS, wanted));
  while (!s.is_obstructed && threads < wanted && threads < MOST_THREADS) threads *= 2;
  return threads;
}
