/* leaf.c - a leaf that several GPU threads share (ir/spread.c): groups of threads divide the
 * rows of its grid, and the threads of a group divide the cells of a row, so that adjacent threads
 * access adjacent memory.
 *
 *     thread m of n, rows of r cells:  group m / r of n / r takes rows, thread m % r of it cells
 *
 * A single thread (an ordered task) is a group of one, and does the whole leaf. The number of
 * threads is a compile-time constant (gpu.c), and so is a thread's share of a row. How many threads
 * share a row, and how many iterations are unrolled, are attributes of GRID and ROW
 * (pass/vector/cell_loops.c). Decision D-codegen-12. */
#include "base/bits.h"
#include "codegen/gpu/gpu.h"

/* -- dealing out ------------------------------------------------------------------------------- */

typedef void Give(Codegen *g, LLVMValueRef number, void *data);

/* The numbers begin .. end - 1, which the threads of a group take round robin. */
typedef struct Deal {
  ThreadGroup group;
  LLVMValueRef begin, end;
  int64_t count;  /* of numbers, if known at compile time; else 0 */
  int64_t copies; /* of iterations that are unrolled */
  Give *give;
  void *data;
} Deal;

/* All threads have equally many numbers: in iteration t, thread m of n takes begin + t * n + m. */
static void deal_evenly(Codegen *g, const Deal *deal) {
  int64_t size = deal->group.size, at_once = max_i64(1, deal->group.is_alone ? 1 : deal->copies);
  LLVMValueRef zero = value_i32(g, 0), count = value_i32(g, deal->count);
  TestedLoop loop = {.index = zero};
  bool is_loop = at_once * size < deal->count;
  if (is_loop) loop = tested_begin(g, zero, count, value_i32(g, at_once * size), NULL);
  for (int64_t k = 0; k < at_once; k++) {
    LLVMValueRef own = build_nsw_add(g, deal->group.rank, value_i32(g, k * size));
    deal->give(g, build_nsw_add(g, build_nsw_add(g, loop.index, own), deal->begin), deal->data);
  }
  if (is_loop) tested_end(g, &loop);
}

static void deal_out(Codegen *g, const Deal *deal) {
  ASSERT(deal->group.rank && deal->group.size > 0, "a thread has a rank in its group");
  if (deal->count && deal->count % deal->group.size == 0) return deal_evenly(g, deal);
  TestedLoop loop = tested_begin(g, build_nsw_add(g, deal->begin, deal->group.rank), deal->end,
                                 value_i32(g, deal->group.size), NULL);
  deal->give(g, loop.index, deal->data);
  tested_end(g, &loop);
}

/* -- rows -------------------------------------------------------------------------------------- */

typedef struct Rows {
  const IrInst *grid;
  ThreadGroup group; /* that shares a row */
} Rows;

/* Emits the row of that number in the grid. */
static void give_row(Codegen *g, LLVMValueRef row, void *data) {
  const Rows *rows = data;
  const IrInst *grid = rows->grid;
  const IrRegion *body = grid->regions[0];
  for (int axis = body->params.count - 1; axis >= 0; axis--) {
    LLVMValueRef extent = value_i32(g, grid->extent[axis]);
    value_set(g, body->params.items[axis], axis ? build_urem(g, row, extent) : row);
    row = build_udiv(g, row, extent);
  }
  const ThreadGroup leaf = g->f.group;
  g->f.group = rows->group;
  region_emit(g, body);
  g->f.group = leaf;
}

void gpu_grid(Codegen *g, const IrInst *inst) {
  const IrRegion *body = inst->regions[0];
  if (!g->f.group.rank || !inst->width)
    return codegen_fail(g, inst, "only threads that share a leaf have rows of cells");
  const ThreadGroup leaf = g->f.group;
  int64_t in_row = min_i64(leaf.size, inst->width), count = 1;
  for (int axis = 0; axis < body->params.count; axis++) count *= inst->extent[axis];
  LLVMValueRef width = value_i32(g, in_row);
  Rows rows = {inst, {build_urem(g, leaf.rank, width), in_row, leaf.is_alone}};
  Deal deal = {.group = {build_udiv(g, leaf.rank, width), leaf.size / in_row, leaf.is_alone},
               .begin = value_i32(g, 0),
               .end = value_i32(g, count),
               .count = count,
               .copies = inst->copies,
               .give = give_row,
               .data = &rows};
  deal_out(g, &deal);
}

/* -- cells ------------------------------------------------------------------------------------- */

typedef struct Cells {
  const IrRegion *body;
  LLVMValueRef word; /* of a masked row: its bits */
} Cells;

static void emit_cell(Codegen *g, const Cells *cells, LLVMValueRef position) {
  LLVMBasicBlockRef next = block_new(g, "cell.next");
  value_set(g, cells->body->params.items[0], position);
  control_body(g, cells->body, next);
  block_follow(g, next);
}

/* Emits the cell; in a masked row only if its bit is set. */
static void give_cell(Codegen *g, LLVMValueRef position, void *data) {
  const Cells *cells = data;
  if (!cells->word) return emit_cell(g, cells, position);
  LLVMValueRef wide = build_zext(g, position, g->i64);
  LLVMValueRef bit = build_and(g, build_lshr(g, cells->word, wide), value_index(g, 1));
  LLVMBasicBlockRef after = block_if(g, build_is_some(g, bit), "active", "after");
  emit_cell(g, cells, position);
  block_follow(g, after);
}

void gpu_row(Codegen *g, const IrInst *inst) {
  IrInst *const *bounds = ir_row_bounds(inst);
  if (!g->f.group.rank)
    return codegen_fail(g, inst, "only threads that share a leaf have rows of cells");
  if (inst->width != 1 || inst->lanes > 1)
    return codegen_fail(g, inst, "threads share its cells: it has no vectors");
  ASSERT(!inst->masked || inst->end <= 64, "the bits of a row are one word");
  Cells cells = {.body = inst->regions[0]};
  if (inst->masked) cells.word = value_operand(g, inst, inst->operand_count - 1);
  Deal deal = {.group = g->f.group,
               .begin = bounds ? value_of(g, bounds[0]) : value_i32(g, 0),
               .end = bounds ? value_of(g, bounds[1]) : value_i32(g, inst->end),
               .count = bounds ? 0 : inst->end,
               .copies = inst->copies,
               .give = give_cell,
               .data = &cells};
  deal_out(g, &deal);
}
