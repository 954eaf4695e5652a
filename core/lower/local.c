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
         !lower_checks(l, SEMA_DEBUG_LOCALS);
}

static IrInst *constant(Lower *l, int64_t number) { return ir_const_int(&l->b, TYPE(I32), number); }

static bool is_zero(const IrInst *value) { return value->op == IR_CONST && !value->imm; }

void local_bind(Lower *l, const Local *local, IrInst **values) {
  int count = type_parts(local->shape);
  IrInst *array = ir_local_array(&l->b, local->type, count);
  for (int k = 0; k < count; k++) {
    IrInst *value = lower_convert(l, values[k], local->type);
    if (!is_zero(value)) ir_local_set(&l->b, array, constant(l, k), value)->in_bounds = true;
  }
  lowered_of(l, local)->array = array;
}

IrInst *local_get(Lower *l, const Local *local, int part) {
  IrInst *get = ir_local_get(&l->b, lowered_of(l, local)->array, constant(l, part));
  get->in_bounds = true;
  return get;
}

bool local_share(Lower *l, const Local *parameter, Expr *argument) {
  const Expr *from = sema_strip(argument);
  bool is_only_read = parameter->is_indexed && !local_is_variable(parameter);
  if (!is_only_read || from->kind != AST_LOCAL || !lowered_of(l, from->local)->array) return false;
  if (!type_equal(parameter->type, from->local->type) ||
      !type_equal(parameter->shape, from->local->shape))
    return false;
  lowered_of(l, parameter)->array = lowered_of(l, from->local)->array;
  return true;
}

/* -- places in an array ------------------------------------------------------------------------ */

bool local_is_element(const Lower *l, Expr *e) {
  for (e = sema_strip(e); e->entity.kind == ENTITY_PART; e = sema_strip(e->left))
    if (e->entity.parts.count && !e->entity.parts.is_run) return false;
  return e->kind == AST_LOCAL && l->locals[e->local->id].array;
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

/* Adds the computed index of `e` to its element, which is its row's or number's begin. */
static void add_index(Lower *l, Expr *e, LocalElement *element) {
  Shape of = shape_of(e->left);
  int rows = type_rows(of), cols = type_cols(of);
  IrInst *index = lower_expr(l, e->list.items[0]);
  lower_set_pos(l, e->pos);
  lower_check_part(l, e, index, rows);
  bool is_whole = !element->index && !element->first && rows == element->array->imm;
  element->index = is_whole ? index : plus(l, element->index, row_begin(l, index, rows, cols));
}

void local_element(Lower *l, Expr *e, LocalElement *element) {
  e = sema_strip(e);
  const Parts *parts = &e->entity.parts;
  if (e->entity.kind != ENTITY_PART) {
    DEBUG_ASSERT(e->kind == AST_LOCAL, "local_is_element holds");
    *element = (LocalElement){.array = lowered_of(l, e->local)->array};
    return;
  }
  local_element(l, e->left, element);
  int own = type_parts(shape_of(e));
  if (parts->count) element->first += parts->first;
  else if (shape_constant_index(e) >= 0) element->first += shape_constant_index(e) * own;
  else add_index(l, e, element);
}

IrInst *local_index(Lower *l, const LocalElement *element, int part) {
  int number = element->first + part;
  if (!element->index || !number) return element->index ? element->index : constant(l, number);
  return plus(l, element->index, constant(l, number));
}
