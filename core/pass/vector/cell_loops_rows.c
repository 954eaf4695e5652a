/* cell_loops_rows.c - ROW: cells of a leaf along its last axis, in steps of its lanes.
 *
 *     row end=32 lanes=8 (%p) { .. row.load -1 .. row.load +2 .. }
 *
 *  =>  the body at 0          reads at -1 begin in the lower leaf
 *      for 8, 16, 8 (%p) { .. no read leaves the row .. }
 *      the body at 24         reads at +2 end in the upper leaf
 *
 * The first and last steps, in which some read crosses into the next leaf, are copies at constant
 * positions. Short rows are such copies throughout; if those would be too long, each read decides
 * at run time. A masked row skips steps without a set bit, or visits its cells by a loop over
 * bits.
 *
 * ROW_LOAD reads elements at a constant distance, which may be in the neighbouring leaf's row:
 *
 *     neighbour |.......e|  own |abcdefgh|     distance -1, 8 lanes:
 *                                              splice(|.......e|, |abcdefgh|) = |eabcdefg|
 *
 * At a constant position it is known whether a window crosses. Elsewhere a lane selects its row by
 * its position, and a full vector is a window of two vectors, either of which may be in the
 * neighbouring row. */
#include "base/bits.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

enum {
  FIXED_STEPS = 4,       /* a row of at most so many steps consists of copies */
  MOST_FIXED_STEPS = 16, /* most copies at both ends of a row */
  LONG_BODY = 64,        /* insts of a scalar body that is not copied throughout */
  LONG_EDGE = 300        /* insts of a body with branches that is not copied for a row's ends */
};

typedef struct Row {
  Scratch *scratch;
  IrKernel *kernel;
  IrInst *inst;
  IrRegion *body;
  IrInst *position, *mask; /* its parameters; mask: NULL if its cells run one by one */
  IrInst *word;            /* of a masked row: a bit per cell */
  int step;                /* cells at a time */
  IrMap *map;              /* of the body: the value that replaces it in a copy */
  int64_t low, high;       /* least and largest distance of a read, including 0 */
  int64_t cells;           /* of a leaf's row; 0: no read may cross */
  int insts;               /* in the body */
  bool has_exits, has_groups, has_faults;
  bool may_cross; /* the step that is being copied may reach the next leaf */
} Row;

static void note_insts(Row *row) {
  for (const IrInst *inst = row->body->first; inst; inst = ir_following(inst, row->body)) {
    row->insts += inst->op != IR_SPLAT && inst->op != IR_STEP;
    row->has_exits |= inst->op == IR_CONTINUE;
    row->has_groups |= inst->group != 0;
    row->has_faults |= inst->op == IR_FAULT;
    if (inst->op != IR_ROW_LOAD) continue;
    row->low = min_i64(row->low, inst->imm);
    row->high = max_i64(row->high, inst->imm);
    row->cells = inst->extent[0];
  }
}

/* -- windows ----------------------------------------------------------------------------------- */

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
  int size = type_size(w->type);
  return ir_offset(&w->b, row, position, size, more * size);
}

static IrInst *load_element(Window *w, IrInst *at) {
  IrInst *one = ir_mem_load(&w->b, w->type, at);
  one->alias = w->load->alias;
  return one;
}

/* `width` elements from an address on, or at an address each. */
static IrInst *load_lanes(Window *w, IrInst *at) {
  if (w->width == 1) return load_element(w, at);
  IrInst *lanes = lane_load_all(&w->b, w->load->type, at);
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
 * element is loaded as a scalar, more as a full vector. */
static IrInst *load_edge(Window *w, int64_t cell, int64_t reached, int lane) {
  if (reached > 1) return load_cells(w, w->other, cell);
  IrInst *one = load_element(
      w, address_of_element(w, w->other, ir_const_like(&w->b, w->position, cell + lane), 0));
  return ir_splat(&w->b, one, w->width);
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
  return w->width == 1 ? value : ir_splat(&w->b, value, w->width);
}

/* Each lane has its own address. */
static IrInst *load_by_lane(Window *w) {
  IrInst *first = ir_binary_const(&w->b, IR_ADD, w->position, w->distance);
  if (w->width > 1) first = ir_step(&w->b, first, w->width, 1);
  IrInst *cells = ir_const_like(&w->b, first, w->cells);
  IrInst *bound = ir_const_like(&w->b, first, w->distance < 0 ? 0 : w->cells);
  IrInst *crosses = ir_binary(&w->b, w->distance < 0 ? IR_LT : IR_GE, first, bound);
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

/* Writes a ROW_LOAD as loads of elements, and deletes it. Its position is a constant, or that of
 * steps of its lanes, of which some leave the row of their leaf only if `may_cross`. */
static void write_window(IrKernel *kernel, IrInst *load, bool may_cross) {
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

/* -- one step ---------------------------------------------------------------------------------- */

static bool replace_active(void *kernel, IrInst *inst) {
  if (inst->op != IR_ROW_ACTIVE) return true;
  IrBuilder b = rewrite_before(kernel, inst);
  ir_replace_uses(inst, ir_const_int(&b, inst->type, 1));
  ir_delete(inst);
  return true;
}

void cell_loops_set_active(IrKernel *kernel, IrRegion *body) {
  ir_walk(body, replace_active, kernel);
}

static bool replace_load(void *data, IrInst *inst) {
  const Row *row = data;
  if (inst->op == IR_ROW_LOAD) write_window(row->kernel, inst, row->may_cross);
  return true;
}

static void copy_body(Row *row, IrBuilder *b, bool may_cross) {
  row->may_cross = may_cross;
  IrRegion *to = ir_region_create(row->kernel, NULL);
  IrBuilder in = {.kernel = row->kernel, .region = to};
  ir_copy_to(&in, row->body->first, NULL, row->map);
  ir_walk(to, replace_load, row);
  rewrite_move_to(to->first, b);
}

/* The bits of the word from a cell on. */
static IrInst *bits_from_cell(const Row *row, IrBuilder *b, IrInst *position) {
  Type type = row->word->type;
  int64_t cell;
  bool is_fixed = ir_is_const(position, &cell);
  if (is_fixed && !cell) return row->word;
  return ir_binary(b, IR_SHR, row->word,
                   is_fixed ? ir_const_int(b, type, cell) : ir_convert(b, position, type));
}

static IrInst *low_bits(IrBuilder *b, IrInst *bits, int64_t count) {
  if (count >= 64) return bits;
  int64_t ones = ((int64_t)1 << count) - 1;
  return ir_binary_const(b, IR_BAND, bits, ones);
}

static IrInst *has_bits(IrBuilder *b, IrInst *bits) { return ir_binary_const(b, IR_NE, bits, 0); }

/* The mask of the step's lanes; if `rest` is not 0, only the first `rest` are in the row. If the
 * row is masked, opens an IF on whether any lane has a bit. */
static IrInst *open_lanes(const Row *row, IrBuilder *b, IrInst *position, int64_t rest) {
  Type type = row->mask->type;
  if (!row->word && !rest) return ir_const_int(b, type, 1);
  IrInst *bits = row->word ? bits_from_cell(row, b, position)
                           : ir_const_int(b, TYPE(U64), ((int64_t)1 << rest) - 1);
  if (row->word) {
    *b = rewrite_into(b, ir_if(b, has_bits(b, low_bits(b, bits, row->step)))->regions[0]);
  }
  return ir_mask_of_bits(b, bits, row->step);
}

/* Writes the cells from `position` on. Exits and groups of accesses need their own region: that of
 * a loop over positions (`in_loop`), or of a loop with one iteration. */
static void write_step(Row *row, const IrBuilder *at, IrInst *position, int64_t rest,
                       bool may_cross, bool in_loop) {
  IrBuilder b = *at, after = *at;
  bool polls = row->mask && row->has_faults;
  IrInst *mask = row->mask ? open_lanes(row, &b, position, rest) : NULL;
  if (in_loop ? polls && row->has_exits : row->has_exits || row->has_groups) {
    IrInst *once = ir_const_like(&b, row->position, 0);
    rewrite_open_for(&b, once, once, 1);
  }
  ir_map_put(row->map, row->position, position);
  if (mask) ir_map_put(row->map, row->mask, mask);
  copy_body(row, &b, may_cross);
  if (polls) ir_emit(&after, IR_POLL, TYPE(NONE), 0, NULL);
}

/* -- pieces of a row --------------------------------------------------------------------------- */

static void write_fixed(Row *row, IrBuilder *b, int64_t from, int64_t to) {
  for (; from < to; from += row->step)
    write_step(row, b, ir_const_like(b, row->position, from), to - from < row->step ? to - from : 0,
               false, false);
}

static void write_loop(Row *row, IrBuilder *b, int64_t from, int64_t to, bool may_cross) {
  if (to - from <= row->step) return write_fixed(row, b, from, to);
  DEBUG_ASSERT((to - from) % row->step == 0, "a loop has whole steps");
  IrInst *first = ir_const_like(b, row->position, from),
         *last = ir_const_like(b, row->position, to - row->step);
  IrBuilder in = *b;
  IrInst *position = rewrite_open_for(&in, first, last, row->step);
  write_step(row, &in, position, 0, may_cross, true);
}

static int64_t round_up_to_step(const Row *row, int64_t cells) {
  return (cells + row->step - 1) / row->step * row->step;
}

/* Steps in [0, low) reach below the row, those in [high, whole) above it. */
static void write_pieces(Row *row, IrBuilder *b) {
  int64_t end = row->inst->end, whole = end - end % row->step;
  int64_t low = min_i64(whole, round_up_to_step(row, -row->low));
  int64_t beyond = row->cells ? max_i64(0, whole + row->high - row->cells) : 0;
  int64_t high = max_i64(low, whole - round_up_to_step(row, beyond));
  int64_t copies = (low + whole - high) / row->step;
  bool is_long = row->insts > LONG_EDGE;
  if (copies > (is_long ? 0 : MOST_FIXED_STEPS)) {
    write_loop(row, b, 0, whole, true);
  } else {
    write_fixed(row, b, 0, low);
    write_loop(row, b, low, high, false);
    write_fixed(row, b, high, whole);
  }
  write_fixed(row, b, whole, end);
}

static void write_steps(Row *row, IrBuilder *b) {
  int64_t steps = (row->inst->end + row->step - 1) / row->step;
  bool is_long = row->insts > (row->step > 1 ? LONG_EDGE : LONG_BODY);
  if (steps <= FIXED_STEPS && (!is_long || steps == 1)) write_fixed(row, b, 0, row->inst->end);
  else write_pieces(row, b);
}

/* Cells that run one by one are found by their bits. */
static void write_bits(Row *row, IrBuilder *b) {
  IrInst *bits = low_bits(b, row->word, row->inst->end);
  IrInst *loop = ir_bits(b, bits, row->position->type);
  IrBuilder in = rewrite_inside(row->kernel, loop->regions[0], row->inst);
  write_step(row, &in, ir_index(loop), 0, true, true);
}

/* -- elements of a list ------------------------------------------------------------------------ */

static void write_elements(Row *row, IrBuilder *b, IrInst *first, IrInst *end) {
  IrInst *last = ir_binary(b, IR_SUB, end, ir_const_like(b, row->position, 1));
  ASSERT(!row->cells, "a list's elements have no neighbours");
  IrBuilder in = *b;
  IrInst *position = rewrite_open_for(&in, first, last, 1);
  IrInst *loop = in.region->owner;
  loop->short_trip = true;
  if (row->inst->lanes <= 1) return write_step(row, &in, position, 0, false, true);
  loop->lanes = row->inst->lanes;
  ir_map_put(row->map, row->position, position);
  ir_map_put(row->map, row->mask, ir_region_param(row->kernel, in.region, row->mask->type));
  copy_body(row, &in, false);
}

/* -- the row ----------------------------------------------------------------------------------- */

static Row analyse_row(Scratch *scratch, IrKernel *kernel, IrInst *inst) {
  IrRegion *body = inst->regions[0];
  Row row = {.scratch = scratch,
             .kernel = kernel,
             .inst = inst,
             .body = body,
             .position = body->params.items[0],
             .mask = ir_lanes_mask(body),
             .step = inst->lanes > 1 ? inst->lanes : 1,
             .map = ir_map(scratch, kernel)};
  if (inst->masked) row.word = inst->operands[inst->operand_count - 1];
  note_insts(&row);
  ASSERT(is_power_of_two((uint64_t)row.step), "vectors have 2, 4, .. lanes");
  ASSERT(!inst->masked || inst->end <= 64, "the bits of a row are one word");
  ASSERT((row.step > 1) == (row.mask != NULL), "lanes have a mask");
  ASSERT(!row.cells || inst->end <= row.cells, "the cells are in the leaf's row");
  return row;
}

void cell_loops_row(Scratch *scratch, IrKernel *kernel, IrInst *inst) {
  cell_loops_set_active(kernel, inst->regions[0]);
  Row row = analyse_row(scratch, kernel, inst);
  IrInst *const *bounds = ir_row_bounds(inst);
  IrBuilder b = rewrite_before(kernel, inst);
  if (bounds) write_elements(&row, &b, bounds[0], bounds[1]);
  else if (row.word && !row.mask) write_bits(&row, &b);
  else write_steps(&row, &b);
  ir_delete(inst);
}
