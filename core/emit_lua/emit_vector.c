/* emit_vector.c - vectors and matrices: tables of numbers. A part is selected by a list of
 * positions:
 *
 *     v.zx            _rg.pick(v, {3, 1})
 *     v.y             v[2]
 *     v[i]            _rg.item(v, i, zero)          a computed index out of bounds yields zero
 *     m[r].x = e      m = _rg.with(m, e, _rg.pick(_rg.row({1, 2, 3, 4}, r, 2), {1})) */
#include "emit_lua/emit.h"

/* -- launch arguments -------------------------------------------------------------------------- */

void emit_launch_arg(Emit *e, const Expr *expr) {
  const Entity *entity = &expr->entity;
  const Parts *parts = &entity->launch_arg.parts;
  const LaunchArg *launch_arg = &e->s->launch_args.items[entity->launch_arg.number];
  Type at = emit_type(e, expr);
  bool is_vector = !type_is_scalar(entity->shape);
  if (is_vector) emit_text(e, "{");
  for (int k = 0; k < type_parts(entity->shape); k++) {
    if (k) emit_text(e, ", ");
    int part = parts_at(parts, k);
    emit_conversion(e, (Shape){0}, number_type(e->s, launch_arg->type, part),
                    number_type(e->s, at, k));
    emit_format(e, "_rg_a[%d])", launch_arg->arg + part);
  }
  if (is_vector) emit_text(e, "}");
}

/* -- parts ------------------------------------------------------------------------------------- */

/* "{3, 1}" */
static void emit_positions(Emit *e, const Parts *parts) {
  for (int k = 0; k < parts->count; k++)
    emit_format(e, "%s%d", k ? ", " : "{", parts_at(parts, k) + 1);
  emit_text(e, "}");
}

static void emit_named_part(Emit *e, Expr *part) {
  const Parts *parts = &part->entity.parts;
  bool is_scalar = type_is_scalar(part->entity.shape);
  emit_text(e, is_scalar ? "(" : "_rg.pick(");
  emit_expr(e, part->left);
  if (is_scalar) {
    emit_format(e, ")[%d]", parts_at(parts, 0) + 1);
    return;
  }
  emit_text(e, ", ");
  emit_positions(e, parts);
  emit_text(e, ")");
}

static void emit_indexed_part(Emit *e, Expr *part) {
  Shape of = emit_shape(e, part->left);
  Type type = emit_type(e, part->left);
  emit_text(e, type_is_matrix(of) ? "_rg.row_or(" : "_rg.item(");
  emit_expr(e, part->left);
  emit_text(e, ", ");
  bool is_checked = emit_part_index_check(e, part);
  emit_expr(e, part->list.items[0]);
  if (is_checked) emit_text(e, ")");
  if (type_is_matrix(of)) emit_format(e, ", %d", type_cols(of));
  emit_text(e, ", ");
  emit_zero(e, type, (Shape){0});
  emit_text(e, ")");
}

void emit_part(Emit *e, Expr *part) {
  const Entity *entity = &part->entity;
  Type from = emit_type(e, part->left);
  if (!type_is_none(entity->parts.type)) from = entity->parts.type;
  emit_conversion(e, entity->shape, from, emit_type(e, part));
  if (entity->parts.count) emit_named_part(e, part);
  else emit_indexed_part(e, part);
  emit_text(e, ")");
}

void emit_selection(Emit *e, Expr *part) {
  part = sema_strip(part);
  const Entity *entity = &part->entity;
  if (entity->kind != ENTITY_PART) {
    for (int k = 0; k < type_parts(emit_shape(e, part)); k++)
      emit_format(e, "%s%d", k ? ", " : "{", k + 1);
    emit_text(e, "}");
    return;
  }
  emit_text(e, entity->parts.count ? "_rg.pick(" : "_rg.row(");
  emit_selection(e, part->left);
  emit_text(e, ", ");
  if (entity->parts.count) {
    emit_positions(e, &entity->parts);
  } else {
    bool is_checked = emit_part_index_check(e, part);
    emit_expr(e, part->list.items[0]);
    if (is_checked) emit_text(e, ")");
    emit_format(e, ", %d", type_cols(emit_shape(e, part->left)));
  }
  emit_text(e, ")");
}

/* -- construction ------------------------------------------------------------------------------ */

static Type member_base(Emit *e, Type type, int member) {
  return type_base(type_row(e->s->input->types, type).members[member].type);
}

/* `rg.vec3(v, 1)`; one number fills a vector or the diagonal of a matrix. */
void emit_construction(Emit *e, Expr *call) {
  Type type = call->call.type;
  Shape shape = shape_of(call);
  Exprs items = call_items(e->s, call);
  emit_conversion(e, shape, type, emit_type(e, call));
  if (!items.count) { /* a member without a value */
    emit_zero(e, type, shape);
    emit_text(e, ")");
    return;
  }
  bool is_one =
      items.count == 1 && !type_is_struct(type) && type_is_scalar(emit_shape(e, items.items[0]));
  if (is_one && type_is_matrix(shape)) {
    emit_format(e, "_rg.diagonal(%d, %d, ", type_rows(shape), type_cols(shape));
    emit_zero(e, type, (Shape){0});
    emit_text(e, ", ");
  } else if (is_one) {
    emit_format(e, "_rg.stretch(%d, ", type_parts(shape));
  } else {
    emit_text(e, "_rg.join(");
  }
  for (int i = 0; i < items.count; i++) {
    if (i) emit_text(e, ", ");
    emit_converted(e, items.items[i], type_is_struct(type) ? member_base(e, type, i) : type);
  }
  emit_text(e, "))");
}

/* -- linear algebra ---------------------------------------------------------------------------- */

bool emit_is_product(Emit *e, const Expr *expr) {
  Shape a = emit_shape(e, expr->left), b = emit_shape(e, expr->right);
  return expr->op == AST_MUL && !type_is_scalar(a) && !type_is_scalar(b) &&
         (type_is_matrix(a) || type_is_matrix(b));
}

/* A vector on the left is a row. */
void emit_product(Emit *e, Expr *expr) {
  Shape a = emit_shape(e, expr->left), b = emit_shape(e, expr->right);
  Type at = emit_type(e, expr);
  bool is_one = type_is_scalar(emit_shape(e, expr)); /* a row by a column */
  emit_format(e, "%s_rg.product_%s(%d, %d, ", is_one ? "(" : "", type_text(at),
              type_is_matrix(a) ? type_cols(a) : type_rows(a), type_cols(b));
  emit_converted(e, expr->left, at);
  emit_text(e, ", ");
  emit_converted(e, expr->right, at);
  emit_text(e, is_one ? "))[1]" : ")");
}

static const char *algebra_name(const Builtin *builtin) { return builtin->name + strlen("rg."); }

static void emit_arguments(Emit *e, const Exprs *list, Type type) {
  for (int i = 0; i < list->count; i++) {
    if (i) emit_text(e, ", ");
    emit_converted(e, list->items[i], type);
  }
  emit_text(e, ")");
}

/* All three arguments are evaluated. */
static void emit_select(Emit *e, Expr *call, const Exprs *list) {
  Type at = emit_type(e, call);
  bool is_each = !type_is_scalar(emit_shape(e, list->items[0]));
  emit_text(e, is_each ? "_rg.each(_rg.select, " : "_rg.select(");
  emit_expr(e, list->items[0]);
  for (int i = 1; i < 3; i++) {
    emit_text(e, ", ");
    emit_broadcast(e, list->items[i], at, emit_shape(e, call));
  }
  emit_text(e, ")");
}

/* Functions of whole vectors and matrices take the number of columns first if they need it. */
void emit_algebra(Emit *e, Expr *call, const Builtin *builtin) {
  Exprs list = call_arguments(e->s, call);
  Type at = emit_type(e, call);
  Algebra algebra = (Algebra)builtin->algebra;
  if (algebra == ALGEBRA_SELECT) {
    emit_select(e, call, &list);
    return;
  }
  if (algebra >= ALGEBRA_CLAMP) {
    emit_operation(e, emit_shape(e, call), algebra_name(builtin), at);
  } else {
    bool is_reduction =
        algebra >= ALGEBRA_SUM && algebra <= ALGEBRA_ALL; /* not the operation of two */
    emit_format(e, "_rg.%s%s_%s(", algebra_name(builtin), is_reduction ? "_of" : "", type_text(at));
    bool takes_matrix = algebra >= ALGEBRA_TRANSPOSE && algebra <= ALGEBRA_INVERSE;
    if (takes_matrix) emit_format(e, "%d, ", type_cols(emit_shape(e, list.items[0])));
  }
  emit_arguments(e, &list, at);
}
