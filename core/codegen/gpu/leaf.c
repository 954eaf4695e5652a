/* leaf.c - a leaf that several GPU threads share (ir/spread.c): groups of threads divide the
 * rows of its grid, and the threads of a group divide the cells of a row, so that adjacent threads
 * access adjacent memory.
 *
 *     thread m of n, rows of r cells:  group m / r of n / r takes rows, thread m % r of it cells
 *
 * A single thread (an ordered task) is a group of one, and does the whole leaf. The number of
 * threads is a compile-time constant (gpu.c), and so is a thread's share of a row. If all threads
 * have equally many iterations, several are unrolled: they differ by constants, so their addresses
 * do, and only iterations at an edge test which leaf holds a neighbour. Decision D-codegen-12. */
#include "base/bits.h"
#include "codegen/gpu/gpu.h"

/* Approximate limit of unrolled instructions; beyond it there is a loop. */
enum { MOST_UNROLLED = 1024 };

static LLVMValueRef plus(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildNSWAdd(g->builder, a, b, "");
}

/* -- dealing out ------------------------------------------------------------------------------- */

typedef void Give(Codegen *g, LLVMValueRef number, void *data);

/* The numbers begin .. end - 1, which the threads of a group take round robin. */
typedef struct Deal {
  ThreadGroup group;
  LLVMValueRef begin, end;
  int64_t count;  /* of numbers, if known at compile time; else 0 */
  int64_t weight; /* instructions per number */
  Give *give;
  void *data;
} Deal;

GpuLoop gpu_loop_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step) {
  GpuLoop loop = {.step = step, .head = block_new(g, "share"), .leave = block_new(g, "shared")};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), work = block_new(g, "part");
  block_jump(g, loop.head);
  block_enter(g, loop.head);
  loop.index = LLVMBuildPhi(g->builder, g->i32, "");
  LLVMAddIncoming(loop.index, &from, &before, 1);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSLT, loop.index, to, ""), work, loop.leave);
  block_enter(g, work);
  return loop;
}

void gpu_loop_end(Codegen *g, const GpuLoop *loop) {
  LLVMValueRef next = plus(g, loop->index, loop->step);
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  block_jump(g, loop->head);
  LLVMAddIncoming(loop->index, &next, &back, 1);
  block_enter(g, loop->leave);
}

/* How many of the iterations to unroll. Not for a single thread, whose speed does not matter. */
static int64_t unrolled(const Deal *deal, int64_t iterations) {
  int64_t count = 1;
  if (deal->group.is_alone) return 1;
  while (iterations % (2 * count) == 0 && 2 * count * deal->weight <= MOST_UNROLLED) count *= 2;
  return count;
}

/* All threads have equally many numbers: in iteration t, thread m of n takes begin + t * n + m. */
static void deal_evenly(Codegen *g, const Deal *deal) {
  int64_t size = deal->group.size, at_once = unrolled(deal, deal->count / size);
  LLVMValueRef zero = value_integer(g->i32, 0);
  GpuLoop loop = {.index = zero};
  bool is_loop = at_once * size < deal->count;
  if (is_loop)
    loop = gpu_loop_begin(g, zero, value_integer(g->i32, deal->count),
                          value_integer(g->i32, at_once * size));
  for (int64_t k = 0; k < at_once; k++) {
    LLVMValueRef own = plus(g, deal->group.rank, value_integer(g->i32, k * size));
    deal->give(g, plus(g, plus(g, loop.index, own), deal->begin), deal->data);
  }
  if (is_loop) gpu_loop_end(g, &loop);
}

static void deal_out(Codegen *g, const Deal *deal) {
  ASSERT(deal->group.rank && deal->group.size > 0, "a thread has a rank in its group");
  if (deal->count && deal->count % deal->group.size == 0) return deal_evenly(g, deal);
  GpuLoop loop = gpu_loop_begin(g, plus(g, deal->begin, deal->group.rank), deal->end,
                                value_integer(g->i32, deal->group.size));
  deal->give(g, loop.index, deal->data);
  gpu_loop_end(g, &loop);
}

/* The approximate number of a region's instructions that remain per unrolled iteration; addresses
 * become constants. */
static int64_t weight_of(const IrRegion *region) {
  int64_t weight = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    weight += inst->op != IR_CONST && inst->op != IR_OFFSET && inst->op != IR_CONVERT &&
              inst->op != IR_FRAME_GET;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      weight += weight_of(inst->regions[i]);
  }
  return weight;
}

/* -- rows -------------------------------------------------------------------------------------- */

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
static int64_t threads_per_row(const ThreadGroup *leaf, int64_t cells) {
  int64_t most = 1;
  while (most < cells && most < leaf->size) most *= 2;
  return most;
}

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
    LLVMValueRef extent = value_integer(g->i32, grid->extent[axis]);
    value_set(g, body->params.items[axis], axis ? LLVMBuildURem(g->builder, row, extent, "") : row);
    row = LLVMBuildUDiv(g->builder, row, extent, "");
  }
  const ThreadGroup leaf = g->f.group;
  g->f.group = rows->group;
  emit_region(g, body);
  g->f.group = leaf;
}

void gpu_grid(Codegen *g, const IrInst *inst) {
  const IrRegion *body = inst->regions[0];
  if (!g->f.group.rank)
    return codegen_fail(g, inst, "only threads that share a leaf have rows of cells");
  if (body->params.count > SNODE_MAX_AXES) return codegen_fail(g, inst, "it has too many axes");
  for (int axis = 0; axis < body->params.count; axis++)
    if (inst->extent[axis] < 1) return codegen_fail(g, inst, "an axis has no cells");
  const ThreadGroup leaf = g->f.group;
  int64_t cells = longest_row(body), in_row = threads_per_row(&leaf, cells), count = 1;
  for (int axis = 0; axis < body->params.count; axis++) count *= inst->extent[axis];
  LLVMValueRef width = value_integer(g->i32, in_row);
  Rows rows = {inst, {LLVMBuildURem(g->builder, leaf.rank, width, ""), in_row, leaf.is_alone}};
  Deal deal = {
      .group = {LLVMBuildUDiv(g->builder, leaf.rank, width, ""), leaf.size / in_row, leaf.is_alone},
      .begin = value_integer(g->i32, 0),
      .end = value_integer(g->i32, count),
      .count = count,
      .weight = weight_of(body) * max_i64(1, cells / in_row),
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
  block_jump(g, next);
  block_enter(g, next);
}

/* Emits the cell; in a masked row only if its bit is set. */
static void give_cell(Codegen *g, LLVMValueRef position, void *data) {
  const Cells *cells = data;
  if (!cells->word) return emit_cell(g, cells, position);
  LLVMValueRef wide = LLVMBuildZExt(g->builder, position, g->i64, "");
  LLVMValueRef bit = LLVMBuildAnd(g->builder, LLVMBuildLShr(g->builder, cells->word, wide, ""),
                                  value_index(g, 1), "");
  LLVMBasicBlockRef active = block_new(g, "active"), after = block_new(g, "after");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bit, value_index(g, 0), ""), active, after);
  block_enter(g, active);
  emit_cell(g, cells, position);
  block_jump(g, after);
  block_enter(g, after);
}

void gpu_row(Codegen *g, const IrInst *inst) {
  IrInst *const *bounds = ir_row_bounds(inst);
  if (!g->f.group.rank)
    return codegen_fail(g, inst, "only threads that share a leaf have rows of cells");
  if (inst->width != 1 || inst->lanes > 1)
    return codegen_fail(g, inst, "threads share its cells: it has no vectors");
  if (inst->masked && (inst->end > 64 || !inst->operand_count))
    return codegen_fail(g, inst, "its bits are not one word");
  if (inst->regions[0]->params.count < 1) return codegen_fail(g, inst, "it has one position");
  Cells cells = {.body = inst->regions[0]};
  if (inst->masked) cells.word = value_operand(g, inst, inst->operand_count - 1);
  Deal deal = {.group = g->f.group,
               .begin = bounds ? value_of(g, bounds[0]) : value_integer(g->i32, 0),
               .end = bounds ? value_of(g, bounds[1]) : value_integer(g->i32, inst->end),
               .count = bounds ? 0 : inst->end,
               .weight = weight_of(inst->regions[0]),
               .give = give_cell,
               .data = &cells};
  deal_out(g, &deal);
}
