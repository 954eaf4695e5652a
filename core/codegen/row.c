/* row.c - cells of a leaf: GRID over all axes but the last, ROW along the last in steps of `width`
 * lanes. A ROW_LOAD reads the row at a constant distance from the cell and may reach into the
 * neighbouring leaf's row:
 *
 *     neighbour |.......e|  own |abcdefgh|     distance -1, 8 lanes:
 *                                              shuffle(|.......e|, |abcdefgh|) = |eabcdefg|
 *
 * Whether a window crosses is known once its position is a constant. So the first and last
 * iterations of a ROW, those in which some window crosses, are emitted with constant positions, and
 * the iterations between as a loop in which every window is one load. Short rows are constant
 * throughout; if the ends are too large to copy, each window decides at run time. */
#include "base/bits.h"
#include "codegen/emit.h"

enum {
  MOST_LANES = 64,
  FIXED_TURNS = 4,
  MOST_FIXED_TURNS = 16,
  LONG_BODY = 64,
  UNROLL_TURNS = 8,
  UNROLL_BODY = 800
};

/* -- what the windows of a row reach ----------------------------------------------------------- */

typedef struct Reach {
  int64_t low, high; /* least and largest distance of a ROW_LOAD, including 0 */
  int64_t cells;     /* of a leaf row; 0: no ROW_LOAD */
  int count;         /* insts in the body */
} Reach;

static bool note_reach(void *data, IrInst *inst) {
  Reach *reach = data;
  reach->count++;
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

/* -- GRID -------------------------------------------------------------------------------------- */

static void grid_axis(Codegen *g, const IrInst *inst, int axis) {
  const IrRegion *body = inst->regions[0];
  if (axis == body->params.count) return emit_region(g, body);
  Counted loop =
      counted_begin(g, value_integer(g->i32, 0), value_integer(g->i32, inst->extent[axis]), "grid");
  value_set(g, body->params.items[axis], loop.index);
  grid_axis(g, inst, axis + 1);
  bool innermost = axis + 1 == body->params.count;
  counted_end(g, &loop,
              innermost && inst->extent[axis] <= UNROLL_TURNS &&
                  reach_of(inst).count <= UNROLL_BODY / inst->extent[axis]);
}

void row_grid(Codegen *g, const IrInst *inst) {
  if (inst->regions[0]->params.count > SNODE_MAX_AXES)
    return codegen_fail(g, inst, "it has too many axes");
  for (int axis = 0; axis < inst->regions[0]->params.count; axis++)
    if (inst->extent[axis] < 1) return codegen_fail(g, inst, "an axis has no cells");
  grid_axis(g, inst, 0);
}

/* -- ROW --------------------------------------------------------------------------------------- */

/* -- masked rows: lanes without a set bit do nothing; scalar cells are found by their bits ----- */

/* Bits of the cells from `position` on, the first the lowest. */
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
  LLVMValueRef bits = low_bits(g, bits_from(g, row, position), row->inst->width);
  LLVMBasicBlockRef some = block_new(g, "some");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, value_integer(g->i64, 0), ""), some,
               next);
  block_enter(g, some);
}

void row_active(Codegen *g, const IrInst *inst) {
  const Row *row = g->row;
  if (!row || !row->word) return codegen_fail(g, inst, "it is outside a masked row");
  if (g->width == 1) return value_set(g, inst, LLVMConstInt(g->bool_type, 1, false));
  LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)g->width);
  LLVMValueRef bits = bits_from(g, row, row->position);
  if (g->width < 64) bits = LLVMBuildTrunc(g->builder, bits, narrow, "");
  value_set(g, inst, LLVMBuildBitCast(g->builder, bits, value_lanes(g->bool_type, g->width), ""));
}

static void emit_turn(Codegen *g, Row *row, LLVMValueRef position) {
  const IrRegion *body = row->inst->regions[0];
  LLVMBasicBlockRef next = block_new(g, "cell.next");
  if (row->word && row->inst->width > 1) pass_over_empty(g, row, position, next);
  row->position = position;
  value_set(g, body->params.items[0], position);
  Row *outer = g->row;
  int outer_width = g->width;
  g->row = row;
  g->width = row->inst->width;
  control_body(g, body, next);
  g->row = outer;
  g->width = outer_width;
  block_jump(g, next);
  block_enter(g, next);
}

static void emit_fixed(Codegen *g, Row row, int64_t from, int64_t to) {
  row.is_fixed = true;
  for (; from < to; from += row.inst->width) {
    row.at = (int32_t)from;
    emit_turn(g, &row, value_integer(g->i32, from));
  }
}

/* A loop over iteration numbers; the position is begin + number * width. */
static void emit_loop(Codegen *g, Row row, int64_t from, int64_t to) {
  int width = row.inst->width;
  int64_t turns = (to - from) / width;
  if (turns <= 0) return;
  Counted loop = counted_begin(g, value_integer(g->i32, 0), value_integer(g->i32, turns), "row");
  LLVMValueRef cells = LLVMBuildNSWMul(g->builder, loop.index, value_integer(g->i32, width), "");
  emit_turn(g, &row, LLVMBuildNSWAdd(g->builder, cells, value_integer(g->i32, from), ""));
  counted_end(g, &loop, false);
}

/* Scalar: an iteration per set bit. */
static void emit_set_bits(Codegen *g, Row row, int64_t begin, int64_t end) {
  SetBits bits =
      bits_begin(g, low_bits(g, bits_from(g, &row, value_integer(g->i32, begin)), end - begin));
  LLVMValueRef position = LLVMBuildTrunc(g->builder, bits.position, g->i32, "");
  row.may_cross = true;
  emit_turn(g, &row, LLVMBuildNSWAdd(g->builder, position, value_integer(g->i32, begin), ""));
  bits_end(g, &bits);
}

static int64_t up_to_width(int64_t cells, int width) { return (cells + width - 1) / width * width; }

/* Elements of a list: the bounds are operands, in whole steps from the first. */
static void emit_elements(Codegen *g, Row row, LLVMValueRef first, LLVMValueRef end) {
  LLVMValueRef width = value_integer(g->i32, row.inst->width);
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

/* The positions of the grid are also operands. */
static bool has_bounds(const IrInst *inst) {
  const IrInst *grid = inst->region->owner;
  int positions = grid && grid->op == IR_GRID ? grid->regions[0]->params.count : 0;
  return inst->operand_count == positions + 2;
}

void row_emit(Codegen *g, const IrInst *inst) {
  int64_t begin = inst->begin, end = inst->end;
  int width = inst->width;
  if (width < 1 || width > MOST_LANES || (width & (width - 1)) || begin < 0 ||
      (end - begin) % width || g->row)
    return codegen_fail(g, inst, "its lanes do not fit its cells");
  if (inst->regions[0]->params.count != 1) return codegen_fail(g, inst, "it has one position");
  if (begin >= end) return;
  Reach reach = reach_of(inst);
  Row row = {.inst = inst};
  if (has_bounds(inst))
    return emit_elements(g, row, value_operand(g, inst, inst->operand_count - 2),
                         value_operand(g, inst, inst->operand_count - 1));
  if (inst->masked) {
    row.word = value_operand(g, inst, inst->operand_count - 1);
    if (!inst->operand_count || end > 64 || value_is_vector(row.word))
      return codegen_fail(g, inst, "its bits are not one word");
    if (width == 1) return emit_set_bits(g, row, begin, end);
  }
  bool is_long = width == 1 && reach.count > LONG_BODY;
  if ((end - begin) / width <= FIXED_TURNS && (!is_long || end - begin == 1))
    return emit_fixed(g, row, begin, end);
  if (!reach.cells) return emit_loop(g, row, begin, end);
  /* iterations at [begin, middle) reach below the row, those at [rest, end) above it */
  int64_t middle = min_i64(end, begin + up_to_width(max_i64(0, -reach.low - begin), width));
  int64_t beyond = max_i64(0, end + reach.high - reach.cells);
  int64_t rest = max_i64(middle, end - up_to_width(beyond, width));
  int64_t copies = (middle - begin + end - rest) / width;
  row.may_cross = copies > (is_long ? 0 : MOST_FIXED_TURNS);
  if (row.may_cross) return emit_loop(g, row, begin, end);
  emit_fixed(g, row, begin, middle);
  emit_loop(g, row, middle, rest);
  emit_fixed(g, row, rest, end);
}

/* -- ROW_LOAD ---------------------------------------------------------------------------------- */

static LLVMValueRef element_at(Codegen *g, Type type, LLVMValueRef row, LLVMValueRef position) {
  LLVMValueRef wide = LLVMBuildSExt(g->builder, position, g->i64, "");
  LLVMValueRef bytes = LLVMBuildNSWMul(g->builder, wide, value_index(g, type_size(type)), "");
  return LLVMBuildGEP2(g->builder, g->i8, row, &bytes, 1, "");
}

static LLVMValueRef load_memory(Codegen *g, Type type, LLVMValueRef row, int64_t position,
                                int width) {
  LLVMValueRef place = value_byte_offset(g, row, position * type_size(type));
  LLVMValueRef value =
      LLVMBuildLoad2(g->builder, value_lanes(value_memory_type(g, type), width), place, "");
  LLVMSetAlignment(value, (unsigned)type_size(type));
  return alias_element(g, value);
}

/* The end of the neighbouring row that a window reaches, as a vector adjacent to this row's: one
 * element is loaded alone, more as a whole vector. */
static LLVMValueRef load_edge(Codegen *g, Type type, LLVMValueRef row, int64_t position, int width,
                              int64_t reached, int lane) {
  if (reached > 1) return load_memory(g, type, row, position, width);
  LLVMValueRef one = load_memory(g, type, row, position + lane, 1);
  LLVMTypeRef vector = value_lanes(value_memory_type(g, type), width);
  return LLVMBuildInsertElement(g->builder, LLVMGetPoison(vector), one, value_integer(g->i32, lane),
                                "");
}

/* `width` lanes from lane `start` on of two concatenated vectors. */
static LLVMValueRef window(Codegen *g, LLVMValueRef low, LLVMValueRef high, int64_t start,
                           int width) {
  LLVMValueRef lanes[MOST_LANES];
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, start + i);
  return LLVMBuildShuffleVector(g->builder, low, high, LLVMConstVector(lanes, (unsigned)width), "");
}

/* The window starts at cell `first` of a row of `cells`; both may be outside 0..cells-1. */
static LLVMValueRef load_fixed(Codegen *g, const IrInst *inst, LLVMValueRef own, LLVMValueRef other,
                               int64_t first) {
  Type type = inst->type;
  int width = g->width;
  int64_t cells = inst->extent[0], last = first + width - 1;
  if (last < 0) return load_memory(g, type, other, first + cells, width);
  if (first >= cells) return load_memory(g, type, other, first - cells, width);
  if (first < 0) {
    LLVMValueRef edge = load_edge(g, type, other, cells - width, width, -first, width - 1);
    return window(g, edge, load_memory(g, type, own, 0, width), width + first, width);
  }
  if (last >= cells) {
    LLVMValueRef edge = load_edge(g, type, other, 0, width, last - cells + 1, 0);
    return window(g, load_memory(g, type, own, cells - width, width), edge, first - (cells - width),
                  width);
  }
  return load_memory(g, type, own, first, width);
}

/* One element at a position known only at run time. */
static LLVMValueRef load_one(Codegen *g, const IrInst *inst, LLVMValueRef own, LLVMValueRef other,
                             LLVMValueRef first) {
  LLVMValueRef cells = value_integer(g->i32, inst->extent[0]);
  LLVMValueRef inside = LLVMBuildICmp(g->builder, LLVMIntULT, first, cells, "");
  LLVMValueRef moved = inst->imm < 0 ? LLVMBuildAdd(g->builder, first, cells, "")
                                     : LLVMBuildSub(g->builder, first, cells, "");
  LLVMValueRef row = LLVMBuildSelect(g->builder, inside, own, other, "");
  LLVMValueRef position = LLVMBuildSelect(g->builder, inside, first, moved, "");
  return load_memory(g, inst->type, element_at(g, inst->type, row, position), 0, 1);
}

static LLVMValueRef load_either(Codegen *g, const IrInst *inst, LLVMValueRef own,
                                LLVMValueRef other, LLVMValueRef first) {
  if (g->width == 1) return load_one(g, inst, own, other, first);
  LLVMValueRef all = LLVMGetPoison(value_lanes(value_memory_type(g, inst->type), g->width));
  for (int lane = 0; lane < g->width; lane++) {
    LLVMValueRef position = LLVMBuildNSWAdd(g->builder, first, value_integer(g->i32, lane), "");
    LLVMValueRef one = load_one(g, inst, own, other, position);
    all = LLVMBuildInsertElement(g->builder, all, one, value_integer(g->i32, lane), "");
  }
  return all;
}

void row_load(Codegen *g, const IrInst *inst) {
  const Row *row = g->row;
  LLVMValueRef own = value_operand(g, inst, 0), other = value_operand(g, inst, 1), value;
  int64_t cells = inst->extent[0], reach = inst->imm < 0 ? -inst->imm : inst->imm;
  if (!row || cells < g->width || reach > cells || row->inst->end > cells || value_is_vector(own) ||
      value_is_vector(other))
    return codegen_fail(g, inst, "it is outside a row, or reaches past one neighbour");
  if (row->is_fixed) {
    value = load_fixed(g, inst, own, other, row->at + inst->imm);
  } else {
    LLVMValueRef first =
        LLVMBuildNSWAdd(g->builder, row->position, value_integer(g->i32, inst->imm), "");
    value = row->may_cross && own != other
                ? load_either(g, inst, own, other, first)
                : load_memory(g, inst->type, element_at(g, inst->type, own, first), 0, g->width);
  }
  value_set(g, inst, value_from_memory(g, value, inst->type));
}

void row_lane(Codegen *g, const IrInst *inst) {
  LLVMValueRef first = value_operand(g, inst, 0), lanes[MOST_LANES];
  if (g->width == 1 || value_is_vector(first)) return value_set(g, inst, first);
  LLVMTypeRef type = LLVMTypeOf(first);
  for (int i = 0; i < g->width; i++) lanes[i] = value_integer(type, i);
  LLVMValueRef all = value_broadcast(g, first, g->width);
  value_set(g, inst, LLVMBuildAdd(g->builder, all, LLVMConstVector(lanes, (unsigned)g->width), ""));
}
