/* lookup.c - a constant table that is indexed at run time (resolve/static/constant_table.c) as
 * tables of the IR: one per number of its values.
 *
 *     t[i]       item 0 i                    number 0 is zero, as lists start at 1
 *     t[i][j]    item 0 (min i (n + 1)) * (m + 2) + min j (m + 1)
 *
 * where n is the length of t and m that of its longest row: an index out of bounds reads one of the
 * zeros around the rows. The numbers are taken from the search function, of nested comparisons,
 * since its typed tree has the type of each. */
#include "base/bits.h"
#include "lower/lower.h"

enum { MOST_CELLS = 1 << 15, MOST_LEVELS = 4 };

typedef struct Cells { /* of all levels, the last one fastest */
  Lower *l;
  Inline *in;
  int levels, count;
  int64_t extents[MOST_LEVELS];
  int parts;
  int64_t **values; /* by part */
  Type *types;
  bool is_bad;
} Cells;

typedef struct Box {
  int64_t low[MOST_LEVELS], high[MOST_LEVELS];
} Box;

/* -- the numbers ------------------------------------------------------------------------------- */

static void put(Cells *c, const Box *box, int level, int64_t at, IrInst *const *leaf) {
  if (level == c->levels) {
    for (int k = 0; k < c->parts; k++) c->values[k][at] = leaf[k]->imm;
    return;
  }
  int64_t high = min_i64(box->high[level], c->extents[level] - 1);
  for (int64_t i = box->low[level]; i <= high; i++)
    put(c, box, level + 1, at * c->extents[level] + i, leaf);
}

static void take_leaf(Cells *c, const Box *box, Expr *e) {
  const Local *result = c->in->results.items[0];
  IrInst **leaf = lower_values_as(c->l, e, result->type, c->parts);
  for (int k = 0; k < c->parts; k++) {
    c->is_bad |= leaf[k]->op != IR_CONST;
    c->types[k] = leaf[k]->type;
  }
  if (!c->is_bad) put(c, box, 0, 0, leaf);
}

static int level_of(const Cells *c, const Expr *e) {
  for (int k = 0; k < c->levels; k++)
    if (e->kind == AST_LOCAL && e->local == c->in->parameters.items[k]) return k;
  return -1;
}

/* `if index < number then .. else .. end`, or `return value` */
static void take_block(Cells *c, const Block *block, Box box) {
  const Stmt *stmt = block->count == 1 ? block->items[0] : NULL;
  if (stmt && stmt->kind == AST_STMT_RETURN) return take_leaf(c, &box, stmt->values.items[0]);
  const Expr *condition =
      stmt && stmt->kind == AST_STMT_IF ? sema_strip(stmt->values.items[0]) : NULL;
  SemaInteger number;
  bool is_search = condition && condition->kind == AST_BINARY && condition->op == AST_LT &&
                   sema_integer(condition->right, false, &number) && stmt->bodies.count == 2;
  int level = is_search ? level_of(c, sema_strip(condition->left)) : -1;
  c->is_bad |= level < 0;
  if (c->is_bad) return;
  Box lower = box, upper = box;
  lower.high[level] = (int64_t)number.size - 1;
  upper.low[level] = (int64_t)number.size;
  take_block(c, &stmt->bodies.items[0], lower);
  take_block(c, &stmt->bodies.items[1], upper);
}

/* Evaluates all values; this makes constants, in a region that is discarded. */
static bool take_all(Cells *c) {
  IrRegion *back = lower_enter(c->l, ir_region_create(c->l->b.kernel, NULL));
  Box box = {.low = {0}};
  for (int k = 0; k < c->levels; k++) box.high[k] = INT64_MAX;
  c->l->s->frame = c->in;
  take_block(c, &c->in->body, box);
  c->l->s->frame = c->in->outer;
  lower_leave(c->l, back);
  return !c->is_bad;
}

static bool make_cells(Cells *c) {
  const Lookup *lookup = c->in->lookup;
  int64_t count = 1;
  if (lookup->levels > MOST_LEVELS) return false;
  c->levels = lookup->levels;
  for (int k = 0; k < c->levels && count <= MOST_CELLS; k++) {
    c->extents[k] = lookup->lengths[k] + (c->levels > 1 ? 2 : 1);
    count *= c->extents[k];
  }
  if (count > MOST_CELLS) return false;
  c->count = (int)count;
  c->parts = type_parts(c->in->results.items[0]->shape);
  c->values = scratch_array(c->l->scratch, int64_t *, c->parts);
  c->types = scratch_array(c->l->scratch, Type, c->parts);
  for (int k = 0; k < c->parts; k++) c->values[k] = scratch_array(c->l->scratch, int64_t, count);
  return take_all(c);
}

/* -- the index --------------------------------------------------------------------------------- */

/* Undoes the widening of an index to the parameter's i64. */
IrInst *lower_narrow(IrInst *index) {
  bool is_widened = index->op == IR_CONVERT && type_is_integer(index->operands[0]->type) &&
                    type_bits(index->operands[0]->type) <= type_bits(index->type);
  return is_widened ? index->operands[0] : index;
}

/* Clamps one of several indices to 0 .. extent - 1; out of bounds becomes the last. */
static IrInst *clamped(Lower *l, IrInst *index, int64_t extent) {
  index = lower_narrow(index);
  if (type_bits(index->type) < 32) index = ir_convert(&l->b, index, TYPE(I32));
  Type type = type_bits(index->type) == 64 ? TYPE(U64) : TYPE(U32);
  index = ir_convert(&l->b, index, type);
  index = ir_binary(&l->b, IR_MIN, index, ir_const_int(&l->b, type, extent - 1));
  return ir_convert(&l->b, index, TYPE(U32));
}

static IrInst *index_of(Lower *l, const Cells *c) {
  IrInst *index = lowered_of(l, c->in->parameters.items[0])->values[0];
  if (c->levels == 1) return lower_narrow(index);
  index = clamped(l, index, c->extents[0]);
  for (int k = 1; k < c->levels; k++) {
    IrInst *own = lowered_of(l, c->in->parameters.items[k])->values[0];
    IrInst *width = ir_const_int(&l->b, TYPE(U32), c->extents[k]);
    index = ir_binary(&l->b, IR_ADD, ir_binary(&l->b, IR_MUL, index, width),
                      clamped(l, own, c->extents[k]));
  }
  return index;
}

IrInst **lower_lookup(Lower *l, Inline *in) {
  Cells c = {.l = l, .in = in};
  if (!in->lookup || !make_cells(&c)) return NULL;
  IrInst *index = index_of(l, &c), **items = lower_array(l, c.parts);
  for (int k = 0; k < c.parts; k++) {
    items[k] =
        ir_table_get(&l->b, ir_add_table(l->b.kernel, c.types[k], c.count, c.values[k]), index);
    items[k]->in_bounds = c.levels > 1;
  }
  return items;
}
