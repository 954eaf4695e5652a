/* leaf_threads.c - how the threads of a GPU that share a leaf (ir/spread.c) divide its rows and
 * cells: the threads of a row (`width`), and how many of a thread's rows, or cells of a row, are
 * unrolled.
 *
 *     grid extent=(8,8) (..) { row end=8 .. }   =>   grid extent=(8,8) width=8 copies=4 (..) { .. }
 *
 * If all threads have equally many iterations, several are unrolled: they differ by constants, so
 * their addresses do, and only iterations at an edge test which leaf holds a neighbour. Decision
 * D-codegen-12. */
#include "base/bits.h"
#include "ir/task.h"
#include "pass/vector/cell_loops.h"

/* Approximate limit of unrolled instructions; beyond it there is a loop. */
enum { MOST_UNROLLED = 1024 };

/* How many of `iterations` of so many instructions to unroll. */
static int32_t choose_copies(int64_t iterations, int64_t insts) {
  int32_t count = 1;
  while (iterations % (2 * count) == 0 && 2 * count * insts <= MOST_UNROLLED) count *= 2;
  return count;
}

/* The approximate number of a region's instructions that remain per unrolled iteration; addresses
 * become constants. */
static int64_t count_unrolled_insts(const IrRegion *region) {
  int64_t insts = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    insts += inst->op != IR_CONST && inst->op != IR_OFFSET && inst->op != IR_CONVERT &&
             inst->op != IR_FRAME_GET;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      insts += count_unrolled_insts(inst->regions[i]);
  }
  return insts;
}

static int64_t longest_row(const IrRegion *region) {
  int64_t cells = 1;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_ROW) cells = max_i64(cells, inst->end);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      cells = max_i64(cells, longest_row(inst->regions[i]));
  }
  return cells;
}

/* The number of threads per row: that of its cells, rounded up to a power of two, at most all. */
static int32_t threads_per_row(int64_t all, int64_t cells) {
  int32_t most = 1;
  while (most < cells && most < all) most *= 2;
  return most;
}

static void choose_copies_of_row(IrInst *row, int64_t threads) {
  ASSERT(row->width == 1 && row->lanes <= 1, "threads share its cells: it has no vectors");
  bool is_even = !ir_row_bounds(row) && row->end && row->end % threads == 0;
  if (is_even)
    row->copies = choose_copies(row->end / threads, count_unrolled_insts(row->regions[0]));
}

static void choose_threads_of_grid(IrInst *grid, int64_t threads) {
  const IrRegion *body = grid->regions[0];
  int64_t cells = longest_row(body), rows = 1;
  grid->width = threads_per_row(threads, cells);
  for (int axis = 0; axis < body->params.count; axis++) rows *= grid->extent[axis];
  int64_t groups = threads / grid->width,
          insts = count_unrolled_insts(body) * max_i64(1, cells / grid->width);
  if (rows % groups == 0) grid->copies = choose_copies(rows / groups, insts);
}

void cell_loops_share(IrRegion *region, int64_t threads) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_ROW) choose_copies_of_row(inst, threads);
    if (inst->op == IR_GRID) choose_threads_of_grid(inst, threads);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      cell_loops_share(inst->regions[i], inst->op == IR_GRID ? inst->width : threads);
  }
}
