/* expr.c - expressions, each in the type check determined for it. */
#include "lower/lower.h"

/* -- constants --------------------------------------------------------------------------------- */

IrInst *lower_number(Lower *l, Type type, int64_t value) {
  return type_is_float(type) ? ir_const_float(&l->b, type, (double)value)
                             : ir_const_int(&l->b, type, value);
}

static IrInst *convert_constant(Lower *l, const IrInst *value, Type type) {
  bool from_float = type_is_float(value->type);
  double number = from_float                       ? ir_float_value(value)
                  : type_is(value->type, TYPE_U64) ? (double)(uint64_t)value->imm
                                                   : (double)value->imm;
  return type_is_float(type) ? ir_const_float(&l->b, type, number)
                             : ir_const_int(&l->b, type, value->imm);
}

/* A constant is converted at once; a float to an integer is left to `fold`. */
IrInst *lower_convert(Lower *l, IrInst *value, Type type) {
  if (type_equal(value->type, type)) return value;
  bool is_simple = value->op == IR_CONST && (type_is_float(type) || !type_is_float(value->type));
  if (is_simple) return convert_constant(l, value, type);
  IrInst *converted = ir_convert(&l->b, value, type);
  lower_check_convert(l, value, converted);
  return converted;
}

/* A literal that was made only for this is removed after its conversion. */
IrInst *lower_as(Lower *l, Expr *e, Type type) {
  int first_id = l->b.kernel->next_id;
  IrInst *value = lower_expr(l, e);
  lower_set_pos(l, e->pos);
  IrInst *converted = lower_convert(l, value, type);
  bool is_replaced = value->op == IR_CONST && converted->op == IR_CONST && value != converted;
  if (is_replaced && value->id >= first_id) ir_delete(value);
  return converted;
}

static IrInst *lower_literal(Lower *l, const Expr *number, Type type, bool is_negative) {
  bool is_float = number->number_kind == AST_NUMBER_FLOAT;
  double value = is_float ? number->number : (double)number->integer;
  if (type_is_float(type)) return ir_const_float(&l->b, type, is_negative ? -value : value);
  return ir_const_int(&l->b, type, (int64_t)(is_negative ? -number->integer : number->integer));
}

/* -- names ------------------------------------------------------------------------------------- */

/* Number `part`. If any part of a vector is static, the whole vector belongs to the version's
 * pattern, so its numbers are constants. */
IrInst *lower_argument(Lower *l, const LaunchArg *launch_arg, int part) {
  const SemaInput *input = l->s->input;
  SemaArg source = launch_arg->source;
  const SemaValue *value =
      source.is_parameter ? &input->parameters[source.index] : &input->captures[source.index];
  Type type = lower_number_type(l, launch_arg->type, part);
  if (value->kind != VALUE_VECTOR || !value->is_static ||
      !type_equal(launch_arg->type, launch_arg->ty.type))
    return ir_arg(&l->b, launch_arg->arg + part);
  return type_is_float(type) ? ir_const_float(&l->b, type, value->parts[part].f64)
                             : ir_const_int(&l->b, type, (int64_t)value->parts[part].bits);
}

static IrInst *lower_named(Lower *l, Expr *e) {
  const Entity *entity = &e->entity;
  switch (entity->kind) {
  case ENTITY_ARGUMENT:
    return lower_argument(l, &l->s->launch_args.items[entity->launch_arg.number],
                          parts_at(&entity->launch_arg.parts, 0));
  case ENTITY_CONSTANT: return ir_const_int(&l->b, e->type, entity->constant);
  case ENTITY_ITEM:
  case ENTITY_ELEMENT: return lower_parts(l, e, &(int){0}, 1)[0];
  case ENTITY_PART: return lower_values(l, e)[0];
  default: {
    const Local *local = e->local;
    lower_check_set(l, local, &(int){0}, 1);
    return local_is_variable(e->local) ? ir_get(&l->b, lowered_of(l, local)->values[0])
                                       : lowered_of(l, local)->values[0];
  }
  }
}

/* -- operators --------------------------------------------------------------------------------- */

static IrOp op_of(AstOp op) {
  switch (op) {
  case AST_ADD: return IR_ADD;
  case AST_SUB: return IR_SUB;
  case AST_MUL: return IR_MUL;
  case AST_DIV: return IR_DIV;
  case AST_FLOORDIV: return IR_FLOORDIV;
  case AST_MOD: return IR_MOD;
  case AST_POW: return IR_POW;
  case AST_BAND: return IR_BAND;
  case AST_BOR: return IR_BOR;
  case AST_BXOR: return IR_BXOR;
  case AST_SHL: return IR_SHL;
  case AST_SHR: return IR_SHR;
  default: return IR_SAR;
  }
}

IrInst *lower_operator(Lower *l, AstOp op, IrInst *a, IrInst *b) {
  IrInst *result = ir_binary(&l->b, op_of(op), a, b);
  lower_check_result(l, op_of(op), a, b, result);
  return result;
}

static IrInst *lower_power(Lower *l, IrInst *value, int exponent) {
  IrInst *product = NULL;
  for (int left = exponent; left; left /= 2) {
    if (left % 2) product = product ? lower_operator(l, AST_MUL, product, value) : value;
    if (left > 1) value = lower_operator(l, AST_MUL, value, value);
  }
  return product ? product : lower_number(l, value->type, 1);
}

IrInst *lower_integer_power(Lower *l, IrInst *value, int exponent) {
  if (exponent >= 0) return lower_power(l, value, exponent);
  IrInst *product = lower_power(l, value, -exponent);
  return lower_operator(l, AST_DIV, lower_number(l, value->type, 1), product);
}

static IrInst *lower_binary(Lower *l, Expr *e) {
  Type at = e->type;
  if (!type_is_scalar(shape_of(e->left)) || !type_is_scalar(shape_of(e->right)))
    return lower_values(l, e)[0];
  if (e->op >= AST_EQ && e->op <= AST_GE) {
    IrInst *a = lower_expr(l, e->left), *b = lower_expr(l, e->right);
    lower_set_pos(l, e->pos);
    return lower_compare(l, e->op, a, b);
  }
  int exponent;
  if (typed_integer_power(e, at, &exponent)) {
    IrInst *value = lower_as(l, e->left, at);
    lower_set_pos(l, e->pos);
    return lower_integer_power(l, value, exponent);
  }
  bool before = lower_enter_wrap(l, lower_operator_wraps(e->op, at));
  IrInst *a = lower_as(l, e->left, at), *b = lower_as(l, e->right, at);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  return lower_operator(l, e->op, a, b);
}

static IrInst *lower_unary(Lower *l, Expr *e) {
  Type at = e->type;
  if (e->op == AST_LEN) return lower_named(l, e);
  if (e->op == AST_NEG && e->left->kind == AST_NUMBER) return lower_literal(l, e->left, at, true);
  bool before = lower_enter_wrap(l, e->op == AST_BNOT);
  IrInst *value = lower_as(l, e->left, at);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  if (e->op == AST_NEG) lower_check_negative(l, value);
  return ir_unary(&l->b, e->op == AST_NEG ? IR_NEG : IR_BNOT, value);
}

/* -- short circuits ---------------------------------------------------------------------------- */

static void lower_into(Lower *l, IrRegion *region, IrInst *var, Expr *value) {
  IrRegion *back = lower_enter(l, region);
  ir_set(&l->b, var, lower_as(l, value, var->type));
  lower_leave(l, back);
}

/* `and`, `or` of bools. A cheap right side is always computed, any other only if it decides. */
static IrInst *lower_logic(Lower *l, Expr *e) {
  bool is_and = e->kind == AST_AND;
  IrInst *left = lower_expr(l, e->left);
  if (choice_is_cheap(l->s, e->right)) {
    IrInst *right = lower_expr(l, e->right);
    lower_set_pos(l, e->pos);
    return ir_binary(&l->b, is_and ? IR_BAND : IR_BOR, left, right);
  }
  lower_set_pos(l, e->pos);
  IrInst *var = ir_var(&l->b, TYPE(BOOL));
  ir_set(&l->b, var, left);
  IrInst *branch = ir_if(&l->b, left);
  lower_into(l, branch->regions[is_and ? 0 : 1], var, e->right);
  return ir_get(&l->b, var);
}

static IrInst *lower_selects(Lower *l, const Choices *arms, Type at) {
  IrInst **conditions = lower_array(l, arms->count);
  IrInst **values = lower_array(l, arms->count);
  for (int i = 0; i < arms->count; i++) {
    if (arms->items[i].condition) conditions[i] = lower_expr(l, arms->items[i].condition);
    values[i] = lower_as(l, arms->items[i].value, at);
  }
  IrInst *chosen = values[arms->count - 1];
  for (int i = arms->count - 2; i >= 0; i--)
    chosen = ir_select(&l->b, conditions[i], values[i], chosen);
  return chosen;
}

static IrInst *lower_branches(Lower *l, const Choices *arms, Type at) {
  IrInst *var = ir_var(&l->b, at);
  IrRegion *back = l->b.region;
  int nesting = l->nesting;
  for (int i = 0; i < arms->count && !l->s->failed; i++) {
    const Choice *arm = &arms->items[i];
    if (!arm->condition) {
      ir_set(&l->b, var, lower_as(l, arm->value, at));
      break;
    }
    IrInst *branch = ir_if(&l->b, lower_expr(l, arm->condition));
    lower_into(l, branch->regions[0], var, arm->value);
    lower_enter(l, branch->regions[1]);
  }
  l->nesting = nesting;
  l->b.region = back;
  return ir_get(&l->b, var);
}

static IrInst *lower_choice(Lower *l, Expr *e) {
  Choices arms = choice_arms(l->s, e);
  bool is_cheap = true;
  for (int i = 0; i < arms.count; i++) {
    if (i > 0 && arms.items[i].condition)
      is_cheap &= choice_is_cheap(l->s, arms.items[i].condition);
    is_cheap &= choice_is_cheap(l->s, arms.items[i].value);
  }
  return is_cheap ? lower_selects(l, &arms, e->type) : lower_branches(l, &arms, e->type);
}

/* -- all --------------------------------------------------------------------------------------- */

IrInst *lower_expr(Lower *l, Expr *e) {
  Inline *in = e->inlined;
  if (in) {
    IrInst **values = lower_inline(l, e, in);
    return values ? values[0] : NULL;
  }
  if (e->invoked) {
    IrInst **values = lower_invocation(l, e, e->invoked);
    return values ? values[0] : NULL;
  }
  lower_set_pos(l, e->pos);
  switch (e->kind) {
  case AST_TRUE:
  case AST_FALSE: return ir_const_int(&l->b, TYPE(BOOL), e->kind == AST_TRUE);
  case AST_NUMBER: return lower_literal(l, e, e->type, false);
  case AST_LOCAL:
  case AST_GLOBAL:
  case AST_FIELD: {
    IrInst *value = lower_named(l, e);
    return lower_convert(l, value, e->type);
  }
  case AST_INDEX: return lower_named(l, e);
  case AST_CALL: return lower_call(l, e)[0];
  case AST_METHOD: return lower_method(l, e)[0];
  case AST_UNARY: return lower_unary(l, e);
  case AST_BINARY: return lower_binary(l, e);
  case AST_AND: return lower_logic(l, e);
  case AST_OR:
    if (default_is(e)) return lower_expr(l, e->left);
    return choice_is(l->s, e) ? lower_choice(l, e) : lower_logic(l, e);
  case AST_TERNARY: return lower_choice(l, e);
  case AST_PAREN: return lower_expr(l, e->left);
  default: return ir_const_int(&l->b, TYPE(I32), 0); /* refused by resolve */
  }
}
