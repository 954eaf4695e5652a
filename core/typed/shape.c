/* shape.c - how many numbers a value has, and what a part is a part of. */
#include "typed/typed.h"

const char *shape_text(Sema *s, Shape shape) {
  if (type_is_scalar(shape)) return "a number";
  if (type_is_matrix(shape))
    return scratch_format(s->scratch, "a matrix of %d x %d", type_rows(shape), type_cols(shape));
  return scratch_format(s->scratch, "a vector of %d", type_rows(shape));
}

int shape_constant_index(const Expr *e) {
  double value;
  return sema_is_constant(e->list.items[0], &value) ? (int)value : -1;
}

Expr *shape_root(Expr *e) {
  e = sema_strip(e);
  while (e->entity.kind == ENTITY_PART) e = sema_strip(e->left);
  return e;
}
