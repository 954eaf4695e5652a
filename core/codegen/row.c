/* row.c - cells of a leaf along its last axis: ROW, in steps of `width` lanes, inside a GRID over
 * the other axes (grid.c). A ROW_LOAD reads the row at a constant distance from the cell and may
 * reach into the neighbouring leaf's row:
 *
 *     neighbour |.......e|  own |abcdefgh|     distance -1, 8 lanes:
 *                                              shuffle(|.......e|, |abcdefgh|) = |eabcdefg|
 *
 * At a constant position, it is known whether a window crosses. So the first and last iterations of
 * a ROW, in which some window crosses, are emitted with constant positions, and the iterations
 * between as a loop in which every window is one load. Short rows have constant positions
 * throughout; if the ends are too large to copy, each window decides at run time.
 *
 * The body of a ROW with `width` or `lanes` says what these do, under its mask; that of any other
 * is scalar. */
#include "base/bits.h"
#include "codegen/emit.h"

enum {
  FIXED_TURNS = 4,
  MOST_FIXED_TURNS = 16,
  LONG_BODY = 64,
  LONG_EDGE = 300 /* insts of a body that is not copied for the ends of a row */
};

/* -- the reach of a row's windows -------------------------------------------------------------- */

typedef struct Reach {
  int64_t low, high; /* least and largest distance of a ROW_LOAD, including 0 */
  int64_t cells;     /* of a leaf row; 0: no ROW_LOAD */
  int count;         /* insts in the body */
} Reach;

static bool note_reach(void *data, IrInst *inst) {
  Reach *reach = data;
  reach->count += inst->op != IR_SPLAT && inst->op != IR_STEP;
  if (inst->op != IR_ROW_LOAD) return true;
  if (inst->imm < reach->low) reach->low = inst->imm;
  if (inst->imm > reach->high) reach->high = inst->imm;
  reach->cells = inst->extent[0];
  return true;
}

static Reach reach_of(const IrInst *inst) {
  Reach reach = {0};
  ir_walk(inst->regions[0], note_reach, &reach);
  return reach;
}

/* -- ROW --------------------------------------------------------------------------------------- */

/* -- masked rows: lanes without a set bit do nothing; scalar cells are found by their bits ----- */

/* Bits of the cells from `position` on, beginning with the lowest. */
static LLVMValueRef bits_from(Codegen *g, const Row *row, LLVMValueRef position) {
  return LLVMBuildLShr(g->builder, row->word, LLVMBuildZExt(g->builder, position, g->i64, ""), "");
}

static LLVMValueRef low_bits(Codegen *g, LLVMValueRef bits, int64_t count) {
  return count < 64
             ? LLVMBuildAnd(g->builder, bits, value_integer(g->i64, ((int64_t)1 << count) - 1), "")
             : bits;
}

static void pass_over_empty(Codegen *g, const Row *row, LLVMValueRef position,
                            LLVMBasicBlockRef next) {
  LLVMValueRef bits = low_bits(g, bits_from(g, row, position), row->step);
  LLVMBasicBlockRef some = block_new(g, "some");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, value_integer(g->i64, 0), ""), some,
               next);
  block_enter(g, some);
}

static LLVMValueRef bits_of_lanes(Codegen *g, const Row *row) {
  return lane_mask_of_bits(g, bits_from(g, row, row->position), row->step);
}

void row_active(Codegen *g, const IrInst *inst) {
  const Row *row = g->row;
  if (!row || !row->word) return codegen_fail(g, inst, "it is outside a masked row");
  value_set(g, inst, LLVMConstInt(g->bool_type, 1, false)); /* the row visits no other cell */
}

static void emit_cells(Codegen *g, Row *row, LLVMBasicBlockRef next) {
  value_set(g, row->loop.index, row->position);
  control_body(g, row->loop.body, next);
}

/* The active lanes of a step; NULL: all. */
static LLVMValueRef mask_of(Codegen *g, const Row *row) {
  if (row->word) return bits_of_lanes(g, row);
  if (!row->rest) return NULL;
  return lane_first(g, row->step, value_integer(g->i32, row->rest));
}

static void emit_turn(Codegen *g, Row *row, LLVMValueRef position) {
  LLVMBasicBlockRef next = block_new(g, "cell.next");
  if (row->word && row->step > 1) pass_over_empty(g, row, position, next);
  row->position = position;
  g->row = row;
  if (row->step > 1) lane_turn(g, &row->loop, position, mask_of(g, row), next);
  else emit_cells(g, row, next);
  g->row = NULL;
  if (row->step > 1) {
    lane_end_turn(g, &row->loop, next);
    return;
  }
  block_jump(g, next);
  block_enter(g, next);
}

static void emit_fixed(Codegen *g, Row row, int64_t from, int64_t to) {
  row.is_fixed = true;
  for (; from < to; from += row.step) {
    row.at = (int32_t)from;
    row.rest = to - from < row.step ? (int)(to - from) : 0;
    emit_turn(g, &row, value_integer(g->i32, from));
  }
}

/* A loop over iteration numbers; the position is begin + number * width. */
static void emit_loop(Codegen *g, Row row, int64_t from, int64_t to) {
  int width = row.step;
  int64_t turns = (to - from) / width;
  if (turns <= 0) return;
  Counted loop = counted_begin(g, value_integer(g->i32, 0), value_integer(g->i32, turns), "row");
  LLVMValueRef cells = LLVMBuildNSWMul(g->builder, loop.index, value_integer(g->i32, width), "");
  emit_turn(g, &row, LLVMBuildNSWAdd(g->builder, cells, value_integer(g->i32, from), ""));
  counted_end(g, &loop, false);
}

/* The scalar loop: one iteration per set bit. */
static void emit_set_bits(Codegen *g, Row row, int64_t begin, int64_t end) {
  SetBits bits =
      bits_begin(g, low_bits(g, bits_from(g, &row, value_integer(g->i32, begin)), end - begin));
  LLVMValueRef position = LLVMBuildTrunc(g->builder, bits.position, g->i32, "");
  row.may_cross = true;
  emit_turn(g, &row, LLVMBuildNSWAdd(g->builder, position, value_integer(g->i32, begin), ""));
  bits_end(g, &bits);
}

static int64_t up_to_width(int64_t cells, int width) { return (cells + width - 1) / width * width; }

/* A row over elements of a list: whole steps from the first element on; the bounds are operands. */
static void emit_elements(Codegen *g, Row row, LLVMValueRef first, LLVMValueRef end) {
  LLVMValueRef width = value_integer(g->i32, row.step);
  if (row.inst->lanes > 1) return lane_loop(g, &row.loop, first, end);
  LLVMBasicBlockRef some = block_new(g, "elements"), after = block_new(g, "after");
  LLVMValueRef turns =
      LLVMBuildSDiv(g->builder, LLVMBuildNSWSub(g->builder, end, first, ""), width, "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSGT, turns, value_integer(g->i32, 0), ""), some,
               after);
  block_enter(g, some);
  Counted loop = counted_begin(g, value_integer(g->i32, 0), turns, "row");
  emit_turn(
      g, &row,
      LLVMBuildNSWAdd(g->builder, LLVMBuildNSWMul(g->builder, loop.index, width, ""), first, ""));
  counted_end(g, &loop, false);
  block_jump(g, after);
  block_enter(g, after);
}

static bool is_sound(const Codegen *g, const IrInst *inst) {
  int width = inst->width, lanes = inst->lanes;
  bool has_width = width >= 1 && width <= IR_MAX_LANES && !(width & (width - 1)),
       has_lanes = lanes >= 0 && lanes <= IR_MAX_LANES && !(lanes & (lanes - 1));
  return has_width && has_lanes && (width == 1 || lanes <= 1) && inst->begin >= 0 &&
         (inst->end - inst->begin) % width == 0 && !g->row;
}

static Row describe(const IrInst *inst) {
  Row row = {.inst = inst, .step = inst->lanes > 1 ? inst->lanes : inst->width};
  const IrRegion *body = inst->regions[0];
  row.loop = (LaneLoop){.body = body, .index = body->params.items[0], .width = row.step};
  return row;
}

/* Cells begin..end: iterations at [begin, middle) reach below the row, those at [rest, end) above
 * it. */
static void emit_pieces(Codegen *g, Row row, const Reach *reach) {
  int64_t begin = row.inst->begin, end = row.inst->end, whole = end - (end - begin) % row.step;
  int64_t middle = min_i64(whole, begin + up_to_width(max_i64(0, -reach->low - begin), row.step));
  int64_t beyond = reach->cells ? max_i64(0, whole + reach->high - reach->cells) : 0;
  int64_t rest = max_i64(middle, whole - up_to_width(beyond, row.step));
  int64_t copies = (middle - begin + whole - rest) / row.step;
  row.may_cross = copies > (reach->count > LONG_EDGE ? 0 : MOST_FIXED_TURNS);
  if (row.may_cross) {
    emit_loop(g, row, begin, whole);
  } else {
    emit_fixed(g, row, begin, middle);
    emit_loop(g, row, middle, rest);
    emit_fixed(g, row, rest, whole);
  }
  emit_fixed(g, row, whole, end);
}

static void emit_steps(Codegen *g, Row row, const Reach *reach) {
  int64_t begin = row.inst->begin, end = row.inst->end;
  bool is_long =
      row.inst->lanes > 1 ? reach->count > LONG_EDGE : row.step == 1 && reach->count > LONG_BODY;
  int64_t turns = (end - begin + row.step - 1) / row.step;
  if (turns <= FIXED_TURNS && (!is_long || turns == 1)) return emit_fixed(g, row, begin, end);
  emit_pieces(g, row, reach);
}

void row_emit(Codegen *g, const IrInst *inst) {
  int64_t begin = inst->begin, end = inst->end;
  if (!is_sound(g, inst)) return codegen_fail(g, inst, "its lanes do not fit its cells");
  if (inst->regions[0]->params.count < 1) return codegen_fail(g, inst, "it has one position");
  int lanes = inst->lanes > 1 ? inst->lanes : inst->width;
  if (lanes > 1 && !lane_is_sound(inst->regions[0], lanes))
    return codegen_fail(g, inst, "its cells cannot be lanes");
  if (begin >= end) return;
  Reach reach = reach_of(inst);
  Row row = describe(inst);
  IrInst *const *bounds = ir_row_bounds(inst);
  if (g->mate) {
    row.may_cross = true;
    if (inst->masked) row.word = value_operand(g, inst, inst->operand_count - 1);
    return gpu_row(g, &row, emit_turn);
  }
  if (bounds) return emit_elements(g, row, value_of(g, bounds[0]), value_of(g, bounds[1]));
  if (inst->masked) {
    row.word = value_operand(g, inst, inst->operand_count - 1);
    if (!inst->operand_count || end > 64 || value_is_vector(row.word))
      return codegen_fail(g, inst, "its bits are not one word");
    return row.step == 1 ? emit_set_bits(g, row, begin, end) : emit_steps(g, row, &reach);
  }
  emit_steps(g, row, &reach);
}
