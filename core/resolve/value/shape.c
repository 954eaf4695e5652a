/* shape.c - the shapes of operations on vectors and matrices, and the numbers that a part selects.
 *
 *     v.zx       numbers 2 and 0 of v          m[r]       a row: numbers r * cols ..
 *     v[k]       number k, perhaps computed    m[r][c]    number c of that row */
#include "resolve/resolve.h"

/* -- operands ---------------------------------------------------------------------------------- */

bool shape_join(Resolve *r, const Expr *at, Shape a, Shape b, const char *who, Shape *joined) {
  *joined = type_is_scalar(a) ? b : a;
  if (type_is_struct(a) || type_is_struct(b))
    return sema_fail(r->s, at, RG_ERROR_TYPE_MISMATCH,
                     type_is_array(type_is_struct(a) ? a : b) ? "take an element: a[i]"
                                                              : "take a member of it: p.mass",
                     "%s takes numbers and vectors, but this is %s", who,
                     shape_text(r->s, type_is_struct(a) ? a : b));
  if (type_is_scalar(a) || type_is_scalar(b) || type_equal(a, b)) return true;
  return sema_fail(r->s, at, RG_ERROR_TYPE_MISMATCH, NULL,
                   "%s takes values of one shape, not %s and %s", who, shape_text(r->s, a),
                   shape_text(r->s, b));
}

/* Linear algebra, as in GLSL. */
static bool multiply(Resolve *r, const Expr *e, Shape a, Shape b, Shape *shape) {
  Shape unused;
  if (!shape_join(r, e, a, (Shape){0}, "'*'", &unused) ||
      !shape_join(r, e, b, (Shape){0}, "'*'", &unused))
    return false;
  int inner = type_is_matrix(a) ? type_cols(a) : type_rows(a);
  if (inner != type_rows(b))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH,
                     "the left one must have as many columns as the right one has rows",
                     "%s cannot be multiplied by %s", shape_text(r->s, a), shape_text(r->s, b));
  if (!type_is_matrix(a)) *shape = type_make_shape(type_cols(b), 1);
  else *shape = type_make_shape(type_rows(a), type_cols(b));
  return true;
}

bool shape_binary(Resolve *r, const Expr *e, Shape *shape) {
  Shape a = shape_of(e->left), b = shape_of(e->right);
  bool has_scalar = type_is_scalar(a) || type_is_scalar(b);
  const char *who = scratch_format(r->scratch, "'%s'", ast_op_text(e->op));
  *shape = (Shape){0};
  if (e->op == AST_EQ || e->op == AST_NE)
    return type_equal(a, b) ||
           sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "%s is compared with %s",
                     shape_text(r->s, a), shape_text(r->s, b));
  if (e->op == AST_MUL && !has_scalar && (type_is_matrix(a) || type_is_matrix(b)))
    return multiply(r, e, a, b, shape);
  return shape_join(r, e, a, b, who, shape);
}

bool shape_check_value(Resolve *r, const Expr *value, Shape to, const char *what) {
  Shape from = shape_of(value);
  if (type_equal(from, to)) return true;
  const char *hint = type_is_struct(to) || type_is_struct(from) ? NULL
                     : type_is_scalar(from) && type_cols(to) == 1
                         ? scratch_format(r->scratch, "write rg.vec%d(%s)", type_rows(to),
                                          sema_source(r->s, value))
                     : type_is_scalar(to) ? "take one number of it: v.x"
                                          : NULL;
  return sema_fail(r->s, value, RG_ERROR_TYPE_MISMATCH, hint, "%s is %s, and this value is %s",
                   what, shape_text(r->s, to), shape_text(r->s, from));
}

/* -- parts ------------------------------------------------------------------------------------- */

static int find_letter(const char *letters, char c) {
  const char *at = strchr(letters, c);
  return at && c ? (int)(at - letters) : -1;
}

bool shape_is_swizzle(Str name) {
  uint8_t parts[4];
  return shape_swizzle(name, type_make_shape(4, 1), parts) > 0;
}

int shape_swizzle(Str name, Shape of, uint8_t parts[4]) {
  if (name.length < 1 || name.length > 4 || type_is_struct(of) || type_cols(of) != 1) return 0;
  const char *letters = find_letter("xyzw", name.data[0]) >= 0 ? "xyzw" : "rgba";
  for (int k = 0; k < name.length; k++) {
    int part = find_letter(letters, name.data[k]);
    if (part < 0 || part >= type_rows(of)) return 0;
    parts[k] = (uint8_t)part;
  }
  return name.length;
}

static Shape shape_of_parts(int count) {
  return count > 1 ? type_make_shape(count, 1) : (Shape){0};
}

/* For a vector launch argument the numbers are kept in the entity itself: its path has no
 * expression of its own. */
Entity shape_named_part(Resolve *r, Expr *e, const Entity *object, Str name) {
  if (e->ast && e->ast->kind == AST_METHOD) return e->entity; /* a slice, resolved before */
  if (type_is_struct(object->shape)) return struct_member(r, e, object, name);
  const char *text = sema_text(r->s, name);
  uint8_t parts[4] = {0};
  int count = shape_swizzle(name, object->shape, parts);
  if (type_is_scalar(object->shape)) {
    sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "a number has no component '%s'", text);
    return (Entity){0};
  }
  if (!count) {
    const char *hint = suggest_vector_member(r, name, false);
    if (!hint)
      hint = type_is_matrix(object->shape) ? "write m[r][c]" : "components are x y z w, or r g b a";
    sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, hint, "%s has no '%s'",
              shape_text(r->s, object->shape), text);
    return (Entity){0};
  }
  Shape shape = shape_of_parts(count);
  Parts chosen = {.count = count};
  memcpy(chosen.at, parts, sizeof parts);
  if (object->kind != ENTITY_ARGUMENT || e->kind != AST_FIELD)
    return (Entity){.kind = ENTITY_PART, .shape = shape, .parts = chosen};
  const LaunchArgRef *launch_arg = &object->launch_arg;
  chosen.type = launch_arg->parts.type;
  for (int k = 0; k < count; k++)
    chosen.at[k] = (uint8_t)(parts_at(&launch_arg->parts, parts[k]) - launch_arg->parts.first);
  chosen.first = launch_arg->parts.first;
  return (Entity){.kind = ENTITY_ARGUMENT,
                  .name = object->name,
                  .shape = shape,
                  .launch_arg = {.number = launch_arg->number, .parts = chosen}};
}

static bool find_slice(Resolve *r, const Expr *e, Shape of, Parts *parts) {
  SemaInteger first, count;
  uint64_t rows = (uint64_t)type_rows(of);
  if (type_is_matrix(of))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "slice a row of it: m[r]:slice(..)",
                     "'slice' takes vectors, but this is %s", shape_text(r->s, of));
  if (!sema_integer(e->list.items[0], true, &first) ||
      !sema_integer(e->list.items[1], true, &count))
    return sema_fail(r->s, e, RG_ERROR_CALL, "write literals, as in v:slice(0, 3)",
                     "the begin and the length of a slice must be literal numbers");
  if (first.is_negative || count.is_negative || !count.size || count.size > rows ||
      first.size > rows - count.size)
    return sema_fail(r->s, e, RG_ERROR_INDEX_RANGE, "v:slice(first, count); indices start at 0",
                     "%s has no such slice", shape_text(r->s, of));
  *parts = (Parts){.count = (int)count.size, .first = (int)first.size, .is_run = true};
  return true;
}

/* v:slice(first, count) becomes a named part like `v.xy`: consecutive numbers. */
Entity shape_slice(Resolve *r, Expr *e, const Entity *object) {
  Parts parts;
  if (!resolve_scalar(r, e->list.items[0]) || !resolve_scalar(r, e->list.items[1]) ||
      !find_slice(r, e, object->shape, &parts))
    return (Entity){0};
  e->kind = AST_FIELD;
  return (Entity){.kind = ENTITY_PART, .shape = shape_of_parts(parts.count), .parts = parts};
}

/* An index that is known at compile time must be in bounds. */
static bool check_part_index(Resolve *r, const Expr *index, Shape shape) {
  SemaInteger integer;
  double value;
  const char *text = sema_source(r->s, index);
  if (sema_integer(index, true, &integer)) {
    if (!integer.is_negative && integer.size < (uint64_t)type_rows(shape)) return true;
    text = scratch_format(r->scratch, "%s%llu", integer.is_negative ? "-" : "",
                          (unsigned long long)integer.size);
  } else if (!sema_is_constant(index, &value)) {
    return true;
  }
  return sema_fail(r->s, index, RG_ERROR_INDEX_RANGE, "indices start at 0", "%s has no number %s",
                   shape_text(r->s, shape), text);
}

/* `m[r, c]` is m[r][c]. */
static Entity index_twice(Resolve *r, Expr *e, const Entity *object) {
  Expr *row = scratch_new(r->scratch, Expr);
  Exprs first = {0}, second = {0};
  r->expr_count++;
  vec_push(r->scratch, &first, e->list.items[0]);
  vec_push(r->scratch, &second, e->list.items[1]);
  *row = *e;
  row->list = first;
  row->entity = shape_indexed_part(r, row, object);
  if (r->s->failed) return (Entity){0};
  e->left = row;
  e->list = second;
  return shape_indexed_part(r, e, &row->entity);
}

Entity shape_indexed_part(Resolve *r, Expr *e, const Entity *object) {
  Expr *index = e->list.items[0];
  if (type_is_struct(object->shape)) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, "name a member: p.mass", "%s has no indices",
              shape_text(r->s, object->shape));
    return (Entity){0};
  }
  if (e->list.count == 2 && type_is_matrix(object->shape) && index->kind != AST_TABLE)
    return index_twice(r, e, object);
  if (e->list.count != 1 || index->kind == AST_TABLE) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT,
              type_is_matrix(object->shape) ? "write m[r][c]" : "write v[i]",
              "%s takes one index here", shape_text(r->s, object->shape));
    return (Entity){0};
  }
  if (!resolve_scalar(r, index)) return (Entity){0};
  if (!check_part_index(r, index, object->shape)) return (Entity){0};
  return (Entity){.kind = ENTITY_PART,
                  .shape = type_is_matrix(object->shape)
                               ? type_make_shape(type_cols(object->shape), 1)
                               : (Shape){0}};
}
