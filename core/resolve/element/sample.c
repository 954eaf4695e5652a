/* sample.c - x:sample(p) and x:sample_gradient(p), as calls of functions in library/sample.lua.
 *
 *     x:sample(p, "cubic", "repeat")     sample_2(x, p, 2, 1, 0, 0)
 *
 * A row `x[k]` is sampled on the axes that it has left, and a member `bodies.vel` like a field.
 * The words after p choose the interpolation and the border; they are known from the text. */
#include "resolve/resolve.h"

/* As numbered in library/sample.lua. */
typedef enum Border { BORDER_ZERO, BORDER_CLAMP, BORDER_REPEAT, BORDER_MIRROR } Border;

typedef struct Sampling {
  bool is_cubic;
  Border border;
  bool has_order, has_border;
} Sampling;

static bool take_word(Resolve *r, const Expr *e, Sampling *sampling) {
  static const char *const borders[] = {"zero", "clamp", "repeat", "mirror"};
  bool is_order = str_is(e->text, "linear") || str_is(e->text, "cubic");
  bool is_twice = is_order ? sampling->has_order : sampling->has_border;
  if (e->kind == AST_STRING && is_order && !is_twice) {
    sampling->has_order = true;
    sampling->is_cubic = str_is(e->text, "cubic");
    return true;
  }
  for (int k = 0; k < 4 && e->kind == AST_STRING && !is_order && !is_twice; k++) {
    if (!str_is(e->text, borders[k])) continue;
    sampling->has_border = true;
    sampling->border = (Border)k;
    return true;
  }
  return sema_fail(r->s, e, RG_ERROR_CALL,
                   "x:sample(p, \"cubic\", \"repeat\"): \"linear\" or \"cubic\", and \"clamp\", "
                   "\"repeat\", \"mirror\" or \"zero\"",
                   "'%s' is not a way to sample%s", sema_source(r->s, e),
                   e->kind == AST_STRING && is_twice ? " besides the other one" : "");
}

static bool is_unbounded(const FieldRef *field, int rank) {
  for (int axis = 0; field->node && axis < rank; axis++)
    if (snode_is_unbounded(field->node, field->index_count + axis)) return true;
  return false;
}

static bool check_object(Resolve *r, Expr *e, const Entity *object, int rank) {
  const char *name = object->name, *method = sema_text(r->s, e->text);
  if (object->kind != ENTITY_FIELD)
    return sema_fail(r->s, e, RG_ERROR_CALL, "call it on a field",
                     "'%s' is an SNode and has no elements", name);
  if (object->field.peers)
    return sema_fail(r->s, e, RG_ERROR_CALL, "copy what is needed of another rank",
                     "'%s' takes a field of this rank, not '%s'", method, name);
  if (rank < 1 || rank > 3)
    return sema_fail(r->s, e, RG_ERROR_CALL,
                     "one to three axes can be sampled: x[k]:sample(p) takes the last ones",
                     "'%s' has %d axes", sema_source(r->s, e->left), rank);
  if (type_is_struct(object->shape) || type_is_matrix(object->shape) ||
      type_is_bool(object->field.type))
    return sema_fail(r->s, e, RG_ERROR_CALL,
                     !type_is_struct(object->shape) ? NULL
                     : object->field.array          ? "place the member in a field of its own"
                                                    : "name a member: bodies.vel:sample(p)",
                     "'%s' takes a field of numbers or vectors, and '%s' holds %s", method, name,
                     type_is_bool(object->field.type) ? "booleans"
                                                      : shape_text(r->s, object->shape));
  return true;
}

static bool check_place(Resolve *r, Expr *e, int rank) {
  Expr *p = e->list.count ? e->list.items[0] : NULL;
  const char *method = sema_text(r->s, e->text);
  if (!p)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT,
                     rank == 1 ? "x:sample(p) at a number p" : "x:sample(p) at a vector p",
                     "'%s' takes a position", method);
  if (!resolve_value(r, p)) return false;
  Shape shape = shape_of(p);
  if (rank == 1 ? type_is_scalar(shape) : type_is_vector(shape) && type_rows(shape) == rank)
    return true;
  return sema_fail(r->s, p, RG_ERROR_TYPE_MISMATCH, "in units of indices: element i is at i",
                   "a place in '%s' is %s, but this is %s", e->left->entity.name,
                   rank == 1   ? "a number"
                   : rank == 2 ? "a vector of 2"
                               : "a vector of 3",
                   shape_text(r->s, shape));
}

Entity sample_call(Resolve *r, Expr *e, const MethodCall *m) {
  if (e->inlined) return e->entity; /* already resolved */
  const FieldRef *field = &m->object.field;
  int rank = m->object.kind == ENTITY_FIELD ? field_rank(field) - field->index_count : 0;
  if (!check_object(r, e, &m->object, rank) || !check_place(r, e, rank)) return (Entity){0};
  Sampling sampling = {.border = is_unbounded(field, rank) ? BORDER_ZERO : BORDER_CLAMP};
  for (int i = 1; i < e->list.count; i++)
    if (!take_word(r, e->list.items[i], &sampling)) return (Entity){0};
  if (sampling.border != BORDER_ZERO && is_unbounded(field, rank)) {
    sema_fail(r->s, e, RG_ERROR_CALL, "it reads zero outside what is active",
              "'%s' has no extent, and so no border", m->object.name);
    return (Entity){0};
  }
  bool is_gradient = str_is(e->text, "sample_gradient");
  Exprs list = {0};
  vec_push(r->scratch, &list, e->list.items[0]);
  vec_push(r->scratch, &list, literal_integer(r, e->ast, sampling.border));
  vec_push(r->scratch, &list, literal_integer(r, e->ast, sampling.is_cubic));
  for (int axis = field->index_count; axis < field_rank(field); axis++)
    vec_push(r->scratch, &list,
             literal_integer(r, e->ast, field->offset ? field->offset[axis] : 0));
  if (is_gradient && rank > 1)
    vec_push(r->scratch, &list, literal_integer(r, e->ast, !type_is_scalar(m->object.shape)));
  e->list = list;
  const char *name = scratch_format(r->scratch, "%s_%d", is_gradient ? "gradient" : "sample", rank);
  Entity callee = library_function(r, str_of(name));
  callee.name = m->method->name;
  return r->s->failed ? (Entity){0} : resolve_inline_call(r, e, callee, e->left);
}
