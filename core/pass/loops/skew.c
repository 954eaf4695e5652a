/* skew.c - loop skewing: interleaves several rows of a serial nest with a loop-carried dependence.
 *
 *     for i { for j {                           row i      . . . . . 4 5
 *       x[i][j] = f(x[i][j - 1], ..)    =>      row i + 1  . . . 3 4 5      the same number: the
 *     } }                                       row i + 2  . 2 3 4 5        same iteration
 *
 * While one row waits for the result of its previous cell, the processor works on the others. Each
 * row lags the one before by a distance in cells (the skew) that preserves every dependence. This
 * requires that every dependence has a known distance (analysis/dependence.h); then all results are
 * identical to the bit.
 *
 *     for group of ROWS rows {
 *       begin:  row r runs its first (ROWS - 1 - r) * skew cells, row after row
 *       steady: for t { row 0 runs cell t, row 1 cell t - skew, .. }
 *       end:    row r runs its last r * skew cells
 *     }
 *     the remaining rows, one by one
 *
 * A dependence leads from one cell to another, a rows and b cells later, where b may be negative.
 * It is preserved if skew * a + b > 0 for each dependence with a > 0: then its source is in an
 * earlier iteration of the steady loop, and also comes first in `begin` and `end`.
 * Decision D-pass-24. */
#include "pass/loops/loops.h"

#include "pass/analysis/dependence.h"
#include "pass/rewrite.h"

/* Rows that run together: enough to hide the latency of a dependent sum or square root behind the
 * others, and few enough for the registers of four copies of a body (D-pass-24). */
enum { ROWS = 4 };
/* Cells by which a row lags behind the previous one. */
enum { MOST_SKEW = 2 };
/* Insts of a body, which the steady loop has four copies of. */
enum { LARGEST_BODY = 140 };

typedef struct Skew {
  const BodyLimits *at;
  IrKernel *kernel;
  IrInst *outer, *inner;
  LoopNest nest;               /* of both */
  int64_t row_step, cell_step; /* 1 or -1 */
  int64_t distance;            /* the skew */
  bool has_recurrence;         /* a cell reads the result of an earlier cell of its row */
} Skew;

/* -- accesses and dependences ------------------------------------------------------------------ */

/* A visit: raises the skew to the minimum that preserves the dependences between a write and
 * another access; false if that is too large, or not known. */
static bool raise_skew(void *data, const Distance *distance, const NestAccess *write,
                       const NestAccess *other) {
  Skew *s = data;
  if (distance->known != 3) return false;
  int64_t rows = distance->by[0] * s->row_step, cells = distance->by[1] * s->cell_step;
  if (rows == 0) {
    s->has_recurrence |= cells > 0 && !other->writes;
    return true;
  }
  if (rows < 0) rows = -rows, cells = -cells;
  while (s->distance <= MOST_SKEW && s->distance * rows + cells <= 0) s->distance++;
  return s->distance <= MOST_SKEW;
}

static bool find_step(const IrInst *loop, int64_t *step) {
  *step = facts_step(loop);
  return (*step == 1 || *step == -1) && !loop->no_unroll &&
         type_is(loop->operands[0]->type, TYPE_I32);
}

/* Finds the inner loop, which must be the last inst of the outer one; all insts before it must be
 * pure. */
static bool find_nest(Skew *s) {
  s->inner = s->outer->regions[0]->last;
  if (!s->inner || !find_step(s->outer, &s->row_step) || !find_step(s->inner, &s->cell_step))
    return false;
  rewrite_hoist(s->outer); /* the bounds of the inner loop must be the same in all rows */
  for (const IrInst *inst = s->outer->regions[0]->first; inst != s->inner; inst = inst->next)
    if (!(ir_effects(inst) & IR_PURE)) return false;
  for (int i = 0; i < 2; i++)
    if (ir_is_inside(s->inner->operands[i], s->outer->regions[0])) return false;
  return rewrite_count(s->outer->regions[0]) <= LARGEST_BODY;
}

static bool can_skew(Skew *s) {
  if (!find_nest(s)) return false;
  s->distance = 1;
  s->nest = dependence_nest_of_two(s->outer->regions[0], s->inner);
  NestAccesses accesses;
  return dependence_collect(s->kernel, &s->nest, s->inner->regions[0], &accesses) &&
         dependence_visit(&accesses, raise_skew, s) && s->has_recurrence;
}

/* -- the rewriting ----------------------------------------------------------------------------- */

/* a + index * factor, of i32 */
static IrInst *add_multiple(IrBuilder *b, IrInst *a, IrInst *index, int64_t factor) {
  if (factor == 1) return ir_binary(b, IR_ADD, a, index);
  if (factor == -1) return ir_binary(b, IR_SUB, a, index);
  return ir_binary(b, IR_ADD, a, ir_binary_const(b, IR_MUL, index, factor));
}

/* Appends the body for this cell of this row to the builder's region. */
static void put_cell(const Skew *s, IrBuilder *b, IrInst *row, IrInst *cell) {
  IrMap *map = ir_map(s->kernel->scratch, s->kernel);
  ir_map_put(map, ir_index(s->outer), row);
  ir_map_put(map, ir_index(s->inner), cell);
  ir_copy_to(b, s->outer->regions[0]->first, s->inner, map);
  ir_copy_to(b, s->inner->regions[0]->first, NULL, map);
}

/* Appends a loop to the builder's region; the builder continues inside the loop. */
static IrInst *open_loop(IrBuilder *b, IrInst *begin, IrInst *last, int64_t step, bool is_rare) {
  IrInst *loop = ir_for(b, begin, last, ir_const_int(b, begin->type, step));
  loop->no_unroll = is_rare;
  b->region = loop->regions[0];
  return loop;
}

/* Emits the cells at the beginnings of the rows, or, if `is_end`, at their ends. */
static void put_triangle(const Skew *s, IrBuilder b, IrInst *first_row, bool is_end) {
  Type type = TYPE(I32);
  IrInst *row = ir_index(open_loop(&b, ir_const_int(&b, type, is_end ? 1 : 0),
                                   ir_const_int(&b, type, is_end ? ROWS - 1 : ROWS - 2), 1, true));
  IrInst *begin = s->inner->operands[is_end ? 1 : 0], *count = ir_const_int(&b, type, -1);
  count = add_multiple(&b, count,
                       is_end ? row : ir_binary(&b, IR_SUB, ir_const_int(&b, type, ROWS - 1), row),
                       s->distance);
  IrInst *zero = ir_const_int(&b, type, 0);
  IrInst *cell =
      ir_index(is_end ? open_loop(&b, count, zero, -1, true) : open_loop(&b, zero, count, 1, true));
  put_cell(s, &b, add_multiple(&b, first_row, row, s->row_step),
           add_multiple(&b, begin, cell, is_end ? -s->cell_step : s->cell_step));
}

static IrInst *steady_loop(const Skew *s, IrBuilder *b) {
  IrInst *begin = ir_plus(b, s->inner->operands[0], (ROWS - 1) * s->distance * s->cell_step);
  return open_loop(b, begin, s->inner->operands[1], s->cell_step, false);
}

static void put_steady(const Skew *s, IrBuilder b, IrInst *first_row) {
  DEBUG_ASSERT(b.region && !b.before, "the steady loop ends the group of rows");
  IrBuilder body = b, rare = b;
  IrInst *edge = steady_loop(s, &rare); /* first, so that copies see its operands */
  IrInst *loop = steady_loop(s, &body);
  for (int r = 0; r < ROWS; r++)
    put_cell(s, &body, ir_plus(&body, first_row, r * s->row_step),
             ir_plus(&body, ir_index(loop), -r * s->distance * s->cell_step));
  IrInst *at = ir_index(edge), *zero = ir_i32(&rare, 0);
  IrInst *row = ir_index(open_loop(&rare, zero, ir_i32(&rare, ROWS - 1), 1, true));
  put_cell(s, &rare, add_multiple(&rare, first_row, row, s->row_step),
           add_multiple(&rare, at, row, -s->distance * s->cell_step));
  ir_remove(edge);
  hoist_checks_loop(s->at, loop, edge);
  if (!edge->region) ir_delete(edge);
}

/* The trip count of the loop; it does not run if this is below 1. */
static IrInst *trip_count(IrBuilder *b, const IrInst *loop, int64_t step) {
  Type wide = TYPE(I64);
  IrInst *begin = ir_convert(b, loop->operands[0], wide),
         *last = ir_convert(b, loop->operands[1], wide);
  return ir_plus(
      b, step > 0 ? ir_binary(b, IR_SUB, last, begin) : ir_binary(b, IR_SUB, begin, last), 1);
}

static void put_remaining_rows(const Skew *s, IrBuilder *b, IrInst *rows, IrInst *done) {
  IrInst *more = ir_if(b, ir_binary(b, IR_LT, done, rows)), *outer = s->outer;
  IrBuilder inside = rewrite_inside(s->kernel, more->regions[0], outer);
  IrInst *begin = ir_convert(&inside, outer->operands[0], TYPE(I64));
  begin = ir_convert(&inside, add_multiple(&inside, begin, done, s->row_step), TYPE(I32));
  ir_set_operand(outer, 0, begin);
  ir_move_into(more->regions[0], outer);
  outer->no_unroll = s->inner->no_unroll = true;
}

bool skew_nest(const BodyLimits *at, IrInst *outer) {
  Skew s = {.at = at, .kernel = at->kernel, .outer = outer};
  if (outer->op != IR_FOR || !can_skew(&s)) return false;
  DEBUG_ASSERT(s.distance >= 1 && s.distance <= MOST_SKEW, "each row lags the one before");
  IrBuilder b = rewrite_before(s.kernel, outer);
  IrInst *rows = trip_count(&b, outer, s.row_step), *cells = trip_count(&b, s.inner, s.cell_step);
  IrInst *none = ir_i64(&b, 0), *size = ir_i64(&b, ROWS);
  IrInst *is_long = ir_binary_const(&b, IR_GT, cells, (ROWS - 1) * s.distance);
  IrInst *groups = ir_binary(&b, IR_FLOORDIV, ir_binary(&b, IR_MAX, rows, none), size);
  groups = ir_select(&b, is_long, groups, none);
  IrInst *loop = ir_for(&b, none, ir_plus(&b, groups, -1), ir_i64(&b, 1));
  IrBuilder inside = rewrite_inside(s.kernel, loop->regions[0], outer);
  IrInst *first = add_multiple(&inside, ir_convert(&inside, outer->operands[0], TYPE(I64)),
                               ir_index(loop), ROWS * s.row_step);
  first = ir_convert(&inside, first, TYPE(I32));
  put_triangle(&s, inside, first, false);
  put_steady(&s, inside, first);
  put_triangle(&s, inside, first, true);
  ir_note(s.kernel, outer->line,
          "wavefront: %d rows at a time, each %d cell%s after the previous row, as each "
          "cell depends on the previous one",
          ROWS, (int)s.distance, s.distance > 1 ? "s" : "");
  put_remaining_rows(&s, &b, rows, ir_binary(&b, IR_MUL, groups, size));
  return true;
}
