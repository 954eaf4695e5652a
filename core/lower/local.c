/* local.c - locals in arrays: a vector or matrix that is assigned at computed indices is an array
 * in the function's frame, row by row, instead of a VAR per number.
 *
 *     local stack = I48(0)       %s = local.array 48
 *     stack[top] = v             local.set %s %top %v
 *     return stack[top] + 1      local.get %s %top
 *
 * Each access then costs one comparison, where variables need a SELECT for each number. Decision
 * D-lower-10. */
#include "lower/lower.h"

enum {
  MOST_CHOSEN = 4,     /* numbers of a vector that SELECTs choose from faster than memory */
  MOST_OF_MATRIX = 16, /* of a matrix, whose indices are mostly those of loops that are unrolled */
  FAR_OUTSIDE = -(1 << 30)
};

bool local_has_array(const Lower *l, const Local *local) {
  int count = type_parts(local->shape);
  bool is_written = local->is_indexed && local->is_part_assigned;
  /* Loops capture what the host region declares, number by number; debug = true knows of each
   * number whether it has a value. */
  bool is_host = l->top == l->output->kernel->body;
  int few = type_is_matrix(local->shape) ? MOST_OF_MATRIX : MOST_CHOSEN;
  return is_written && !is_host && count > few && !type_is_struct(local->type) &&
         !lower_looks_for(l, SEMA_DEBUG_LOCALS);
}

static IrInst *constant(Lower *l, int64_t number) { return ir_const_int(&l->b, TYPE(I32), number); }

static bool is_zero(const IrInst *value) { return value->op == IR_CONST && !value->imm; }

void local_bind(Lower *l, const Local *local, IrInst **values) {
  int count = type_parts(local->shape);
  IrInst *array = ir_local_array(&l->b, local->type, count);
  for (int k = 0; k < count; k++) {
    IrInst *value = lower_convert(l, values[k], local->type);
    if (!is_zero(value)) ir_local_set(&l->b, array, constant(l, k), value)->inside = true;
  }
  held_by(l, local)->array = array;
}

IrInst *local_get(Lower *l, const Local *local, int part) {
  IrInst *get = ir_local_get(&l->b, held_by(l, local)->array, constant(l, part));
  get->inside = true;
  return get;
}

bool local_share(Lower *l, const Local *parameter, Expr *argument) {
  const Expr *from = sema_strip(argument);
  bool is_only_read = parameter->is_indexed && !local_is_variable(parameter);
  if (!is_only_read || from->kind != AST_LOCAL || !held_by(l, from->local)->array) return false;
  if (!type_equal(parameter->type, from->local->type) ||
      !type_equal(parameter->shape, from->local->shape))
    return false;
  held_by(l, parameter)->array = held_by(l, from->local)->array;
  return true;
}

/* -- places in an array ------------------------------------------------------------------------ */

bool local_has_spot(const Lower *l, Expr *e) {
  for (e = sema_strip(e); e->entity.kind == ENTITY_PART; e = sema_strip(e->left))
    if (e->entity.parts.count && !e->entity.parts.is_run) return false;
  return e->kind == AST_LOCAL && l->held[e->local->id].array;
}

/* The index of a row's first number. A row that does not exist gets one far out of bounds, so that
 * adding a column cannot bring it back in. */
static IrInst *row_begin(Lower *l, IrInst *index, int rows, int cols) {
  Type own = type_bits(index->type) == 64 ? TYPE(U64) : TYPE(U32);
  IrInst *plain = ir_convert(&l->b, index, own);
  IrInst *is_row = ir_binary(&l->b, IR_LT, plain, ir_const_int(&l->b, own, rows));
  IrInst *begin = ir_binary(&l->b, IR_MUL, ir_convert(&l->b, index, TYPE(I32)), constant(l, cols));
  return ir_select(&l->b, is_row, begin, constant(l, FAR_OUTSIDE));
}

static IrInst *plus(Lower *l, IrInst *a, IrInst *b) {
  return a ? ir_binary(&l->b, IR_ADD, ir_convert(&l->b, a, TYPE(I32)), b) : b;
}

/* Adds the computed index of `e` to its spot, which is its row's or number's begin. */
static void add_index(Lower *l, Expr *e, LocalSpot *spot) {
  Shape of = shape_of(e->left);
  int rows = type_rows(of), cols = type_cols(of);
  IrInst *index = lower_expr(l, e->list.items[0]);
  lower_at(l, e->pos);
  lower_check_part(l, e, index, rows);
  bool is_whole = !spot->index && !spot->first && rows == spot->array->imm;
  spot->index = is_whole ? index : plus(l, spot->index, row_begin(l, index, rows, cols));
}

void local_spot(Lower *l, Expr *e, LocalSpot *spot) {
  e = sema_strip(e);
  const Parts *parts = &e->entity.parts;
  if (e->entity.kind != ENTITY_PART) {
    DEBUG_ASSERT(e->kind == AST_LOCAL, "local_has_spot holds");
    *spot = (LocalSpot){.array = held_by(l, e->local)->array};
    return;
  }
  local_spot(l, e->left, spot);
  int own = type_parts(shape_of(e));
  if (parts->count) spot->first += parts->first;
  else if (shape_constant_index(e) >= 0) spot->first += shape_constant_index(e) * own;
  else add_index(l, e, spot);
}

IrInst *local_index(Lower *l, const LocalSpot *spot, int part) {
  int number = spot->first + part;
  if (!spot->index || !number) return spot->index ? spot->index : constant(l, number);
  return plus(l, spot->index, constant(l, number));
}
