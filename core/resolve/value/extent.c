/* extent.c - `x.shape` and `x.offset`: integer vectors known from the layout, one number per axis.
 *
 *     x.shape[0]  x.shape.x  x.shape.yx     constants
 *     x.shape     x.shape[k]                rg.ivec2(512, 256), written in place of the name
 *     unpack(x.shape)                       512, 256
 *
 * The shape of an array is a launch argument, of which these are parts.
 *
 * The shape of a field with one axis is one number; a field without axes has no shape. */
#include "resolve/resolve.h"

Entity extent_constant(int64_t value) {
  return (Entity){.kind = ENTITY_CONSTANT, .constant = value};
}

static Entity of_array(const ArrayUse *array, Parts axes, int count) {
  bool is_all = axes.count == 0 && count == 1; /* one number, not a vector */
  Shape shape = count == 1 ? (Shape){0} : type_make_shape(count, 1);
  if (is_all) axes = (Parts){.count = 1};
  return (Entity){.kind = ENTITY_ARGUMENT,
                  .name = array->name,
                  .shape = shape,
                  .launch_arg = {.number = array->extents, .parts = axes}};
}

Entity extent_of_array(const ArrayUse *array, int axis) {
  return of_array(array, (Parts){.count = 1, .at = {(uint8_t)axis}}, 1);
}

/* A swizzle of a shape is a shape of these axes. */
int extent_count(const Entity *shape) {
  const ShapeRef *extent = &shape->extent;
  if (extent->axes.count) return extent->axes.count;
  return extent->array ? extent->array->of.axis_count : extent->node->rank;
}

/* Its axis `k`, as a number. */
static Entity extent_number(const Entity *shape, int k) {
  const ShapeRef *extent = &shape->extent;
  int axis = extent->axes.count ? extent->axes.at[k] : k;
  if (extent->array) return extent_of_array(extent->array, axis);
  if (extent->is_offset) return extent_constant(extent->offset ? extent->offset[axis] : 0);
  return extent_constant(extent->node->shape[axis]);
}

static int64_t extent_of(const Entity *shape, int k) { return extent_number(shape, k).constant; }

Expr *extent_expr(Resolve *r, const Expr *at, const Entity *shape, int k) {
  Entity number = extent_number(shape, k);
  if (number.kind == ENTITY_CONSTANT) return literal_integer(r, at->ast, number.constant);
  Expr *e = scratch_new(r->scratch, Expr);
  *e = (Expr){.kind = AST_FIELD,
              .op = AST_NO_OP,
              .pos = at->pos,
              .width = at->width,
              .ast = at->ast,
              .entity = number};
  return e;
}

Entity extent_vector(Resolve *r, Expr *e, const Entity *shape) {
  Exprs numbers = {0};
  int count = extent_count(shape);
  bool is_wide = false;
  if (shape->extent.array) return of_array(shape->extent.array, shape->extent.axes, count);
  for (int k = 0; k < count; k++) {
    is_wide |= extent_of(shape, k) > INT32_MAX || extent_of(shape, k) < -INT32_MAX;
    vec_push(r->scratch, &numbers, literal_integer(r, e->ast, extent_of(shape, k)));
  }
  if (count == 1) {
    *e = (Expr){.kind = AST_PAREN,
                .op = AST_NO_OP,
                .pos = e->pos,
                .width = e->width,
                .ast = e->ast,
                .left = numbers.items[0]};
    return (Entity){.kind = ENTITY_VALUE};
  }
  if (count == 0) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has no axes, so its %s has no numbers",
              shape->name, shape->extent.is_offset ? "offset" : "shape");
    return (Entity){0};
  }
  *e = (Expr){.kind = AST_CALL,
              .op = AST_NO_OP,
              .pos = e->pos,
              .width = e->width,
              .ast = e->ast,
              .list = numbers};
  return resolve_converted(e, is_wide ? TYPE(I64) : TYPE(I32), type_make_shape(count, 1));
}

static Entity fail_axis(Resolve *r, Expr *e, const Entity *shape) {
  int rank = extent_count(shape);
  sema_fail(r->s, e, RG_ERROR_INDEX_RANGE, "indices start at 0", "'%s' has %d %s", shape->name,
            rank, rank == 1 ? "axis" : "axes");
  return (Entity){0};
}

/* `x.shape.x`, `x.shape.yx` */
Entity extent_member(Resolve *r, Expr *e, const Entity *shape, Str name) {
  Entity part = *shape;
  const Parts *axes = &shape->extent.axes;
  uint8_t *at = part.extent.axes.at;
  int rank = extent_count(shape);
  int count = rank ? shape_swizzle(name, type_make_shape(rank, 1), at) : 0;
  if (count == 1) return extent_number(shape, at[0]);
  for (int k = 0; k < count && axes->count; k++) at[k] = axes->at[at[k]];
  part.extent.axes.count = count;
  if (count) return part;
  if (shape_is_swizzle(name)) return fail_axis(r, e, shape);
  sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, "components are x y z w, or a number: x.shape[0]",
            "a %s has no '%s'", shape->extent.is_offset ? "offset" : "shape",
            sema_text(r->s, name));
  return (Entity){0};
}

/* With one axis the shape is not a vector, so indexing is expanded to a choice: zero out of bounds,
 * as for a vector. */
static Entity indexed_number(Resolve *r, Expr *e) {
  Expr call = {.kind = AST_CALL, .op = AST_NO_OP, .pos = e->pos, .width = e->width, .ast = e->ast};
  vec_push(r->scratch, &call.list, e->left);
  vec_push(r->scratch, &call.list, e->list.items[0]);
  *e = call;
  return resolve_call_of_text(r, e, NULL, "shape", "function(v, k) return k == 0 and v or 0 end");
}

Entity extent_indexed(Resolve *r, Expr *e, const Entity *shape) {
  double axis;
  int count = extent_count(shape);
  if (e->list.count == 1 && sema_is_constant(e->list.items[0], &axis))
    return axis >= 0 && axis < count && axis == (int)axis ? extent_number(shape, (int)axis)
                                                          : fail_axis(r, e, shape);
  if (count == 1 && e->list.count == 1 && e->list.items[0]->kind != AST_TABLE)
    return resolve_scalar(r, e->list.items[0]) ? indexed_number(r, e) : (Entity){0};
  if (count == 1) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, "write x.shape[0]", "'%s' has 1 axis", shape->name);
    return (Entity){0};
  }
  if (!resolve_value(r, e->left)) return (Entity){0};
  Entity vector = e->left->entity;
  return shape_indexed_part(r, e, &vector);
}
