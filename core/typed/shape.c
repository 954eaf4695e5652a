/* shape.c - how many numbers a value is, and of what a part is one. */
#include "typed/typed.h"

Shape shape_of_type(Type type) {
  return type_is_scalar(type) || type_is_none(type) ? (Shape){0} : (Shape){type.rows, type.cols};
}

const char *shape_text(Sema *s, Shape shape) {
  if (shape_is_scalar(shape)) return "a number";
  if (shape_is_matrix(shape)) return scratch_format(s->scratch, "a matrix of %d x %d", shape.rows, shape.cols);
  return scratch_format(s->scratch, "a vector of %d", shape.rows);
}

int shape_constant_index(const AstExpr *e) {
  double value;
  return sema_is_constant(e->list.items[0], &value) ? (int)value : -1;
}

AstExpr *shape_root(AstExpr *e, Sema *s) {
  e = sema_strip(e);
  while (entity_of(s, e)->kind == ENTITY_PART) e = sema_strip(e->left);
  return e;
}
