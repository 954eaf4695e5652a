/* emit_call.c - conversions, functions and methods. */
#include "emit_lua/emit.h"

static const double pi = 3.14159265358979323846;

/* -- rounding -------------------------------------------------------------------------------------------- */

/* A local that holds a quotient keeps its integers beside it: see emit_stmt.c. */
void emit_quotient(Emit *e, AstExpr *quotient, Type type) {
  AstExpr *inner = sema_strip(quotient);
  if (inner->kind == AST_LOCAL) {
    emit_format(e, "_rg_q%d[1], _rg_q%d[2]", inner->local->id, inner->local->id);
    return;
  }
  emit_as(e, inner->left, type);
  emit_text(e, ", ");
  emit_as(e, inner->right, type);
}

static void emit_round(Emit *e, AstExpr *call, IrOp op) {
  AstExpr *argument = call->list.items[0], *quotient = infer_quotient(e->s, argument);
  Type at = emit_type(e, call), from = emit_type(e, argument);
  if (quotient) {
    Type type = ty_alone(e->s, infer_quotient_type(e->s, quotient));
    emit_conversion(e, type, at);
    emit_format(e, "_rg.%s_%s(", op == IR_FLOOR ? "floordiv" : "ceildiv", type_text(type));
    emit_quotient(e, argument, type);
    emit_text(e, "))");
    return;
  }
  emit_conversion(e, from, at);
  bool rounds = type_is_float(from) && type_is_integer(at);
  if (rounds) emit_format(e, "_rg.%s(", ir_op_info[op].text);
  emit_expr(e, argument);
  emit_text(e, rounds ? "))" : ")");
}

/* -- functions ------------------------------------------------------------------------------------------- */

/* min(min(a, b), c) */
static void emit_fold(Emit *e, AstExpr *call, IrOp op) {
  Type at = emit_type(e, call);
  bool is_unary = op == IR_ABS || op == IR_BNOT || op == IR_BSWAP;
  if (op == IR_ABS && type_is_unsigned(at)) {
    emit_as(e, call->list.items[0], at);
    return;
  }
  if (is_unary) emit_format(e, "_rg.%s_%s(", ir_op_info[op].text, type_text(at));
  for (int i = 1; i < call->list.count; i++) emit_format(e, "_rg.%s_%s(", ir_op_info[op].text, type_text(at));
  emit_as(e, call->list.items[0], at);
  for (int i = 1; i < call->list.count; i++) {
    emit_text(e, ", ");
    emit_as(e, call->list.items[i], at);
    emit_text(e, ")");
  }
  if (is_unary) emit_text(e, ")");
}

static void emit_function(Emit *e, AstExpr *call, const char *name) {
  Type at = emit_type(e, call);
  emit_format(e, "_rg.%s_%s(", name, type_text(at));
  for (int i = 0; i < call->list.count; i++) {
    if (i) emit_text(e, ", ");
    emit_as(e, call->list.items[i], at);
  }
  emit_text(e, ")");
}

/* math.log(x, base): the quotient of two logarithms */
static void emit_log(Emit *e, AstExpr *call) {
  const char *at = type_text(emit_type(e, call));
  if (call->list.count == 1) {
    emit_function(e, call, "log");
    return;
  }
  emit_format(e, "_rg.div_%s(_rg.log_%s(", at, at);
  emit_as(e, call->list.items[0], emit_type(e, call));
  emit_format(e, "), _rg.log_%s(", at);
  emit_as(e, call->list.items[1], emit_type(e, call));
  emit_text(e, "))");
}

static void emit_angle(Emit *e, AstExpr *call, double factor) {
  Type at = emit_type(e, call);
  emit_format(e, "_rg.mul_%s(", type_text(at));
  emit_as(e, call->list.items[0], at);
  emit_text(e, ", ");
  emit_float(e, at, factor);
  emit_text(e, ")");
}

static void emit_builtin(Emit *e, AstExpr *call, const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT: case FORM_SHIFT: emit_function(e, call, ir_op_info[builtin->op].text); break;
  case FORM_LOG: emit_log(e, call); break;
  case FORM_ANGLE: emit_angle(e, call, !strcmp(builtin->name, "math.deg") ? 180 / pi : pi / 180); break;
  case FORM_JOIN: case FORM_BITS: emit_fold(e, call, builtin->op); break;
  case FORM_ROUND: emit_round(e, call, builtin->op); break;
  case FORM_TOBIT: emit_as(e, call->list.items[0], TYPE(I32)); break;
  case FORM_RANGE: break; /* the head of a loop */
  case FORM_SHAPER: case FORM_ALGEBRA: break; /* refused before */
  }
}

void emit_call(Emit *e, AstExpr *call) {
  const Entity *entity = entity_of(e->s, call);
  if (entity->builtin) emit_builtin(e, call, entity->builtin);
  else if (entity->is_conversion) emit_as(e, call->list.items[0], entity->type);
  else emit_refuse(e, call);
}

/* -- methods --------------------------------------------------------------------------------------------- */

/* x:add(i, v) is _rg_f[1].rmw(_rg_f[1], _rg.add_i32, i, v): the old value; compare_exchange has two values. */
static void emit_element_call(Emit *e, AstExpr *call, const Entity *entity, int index_count) {
  bool swaps = entity->method->form == METHOD_CAS;
  emit_on(e, entity->source, swaps ? "swap" : "rmw");
  if (!swaps) emit_format(e, ", _rg.%s_%s", ir_update_text((IrUpdate)entity->method->op), type_text(entity->type));
  emit_indices(e, call->left, entity->node->rank);
  emit_index_list(e, &call->list, index_count, entity->node->rank);
  for (int i = index_count; i < call->list.count; i++) {
    emit_text(e, ", ");
    emit_as(e, call->list.items[i], entity->type);
  }
  emit_text(e, ")");
}

void emit_method(Emit *e, AstExpr *call) {
  const Entity *entity = entity_of(e->s, call);
  if (!entity->method) {
    emit_refuse(e, call);
    return;
  }
  int index_count = call->list.count - entity->method->values;
  if (entity->method->values) {
    emit_element_call(e, call, entity, index_count);
    return;
  }
  emit_format(e, "_rg.%s(", entity->method->name);
  emit_source(e, entity->source);
  emit_text(e, ".level");
  emit_indices(e, call->left, entity->node->rank);
  emit_index_list(e, &call->list, index_count, entity->node->rank);
  emit_text(e, ")");
}
