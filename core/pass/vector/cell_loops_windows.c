/* cell_loops_windows.c - ROW_LOAD: elements at a constant distance from the cells of a ROW, which
 * may be in the neighbouring leaf's row:
 *
 *     neighbour |.......e|  own |abcdefgh|     distance -1, 8 lanes:
 *                                              splice(|.......e|, |abcdefgh|) = |eabcdefg|
 *
 * At a constant position it is known whether a window crosses. Elsewhere a lane selects its row by
 * its position, and a whole vector is a window of two vectors, either of which may be in the
 * neighbouring row. */
#include "pass/vector/cell_loops.h"
#include "pass/vector/lane_accesses.h"

typedef struct Window {
  IrBuilder b;
  const IrInst *load;
  IrInst *own, *other; /* the rows */
  IrInst *position;    /* of the first lane */
  Type type;           /* of an element */
  int64_t cells;       /* of a row */
  int64_t distance;
  int width;
} Window;

/* The address of element `position` + `more` of a row. */
static IrInst *address_of_element(Window *w, IrInst *row, IrInst *position, int64_t more) {
  Type type = ir_lanes_type(TYPE(PTR), type_rows(position->type));
  if (!type_is_vector(position->type)) type = TYPE(PTR);
  IrInst *at = ir_emit(&w->b, IR_OFFSET, type, 2, (IrInst *[]){row, position});
  at->stride = type_size(w->type);
  at->imm = more * type_size(w->type);
  return at;
}

static IrInst *load_element(Window *w, IrInst *at) {
  IrInst *one = ir_emit(&w->b, IR_MEM_LOAD, w->type, 1, &at);
  one->alias = w->load->alias;
  return one;
}

/* `width` elements from an address on, or at an address each. */
static IrInst *load_lanes(Window *w, IrInst *at) {
  if (w->width == 1) return load_element(w, at);
  IrInst *all = ir_const_int(&w->b, ir_lanes_type(TYPE(BOOL), w->width), 1);
  IrInst *lanes = ir_emit(&w->b, IR_LANES_LOAD, w->load->type, 2, (IrInst *[]){at, all});
  lanes->alias = w->load->alias;
  return lanes;
}

static IrInst *load_cells(Window *w, IrInst *row, int64_t cell) {
  return load_lanes(w, address_of_element(w, row, ir_const_like(&w->b, w->position, cell), 0));
}

static IrInst *splice(Window *w, IrInst *low, IrInst *high, int64_t start) {
  ASSERT(start >= 0 && start <= w->width, "a window begins in the first vector");
  int picks[IR_MAX_LANES];
  for (int i = 0; i < w->width; i++) picks[i] = (int)start + i;
  return lane_shuffle(&w->b, low, high, picks, w->width);
}

/* -- at a constant position -------------------------------------------------------------------- */

/* The end of the neighbouring row that a window reaches, as a vector adjacent to this row's: one
 * element is loaded as a scalar, more as a whole vector. */
static IrInst *load_edge(Window *w, int64_t cell, int64_t reached, int lane) {
  if (reached > 1) return load_cells(w, w->other, cell);
  IrInst *one = load_element(
      w, address_of_element(w, w->other, ir_const_like(&w->b, w->position, cell + lane), 0));
  return ir_emit(&w->b, IR_SPLAT, w->load->type, 1, &one);
}

/* The window starts at cell `first`; both of its ends may be outside 0..cells-1. */
static IrInst *load_fixed(Window *w, int64_t first) {
  int64_t last = first + w->width - 1;
  if (last < 0) return load_cells(w, w->other, first + w->cells);
  if (first >= w->cells) return load_cells(w, w->other, first - w->cells);
  if (first < 0) {
    IrInst *edge = load_edge(w, w->cells - w->width, -first, w->width - 1);
    return splice(w, edge, load_cells(w, w->own, 0), w->width + first);
  }
  if (last >= w->cells) {
    IrInst *own = load_cells(w, w->own, w->cells - w->width);
    IrInst *edge = load_edge(w, 0, last - w->cells + 1, 0);
    return splice(w, own, edge, first - (w->cells - w->width));
  }
  return load_cells(w, w->own, first);
}

/* -- at a position known only at run time ------------------------------------------------------ */

static IrInst *splat(Window *w, IrInst *value) {
  if (w->width == 1) return value;
  return ir_emit(&w->b, IR_SPLAT, ir_lanes_type(value->type, w->width), 1, &value);
}

/* Each lane has its own address. */
static IrInst *load_by_lane(Window *w) {
  IrInst *first =
      ir_binary(&w->b, IR_ADD, w->position, ir_const_like(&w->b, w->position, w->distance));
  if (w->width > 1) {
    first = ir_emit(&w->b, IR_STEP, ir_lanes_type(first->type, w->width), 1, &first);
    first->imm = 1;
  }
  IrInst *cells = ir_const_like(&w->b, first, w->cells);
  IrInst *bound[] = {first, ir_const_like(&w->b, first, w->distance < 0 ? 0 : w->cells)};
  Type condition = w->width > 1 ? ir_lanes_type(TYPE(BOOL), w->width) : TYPE(BOOL);
  IrInst *crosses = ir_emit(&w->b, w->distance < 0 ? IR_LT : IR_GE, condition, 2, bound);
  IrInst *moved = ir_binary(&w->b, w->distance < 0 ? IR_ADD : IR_SUB, first, cells);
  IrInst *own = splat(w, w->own), *other = splat(w, w->other);
  IrInst *row = ir_select(&w->b, crosses, other, own),
         *position = ir_select(&w->b, crosses, moved, first);
  return load_lanes(w, address_of_element(w, row, position, 0));
}

/* A whole step of a row, all of whose steps are vectors at multiples of `width`. */
static IrInst *load_window(Window *w) {
  bool is_low = w->distance < 0;
  int64_t next = is_low ? -w->width : w->width;
  IrInst *edge = ir_const_like(&w->b, w->position, is_low ? 0 : w->cells - w->width);
  IrInst *crosses = ir_binary(&w->b, IR_EQ, w->position, edge);
  IrInst *beyond = address_of_element(
      w, w->other, ir_const_like(&w->b, w->position, is_low ? w->cells - w->width : 0), 0);
  IrInst *near =
      ir_select(&w->b, crosses, beyond, address_of_element(w, w->own, w->position, next));
  IrInst *here = load_lanes(w, address_of_element(w, w->own, w->position, 0)),
         *there = load_lanes(w, near);
  return is_low ? splice(w, there, here, w->width + w->distance)
                : splice(w, here, there, w->distance);
}

void cell_loops_window(IrKernel *kernel, IrInst *load, bool may_cross) {
  Window w = {.b = rewrite_before(kernel, load),
              .load = load,
              .own = load->operands[0],
              .other = load->operands[1],
              .position = load->operands[2],
              .type = type_element(load->type),
              .cells = load->extent[0],
              .distance = load->imm,
              .width = type_rows(load->type)};
  int64_t at, reach = w.distance < 0 ? -w.distance : w.distance;
  ASSERT(w.cells >= w.width && reach <= w.cells, "a window reaches one neighbour at most");
  bool are_vectors = w.width > 1 && reach <= w.width && w.cells % w.width == 0;
  IrInst *value;
  if (ir_is_const(w.position, &at)) value = load_fixed(&w, at + w.distance);
  else if (!may_cross || w.own == w.other)
    value = load_lanes(&w, address_of_element(&w, w.own, w.position, w.distance));
  else value = are_vectors ? load_window(&w) : load_by_lane(&w);
  ir_replace_uses(load, value);
  ir_delete(load);
}
