/* row_load.c - ROW_LOAD: elements at a constant distance from the cells of a ROW, which may be in
 * the neighbouring leaf's row. */
#include "codegen/emit.h"

static LLVMValueRef element_at(Codegen *g, Type type, LLVMValueRef row, LLVMValueRef position) {
  LLVMValueRef wide = LLVMBuildSExt(g->builder, position, g->i64, "");
  LLVMValueRef bytes = LLVMBuildNSWMul(g->builder, wide, value_index(g, type_size(type)), "");
  return LLVMBuildGEP2(g->builder, g->i8, row, &bytes, 1, "");
}

static LLVMValueRef load_memory(Codegen *g, const IrInst *inst, LLVMValueRef row, int64_t position,
                                int width) {
  Type type = type_element(inst->type);
  LLVMValueRef place = value_byte_offset(g, row, position * type_size(type));
  LLVMValueRef value =
      LLVMBuildLoad2(g->builder, value_lanes(value_memory_type(g, type), width), place, "");
  LLVMSetAlignment(value, (unsigned)type_size(type));
  return alias_element(g, value, inst->alias);
}

/* The end of the neighbouring row that a window reaches, as a vector adjacent to this row's: one
 * element is loaded alone, more as a whole vector. */
static LLVMValueRef load_edge(Codegen *g, const IrInst *inst, LLVMValueRef row, int64_t position,
                              int width, int64_t reached, int lane) {
  if (reached > 1) return load_memory(g, inst, row, position, width);
  LLVMValueRef one = load_memory(g, inst, row, position + lane, 1);
  LLVMTypeRef vector = value_lanes(value_memory_type(g, type_element(inst->type)), width);
  return LLVMBuildInsertElement(g->builder, LLVMGetPoison(vector), one, value_integer(g->i32, lane),
                                "");
}

/* `width` lanes from lane `start` on of two concatenated vectors. */
static LLVMValueRef window(Codegen *g, LLVMValueRef low, LLVMValueRef high, int64_t start,
                           int width) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, start + i);
  return LLVMBuildShuffleVector(g->builder, low, high, LLVMConstVector(lanes, (unsigned)width), "");
}

/* The window starts at cell `first` of a row of `cells`; both may be outside 0..cells-1. */
static LLVMValueRef load_fixed(Codegen *g, const IrInst *inst, LLVMValueRef own, LLVMValueRef other,
                               int64_t first) {
  int width = type_rows(inst->type);
  int64_t cells = inst->extent[0], last = first + width - 1;
  if (last < 0) return load_memory(g, inst, other, first + cells, width);
  if (first >= cells) return load_memory(g, inst, other, first - cells, width);
  if (first < 0) {
    LLVMValueRef edge = load_edge(g, inst, other, cells - width, width, -first, width - 1);
    return window(g, edge, load_memory(g, inst, own, 0, width), width + first, width);
  }
  if (last >= cells) {
    LLVMValueRef edge = load_edge(g, inst, other, 0, width, last - cells + 1, 0);
    return window(g, load_memory(g, inst, own, cells - width, width), edge, first - (cells - width),
                  width);
  }
  return load_memory(g, inst, own, first, width);
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
  Type type = type_element(inst->type);
  return load_memory(g, inst, element_at(g, type, row, position), 0, 1);
}

/* Loads a whole step of a row at a position known only at run time: a window of two vectors, either
 * of which may be in the neighbouring row. */
static LLVMValueRef load_window(Codegen *g, const IrInst *inst, LLVMValueRef own,
                                LLVMValueRef other) {
  Type type = type_element(inst->type);
  int width = type_rows(inst->type);
  int64_t bytes = (int64_t)width * type_size(type), cells = inst->extent[0];
  bool is_low = inst->imm < 0;
  LLVMValueRef here = element_at(g, type, own, g->row->position);
  LLVMValueRef edge = value_integer(g->i32, is_low ? 0 : cells - width),
               beyond = value_byte_offset(g, other, is_low ? cells * type_size(type) - bytes : 0);
  LLVMValueRef crosses = LLVMBuildICmp(g->builder, LLVMIntEQ, g->row->position, edge, "");
  LLVMValueRef next = LLVMBuildSelect(g->builder, crosses, beyond,
                                      value_byte_offset(g, here, is_low ? -bytes : bytes), "");
  LLVMValueRef first = load_memory(g, inst, is_low ? next : here, 0, width),
               second = load_memory(g, inst, is_low ? here : next, 0, width);
  return window(g, first, second, is_low ? width + inst->imm : inst->imm, width);
}

static LLVMValueRef load_either(Codegen *g, const IrInst *inst, LLVMValueRef own,
                                LLVMValueRef other, LLVMValueRef first) {
  Type type = type_element(inst->type);
  int width = type_rows(inst->type);
  if (width == 1) return load_one(g, inst, own, other, first);
  int64_t reach = inst->imm < 0 ? -inst->imm : inst->imm;
  if (g->row->inst->begin % width == 0 && inst->extent[0] % width == 0 && reach <= width)
    return load_window(g, inst, own, other);
  LLVMValueRef all = LLVMGetPoison(value_lanes(value_memory_type(g, type), width));
  for (int lane = 0; lane < width; lane++) {
    LLVMValueRef position = LLVMBuildNSWAdd(g->builder, first, value_integer(g->i32, lane), "");
    LLVMValueRef one = load_one(g, inst, own, other, position);
    all = LLVMBuildInsertElement(g->builder, all, one, value_integer(g->i32, lane), "");
  }
  return all;
}

void row_load(Codegen *g, const IrInst *inst) {
  const Row *row = g->row;
  Type type = type_element(inst->type);
  int width = type_rows(inst->type);
  LLVMValueRef own = value_operand(g, inst, 0), other = value_operand(g, inst, 1), value;
  int64_t cells = inst->extent[0], reach = inst->imm < 0 ? -inst->imm : inst->imm;
  if (!row || row->rest || cells < width || reach > cells || row->inst->end > cells ||
      value_is_vector(own) || value_is_vector(other))
    return codegen_fail(g, inst, "it is outside a row, or reaches past one neighbour");
  if (row->is_fixed) {
    value = load_fixed(g, inst, own, other, row->at + inst->imm);
  } else {
    LLVMValueRef first =
        LLVMBuildNSWAdd(g->builder, row->position, value_integer(g->i32, inst->imm), "");
    value = row->may_cross && own != other
                ? load_either(g, inst, own, other, first)
                : load_memory(g, inst, element_at(g, type, own, first), 0, width);
  }
  value_set(g, inst, value_from_memory(g, value, type));
}
