/* call.c - conversions, functions and methods. */
#include <math.h>

#include "lower/lower.h"

static const double pi = 3.14159265358979323846;

/* A function of numbers, applied elementwise. */
typedef IrInst *ElementFunction(Lower *l, Expr *e, const Builtin *builtin, IrInst **arguments,
                                int count);

/* -- rounding ---------------------------------------------------------------------------------- */

/* The dividend and divisor of e, a quotient of integers. */
void lower_quotient(Lower *l, Expr *e, IrInst ***dividend, IrInst ***divisor) {
  Expr *inner = sema_strip(e);
  if (inner->kind == AST_LOCAL) {
    *dividend = lowered_of(l, inner->local)->dividend;
    *divisor = lowered_of(l, inner->local)->divisor;
    return;
  }
  Type type = ty_default_type(l->s, typed_quotient_type(l->s, inner));
  int count = type_parts(shape_of(inner));
  *dividend = lower_values_as(l, inner->left, type, count);
  *divisor = lower_values_as(l, inner->right, type, count);
}

/* ceil(a / b): one more than the floor if there is a remainder; 0 when dividing by zero. */
static IrInst *ceil_quotient(Lower *l, IrInst *a, IrInst *b) {
  IrInst *zero = ir_const_int(&l->b, a->type, 0);
  IrInst *rest = ir_binary(&l->b, IR_MOD, a, b), *floor = ir_binary(&l->b, IR_FLOORDIV, a, b);
  IrInst *more = ir_convert(&l->b, ir_binary(&l->b, IR_NE, rest, zero), a->type);
  return ir_binary(&l->b, IR_ADD, floor, more);
}

static IrInst **round_quotient(Lower *l, Expr *e, Expr *argument, IrOp op) {
  int count = type_parts(shape_of(e));
  IrInst **a, **b, **result = lower_array(l, count);
  lower_quotient(l, argument, &a, &b);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) {
    IrInst *whole =
        op == IR_FLOOR ? ir_binary(&l->b, IR_FLOORDIV, a[k], b[k]) : ceil_quotient(l, a[k], b[k]);
    lower_check_result(l, IR_FLOORDIV, a[k], b[k], whole);
    result[k] = lower_convert(l, whole, e->type);
  }
  return result;
}

static IrInst **lower_round(Lower *l, Expr *e, Expr *argument, IrOp op) {
  if (op != IR_ROUND && typed_quotient(l->s, argument)) return round_quotient(l, e, argument, op);
  int count = type_parts(shape_of(e));
  IrInst **values = lower_values(l, argument), **result = lower_array(l, count);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) {
    IrInst *whole = type_is_float(values[k]->type) ? ir_unary(&l->b, op, values[k]) : values[k];
    result[k] = lower_convert(l, whole, e->type);
  }
  return result;
}

/* -- functions ---- */

static IrInst *each_fold(Lower *l, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  IrOp op = builtin->op;
  IrInst *result = arguments[0];
  if (op == IR_ABS && type_is_unsigned(result->type)) return result;
  if (op == IR_ABS) lower_check_negative(l, result);
  if (ir_op_info[op].operand_count == 1) return ir_unary(&l->b, op, result);
  for (int i = 1; i < count; i++) result = ir_binary(&l->b, op, result, arguments[i]);
  return result;
}

static IrInst *each_float(Lower *l, Expr *e, const Builtin *builtin, IrInst **arguments,
                          int count) {
  return ir_emit(&l->b, builtin->op, e->type, count, arguments);
}

/* math.log(x, base) */
static IrInst *each_log(Lower *l, Expr *e, const Builtin *builtin, IrInst **arguments, int count) {
  IrInst *log = ir_unary(&l->b, IR_LOG, arguments[0]);
  return count == 1 ? log : ir_binary(&l->b, IR_DIV, log, ir_unary(&l->b, IR_LOG, arguments[1]));
}

static IrInst *each_angle(Lower *l, Expr *e, const Builtin *builtin, IrInst **arguments,
                          int count) {
  bool to_degrees = !strcmp(builtin->name, "math.deg");
  return ir_binary(&l->b, IR_MUL, arguments[0],
                   ir_const_float(&l->b, e->type, to_degrees ? 180 / pi : pi / 180));
}

static IrInst **lower_elementwise(Lower *l, Expr *e, const Builtin *builtin,
                                  ElementFunction *function) {
  Exprs list = call_arguments(l->s, e);
  int count = type_parts(shape_of(e));
  IrInst ***all = scratch_array(l->scratch, IrInst **, list.count),
         **one = lower_array(l, list.count), **result = lower_array(l, count);
  bool before = lower_enter_wrap(l, builtin->form == FORM_BITS || builtin->form == FORM_SHIFT);
  for (int i = 0; i < list.count; i++) all[i] = lower_values_as(l, list.items[i], e->type, count);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < list.count; i++) one[i] = all[i][k];
    result[k] = function(l, e, builtin, one, list.count);
    if (builtin->form == FORM_SHIFT)
      lower_check_result(l, (IrOp)builtin->op, one[0], one[1], result[k]);
  }
  return result;
}

static IrInst **lower_tobit(Lower *l, Expr *e) {
  bool before = lower_enter_wrap(l, true);
  IrInst **values = lower_values_as(l, e->list.items[0], TYPE(I32), type_parts(shape_of(e)));
  l->may_wrap = before;
  return values;
}

/* The bits that every NaN of the type has. */
static int64_t nan_bits(Type type) {
  return type_size(type) == 2 ? 0x7e00 : type_size(type) == 4 ? 0x7fc00000 : 0x7ff8000000000000;
}

/* Replaces any NaN by the default one, in both directions: the payload depends on the machine, and
 * LuaJIT, which may read the number, stores tagged values in NaNs. */
static IrInst *cast_number(Lower *l, IrInst *x, Type to) {
  IrInst *bits = ir_emit(&l->b, IR_BITCAST, to, 1, &x);
  if (type_is_float(x->type) == type_is_float(to)) return bits;
  IrInst *number = type_is_float(to) ? bits : x;
  IrInst *nan =
      type_is_float(to) ? ir_const_float(&l->b, to, NAN) : ir_const_int(&l->b, to, nan_bits(to));
  return ir_select(&l->b, ir_binary(&l->b, IR_NE, number, number), nan, bits);
}

static IrInst **lower_bitcast(Lower *l, Expr *e) {
  Expr *x = e->list.items[1];
  int count = type_parts(shape_of(e));
  IrInst **values = lower_values_as(l, x, x->type, count), **result = lower_array(l, count);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) result[k] = cast_number(l, values[k], e->call.cast);
  return result;
}

/* A number as an extension sees it: RgExtensionValue. */
static IrInst *native_bits(Lower *l, IrInst *x) {
  if (type_is_bool(x->type))
    return ir_select(&l->b, x, lower_number(l, TYPE(I64), 1), lower_number(l, TYPE(I64), 0));
  if (!type_is_float(x->type)) return lower_convert(l, x, TYPE(I64));
  IrInst *wide = lower_convert(l, x, TYPE(F64));
  return ir_emit(&l->b, IR_BITCAST, TYPE(I64), 1, &wide);
}

static IrInst *native_number(Lower *l, IrInst *bits, Type type) {
  if (type_is_bool(type)) return ir_binary(&l->b, IR_NE, bits, lower_number(l, TYPE(I64), 0));
  if (!type_is_float(type)) return lower_convert(l, bits, type);
  return lower_convert(l, ir_emit(&l->b, IR_BITCAST, TYPE(F64), 1, &bits), type);
}

static IrInst **lower_native(Lower *l, Expr *e, const Native *native) {
  IrInst *operands[1 + NATIVE_MOST] = {lower_number(l, TYPE(I32), native->number)};
  bool before = lower_enter_wrap(l, true);
  for (int i = 0; i < native->count; i++) {
    Type type = type_base(native->parameters[i]);
    operands[1 + i] = native_bits(l, lower_values_as(l, e->list.items[i], type, 1)[0]);
  }
  for (int i = native->count; i < NATIVE_MOST; i++) operands[1 + i] = lower_number(l, TYPE(I64), 0);
  lower_set_pos(l, e->pos);
  IrInst **result = lower_array(l, 1);
  IrInst *bits = ir_call(&l->b, RT_NATIVE, 0, 0, 1 + NATIVE_MOST, operands);
  if (type_is_struct(native->result)) counted_adopt(l, result[0] = bits);
  else if (!type_is_none(native->result)) result[0] = native_number(l, bits, native->result);
  l->may_wrap = before;
  return result;
}

static IrInst **lower_builtin(Lower *l, Expr *e, const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_SHIFT: return lower_elementwise(l, e, builtin, each_float);
  case FORM_LOG: return lower_elementwise(l, e, builtin, each_log);
  case FORM_ANGLE: return lower_elementwise(l, e, builtin, each_angle);
  case FORM_NUMERIC:
  case FORM_BITS: return lower_elementwise(l, e, builtin, each_fold);
  case FORM_ROUND: return lower_round(l, e, call_arguments(l->s, e).items[0], builtin->op);
  case FORM_TOBIT: return lower_tobit(l, e);
  case FORM_ALGEBRA: return lower_algebra(l, e, builtin);
  case FORM_RANDOM: return lower_random(l, e);
  case FORM_BITCAST: return lower_bitcast(l, e);
  case FORM_NATIVE: return lower_native(l, e, builtin->native);
  case FORM_ARRAY: return lower_array_call(l, e, builtin);
  case FORM_MESSAGE: lower_message(l, e); return NULL;
  case FORM_RANGE:
  case FORM_RESCALE:
  case FORM_LIBRARY:
  case FORM_TYPE: break;
  }
  return lower_array(l, 1); /* refused by resolve */
}

static Type lower_member_base(Lower *l, Type type, int member) {
  return type_base(type_row(l->s->input->types, type).members[member].type);
}

/* The numbers of a constructor in order; a single one fills the vector or the diagonal. A struct
 * has a value for each member. */
static IrInst **lower_construction(Lower *l, Expr *e, Type base) {
  Shape shape = shape_of(e);
  int count = type_parts(shape), so_far = 0;
  IrInst **result = lower_array(l, count);
  Exprs items = call_items(l->s, e);
  if (type_is_array(base)) return lower_zero(l, base, shape);
  bool before = lower_enter_wrap(l, true);
  for (int i = 0; i < items.count; i++) {
    int own = type_parts(shape_of(items.items[i]));
    Type type = type_is_struct(base) ? lower_member_base(l, base, i) : base;
    IrInst **values = lower_values_as(l, items.items[i], type, own);
    for (int k = 0; k < own && so_far < count; k++) result[so_far++] = values[k];
  }
  l->may_wrap = before;
  if (so_far == count) return result;
  IrInst *one = result[0], *zero = type_is_matrix(shape) ? lower_number(l, base, 0) : one;
  for (int k = 0; k < count; k++)
    result[k] = k / type_cols(shape) == k % type_cols(shape) ? one : zero;
  return result;
}

IrInst **lower_call(Lower *l, Expr *e) {
  const Builtin *builtin = builtin_of(e);
  return builtin ? lower_builtin(l, e, builtin) : lower_construction(l, e, e->call.type);
}

/* -- methods ----------------------------------------------------------------------------------- */

static IrInst *change_number(Lower *l, Expr *e, const MethodCall *m, int k, IrInst **indices,
                             IrInst **const *values) {
  const Method *method = m->method;
  IrInst *place = lower_place_at(l, &m->object, k, indices);
  lower_race_access(l, e, &m->object, RACE_UPDATE, place, indices, NULL);
  if (method->form == METHOD_RMW)
    return lower_rmw(l, e, &m->object, indices, (IrUpdate)method->op, place, values[0][k]);
  lower_check_finite(l, e, &m->object, indices, values[1][k]);
  return ir_emit(&l->b, IR_CAS, m->object.field.type, 3,
                 (IrInst *[]){place, values[0][k], values[1][k]});
}

static IrInst **lower_element_call(Lower *l, Expr *e, const MethodCall *m, IrInst **indices) {
  IrInst **values[2] = {0};
  int count = type_parts(m->object.shape), first = e->list.count - m->method->values;
  for (int i = 0; i < m->method->values; i++)
    values[i] = lower_values_as(l, e->list.items[first + i], m->object.field.type, count);
  lower_set_pos(l, e->pos);
  IrInst **old = lower_array(l, count);
  for (int k = 0; k < count; k++) old[k] = change_number(l, e, m, k, indices, values);
  for (int k = 0; k < count; k++) /* as an element that is read */
    old[k] = lower_convert(l, old[k], type_computed(old[k]->type));
  return old;
}

IrInst *lower_cell_inst(Lower *l, const MethodCall *m, const Entity *object, int count,
                        IrInst **indices) {
  const FieldRef *field = field_of(object);
  int level = lower_level(l, field->node, object->name, field->source);
  indices = lower_subtract_offset(l, field, count, indices);
  IrInst *inst = ir_emit(&l->b, (IrOp)m->method->op, m->type, count, indices);
  inst->level = level;
  return inst;
}

static IrInst **lower_cell_call(Lower *l, const MethodCall *m, int count, IrInst **indices) {
  IrInst **one = lower_array(l, 1);
  one[0] = field_of(&m->object)->peers ? lower_peer_cell_query(l, m, count, indices)
                                       : lower_cell_inst(l, m, &m->object, count, indices);
  return one;
}

IrInst **lower_method(Lower *l, Expr *e) {
  if (builtin_of(e)) return lower_builtin(l, e, builtin_of(e));
  const MethodCall *m = method_of(e);
  IrInst *indices[SNODE_MAX_AXES];
  int count = lower_indices(l, e->left, indices);
  count = lower_index_list(l, &e->list, method_index_count(e), indices, count);
  lower_set_pos(l, e->pos);
  if (m->method->form != METHOD_IS_ACTIVE) /* which may be out of bounds: it is then false */
    lower_check_index(l, e, &m->object, false, count, indices);
  if (m->method->form == METHOD_LIST) return lower_list_call(l, e, indices, count);
  if (m->method->values) return lower_element_call(l, e, m, indices);
  return lower_cell_call(l, m, count, indices);
}
