/* algebra.c - functions of whole vectors and matrices, and shader functions that math.* does not
 * have: checks their arguments and determines the shape of the result. They are called as
 * rg.dot(a, b) or a:dot(b). */
#include "resolve/resolve.h"

static bool fail(Resolve *r, Expr *e, const Builtin *builtin, const char *takes, Shape given) {
  return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "'%s' takes %s, but this is %s",
                   builtin->name, takes, shape_text(r->s, given));
}

static bool needs_vectors(Resolve *r, Exprs list, const Builtin *builtin) {
  for (int i = 0; i < list.count; i++)
    if (!type_is_vector(shape_of(list.items[i])))
      return fail(r, list.items[i], builtin, "vectors", shape_of(list.items[i]));
  return true;
}

/* In derivatives, where functions with an adjoint of their own call it for each argument and the
 * derivative of that: the sum of the products of numbers, whatever both are. */
static bool are_alike(Resolve *r, Exprs list, const Builtin *builtin) {
  Shape first = shape_of(list.items[0]), second = shape_of(list.items[1]);
  if (type_equal(first, second)) return true;
  const char *wanted = scratch_format(r->scratch, "%s", shape_text(r->s, first));
  return sema_fail(r->s, list.items[1], RG_ERROR_TYPE_MISMATCH,
                   "an adjoint (rg.adjoint) returns for each argument a value of its shape",
                   "'%s' takes two of one shape, %s, but this is %s", builtin->name, wanted,
                   shape_text(r->s, second));
}

static bool needs_square(Resolve *r, Expr *e, const Builtin *builtin) {
  Shape shape = shape_of(e);
  return (type_is_matrix(shape) && type_rows(shape) == type_cols(shape)) ||
         fail(r, e, builtin, "a square matrix", shape);
}

static bool needs_several(Resolve *r, Expr *e, const Builtin *builtin) {
  Shape shape = shape_of(e);
  return type_is_vector(shape) || type_is_matrix(shape) ||
         fail(r, e, builtin, "a vector or a matrix", shape);
}

static bool join_from(Resolve *r, Expr *e, Exprs list, int first, const Builtin *builtin,
                      Shape *shape) {
  const char *who = scratch_format(r->scratch, "'%s'", builtin->name);
  for (int i = first; i < list.count; i++)
    if (!shape_join(r, e, *shape, shape_of(list.items[i]), who, shape)) return false;
  return true;
}

static bool cross_shape(Resolve *r, Expr *e, Exprs list, const Builtin *builtin, Shape *shape) {
  if (!needs_vectors(r, list, builtin) || !join_from(r, e, list, 0, builtin, shape)) return false;
  if (type_rows(*shape) > 3)
    return fail(r, list.items[0], builtin, "vectors of 3, or of 2", *shape);
  if (type_rows(*shape) == 2) *shape = (Shape){0};
  return true;
}

static bool outer_shape(Resolve *r, Expr *e, Exprs list, const Builtin *builtin, Shape *shape) {
  if (!needs_vectors(r, list, builtin)) return false;
  int rows = type_rows(shape_of(list.items[0])), cols = type_rows(shape_of(list.items[1]));
  *shape = type_make_shape(rows, cols);
  return rows * cols <= TYPE_MAX_PARTS ||
         sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL,
                   "a matrix has at most %d numbers, and this would have %d", TYPE_MAX_PARTS,
                   rows * cols);
}

bool resolve_algebra(Resolve *r, Expr *e, const Builtin *builtin, Shape *shape) {
  Exprs list = call_arguments(r->s, e);
  Shape first = shape_of(list.items[0]);
  *shape = (Shape){0};
  switch ((Algebra)builtin->algebra) {
  case ALGEBRA_DOT: {
    Shape joined = {0};
    if (r->s->input->derivative_order) return are_alike(r, list, builtin);
    return needs_vectors(r, list, builtin) && join_from(r, e, list, 0, builtin, &joined);
  }
  case ALGEBRA_NORM: return needs_vectors(r, list, builtin);
  case ALGEBRA_NORMALIZE: *shape = first; return needs_vectors(r, list, builtin);
  case ALGEBRA_CROSS: return cross_shape(r, e, list, builtin, shape);
  case ALGEBRA_OUTER: return outer_shape(r, e, list, builtin, shape);
  case ALGEBRA_TRANSPOSE:
    *shape = type_make_shape(type_cols(first), type_rows(first));
    return type_is_matrix(first) || fail(r, list.items[0], builtin, "a matrix", first);
  case ALGEBRA_INVERSE: *shape = first; return needs_square(r, list.items[0], builtin);
  case ALGEBRA_DETERMINANT: return needs_square(r, list.items[0], builtin);
  case ALGEBRA_TRACE: return needs_square(r, list.items[0], builtin);
  case ALGEBRA_SUM:
  case ALGEBRA_MIN:
  case ALGEBRA_MAX:
  case ALGEBRA_ANY:
  case ALGEBRA_ALL: return needs_several(r, list.items[0], builtin);
  case ALGEBRA_SELECT: return join_from(r, e, list, 0, builtin, shape);
  default: return join_from(r, e, list, 0, builtin, shape);
  }
}
