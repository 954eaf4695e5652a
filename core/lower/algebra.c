/* algebra.c - linear algebra and the functions of shaders, written out in scalar ops. Matrices are row by row. */
#include "lower/lower.h"

static IrInst **array(Sema *s, int count) { return scratch_array(s->scratch, IrInst *, count); }
static IrInst *add(Sema *s, IrInst *a, IrInst *b) { return ir_binary(&s->b, IR_ADD, a, b); }
static IrInst *sub(Sema *s, IrInst *a, IrInst *b) { return ir_binary(&s->b, IR_SUB, a, b); }
static IrInst *mul(Sema *s, IrInst *a, IrInst *b) { return ir_binary(&s->b, IR_MUL, a, b); }
static IrInst *div_of(Sema *s, IrInst *a, IrInst *b) { return ir_binary(&s->b, IR_DIV, a, b); }

static IrInst **one_value(Sema *s, IrInst *value) {
  IrInst **one = array(s, 1);
  one[0] = value;
  return one;
}

/* a[0] * b[0] + a[1] * b[1] .., with strides */
static IrInst *dot(Sema *s, IrInst **a, int a_step, IrInst **b, int b_step, int count) {
  IrInst *sum = mul(s, a[0], b[0]);
  for (int k = 1; k < count; k++) sum = add(s, sum, mul(s, a[k * a_step], b[k * b_step]));
  return sum;
}

/* A vector on the left is a row, one on the right a column. */
IrInst **lower_product(Sema *s, Shape a_shape, IrInst **a, Shape b_shape, IrInst **b) {
  int rows = type_is_matrix(a_shape) ? type_rows(a_shape) : 1,
      inner = type_is_matrix(a_shape) ? type_cols(a_shape) : type_rows(a_shape);
  IrInst **result = array(s, rows * type_cols(b_shape));
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < type_cols(b_shape); c++)
      result[r * type_cols(b_shape) + c] =
          dot(s, a + r * inner, 1, b + c, type_cols(b_shape), inner);
  return result;
}

/* -- determinants ------------------------------------------------------------------------------------------------- */

/* Of the rows from `row` on and the columns that are not in `without`: along its first row. */
static IrInst *determinant(Sema *s, IrInst **m, int size, int row, int skipped_row, unsigned without) {
  if (row == skipped_row) row++;
  IrInst *sum = NULL;
  int next = row + 1 == skipped_row ? row + 2 : row + 1;
  bool is_negative = false;
  for (int c = 0; c < size; c++) {
    if (without & 1u << c) continue;
    IrInst *term = m[row * size + c];
    if (next < size) term = mul(s, term, determinant(s, m, size, next, skipped_row, without | 1u << c));
    sum = !sum ? term : is_negative ? sub(s, sum, term) : add(s, sum, term);
    is_negative = !is_negative;
  }
  return sum;
}

/* Signed minors, turned over, divided by the determinant; of a singular matrix infinities and NaN. */
static IrInst **inverse(Sema *s, IrInst **m, int size) {
  IrInst **result = array(s, size * size);
  IrInst *scale = div_of(s, lower_number(s, m[0]->type, 1), determinant(s, m, size, 0, -1, 0));
  IrInst *negative = ir_unary(&s->b, IR_NEG, scale);
  for (int r = 0; r < size; r++)
    for (int c = 0; c < size; c++)
      result[c * size + r] = mul(s, determinant(s, m, size, 0, r, 1u << c), (r + c) % 2 ? negative : scale);
  return result;
}

/* -- vectors --------------------------------------------------------------------------------------------------------
 */

static IrInst *norm(Sema *s, IrInst **v, int count) { return ir_unary(&s->b, IR_SQRT, dot(s, v, 1, v, 1, count)); }

static IrInst **normalize(Sema *s, IrInst **v, int count) {
  IrInst **result = array(s, count), *length = norm(s, v, count);
  for (int k = 0; k < count; k++) result[k] = div_of(s, v[k], length);
  return result;
}

/* Of vectors of 2 the third number alone. */
static IrInst **cross(Sema *s, IrInst **a, IrInst **b, int count) {
  if (count == 2) return one_value(s, sub(s, mul(s, a[0], b[1]), mul(s, a[1], b[0])));
  IrInst **result = array(s, 3);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    result[k] = sub(s, mul(s, a[i], b[j]), mul(s, a[j], b[i]));
  }
  return result;
}

static IrInst **outer(Sema *s, IrInst **a, int rows, IrInst **b, int cols) {
  IrInst **result = array(s, rows * cols);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) result[r * cols + c] = mul(s, a[r], b[c]);
  return result;
}

static IrInst **transpose(Sema *s, IrInst **m, Shape shape) {
  IrInst **result = array(s, type_parts(shape));
  for (int r = 0; r < type_rows(shape); r++)
    for (int c = 0; c < type_cols(shape); c++)
      result[c * type_rows(shape) + r] = m[r * type_cols(shape) + c];
  return result;
}

static IrInst *trace(Sema *s, IrInst **m, int size) {
  IrInst *sum = m[0];
  for (int k = 1; k < size; k++) sum = add(s, sum, m[k * size + k]);
  return sum;
}

/* -- number by number --------------------------------------------------------------------------------------------- */

static IrInst *clamp(Sema *s, IrInst *x, IrInst *low, IrInst *high) {
  return ir_binary(&s->b, IR_MIN, ir_binary(&s->b, IR_MAX, x, low), high);
}

/* At t = 1 exactly b. */
static IrInst *mix(Sema *s, IrInst *a, IrInst *b, IrInst *t) {
  return add(s, mul(s, a, sub(s, lower_number(s, t->type, 1), t)), mul(s, b, t));
}

static IrInst *step(Sema *s, IrInst *edge, IrInst *x) {
  IrInst *zero = lower_number(s, x->type, 0), *one = lower_number(s, x->type, 1);
  return ir_select(&s->b, ir_binary(&s->b, IR_LT, x, edge), zero, one);
}

static IrInst *smoothstep(Sema *s, IrInst *low, IrInst *high, IrInst *x) {
  Type type = x->type;
  IrInst *t =
      clamp(s, div_of(s, sub(s, x, low), sub(s, high, low)), lower_number(s, type, 0), lower_number(s, type, 1));
  return mul(s, mul(s, t, t), sub(s, lower_number(s, type, 3), mul(s, lower_number(s, type, 2), t)));
}

static IrInst *each(Sema *s, Algebra which, IrInst *a, IrInst *b, IrInst *c) {
  switch (which) {
  case ALGEBRA_CLAMP: return clamp(s, a, b, c);
  case ALGEBRA_MIX: return mix(s, a, b, c);
  case ALGEBRA_STEP: return step(s, a, b);
  default: return smoothstep(s, a, b, c);
  }
}

static IrInst **lower_each(Sema *s, Expr *e, const Exprs *list, Algebra which) {
  int count = type_parts(shape_of(e));
  IrInst **arguments[3] = {0}, **result = array(s, count);
  for (int i = 0; i < list->count; i++) arguments[i] = lower_values_as(s, list->items[i], e->at, count);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++)
    result[k] = each(s, which, arguments[0][k], arguments[1][k], arguments[2] ? arguments[2][k] : NULL);
  return result;
}

static IrInst **lower_selection(Sema *s, Expr *e, const Exprs *list) {
  int count = type_parts(shape_of(e));
  IrInst *condition = lower_expr(s, list->items[0]);
  IrInst **yes = lower_values_as(s, list->items[1], e->at, count);
  IrInst **no = lower_values_as(s, list->items[2], e->at, count);
  lower_at(s, e->pos);
  return lower_select(s, condition, yes, no, count);
}

/* -- all ------------------------------------------------------------------------------------------------------------
 */

IrInst **lower_algebra(Sema *s, Expr *e, const Builtin *builtin) {
  Exprs list = call_arguments(s, e);
  Algebra which = (Algebra)builtin->algebra;
  if (which == ALGEBRA_SELECT) return lower_selection(s, e, &list);
  if (which >= ALGEBRA_CLAMP) return lower_each(s, e, &list, which);
  Shape shape = shape_of(list.items[0]), other = list.count > 1 ? shape_of(list.items[1]) : shape;
  int count = type_parts(shape);
  IrInst **a = lower_values_as(s, list.items[0], e->at, count);
  IrInst **b =
      list.count > 1 ? lower_values_as(s, list.items[1], e->at, type_parts(other)) : NULL;
  lower_at(s, e->pos);
  switch (which) {
  case ALGEBRA_DOT: return one_value(s, dot(s, a, 1, b, 1, count));
  case ALGEBRA_CROSS: return cross(s, a, b, count);
  case ALGEBRA_NORM: return one_value(s, norm(s, a, count));
  case ALGEBRA_NORMALIZE: return normalize(s, a, count);
  case ALGEBRA_OUTER: return outer(s, a, count, b, type_parts(other));
  case ALGEBRA_TRANSPOSE: return transpose(s, a, shape);
  case ALGEBRA_TRACE: return one_value(s, trace(s, a, type_rows(shape)));
  case ALGEBRA_DETERMINANT: return one_value(s, determinant(s, a, type_rows(shape), 0, -1, 0));
  default: return inverse(s, a, type_rows(shape));
  }
}
