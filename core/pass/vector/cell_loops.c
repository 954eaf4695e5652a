/* cell_loops.c - writes the loops over the cells of a leaf: GRID and ROW become FOR, IF and BITS,
 * and reads that cross into the next leaf become loads. In tasks whose leaves are shared by the
 * threads of a GPU, threads divide rows and cells among themselves (leaf_threads.c).
 *
 * GRID is a FOR for each axis but the last of a leaf. Rows of a masked leaf whose bits share a word
 * are skipped together if the word is 0, as most words are in leaves with few cells:
 *
 *     grid (%a, %b) { %bits = mask_bits words, 64 a + 8 b, 8; row masked %bits .. }
 *
 *  =>  for a { if mask_bits(words, 64 a, 64) { for b { .. } } }
 *
 * This requires that the rows along the grid's last axis are adjacent in the mask, as whole words
 * or equal parts of one, and that the grid's body does nothing but visit them.
 * Decision D-llvm_bc-11. */
#include "base/bits.h"
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/arrays/refcounts.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"
#include "pass/vector/vectorise.h"

enum { WORD = 64, UNROLL_ROWS = 8, UNROLL_BODY = 800 };

typedef struct Grid {
  Scratch *scratch;
  IrKernel *kernel;
  IrInst *inst;
  IrRegion *body;
  IrInst *last;        /* its position along the last axis */
  const IrInst *bits;  /* those of a row, if rows share words */
  int64_t rows, cells; /* rows in a word; cells of a row */
  int insts;           /* in the body, before its rows are loops */
  IrMap *map;          /* copies of values of the body */
} Grid;

/* Is it an IF between a row whose few cells run one by one, and a row in lanes? */
static bool is_choice_of_rows(const IrInst *inst) {
  const IrInst *row = inst->op == IR_IF ? inst->regions[1]->first : NULL;
  const IrInst *few = row ? inst->regions[0]->first : NULL;
  return few && few->op == IR_ROW && row->op == IR_ROW && !row->next;
}

/* The number of insts that decides whether a region is copied: of a choice, those in lanes; without
 * SPLAT and STEP, of which `vectorise` writes as many as there are uses of scalars. */
static int count_insts(const IrRegion *region) {
  int count = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    count += inst->op != IR_SPLAT && inst->op != IR_STEP;
    for (int i = is_choice_of_rows(inst); i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) count += count_insts(inst->regions[i]);
  }
  return count;
}

/* -- which rows share a word ------------------------------------------------------------------- */

/* The bits of the masked rows in a grid's body; NULL if the body has other effects, too. */
static const IrInst *bits_of_rows(const IrRegion *body) {
  const IrInst *bits = NULL;
  for (const IrInst *at = body->first; at; at = at->next) {
    int acts = IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_EXIT | IR_ONCE;
    const IrInst *inst = is_choice_of_rows(at) ? at->regions[1]->first : at;
    if (inst->op != IR_ROW) {
      if (inst->regions[0] || ir_effects(inst) & acts) return NULL;
      continue;
    }
    const IrInst *own = inst->masked ? inst->operands[inst->operand_count - 1] : NULL;
    if (!own || (bits && own != bits)) return NULL;
    bits = own;
  }
  bool is_read = bits && ir_is_call(bits, RT_MASK_BITS);
  return is_read && bits->region == body ? bits : NULL;
}

/* Finds the number of rows along the last axis whose bits share a word; 1 if they do not share. */
static void find_words(Grid *grid) {
  int last = grid->body->params.count - 1;
  const IrInst *bits = bits_of_rows(grid->body);
  int64_t extent = last < 0 ? 0 : grid->inst->extent[last], cells;
  Affine at;
  grid->rows = 1;
  if (!bits || last < 0 || !ir_is_const(bits->operands[2], &cells) || cells < 1) return;
  int64_t rows = min_i64(extent, WORD / cells), shared = rows * cells;
  if (rows < 2 || extent % rows || WORD % shared) return;
  if (!facts_affine(bits->operands[1], grid->body, &at) || facts_factor(&at, grid->last) != cells)
    return;
  int64_t others = at.constant;
  for (int k = 0; k < at.count; k++) {
    if (at.values[k]->op != IR_PARAM) return;
    if (at.values[k] != grid->last) others |= at.factors[k];
  }
  if (others % shared) return;
  grid->rows = rows;
  grid->cells = cells;
  grid->bits = bits;
}

/* -- their bits -------------------------------------------------------------------------------- */

/* The bits of the rows of a word, from a position along the last axis on. */
static IrInst *bits_of_word(const Grid *grid, IrBuilder *b, IrInst *from) {
  const IrInst *bits = grid->bits;
  ir_map_put(grid->map, grid->last, from);
  IrInst *operands[3];
  for (int k = 0; k < 2; k++)
    operands[k] = rewrite_recompute(b, bits->operands[k], grid->body, grid->map);
  operands[2] = ir_const_int(b, bits->operands[2]->type, grid->rows * grid->cells);
  return ir_call(b, RT_MASK_BITS, bits->tree, (int)bits->imm, 3, operands);
}

/* Reduces the bits of each row to one: its lowest bit is set if any of them is. */
static IrInst *rows_with_bits(const Grid *grid, IrBuilder *b, IrInst *bits) {
  int64_t lowest = 0;
  for (int64_t by = grid->cells / 2; by; by /= 2)
    bits = ir_binary(b, IR_BOR, bits, ir_binary_const(b, IR_SHR, bits, by));
  for (int64_t at = 0; at < WORD; at += grid->cells) lowest |= (int64_t)((uint64_t)1 << at);
  return ir_binary_const(b, IR_BAND, bits, lowest);
}

/* -- the loops --------------------------------------------------------------------------------- */

/* Enters a loop over positions along an axis, and returns its index. */
static IrInst *open_positions(const Grid *grid, IrBuilder *b, int64_t extent, int64_t step) {
  IrInst *first = ir_const_like(b, grid->last, 0);
  return rewrite_open_for(b, first, ir_const_like(b, grid->last, extent - step), step);
}

static void copy_body(const Grid *grid, IrBuilder *b, IrInst *position) {
  ir_map_put(grid->map, grid->last, position);
  ir_copy_to(b, grid->body->first, NULL, grid->map);
}

/* The `count` rows along the last axis, from `from` on; NULL: from the first on. */
static void write_rows(const Grid *grid, IrBuilder *b, IrInst *from, int64_t count) {
  IrBuilder in = *b;
  IrInst *position = open_positions(grid, &in, count, 1);
  in.region->owner->unrolled = count <= UNROLL_ROWS && grid->insts <= UNROLL_BODY / count;
  ir_replace_uses(grid->last, from ? ir_binary(&in, IR_ADD, from, position) : position);
  rewrite_move_all(grid->body, in.region);
}

/* If fewer than half of the rows of a word have cells, iterates over these only, because a branch
 * per row would often be mispredicted. Leaves the builder in the arm for the other words. */
static void write_few_rows(const Grid *grid, IrBuilder *b, IrInst *from, IrInst *bits) {
  IrInst *rows = rows_with_bits(grid, b, bits),
         *most = ir_const_int(b, TYPE(U64), (grid->rows + 1) / 2);
  IrInst *choice = ir_if(b, ir_binary(b, IR_LT, ir_unary(b, IR_POPCNT, rows), most));
  b->region = choice->regions[0];
  IrInst *loop = ir_bits(b, rows, TYPE(U64));
  IrBuilder in = rewrite_inside(grid->kernel, loop->regions[0], grid->inst);
  IrInst *row = ir_binary_const(&in, IR_FLOORDIV, ir_index(loop), grid->cells);
  copy_body(grid, &in, ir_binary(&in, IR_ADD, from, ir_convert(&in, row, from->type)));
  b->region = choice->regions[1];
}

/* The last axis in steps of the rows that share a word. */
static void write_words(const Grid *grid, IrBuilder *b, int64_t extent) {
  IrBuilder in = *b;
  IrInst *from = open_positions(grid, &in, extent, grid->rows),
         *bits = bits_of_word(grid, &in, from);
  IrInst *some = ir_if(&in, ir_binary_const(&in, IR_NE, bits, 0));
  in.region = some->regions[0];
  if (grid->insts <= IR_LONGEST_TWICE) write_few_rows(grid, &in, from, bits);
  write_rows(grid, &in, from, grid->rows);
}

static void write_region(Scratch *scratch, IrKernel *kernel, IrRegion *region);

static void write_grid(Scratch *scratch, IrKernel *kernel, IrInst *inst) {
  IrRegion *body = inst->regions[0];
  int axes = body->params.count;
  ASSERT(axes > 0 && axes <= SNODE_MAX_AXES, "a grid has the axes of its leaf but one");
  Grid grid = {.scratch = scratch,
               .kernel = kernel,
               .inst = inst,
               .body = body,
               .last = body->params.items[axes - 1],
               .insts = count_insts(body)};
  find_words(&grid);
  write_region(scratch, kernel, body);
  IrBuilder b = rewrite_before(kernel, inst);
  for (int axis = 0; axis < axes - 1; axis++)
    ir_replace_uses(body->params.items[axis], open_positions(&grid, &b, inst->extent[axis], 1));
  grid.map = ir_map(scratch, kernel);
  int64_t extent = inst->extent[axes - 1];
  if (grid.rows > 1) write_words(&grid, &b, extent);
  else write_rows(&grid, &b, NULL, extent);
  ir_delete(inst);
}

/* -- all of a region --------------------------------------------------------------------------- */

static void write_region(Scratch *scratch, IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_GRID) write_grid(scratch, kernel, inst);
    else if (inst->op == IR_ROW) cell_loops_row(scratch, kernel, inst);
    else
      for (int i = 0; i < IR_MAX_REGIONS; i++)
        if (inst->regions[i]) write_region(scratch, kernel, inst->regions[i]);
  }
}

static void write_task(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  if (task->kind != TASK_LEAVES) return;
  ASSERT(!task->counts, "only ranges count first");
  cell_loops_share(scratch, kernel, task);
  write_region(scratch, kernel, task->body);
  rewrite_drop_dead(task->body);
}

/* -- full vectors, and reciprocals ------------------------------------------------------------ */

/* LONG_IN_LANES: a body of more insts, SPLAT and STEP not counted, gets no copy for full vectors,
 * which would double its code. MANY_VECTORS: a loop of at least so many full vectors begins them
 * at an aligned index, so that stores do not cross cache lines. */
enum { LONG_IN_LANES = 300, MANY_VECTORS = 8 };

/* Is it a division of integers that doubles hold, by a number that is constant during the task? */
static bool has_reciprocal(const IrInst *inst) {
  return (inst->op == IR_FLOORDIV || inst->op == IR_MOD) &&
         facts_is_frame_value(inst->operands[1]) && type_is_integer(inst->type) &&
         type_bits(type_element(inst->type)) <= 32;
}

static bool choose_form(void *data, IrInst *inst) {
  if (inst->op == IR_FOR)
    inst->full_vectors = inst->lanes > 1 && count_insts(inst->regions[0]) <= LONG_IN_LANES;
  inst->reciprocal = has_reciprocal(inst);
  (void)data;
  return true;
}

/* Chooses which divisions are by a reciprocal, and which vectorised bodies get a copy for whole
 * vectors. A task that counts has few iterations, and most of them would be left over by whole
 * vectors and run scalar, so it always runs under a mask. */
static void choose_forms(IrTask *task) {
  bool is_short_task =
      task->interior || (!task->scalar_border && count_insts(task->body) <= LONG_IN_LANES);
  ir_walk_task(task, choose_form, NULL);
  task->full_vectors = task->lanes > 1 && !task->counts && is_short_task ? MANY_VECTORS : 0;
  if (task->counts) choose_forms(task->counts);
}

void pass_finish_task(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  ASSERT(task->lanes <= 1, "the task is scalar");
  write_task(scratch, kernel, task);
  choose_forms(task);
  lane_accesses_task(scratch, kernel, task);
}

static bool has_no_order(void *data, IrInst *inst) {
  return !refcounts_shows_order(inst) && !(ir_effects(inst) & IR_TOPOLOGY);
}

/* The threads of a GPU that share a leaf; 0: one runs all of it, as where iterations are in
 * order. */
static int32_t spread_of(const PassContext *ctx, const IrTask *task) {
  bool is_ordered = ctx->keeps_order && !ir_walk(task->body, has_no_order, NULL);
  int32_t threads = ctx->target.shares_leaves && !is_ordered ? ir_leaf_threads(task) : 1;
  return threads > 1 ? threads : 0;
}

bool pass_cell_loops(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    task->spread = spread_of(ctx, task);
    write_task(ctx->scratch, kernel, task);
    choose_forms(task);
  }
  (void)err;
  return true;
}
