/* algebra.c - linear algebra and the functions of shaders, expanded into scalar ops. Matrices are
 * row-major. */
#include "lower/lower.h"

static IrInst *add(Lower *l, IrInst *a, IrInst *b) { return lower_operator(l, AST_ADD, a, b); }
static IrInst *sub(Lower *l, IrInst *a, IrInst *b) { return lower_operator(l, AST_SUB, a, b); }
static IrInst *mul(Lower *l, IrInst *a, IrInst *b) { return lower_operator(l, AST_MUL, a, b); }
static IrInst *div_of(Lower *l, IrInst *a, IrInst *b) { return ir_binary(&l->b, IR_DIV, a, b); }

static IrInst **one_value(Lower *l, IrInst *value) {
  IrInst **one = lower_array(l, 1);
  one[0] = value;
  return one;
}

/* a[0] * b[0] + a[1] * b[1] .., with strides */
static IrInst *dot(Lower *l, IrInst **a, int a_step, IrInst **b, int b_step, int count) {
  IrInst *sum = mul(l, a[0], b[0]);
  for (int k = 1; k < count; k++) sum = add(l, sum, mul(l, a[k * a_step], b[k * b_step]));
  return sum;
}

/* A vector on the left is a row, one on the right a column. */
IrInst **lower_product(Lower *l, Shape a_shape, IrInst **a, Shape b_shape, IrInst **b) {
  int rows = type_is_matrix(a_shape) ? type_rows(a_shape) : 1,
      inner = type_is_matrix(a_shape) ? type_cols(a_shape) : type_rows(a_shape);
  IrInst **result = lower_array(l, rows * type_cols(b_shape));
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < type_cols(b_shape); c++)
      result[r * type_cols(b_shape) + c] =
          dot(l, a + r * inner, 1, b + c, type_cols(b_shape), inner);
  return result;
}

/* -- determinants ------------------------------------------------------------------------------ */

/* The determinant of the remaining rows and columns, expanded along its first row. */
static IrInst *determinant(Lower *l, IrInst **m, int size, int row, int skipped_row,
                           unsigned without) {
  if (row == skipped_row) row++;
  IrInst *sum = NULL;
  int next = row + 1 == skipped_row ? row + 2 : row + 1;
  bool is_negative = false;
  for (int c = 0; c < size; c++) {
    if (without & 1u << c) continue;
    IrInst *term = m[row * size + c];
    if (next < size)
      term = mul(l, term, determinant(l, m, size, next, skipped_row, without | 1u << c));
    sum = !sum ? term : is_negative ? sub(l, sum, term) : add(l, sum, term);
    is_negative = !is_negative;
  }
  return sum;
}

/* Signed minors, transposed, divided by the determinant; infinities and NaN for a singular
 * matrix. */
static IrInst **inverse(Lower *l, IrInst **m, int size) {
  IrInst **result = lower_array(l, size * size);
  IrInst *scale = div_of(l, lower_number(l, m[0]->type, 1), determinant(l, m, size, 0, -1, 0));
  IrInst *negative = ir_unary(&l->b, IR_NEG, scale);
  for (int r = 0; r < size; r++)
    for (int c = 0; c < size; c++)
      result[c * size + r] =
          mul(l, determinant(l, m, size, 0, r, 1u << c), (r + c) % 2 ? negative : scale);
  return result;
}

/* -- vectors ---- */

static IrInst *norm(Lower *l, IrInst **v, int count) {
  return ir_unary(&l->b, IR_SQRT, dot(l, v, 1, v, 1, count));
}

static IrInst **normalize(Lower *l, IrInst **v, int count) {
  IrInst **result = lower_array(l, count), *length = norm(l, v, count);
  for (int k = 0; k < count; k++) result[k] = div_of(l, v[k], length);
  return result;
}

/* For vectors of 2, only the third number of the product. */
static IrInst **cross(Lower *l, IrInst **a, IrInst **b, int count) {
  if (count == 2) return one_value(l, sub(l, mul(l, a[0], b[1]), mul(l, a[1], b[0])));
  IrInst **result = lower_array(l, 3);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    result[k] = sub(l, mul(l, a[i], b[j]), mul(l, a[j], b[i]));
  }
  return result;
}

static IrInst **outer(Lower *l, IrInst **a, int rows, IrInst **b, int cols) {
  IrInst **result = lower_array(l, rows * cols);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) result[r * cols + c] = mul(l, a[r], b[c]);
  return result;
}

static IrInst **transpose(Lower *l, IrInst **m, Shape shape) {
  IrInst **result = lower_array(l, type_parts(shape));
  for (int r = 0; r < type_rows(shape); r++)
    for (int c = 0; c < type_cols(shape); c++)
      result[c * type_rows(shape) + r] = m[r * type_cols(shape) + c];
  return result;
}

static IrInst *trace(Lower *l, IrInst **m, int size) {
  IrInst *sum = m[0];
  for (int k = 1; k < size; k++) sum = add(l, sum, m[k * size + k]);
  return sum;
}

/* Combines all numbers, from the first to the last. */
static IrInst *fold_all(Lower *l, Algebra which, IrInst **v, int count) {
  static const IrOp ops[] = {[ALGEBRA_MIN] = IR_MIN,
                             [ALGEBRA_MAX] = IR_MAX,
                             [ALGEBRA_ANY] = IR_BOR,
                             [ALGEBRA_ALL] = IR_BAND};
  IrInst *all = v[0];
  for (int k = 1; k < count; k++)
    all = which == ALGEBRA_SUM ? add(l, all, v[k]) : ir_binary(&l->b, ops[which], all, v[k]);
  return all;
}

/* -- elementwise -------------------------------------------------------------------------- */

static IrInst *clamp(Lower *l, IrInst *x, IrInst *low, IrInst *high) {
  return ir_binary(&l->b, IR_MIN, ir_binary(&l->b, IR_MAX, x, low), high);
}

/* Exactly b at t = 1. */
static IrInst *mix(Lower *l, IrInst *a, IrInst *b, IrInst *t) {
  return add(l, mul(l, a, sub(l, lower_number(l, t->type, 1), t)), mul(l, b, t));
}

static IrInst *step(Lower *l, IrInst *edge, IrInst *x) {
  IrInst *zero = lower_number(l, x->type, 0), *one = lower_number(l, x->type, 1);
  return ir_select(&l->b, ir_binary(&l->b, IR_LT, x, edge), zero, one);
}

static IrInst *smoothstep(Lower *l, IrInst *low, IrInst *high, IrInst *x) {
  Type type = x->type;
  IrInst *t = clamp(l, div_of(l, sub(l, x, low), sub(l, high, low)), lower_number(l, type, 0),
                    lower_number(l, type, 1));
  return mul(l, mul(l, t, t),
             sub(l, lower_number(l, type, 3), mul(l, lower_number(l, type, 2), t)));
}

static IrInst *each(Lower *l, Algebra which, IrInst *a, IrInst *b, IrInst *c) {
  switch (which) {
  case ALGEBRA_HADAMARD: return mul(l, a, b);
  case ALGEBRA_CLAMP: return clamp(l, a, b, c);
  case ALGEBRA_MIX: return mix(l, a, b, c);
  case ALGEBRA_STEP: return step(l, a, b);
  default: return smoothstep(l, a, b, c);
  }
}

static IrInst **lower_each(Lower *l, Expr *e, const Exprs *list, Algebra which) {
  int count = type_parts(shape_of(e));
  IrInst **arguments[3] = {0}, **result = lower_array(l, count);
  for (int i = 0; i < list->count; i++)
    arguments[i] = lower_values_as(l, list->items[i], e->type, count);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++)
    result[k] =
        each(l, which, arguments[0][k], arguments[1][k], arguments[2] ? arguments[2][k] : NULL);
  return result;
}

static IrInst **lower_selection(Lower *l, Expr *e, const Exprs *list) {
  int count = type_parts(shape_of(e));
  IrInst **conditions = lower_values_as(l, list->items[0], TYPE(BOOL), count);
  IrInst **yes = lower_values_as(l, list->items[1], e->type, count);
  IrInst **no = lower_values_as(l, list->items[2], e->type, count);
  lower_set_pos(l, e->pos);
  IrInst **result = lower_array(l, count);
  for (int k = 0; k < count; k++) result[k] = ir_select(&l->b, conditions[k], yes[k], no[k]);
  return result;
}

/* -- all ---- */

IrInst **lower_algebra(Lower *l, Expr *e, const Builtin *builtin) {
  Exprs list = call_arguments(l->s, e);
  Algebra which = (Algebra)builtin->algebra;
  if (which == ALGEBRA_SELECT) return lower_selection(l, e, &list);
  if (which >= ALGEBRA_CLAMP) return lower_each(l, e, &list, which);
  Shape shape = shape_of(list.items[0]), other = list.count > 1 ? shape_of(list.items[1]) : shape;
  int count = type_parts(shape);
  IrInst **a = lower_values_as(l, list.items[0], e->type, count);
  IrInst **b =
      list.count > 1 ? lower_values_as(l, list.items[1], e->type, type_parts(other)) : NULL;
  lower_set_pos(l, e->pos);
  switch (which) {
  case ALGEBRA_DOT: return one_value(l, dot(l, a, 1, b, 1, count));
  case ALGEBRA_CROSS: return cross(l, a, b, count);
  case ALGEBRA_NORM: return one_value(l, norm(l, a, count));
  case ALGEBRA_NORMALIZE: return normalize(l, a, count);
  case ALGEBRA_OUTER: return outer(l, a, count, b, type_parts(other));
  case ALGEBRA_TRANSPOSE: return transpose(l, a, shape);
  case ALGEBRA_TRACE: return one_value(l, trace(l, a, type_rows(shape)));
  case ALGEBRA_DETERMINANT: return one_value(l, determinant(l, a, type_rows(shape), 0, -1, 0));
  case ALGEBRA_INVERSE: return inverse(l, a, type_rows(shape));
  default: return one_value(l, fold_all(l, which, a, count));
  }
}
