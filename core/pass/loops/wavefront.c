/* wavefront.c - tiles a loop over the diagonals of a box, whose cells depend on cells before them.
 *
 *   for d = 2, 2 * n                                    for D = 0, .. (diagonals of tiles)
 *     range max(1, d - n) .. min(n, d - 1) (i)    =>      range .. (tiles of D)
 *       x[i][d - i] = f(x[i - 1][d - i], ..)                for i = .. for j = .. (of the tile)
 *                                                             x[i][j] = f(x[i - 1][j], ..)
 *
 * A diagonal touches a cache line per cell, which is evicted before the next diagonal uses it, and
 * each diagonal ends at a barrier. With j = d - i, the bounds of the range describe a box of i and
 * j if d visits all of its diagonals; a launch in which they do not runs the original loops. In the
 * box a dependence leads to a cell `a` rows and `b` cells later. If neither is negative, every
 * order of tiles and cells in which rows and cells only increase is correct: so the tiles of a
 * diagonal are independent, and the cells of a tile are a serial nest, whose rows `hoist_checks`
 * skews. Decision D-pass-94. */
#include "pass/analysis/dependence.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

/* Rows and cells of a tile: enough work for an iteration of a task, and enough tiles on a diagonal
 * of 2048 x 2048 cells for 8 workers. */
enum { ROWS = 64, CELLS = 256 };
/* Insts of a body, of which the skewed nest has copies. */
enum { LARGEST_BODY = 140 };
/* All bounds are less than this, so that no sum of two indices wraps. */
static const int64_t largest_bound = 1 << 30;

typedef struct Front {
  IrKernel *kernel;
  IrInst *loop, *range;
  IrInst *diagonal, *index;   /* their parameters: d and i */
  IrBuilder b;                /* before the loop */
  IrInst *first[2], *last[2]; /* of i and of d - i: i64; NULL: no bound so far */
  IrInst *is_box;
} Front;

/* -- bounds ------------------------------------------------------------------------------------ */

static void require_that(Front *f, IrOp op, IrInst *a, IrInst *b) {
  f->is_box = rewrite_both(&f->b, f->is_box, ir_binary(&f->b, op, a, b));
}

static void require_small(Front *f, IrInst *value) {
  require_that(f, IR_GT, value, ir_i64(&f->b, -largest_bound));
  require_that(f, IR_LT, value, ir_i64(&f->b, largest_bound));
}

/* The sum without the diagonal, as an i64. */
static IrInst *rest_of(Front *f, const Affine *sum, int64_t constant) {
  IrInst *rest = ir_i64(&f->b, sum->constant + constant);
  for (int i = 0; i < sum->count; i++) {
    if (sum->values[i] == f->diagonal) continue;
    IrInst *term = ir_convert(&f->b, (IrInst *)sum->values[i], TYPE(I64));
    term = ir_binary_const(&f->b, IR_MUL, term, sum->factors[i]);
    rest = ir_binary(&f->b, IR_ADD, rest, term);
  }
  return rest;
}

static void tighten(Front *f, IrInst **bound, IrOp op, IrInst *value) {
  require_small(f, value);
  *bound = *bound ? ir_binary(&f->b, op, *bound, value) : value;
}

/* Adds `value` + constant as a bound of the box: the range's begin or, if `is_last`, its last
 * index. */
static bool add_bound(Front *f, const IrInst *value, int64_t constant, bool is_last) {
  int64_t more;
  Affine sum;
  value = facts_split_constant(value, &more);
  constant += more;
  if (value->op == (is_last ? IR_MIN : IR_MAX))
    return add_bound(f, value->operands[0], constant, is_last) &&
           add_bound(f, value->operands[1], constant, is_last);
  if (!facts_affine(value, f->loop->regions[0], &sum)) return false;
  for (int i = 0; i < sum.count; i++)
    if (sum.values[i] != f->diagonal && ir_is_inside(sum.values[i], f->loop->regions[0]))
      return false;
  int64_t factor = facts_factor(&sum, f->diagonal);
  if (factor != 0 && factor != 1) return false;
  IrInst *rest = rest_of(f, &sum, constant);
  /* i >= d + rest, so d - i <= -rest: a bound of the other side of the other index */
  if (factor) rest = ir_unary(&f->b, IR_NEG, rest);
  if ((factor != 0) == is_last) tighten(f, &f->first[factor], IR_MAX, rest);
  else tighten(f, &f->last[factor], IR_MIN, rest);
  return true;
}

/* Do the diagonals cover the whole box? */
static bool find_box(Front *f) {
  if (!add_bound(f, f->range->operands[0], 0, false) ||
      !add_bound(f, f->range->operands[1], -1, true))
    return false;
  for (int k = 0; k < 2; k++)
    if (!f->first[k] || !f->last[k]) return false;
  IrInst *begin = ir_convert(&f->b, f->loop->operands[0], TYPE(I64)),
         *end = ir_convert(&f->b, f->loop->operands[1], TYPE(I64));
  require_small(f, begin);
  require_small(f, end);
  for (int k = 0; k < 2; k++) require_that(f, IR_LE, f->first[k], f->last[k]);
  require_that(f, IR_LE, begin, ir_binary(&f->b, IR_ADD, f->first[0], f->first[1]));
  require_that(f, IR_GE, end, ir_binary(&f->b, IR_ADD, f->last[0], f->last[1]));
  return true;
}

/* -- which loops ------------------------------------------------------------------------------- */

/* Updates that combine give the same result in any order, except those of floats. */
static bool updates_commute(const IrInst *a, const IrInst *b) {
  return a->op == IR_UPDATE && b->op == IR_UPDATE && a->imm == b->imm &&
         ir_update_combines((IrUpdate)a->imm) && type_is_integer(a->operands[1]->type);
}

/* A visit: does every order by rows and cells preserve the dependence? The iterations of a diagonal
 * are unordered, so it must have none. */
static bool keeps_order(void *data, const Distance *distance, const NestAccess *write,
                        const NestAccess *other) {
  if (updates_commute(write->inst, other->inst)) return true;
  if (distance->known == 2) return distance->by[1] == 0;
  if (distance->known != 3) return false;
  int64_t i = distance->by[1], j = distance->by[0] - i;
  if (i < 0) i = -i, j = -j;
  return j >= 0 && (i == 0 || distance->by[0] != 0);
}

static bool has_diagonals(IrKernel *kernel, const IrInst *loop) {
  if (facts_step(loop) != 1 || !type_is(loop->operands[0]->type, TYPE_I32)) return false;
  IrInst *range = loop->regions[0]->last;
  if (!range || range->op != IR_RANGE || range->regions[0]->params.count != 1 || range->serial ||
      range->block || !type_is(range->operands[0]->type, TYPE_I32) ||
      !type_is(range->operands[1]->type, TYPE_I32) || !type_is(ir_index(range)->type, TYPE_I32))
    return false;
  for (const IrInst *inst = loop->regions[0]->first; inst != range; inst = inst->next)
    if (!(ir_effects(inst) & IR_PURE)) return false;
  if (rewrite_count(range->regions[0]) > LARGEST_BODY) return false;
  const IrInst *index = ir_index(range);
  LoopNest nest = {.body = loop->regions[0], .count = 2, .indices = {ir_index(loop), index}};
  NestAccesses accesses;
  return dependence_collect(kernel, &nest, range->regions[0], &accesses) && accesses.count &&
         dependence_visit(&accesses, keeps_order, NULL);
}

/* -- tiles ------------------------------------------------------------------------------------- */

/* Are elements contiguous along i, which then becomes the inner index? */
static bool runs_along(const Front *f) {
  const IrRegion *body = f->range->regions[0];
  Affine sum;
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (inst->op != IR_STORE || inst->operands[0]->operand_count < 2) continue;
    const IrInst *place = inst->operands[0], *last = place->operands[place->operand_count - 1];
    return facts_affine(last, NULL, &sum) && !facts_factor(&sum, f->diagonal);
  }
  return false;
}

static IrInst *to_i32(IrBuilder *b, IrInst *value) { return ir_convert(b, value, TYPE(I32)); }

/* The number of the last tile from `first` to `last`. */
static IrInst *last_tile(IrBuilder *b, IrInst *first, IrInst *last, int size) {
  return ir_binary_const(b, IR_FLOORDIV, ir_binary(b, IR_SUB, last, first), size);
}

/* `bounds`: the first and last index of the side; becomes those of its tile. */
static void find_tile(IrBuilder *b, IrInst *tile, int size, IrInst *bounds[2]) {
  IrInst *before = ir_binary_const(b, IR_MUL, tile, size);
  bounds[0] = ir_binary(b, IR_ADD, bounds[0], before);
  IrInst *last = ir_binary_const(b, IR_ADD, bounds[0], size - 1);
  bounds[1] = ir_binary(b, IR_MIN, last, bounds[1]);
}

static void put_cell(const Front *f, IrBuilder *b, IrInst *i, IrInst *j) {
  IrMap *map = ir_map(f->kernel->scratch, f->kernel);
  ir_map_put(map, f->diagonal, ir_binary(b, IR_ADD, i, j));
  ir_map_put(map, f->index, i);
  ir_copy_to(b, f->loop->regions[0]->first, f->range, map);
  for (const IrInst *inst = f->range->regions[0]->first; inst; inst = inst->next) {
    bool is_other =
        inst->op == IR_SUB && inst->operands[0] == f->diagonal && inst->operands[1] == f->index;
    if (is_other) ir_map_put(map, inst, j);
    else ir_insert(b, ir_copy_inst(f->kernel, inst, map));
  }
}

static void put_tiles(const Front *f, IrRegion *region) {
  IrBuilder b = rewrite_inside(f->kernel, region, f->range);
  int inner = runs_along(f) ? 0 : 1, outer = 1 - inner;
  IrInst *rows[2] = {to_i32(&b, f->first[outer]), to_i32(&b, f->last[outer])};
  IrInst *cells[2] = {to_i32(&b, f->first[inner]), to_i32(&b, f->last[inner])};
  IrInst *last_row = last_tile(&b, rows[0], rows[1], ROWS),
         *last_cell = last_tile(&b, cells[0], cells[1], CELLS);
  IrInst *zero = ir_i32(&b, 0);
  IrInst *front = rewrite_open_for(&b, zero, ir_binary(&b, IR_ADD, last_row, last_cell), 1);
  IrInst *begin = ir_binary(&b, IR_MAX, zero, ir_binary(&b, IR_SUB, front, last_cell));
  IrInst *end = ir_plus(&b, ir_binary(&b, IR_MIN, last_row, front), 1);
  IrInst *tiles = ir_range(&b, 1, (IrInst *[]){begin, end}, TYPE(I32));
  tiles->scalar = true; /* its rows are skewed instead */
  b = rewrite_inside(f->kernel, tiles->regions[0], f->range);
  IrInst *row_tile = ir_index(tiles);
  find_tile(&b, row_tile, ROWS, rows);
  find_tile(&b, ir_binary(&b, IR_SUB, front, row_tile), CELLS, cells);
  IrInst *row = rewrite_open_for(&b, rows[0], rows[1], 1),
         *cell = rewrite_open_for(&b, cells[0], cells[1], 1);
  put_cell(f, &b, inner ? row : cell, inner ? cell : row);
}

static void tile_diagonals(IrKernel *kernel, IrInst *loop) {
  rewrite_hoist(loop); /* bounds are computed from values before the loop */
  IrInst *range = loop->regions[0]->last;
  Front f = {.kernel = kernel,
             .loop = loop,
             .range = range,
             .diagonal = ir_index(loop),
             .index = ir_index(range),
             .b = rewrite_before(kernel, loop)};
  if (!find_box(&f)) return; /* `fold` removes the computed bounds */
  IrInst *branch = ir_if(&f.b, f.is_box);
  ir_note(kernel, range->line,
          "the diagonals of a box are run in tiles of %d x %d cells, which are independent along a "
          "diagonal of tiles",
          ROWS, CELLS);
  put_tiles(&f, branch->regions[0]);
  ir_move_into(branch->regions[1], loop);
}

static void visit_region(IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (has_diagonals(kernel, inst)) {
      tile_diagonals(kernel, inst);
      continue;
    }
    if (inst->op == IR_RANGE || inst->op == IR_ACTIVE) continue;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      visit_region(kernel, inst->regions[i]);
  }
}

bool pass_wavefront(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (kernel->body) visit_region(kernel, kernel->body);
  return true;
}
