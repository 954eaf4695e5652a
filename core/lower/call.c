/* call.c - conversions, functions and methods. */
#include "lower/lower.h"

static const double pi = 3.14159265358979323846;

static Type type_at(Sema *s, const Expr *e) { return e->at; }

/* A function of numbers, number by number. */
typedef IrInst *Each(Sema *s, Expr *e, const Builtin *builtin, IrInst **arguments, int count);

static IrInst **array(Sema *s, int count) { return scratch_array(s->scratch, IrInst *, count); }

/* -- rounding --------------------------------------------------------------------------------------------------- */

/* The integers whose quotient e is. */
void lower_quotient(Sema *s, Expr *e, IrInst ***dividend, IrInst ***divisor) {
  Expr *inner = sema_strip(e);
  if (inner->kind == AST_LOCAL) {
    *dividend = inner->local->dividend;
    *divisor = inner->local->divisor;
    return;
  }
  Type type = ty_alone(s, typed_quotient_type(s, inner));
  int count = type_parts(shape_of(inner));
  *dividend = lower_values_as(s, inner->left, type, count);
  *divisor = lower_values_as(s, inner->right, type, count);
}

/* ceil(a / b): one more than the floor where something remains; by zero 0. */
static IrInst *ceil_quotient(Sema *s, IrInst *a, IrInst *b) {
  IrInst *zero = ir_const_int(&s->b, a->type, 0);
  IrInst *rest = ir_binary(&s->b, IR_MOD, a, b), *floor = ir_binary(&s->b, IR_FLOORDIV, a, b);
  IrInst *more = ir_convert(&s->b, ir_binary(&s->b, IR_NE, rest, zero), a->type);
  return ir_binary(&s->b, IR_ADD, floor, more);
}

static IrInst **round_quotient(Sema *s, Expr *e, Expr *argument, IrOp op) {
  int count = type_parts(shape_of(e));
  IrInst **a, **b, **result = array(s, count);
  lower_quotient(s, argument, &a, &b);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) {
    IrInst *whole = op == IR_FLOOR ? ir_binary(&s->b, IR_FLOORDIV, a[k], b[k]) : ceil_quotient(s, a[k], b[k]);
    result[k] = lower_convert(s, whole, type_at(s, e));
  }
  return result;
}

static IrInst **lower_round(Sema *s, Expr *e, Expr *argument, IrOp op) {
  if (op != IR_ROUND && typed_quotient(s, argument)) return round_quotient(s, e, argument, op);
  int count = type_parts(shape_of(e));
  IrInst **values = lower_values(s, argument), **result = array(s, count);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) {
    bool rounds = type_is_float(values[k]->type) && type_is_integer(type_at(s, e));
    IrInst *whole = rounds ? ir_unary(&s->b, op, values[k]) : values[k];
    result[k] = lower_convert(s, whole, type_at(s, e));
  }
  return result;
}

/* -- functions ------------------------------------------------------------------------------------------------------
 */

static IrInst *each_fold(Sema *s, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  IrOp op = builtin->op;
  IrInst *result = arguments[0];
  if (op == IR_ABS && type_is_unsigned(result->type)) return result;
  if (op == IR_ABS || op == IR_BNOT || op == IR_BSWAP) return ir_unary(&s->b, op, result);
  for (int i = 1; i < count; i++) result = ir_binary(&s->b, op, result, arguments[i]);
  return result;
}

static IrInst *each_float(Sema *s, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  return ir_emit(&s->b, builtin->op, type_at(s, e), count, arguments);
}

/* math.log(x, base) */
static IrInst *each_log(Sema *s, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  IrInst *log = ir_unary(&s->b, IR_LOG, arguments[0]);
  return count == 1 ? log : ir_binary(&s->b, IR_DIV, log, ir_unary(&s->b, IR_LOG, arguments[1]));
}

static IrInst *each_angle(Sema *s, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  bool to_degrees = !strcmp(builtin->name, "math.deg");
  return ir_binary(&s->b, IR_MUL, arguments[0], ir_const_float(&s->b, type_at(s, e), to_degrees ? 180 / pi : pi / 180));
}

static IrInst **lower_each(Sema *s, Expr *e, const Builtin *builtin, Each *each) {
  Exprs list = call_arguments(s, e);
  int count = type_parts(shape_of(e));
  IrInst ***all = scratch_array(s->scratch, IrInst **, list.count), **one = array(s, list.count),
         **result = array(s, count);
  for (int i = 0; i < list.count; i++) all[i] = lower_values_as(s, list.items[i], type_at(s, e), count);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < list.count; i++) one[i] = all[i][k];
    result[k] = each(s, e, builtin, one, list.count);
  }
  return result;
}

static IrInst **lower_builtin(Sema *s, Expr *e, const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_SHIFT: return lower_each(s, e, builtin, each_float);
  case FORM_LOG: return lower_each(s, e, builtin, each_log);
  case FORM_ANGLE: return lower_each(s, e, builtin, each_angle);
  case FORM_JOIN:
  case FORM_BITS: return lower_each(s, e, builtin, each_fold);
  case FORM_ROUND: return lower_round(s, e, call_arguments(s, e).items[0], builtin->op);
  case FORM_TOBIT:
    return lower_values_as(s, e->list.items[0], TYPE(I32), type_parts(shape_of(e)));
  case FORM_ALGEBRA: return lower_algebra(s, e, builtin);
  case FORM_RANGE:
  case FORM_RESCALE: case FORM_DECOMPOSE: case FORM_SHAPER: break;
  }
  return array(s, 1); /* refused by resolve */
}

/* What a vector is made of, one behind the other; one number for all, or for a diagonal. */
static IrInst **lower_construction(Sema *s, Expr *e, Type type) {
  Shape shape = shape_of(e);
  int count = type_parts(shape), so_far = 0;
  IrInst **result = array(s, count);
  Exprs items = call_items(s, e);
  for (int i = 0; i < items.count; i++) {
    int own = type_parts(shape_of(items.items[i]));
    IrInst **values = lower_values_as(s, items.items[i], type, own);
    for (int k = 0; k < own && so_far < count; k++) result[so_far++] = values[k];
  }
  if (so_far == count) return result;
  IrInst *one = result[0], *zero = type_is_matrix(shape) ? lower_number(s, type, 0) : one;
  for (int k = 0; k < count; k++)
    result[k] = k / type_cols(shape) == k % type_cols(shape) ? one : zero;
  return result;
}

IrInst **lower_call(Sema *s, Expr *e) {
  const Builtin *builtin = builtin_of(e);
  return builtin ? lower_builtin(s, e, builtin) : lower_construction(s, e, e->call.type);
}

/* -- methods --------------------------------------------------------------------------------------------- */

static IrInst *change_number(Sema *s, const MethodCall *m, int k, IrInst **indices,
                             IrInst **const *values) {
  const Method *method = m->method;
  IrInst *place = lower_place_at(s, &m->object, k, indices);
  if (method->form == METHOD_RMW) return ir_rmw(&s->b, (IrUpdate)method->op, place, values[0][k]);
  return ir_emit(&s->b, IR_CAS, m->object.field.type, 3, (IrInst *[]){place, values[0][k], values[1][k]});
}

static IrInst **lower_element_call(Sema *s, Expr *e, const MethodCall *m, IrInst **indices) {
  IrInst **values[2] = {0};
  int count = type_parts(m->object.shape), first = e->list.count - m->method->values;
  for (int i = 0; i < m->method->values; i++)
    values[i] = lower_values_as(s, e->list.items[first + i], m->object.field.type, count);
  lower_at(s, e->pos);
  IrInst **old = array(s, count);
  for (int k = 0; k < count; k++) old[k] = change_number(s, m, k, indices, values);
  return old;
}

static IrInst **lower_cell_call(Sema *s, const MethodCall *m, int count, IrInst **indices) {
  const FieldRef *field = field_of(&m->object);
  int level = lower_level(s, field->node, m->object.name, field->source);
  indices = lower_from_start(s, field, count, indices);
  IrInst *inst = ir_emit(&s->b, (IrOp)m->method->op, m->type, count, indices);
  inst->level = level;
  IrInst **one = array(s, 1);
  one[0] = inst;
  return one;
}

IrInst **lower_method(Sema *s, Expr *e) {
  if (builtin_of(e)) return lower_builtin(s, e, builtin_of(e));
  const MethodCall *m = method_of(e);
  IrInst *indices[SNODE_MAX_AXES];
  int count = lower_indices(s, e->left, indices);
  count = lower_index_list(s, &e->list, method_index_count(e), indices, count);
  lower_at(s, e->pos);
  if (m->method->form == METHOD_LIST) return lower_list_call(s, e, indices, count);
  if (m->method->values) return lower_element_call(s, e, m, indices);
  return lower_cell_call(s, m, count, indices);
}
