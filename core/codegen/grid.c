/* grid.c - GRID: the loops over the rows of a leaf, along all axes but the last.
 *
 * Rows of a masked leaf whose bits share a word are skipped together if the word is 0, as most
 * words are in leaves with few cells:
 *
 *     grid (%a, %b) { %bits = mask_bits words, 64 a + 8 b, 8; row masked %bits .. }
 *
 *  =>  for a { if mask_bits(words, 64 a, 64) { for b { .. } } }
 *
 * This requires that the rows along the grid's last axis are adjacent in the mask, as whole words
 * or equal parts of one, and that the grid's body does nothing but visit them.
 * Decision D-llvm_bc-11. */
#include "base/bits.h"
#include "codegen/emit.h"

enum { WORD = 64, UNROLL_TURNS = 8, UNROLL_BODY = 800 };

static int count_body(const IrInst *grid) { return lane_count_insts(grid->regions[0]); }

/* -- which rows share a word ------------------------------------------------------------------- */

/* A linear function of the grid's positions: start + the sum of each position times its step. */
typedef struct Linear {
  int64_t start, steps[SNODE_MAX_AXES];
} Linear;

static bool add_to(Linear *sum, const IrInst *inst, const IrRegion *body, int64_t factor) {
  IrInst **of = inst->operands;
  int64_t number;
  if (ir_is_const(inst, &number)) {
    sum->start += factor * number;
    return true;
  }
  switch (inst->op) {
  case IR_PARAM:
    for (int k = 0; k < body->params.count; k++) {
      if (body->params.items[k] != inst) continue;
      sum->steps[k] += factor;
      return true;
    }
    return false;
  case IR_CONVERT: return type_is_integer(of[0]->type) && add_to(sum, of[0], body, factor);
  case IR_ADD: return add_to(sum, of[0], body, factor) && add_to(sum, of[1], body, factor);
  case IR_MUL:
    if (ir_is_const(of[1], &number)) return add_to(sum, of[0], body, factor * number);
    return ir_is_const(of[0], &number) && add_to(sum, of[1], body, factor * number);
  default: return false;
  }
}

/* The bits of the masked rows in a grid's body; NULL if the body has other effects, too. */
static const IrInst *bits_of_rows(const IrRegion *body) {
  const IrInst *bits = NULL;
  for (const IrInst *at = body->first; at; at = at->next) {
    int acts = IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY | IR_EXIT | IR_ONCE;
    const IrInst *inst = lane_is_choice(at) ? at->regions[1]->first : at;
    if (inst->op != IR_ROW) {
      if (inst->regions[0] || ir_effects(inst) & acts) return NULL;
      continue;
    }
    const IrInst *own = inst->masked ? inst->operands[inst->operand_count - 1] : NULL;
    if (!own || (bits && own != bits)) return NULL;
    bits = own;
  }
  bool is_read = bits && bits->op == IR_CALL && bits->entry == RT_MASK_BITS;
  return is_read && bits->region == body ? bits : NULL;
}

/* The number of rows along the last axis whose bits share a word; 1 if rows do not share words. */
static int64_t rows_per_word(const IrInst *grid) {
  const IrRegion *body = grid->regions[0];
  const IrInst *bits = bits_of_rows(body);
  int last = body->params.count - 1;
  int64_t cells;
  Linear at = {0};
  if (!bits || last < 0 || !ir_is_const(bits->operands[2], &cells) || cells < 1) return 1;
  int64_t rows = min_i64(grid->extent[last], WORD / cells), shared = rows * cells;
  if (rows < 2 || grid->extent[last] % rows || WORD % shared) return 1;
  if (!add_to(&at, bits->operands[1], body, 1) || at.steps[last] != cells) return 1;
  int64_t others = at.start;
  for (int k = 0; k < last; k++) others |= at.steps[k];
  return others % shared ? 1 : rows;
}

/* -- their bits -------------------------------------------------------------------------------- */

static int64_t cells_of_row(const IrInst *grid) {
  int64_t cells = 0;
  ir_is_const(bits_of_rows(grid->regions[0])->operands[2], &cells);
  return cells;
}

/* The bits of `rows` rows, from the grid's current positions on. */
static LLVMValueRef bits_of_some(Codegen *g, const IrInst *grid, int64_t rows) {
  const IrInst *bits = bits_of_rows(grid->regions[0]);
  for (int k = 0; k < 2; k++) emit_with_operands(g, bits->operands[k], grid->regions[0]);
  LLVMValueRef operands[] = {value_operand(g, bits, 0), value_operand(g, bits, 1),
                             value_index(g, rows * cells_of_row(grid))};
  return call_runtime(g, RT_MASK_BITS, (Callee){0}, operands, 3);
}

/* Reduces the bits of each row to one: its lowest bit is set if any of them is. */
static LLVMValueRef rows_with_bits(Codegen *g, const IrInst *grid, LLVMValueRef bits) {
  int64_t cells = cells_of_row(grid), lowest = 0;
  for (int64_t by = cells / 2; by; by /= 2) {
    LLVMValueRef down = LLVMBuildLShr(g->builder, bits, value_index(g, by), "");
    bits = LLVMBuildOr(g->builder, bits, down, "");
  }
  for (int64_t at = 0; at < WORD; at += cells) lowest |= (int64_t)((uint64_t)1 << at);
  return LLVMBuildAnd(g->builder, bits, value_index(g, lowest), "");
}

static LLVMValueRef row_of_bit(Codegen *g, const IrInst *grid, LLVMValueRef position) {
  return LLVMBuildUDiv(g->builder, position, value_index(g, cells_of_row(grid)), "");
}

/* -- the loops --------------------------------------------------------------------------------- */

/* Emits `count` rows along the last axis, from `from` on. */
static void grid_rows(Codegen *g, const IrInst *inst, LLVMValueRef from, int64_t count) {
  const IrRegion *body = inst->regions[0];
  Counted loop = counted_begin(g, value_integer(g->i32, 0), value_integer(g->i32, count), "grid");
  value_set(g, body->params.items[body->params.count - 1],
            from ? LLVMBuildNSWAdd(g->builder, from, loop.index, "") : loop.index);
  emit_region(g, body);
  counted_end(g, &loop, count <= UNROLL_TURNS && count_body(inst) <= UNROLL_BODY / count);
}

/* If fewer than half of the rows have cells, iterates over just these, then jumps to `next`: a
 * branch per row would often be mispredicted. */
static void grid_few_rows(Codegen *g, const IrInst *inst, LLVMValueRef from, int64_t count,
                          LLVMValueRef bits, LLVMBasicBlockRef next) {
  const IrRegion *body = inst->regions[0];
  LLVMBasicBlockRef few = block_new(g, "few"), many = block_new(g, "many");
  LLVMValueRef rows = rows_with_bits(g, inst, bits),
               number = call_intrinsic(g, "llvm.ctpop", g->i64, &rows, 1);
  block_branch(g,
               LLVMBuildICmp(g->builder, LLVMIntULT, number, value_index(g, (count + 1) / 2), ""),
               few, many);
  block_enter(g, few);
  SetBits each = bits_begin(g, rows);
  LLVMValueRef row = LLVMBuildTrunc(g->builder, row_of_bit(g, inst, each.position), g->i32, "");
  value_set(g, body->params.items[body->params.count - 1],
            LLVMBuildNSWAdd(g->builder, from, row, ""));
  emit_region(g, body);
  bits_end(g, &each);
  block_jump(g, next);
  block_enter(g, many);
}

/* Emits the last axis in steps of `rows` rows, whose bits share a word. */
static void grid_words(Codegen *g, const IrInst *inst, int64_t rows) {
  const IrRegion *body = inst->regions[0];
  int last = body->params.count - 1;
  Counted loop = counted_begin(g, value_integer(g->i32, 0),
                               value_integer(g->i32, inst->extent[last] / rows), "words");
  LLVMValueRef from = LLVMBuildNSWMul(g->builder, loop.index, value_integer(g->i32, rows), "");
  value_set(g, body->params.items[last], from);
  LLVMBasicBlockRef some = block_new(g, "some"), next = block_new(g, "none");
  LLVMValueRef bits = bits_of_some(g, inst, rows);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, value_index(g, 0), ""), some, next);
  block_enter(g, some);
  if (count_body(inst) <= IR_LONGEST_TWICE) grid_few_rows(g, inst, from, rows, bits, next);
  grid_rows(g, inst, from, rows);
  block_jump(g, next);
  block_enter(g, next);
  counted_end(g, &loop, false);
}

static void grid_axis(Codegen *g, const IrInst *inst, int axis) {
  const IrRegion *body = inst->regions[0];
  int64_t shared = rows_per_word(inst);
  bool is_last = axis + 1 == body->params.count;
  if (axis == body->params.count) return emit_region(g, body);
  if (is_last && shared > 1) return grid_words(g, inst, shared);
  if (is_last) return grid_rows(g, inst, NULL, inst->extent[axis]);
  Counted loop =
      counted_begin(g, value_integer(g->i32, 0), value_integer(g->i32, inst->extent[axis]), "grid");
  value_set(g, body->params.items[axis], loop.index);
  grid_axis(g, inst, axis + 1);
  counted_end(g, &loop, false);
}

void row_grid(Codegen *g, const IrInst *inst) {
  if (inst->regions[0]->params.count > SNODE_MAX_AXES)
    return codegen_fail(g, inst, "it has too many axes");
  for (int axis = 0; axis < inst->regions[0]->params.count; axis++)
    if (inst->extent[axis] < 1) return codegen_fail(g, inst, "an axis has no cells");
  if (g->mate) return gpu_grid(g, inst);
  grid_axis(g, inst, 0);
}
