/* lower_call.c - conversions, functions and methods. */
#include "sema/typed.h"

static const double pi = 3.14159265358979323846;

static Type type_at(Sema *s, const AstExpr *e) { return s->at[e->id]; }

/* -- rounding -------------------------------------------------------------------------------------------- */

/* The integers whose quotient e is. */
void lower_quotient(Sema *s, AstExpr *e, IrInst **dividend, IrInst **divisor) {
  AstExpr *inner = sema_strip(e);
  if (inner->kind == AST_LOCAL) {
    *dividend = local_of(s, inner->local)->dividend;
    *divisor = local_of(s, inner->local)->divisor;
    return;
  }
  Type type = ty_alone(s, infer_quotient_type(s, inner));
  *dividend = lower_as(s, inner->left, type);
  *divisor = lower_as(s, inner->right, type);
}

/* ceil(a / b): one more than the floor where something remains; by zero 0. */
static IrInst *ceil_quotient(Sema *s, IrInst *a, IrInst *b) {
  IrInst *zero = ir_const_int(&s->b, a->type, 0);
  IrInst *rest = ir_binary(&s->b, IR_MOD, a, b), *floor = ir_binary(&s->b, IR_FLOORDIV, a, b);
  IrInst *more = ir_convert(&s->b, ir_binary(&s->b, IR_NE, rest, zero), a->type);
  return ir_binary(&s->b, IR_ADD, floor, more);
}

static IrInst *lower_round(Sema *s, AstExpr *e, IrOp op) {
  AstExpr *argument = e->list.items[0];
  if (infer_quotient(s, argument)) {
    IrInst *a, *b;
    lower_quotient(s, argument, &a, &b);
    lower_at(s, e->pos);
    IrInst *result = op == IR_FLOOR ? ir_binary(&s->b, IR_FLOORDIV, a, b) : ceil_quotient(s, a, b);
    return lower_convert(s, result, type_at(s, e));
  }
  IrInst *value = lower_expr(s, argument);
  lower_at(s, e->pos);
  if (type_is_float(value->type) && type_is_integer(type_at(s, e))) value = ir_unary(&s->b, op, value);
  return lower_convert(s, value, type_at(s, e));
}

/* -- functions ------------------------------------------------------------------------------------------- */

static IrInst *lower_fold(Sema *s, AstExpr *e, IrOp op) {
  Type at = type_at(s, e);
  IrInst *result = lower_as(s, e->list.items[0], at);
  if (op == IR_ABS && type_is_unsigned(at)) return result;
  if (op == IR_ABS || op == IR_BNOT || op == IR_BSWAP) return ir_unary(&s->b, op, result);
  for (int i = 1; i < e->list.count; i++) {
    IrInst *value = lower_as(s, e->list.items[i], at);
    lower_at(s, e->pos);
    result = ir_binary(&s->b, op, result, value);
  }
  return result;
}

static IrInst *lower_float(Sema *s, AstExpr *e, IrOp op) {
  Type at = type_at(s, e);
  IrInst *operands[2];
  for (int i = 0; i < e->list.count; i++) operands[i] = lower_as(s, e->list.items[i], at);
  lower_at(s, e->pos);
  return ir_emit(&s->b, op, at, e->list.count, operands);
}

/* math.log(x, base) */
static IrInst *lower_log(Sema *s, AstExpr *e) {
  Type at = type_at(s, e);
  IrInst *value = lower_as(s, e->list.items[0], at);
  IrInst *log = ir_unary(&s->b, IR_LOG, value);
  if (e->list.count == 1) return log;
  IrInst *base = ir_unary(&s->b, IR_LOG, lower_as(s, e->list.items[1], at));
  return ir_binary(&s->b, IR_DIV, log, base);
}

static IrInst *lower_angle(Sema *s, AstExpr *e, bool to_degrees) {
  Type at = type_at(s, e);
  IrInst *value = lower_as(s, e->list.items[0], at);
  return ir_binary(&s->b, IR_MUL, value, ir_const_float(&s->b, at, to_degrees ? 180 / pi : pi / 180));
}

static IrInst *lower_builtin(Sema *s, AstExpr *e, const Builtin *builtin) {
  switch (builtin->form) {
  case FORM_FLOAT: case FORM_SHIFT: return lower_float(s, e, builtin->op);
  case FORM_LOG: return lower_log(s, e);
  case FORM_ANGLE: return lower_angle(s, e, !strcmp(builtin->name, "math.deg"));
  case FORM_JOIN: case FORM_BITS: return lower_fold(s, e, builtin->op);
  case FORM_ROUND: return lower_round(s, e, builtin->op);
  case FORM_TOBIT: return lower_as(s, e->list.items[0], TYPE(I32));
  case FORM_RANGE: break;
  }
  return ir_const_int(&s->b, TYPE(I32), 0); /* refused by resolve */
}

IrInst *lower_call(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  if (entity->builtin) return lower_builtin(s, e, entity->builtin);
  return lower_as(s, e->list.items[0], entity->type);
}

/* -- methods --------------------------------------------------------------------------------------------- */

static IrInst *lower_element_call(Sema *s, AstExpr *e, const Entity *entity, IrInst **indices) {
  const Method *method = entity->method;
  IrInst *operands[3];
  int first = e->list.count - method->values;
  for (int i = 0; i < method->values; i++) operands[1 + i] = lower_as(s, e->list.items[first + i], entity->type);
  lower_at(s, e->pos);
  operands[0] = lower_place_at(s, entity, indices);
  if (method->form == METHOD_RMW) return ir_rmw(&s->b, (IrUpdate)method->op, operands[0], operands[1]);
  return ir_emit(&s->b, IR_CAS, entity->type, 3, operands);
}

static IrInst *lower_cell_call(Sema *s, const Entity *entity, int count, IrInst **indices) {
  Type result = entity->method->form == METHOD_IS_ACTIVE ? TYPE(BOOL)
                : entity->method->form == METHOD_COUNT   ? TYPE(I64) : TYPE(NONE);
  int level = lower_level(s, entity->node, entity->name, entity->source);
  IrInst *inst = ir_emit(&s->b, (IrOp)entity->method->op, result, count, indices);
  inst->level = level;
  return inst;
}

IrInst *lower_method(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  IrInst *indices[SNODE_MAX_AXES];
  int count = lower_indices(s, e->left, indices);
  count = lower_index_list(s, &e->list, e->list.count - entity->method->values, indices, count);
  lower_at(s, e->pos);
  if (entity->method->values) return lower_element_call(s, e, entity, indices);
  return lower_cell_call(s, entity, count, indices);
}
