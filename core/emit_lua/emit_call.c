/* emit_call.c - conversions, functions and methods. */
#include "emit_lua/emit.h"

static const double pi = 3.14159265358979323846;

/* -- rounding ---------------------------------------------------------------------------------- */

/* A local that holds a quotient has its integer operands in _rg_q<id>: see emit_stmt.c. */
void emit_quotient(Emit *e, Expr *quotient, Type type) {
  Expr *inner = sema_strip(quotient);
  if (inner->kind == AST_LOCAL) {
    emit_format(e, "_rg_q%d[1], _rg_q%d[2]", inner->local->id, inner->local->id);
    return;
  }
  emit_converted(e, inner->left, type);
  emit_text(e, ", ");
  emit_converted(e, inner->right, type);
}

static void emit_round(Emit *e, Expr *call, IrOp op) {
  Expr *argument = call_arguments(e->s, call).items[0];
  Expr *quotient = op == IR_ROUND ? NULL : typed_quotient(e->s, argument);
  Type at = emit_type(e, call), from = emit_type(e, argument);
  Shape shape = emit_shape(e, call);
  if (quotient) {
    Type type = ty_default_type(e->s, typed_quotient_type(e->s, quotient));
    emit_conversion_at(e, call->pos, shape, type, at);
    const char *name = op == IR_FLOOR ? "floordiv" : "ceildiv";
    emit_operation_at(e, call->pos, shape, name, type);
    emit_quotient(e, argument, type);
    emit_text(e, "))");
    return;
  }
  emit_conversion_at(e, call->pos, shape, from, at);
  bool is_rounded = type_is_float(from);
  if (is_rounded) emit_operation(e, shape, ir_op_info[op].text, from);
  emit_expr(e, argument);
  emit_text(e, is_rounded ? "))" : ")");
}

/* -- functions: elementwise -------------------------------------------------------------------- */

/* min(min(a, b), c) */
static void emit_fold(Emit *e, Expr *call, IrOp op) {
  Type at = emit_type(e, call);
  Shape shape = emit_shape(e, call);
  Exprs list = call_arguments(e->s, call);
  bool is_unary = ir_op_info[op].operand_count == 1;
  if (op == IR_DETACH || (op == IR_ABS && type_is_unsigned(at))) {
    emit_converted(e, list.items[0], at);
    return;
  }
  if (is_unary) emit_operation_at(e, call->pos, shape, ir_op_info[op].text, at);
  for (int i = 1; i < list.count; i++) emit_operation(e, shape, ir_op_info[op].text, at);
  emit_converted(e, list.items[0], at);
  for (int i = 1; i < list.count; i++) {
    emit_text(e, ", ");
    emit_converted(e, list.items[i], at);
    emit_text(e, ")");
  }
  if (is_unary) emit_text(e, ")");
}

static void emit_function(Emit *e, Expr *call, const char *name) {
  Type at = emit_type(e, call);
  Exprs list = call_arguments(e->s, call);
  emit_operation_at(e, call->pos, emit_shape(e, call), name, at);
  for (int i = 0; i < list.count; i++) {
    if (i) emit_text(e, ", ");
    emit_converted(e, list.items[i], at);
  }
  emit_text(e, ")");
}

/* math.log(x, base): the quotient of two logarithms, the arguments first */
static void emit_log(Emit *e, Expr *call) {
  emit_function(e, call, call_arguments(e->s, call).count == 1 ? "log" : "logarithm");
}

static void emit_angle(Emit *e, Expr *call, double factor) {
  Type at = emit_type(e, call);
  emit_operation(e, emit_shape(e, call), "mul", at);
  emit_converted(e, call_arguments(e->s, call).items[0], at);
  emit_text(e, ", ");
  emit_float(e, at, factor);
  emit_text(e, ")");
}

static void emit_bitcast(Emit *e, Expr *call) {
  Expr *x = call->list.items[1];
  const char *name = scratch_format(e->scratch, "bits_%s", type_text(call->call.cast));
  emit_operation(e, emit_shape(e, x), name, emit_type(e, x));
  emit_expr(e, x);
  emit_text(e, ")");
}

static bool uses_arrays(const Native *native) {
  bool takes = type_is_struct(native->result);
  for (int i = 0; i < native->count; i++) takes |= type_is_struct(native->parameters[i]);
  return takes;
}

/* Calls the host's function with this number. */
static void emit_native(Emit *e, Expr *call, const Native *native) {
  if (uses_arrays(native)) {
    emit_format(e, "_rg.no_memory(\"%s\")", call->call.builtin->name);
    return;
  }
  emit_format(e, "_rg.native[%d](", native->id);
  for (int i = 0; i < call->list.count; i++) {
    if (i) emit_text(e, ", ");
    emit_converted(e, call->list.items[i], native->parameters[i]);
  }
  emit_text(e, ")");
}

static void emit_builtin(Emit *e, Expr *call, const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_SHIFT: emit_function(e, call, ir_op_info[builtin->op].text); break;
  case FORM_LOG: emit_log(e, call); break;
  case FORM_ANGLE:
    emit_angle(e, call, !strcmp(builtin->name, "math.deg") ? 180 / pi : pi / 180);
    break;
  case FORM_NUMERIC:
  case FORM_BITS: emit_fold(e, call, builtin->op); break;
  case FORM_ROUND: emit_round(e, call, builtin->op); break;
  case FORM_TOBIT: emit_converted(e, call->list.items[0], TYPE(I32)); break;
  case FORM_ALGEBRA: emit_algebra(e, call, builtin); break;
  case FORM_RANDOM: emit_random(e, call); break;
  case FORM_BITCAST: emit_bitcast(e, call); break;
  case FORM_NATIVE: emit_native(e, call, builtin->native); break;
  case FORM_MESSAGE: emit_message(e, call); break;
  case FORM_ARRAY: emit_array_call(e, call, builtin); break;
  case FORM_RANGE:
  case FORM_RESCALE:
  case FORM_LIBRARY:
  case FORM_TYPE: emit_refuse(e, call); break; /* they are not values */
  }
}

void emit_call(Emit *e, Expr *call) {
  if (builtin_of(call)) emit_builtin(e, call, builtin_of(call));
  else if (call->call.kind != CALL_CONVERSION) emit_refuse(e, call);
  else if (!type_is_scalar(shape_of(call))) emit_construction(e, call);
  else emit_converted(e, call->list.items[0], call->call.type);
}

/* -- methods ----------------------------------------------------------------------------------- */

/* x:add(i, v) is _rg_f[1].rmw(_rg_f[1], _rg.add_i32, {0, i}, v): the old value; compare_exchange
 * has two values. */
static void emit_element_call(Emit *e, Expr *call, const MethodCall *m, int index_count) {
  const FieldRef *field = field_of(&m->object);
  bool is_exchange = m->method->form == METHOD_CAS;
  emit_conversion(e, m->object.shape, field->type, emit_type(e, call));
  emit_field_call(e, field->source, is_exchange ? "swap" : "rmw");
  if (!is_exchange) emit_text(e, ", ");
  if (!is_exchange)
    emit_function_name(e, call->pos, ir_update_text((IrUpdate)m->method->op),
                       type_is_struct(field->type) ? TYPE(BOOL) : field->type); /* any exchange */
  emit_text(e, ", {0");
  bool is_checked = emit_index_check(e, call->pos, &m->object);
  emit_call_indices(e, call->left, &call->list, index_count, field_rank(field));
  emit_text(e, is_checked ? ")}" : "}");
  for (int i = index_count; i < call->list.count; i++) {
    emit_text(e, ", ");
    emit_broadcast(e, call->list.items[i], field->type, m->object.shape);
  }
  emit_text(e, "))");
}

static void emit_cell_call(Emit *e, Expr *call, const MethodCall *m, int index_count) {
  const FieldRef *field = field_of(&m->object);
  emit_format(e, "_rg.%s(", m->method->name);
  emit_launch_field(e, field->source);
  emit_text(e, ".level");
  emit_call_indices(e, call->left, &call->list, index_count, field_rank(field));
  emit_text(e, ")");
}

void emit_method(Emit *e, Expr *call) {
  if (builtin_of(call)) {
    emit_builtin(e, call, builtin_of(call));
    return;
  }
  if (call->call.kind != CALL_METHOD) {
    emit_refuse(e, call);
    return;
  }
  const MethodCall *m = method_of(call);
  int index_count = call->list.count - m->method->values;
  if (m->method->form == METHOD_LIST) emit_list_call(e, call, m);
  else if (m->method->values) emit_element_call(e, call, m, index_count);
  else emit_cell_call(e, call, m, index_count);
}
