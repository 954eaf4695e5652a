/* gpu_leaf.c - a leaf that threads of a GPU share (ir/spread.c): the rows of its grid are dealt out
 * to groups of threads, the cells of a row to those of a group, so that neighbours in memory are
 * neighbours among threads.
 *
 *     thread m of n, rows of r cells:  group m / r of n / r takes rows, thread m % r of it cells
 *
 * One thread alone (an ordered task) is a group of one, and does it all. How many there are is a
 * constant (gpu.c), so that a thread's share of a row is. */
#include "base/bits.h"
#include "codegen/emit.h"

/* The threads of a row: as many as it has cells, to a power of two, at most all. */
static LLVMValueRef mates_of_row(Codegen *g, int64_t cells) {
  int64_t most = 1;
  while (most < cells) most *= 2;
  LLVMValueRef args[] = {g->mates, value_integer(g->i32, most)};
  return call_intrinsic(g, "llvm.umin", g->i32, args, 2);
}

typedef struct Strided {
  LLVMValueRef index, step;
  LLVMBasicBlockRef head, leave;
} Strided;

/* for (index = from; index < to; index += step) */
static Strided strided_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step) {
  Strided loop = {.step = step, .head = block_new(g, "share"), .leave = block_new(g, "shared")};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), work = block_new(g, "part");
  block_jump(g, loop.head);
  block_enter(g, loop.head);
  loop.index = LLVMBuildPhi(g->builder, g->i32, "");
  LLVMAddIncoming(loop.index, &from, &before, 1);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSLT, loop.index, to, ""), work, loop.leave);
  block_enter(g, work);
  return loop;
}

static void strided_end(Codegen *g, const Strided *loop) {
  LLVMValueRef next = LLVMBuildNSWAdd(g->builder, loop->index, loop->step, "");
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  block_jump(g, loop->head);
  LLVMAddIncoming(loop->index, &next, &back, 1);
  block_enter(g, loop->leave);
}

static int64_t longest_row(const IrRegion *region) {
  int64_t cells = 1;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_ROW) cells = max_i64(cells, inst->end - inst->begin);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      cells = max_i64(cells, longest_row(inst->regions[i]));
  }
  return cells;
}

/* The positions of row number `row` of the grid. */
static void set_positions(Codegen *g, const IrInst *grid, LLVMValueRef row) {
  const IrRegion *body = grid->regions[0];
  for (int axis = body->params.count - 1; axis >= 0; axis--) {
    LLVMValueRef extent = value_integer(g->i32, grid->extent[axis]);
    value_set(g, body->params.items[axis],
              axis ? LLVMBuildURem(g->builder, row, extent, "") : row);
    row = LLVMBuildUDiv(g->builder, row, extent, "");
  }
}

void gpu_grid(Codegen *g, const IrInst *inst) {
  const IrRegion *body = inst->regions[0];
  LLVMValueRef mate = g->mate, mates = g->mates, in_row = mates_of_row(g, longest_row(body));
  int64_t rows = 1;
  for (int axis = 0; axis < body->params.count; axis++) rows *= inst->extent[axis];
  Strided loop = strided_begin(g, LLVMBuildUDiv(g->builder, mate, in_row, ""),
                               value_integer(g->i32, rows),
                               LLVMBuildUDiv(g->builder, mates, in_row, ""));
  set_positions(g, inst, loop.index);
  g->mate = LLVMBuildURem(g->builder, mate, in_row, "");
  g->mates = in_row;
  emit_region(g, body);
  g->mate = mate;
  g->mates = mates;
  strided_end(g, &loop);
}

/* Of a masked row, if its bit is set. */
static void emit_cell(Codegen *g, Row *row, LLVMValueRef position, GpuCell *cell) {
  if (!row->word) return cell(g, row, position);
  LLVMValueRef wide = LLVMBuildZExt(g->builder, position, g->i64, "");
  LLVMValueRef bit = LLVMBuildAnd(g->builder, LLVMBuildLShr(g->builder, row->word, wide, ""),
                                  value_index(g, 1), "");
  LLVMBasicBlockRef active = block_new(g, "active"), after = block_new(g, "after");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bit, value_index(g, 0), ""), active, after);
  block_enter(g, active);
  cell(g, row, position);
  block_jump(g, after);
  block_enter(g, after);
}

void gpu_row(Codegen *g, Row *row, GpuCell *cell) {
  const IrInst *inst = row->inst;
  IrInst *const *bounds = ir_row_bounds(inst);
  LLVMValueRef first = bounds ? value_of(g, bounds[0]) : value_integer(g->i32, inst->begin),
               end = bounds ? value_of(g, bounds[1]) : value_integer(g->i32, inst->end);
  if (row->step != 1) return codegen_fail(g, inst, "threads share its cells: it has no vectors");
  if (row->word && inst->end > 64) return codegen_fail(g, inst, "its bits are not one word");
  Strided loop = strided_begin(g, LLVMBuildNSWAdd(g->builder, first, g->mate, ""), end, g->mates);
  emit_cell(g, row, loop.index, cell);
  strided_end(g, &loop);
}
