/* expr.c - expressions, each in the type that check settled for it. */
#include "lower/lower.h"

static Type type_at(Sema *s, const Expr *e) { return e->at; }

/* -- constants ------------------------------------------------------------------------------------------- */

IrInst *lower_number(Sema *s, Type type, int64_t value) {
  return type_is_float(type) ? ir_const_float(&s->b, type, (double)value) : ir_const_int(&s->b, type, value);
}

static IrInst *convert_constant(Sema *s, const IrInst *value, Type type) {
  bool from_float = type_is_float(value->type);
  double number = from_float                       ? ir_float_value(value)
                  : type_is(value->type, TYPE_U64) ? (double)(uint64_t)value->imm
                                                   : (double)value->imm;
  return type_is_float(type) ? ir_const_float(&s->b, type, number) : ir_const_int(&s->b, type, value->imm);
}

/* A constant converts at once; a float to an integer is left to `fold`. */
IrInst *lower_convert(Sema *s, IrInst *value, Type type) {
  if (type_equal(value->type, type)) return value;
  bool is_simple = value->op == IR_CONST && (type_is_float(type) || !type_is_float(value->type));
  return is_simple ? convert_constant(s, value, type) : ir_convert(&s->b, value, type);
}

/* A literal that was made for this alone goes again when it converts. */
IrInst *lower_as(Sema *s, Expr *e, Type type) {
  int first_id = s->b.kernel->next_id;
  IrInst *value = lower_expr(s, e);
  lower_at(s, e->pos);
  IrInst *converted = lower_convert(s, value, type);
  if (value->op == IR_CONST && value != converted && value->id >= first_id) ir_remove(value);
  return converted;
}

static IrInst *lower_literal(Sema *s, const Expr *number, Type type, bool is_negative) {
  bool is_float = number->number_kind == AST_NUMBER_FLOAT;
  double value = is_float ? number->number : (double)number->integer;
  if (type_is_float(type)) return ir_const_float(&s->b, type, is_negative ? -value : value);
  return ir_const_int(&s->b, type, (int64_t)(is_negative ? -number->integer : number->integer));
}

/* -- names ----------------------------------------------------------------------------------------------- */

static IrInst *lower_named(Sema *s, Expr *e) {
  const Entity *entity = &e->entity;
  switch (entity->kind) {
  case ENTITY_LIVE:
    return ir_arg(&s->b, s->lives.items[entity->live.number].arg +
                                (entity->live.parts.count ? entity->live.parts.at[0] : 0));
  case ENTITY_CONSTANT: return ir_const_int(&s->b, type_at(s, e), entity->constant);
  case ENTITY_ELEMENT: return lower_parts(s, e, &(int){0}, 1)[0];
  case ENTITY_PART: return lower_values(s, e)[0];
  default: {
    const Local *local = e->local;
    return local_is_variable(e->local) ? ir_get(&s->b, local->values[0]) : local->values[0];
  }
  }
}

/* -- operators ------------------------------------------------------------------------------------------- */

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

IrInst *lower_operator(Sema *s, AstOp op, IrInst *a, IrInst *b) { return ir_binary(&s->b, op_of(op), a, b); }

static IrInst *lower_binary(Sema *s, Expr *e) {
  Type at = type_at(s, e);
  if (e->op >= AST_EQ && e->op <= AST_GE) {
    if (!type_is_scalar(shape_of(e->left))) return lower_values(s, e)[0];
    IrInst *a = lower_expr(s, e->left), *b = lower_expr(s, e->right);
    lower_at(s, e->pos);
    return lower_compare(s, e->op, a, b);
  }
  IrInst *a = lower_as(s, e->left, at), *b = lower_as(s, e->right, at);
  lower_at(s, e->pos);
  return lower_operator(s, e->op, a, b);
}

static IrInst *lower_unary(Sema *s, Expr *e) {
  Type at = type_at(s, e);
  if (e->op == AST_LEN) return lower_named(s, e);
  if (e->op == AST_NEG && e->left->kind == AST_NUMBER) return lower_literal(s, e->left, at, true);
  IrInst *value = lower_as(s, e->left, at);
  lower_at(s, e->pos);
  return ir_unary(&s->b, e->op == AST_NEG ? IR_NEG : IR_BNOT, value);
}

/* -- short circuits -------------------------------------------------------------------------------------- */

static void lower_into(Sema *s, IrRegion *region, IrInst *var, Expr *value) {
  IrRegion *back = lower_enter(s, region);
  ir_set(&s->b, var, lower_as(s, value, var->type));
  lower_leave(s, back);
}

/* Of bools. What costs little on the right is computed always, else only where it decides. */
static IrInst *lower_logic(Sema *s, Expr *e) {
  bool is_and = e->kind == AST_AND;
  IrInst *left = lower_expr(s, e->left);
  if (choice_is_cheap(s, e->right)) {
    IrInst *right = lower_expr(s, e->right);
    lower_at(s, e->pos);
    return ir_binary(&s->b, is_and ? IR_BAND : IR_BOR, left, right);
  }
  lower_at(s, e->pos);
  IrInst *var = ir_var(&s->b, TYPE(BOOL));
  ir_set(&s->b, var, left);
  IrInst *branch = ir_if(&s->b, left);
  lower_into(s, branch->regions[is_and ? 0 : 1], var, e->right);
  return ir_get(&s->b, var);
}

static IrInst *lower_selects(Sema *s, const Choices *arms, Type at) {
  IrInst **conditions = scratch_array(s->scratch, IrInst *, arms->count);
  IrInst **values = scratch_array(s->scratch, IrInst *, arms->count);
  for (int i = 0; i < arms->count; i++) {
    if (arms->items[i].condition) conditions[i] = lower_expr(s, arms->items[i].condition);
    values[i] = lower_as(s, arms->items[i].value, at);
  }
  IrInst *chosen = values[arms->count - 1];
  for (int i = arms->count - 2; i >= 0; i--) chosen = ir_select(&s->b, conditions[i], values[i], chosen);
  return chosen;
}

static IrInst *lower_branches(Sema *s, const Choices *arms, Type at) {
  IrInst *var = ir_var(&s->b, at);
  IrRegion *back = s->b.region;
  int nesting = s->nesting;
  for (int i = 0; i < arms->count && !s->failed; i++) {
    const Choice *arm = &arms->items[i];
    if (!arm->condition) {
      ir_set(&s->b, var, lower_as(s, arm->value, at));
      break;
    }
    IrInst *branch = ir_if(&s->b, lower_expr(s, arm->condition));
    lower_into(s, branch->regions[0], var, arm->value);
    lower_enter(s, branch->regions[1]);
  }
  s->nesting = nesting;
  s->b.region = back;
  return ir_get(&s->b, var);
}

static IrInst *lower_choice(Sema *s, Expr *e) {
  Choices arms = choice_arms(s, e);
  bool is_cheap = true;
  for (int i = 0; i < arms.count; i++) {
    if (i > 0 && arms.items[i].condition) is_cheap &= choice_is_cheap(s, arms.items[i].condition);
    is_cheap &= choice_is_cheap(s, arms.items[i].value);
  }
  return is_cheap ? lower_selects(s, &arms, type_at(s, e)) : lower_branches(s, &arms, type_at(s, e));
}

/* -- all ------------------------------------------------------------------------------------------------- */

IrInst *lower_expr(Sema *s, Expr *e) {
  Inline *in = e->inlined;
  if (in) {
    IrInst **values = lower_inline(s, e, in);
    return values ? values[0] : NULL;
  }
  lower_at(s, e->pos);
  switch (e->kind) {
  case AST_TRUE: case AST_FALSE: return ir_const_int(&s->b, TYPE(BOOL), e->kind == AST_TRUE);
  case AST_NUMBER: return lower_literal(s, e, type_at(s, e), false);
  case AST_LOCAL: case AST_GLOBAL: case AST_FIELD: {
    IrInst *value = lower_named(s, e);
    return lower_convert(s, value, type_at(s, e));
  }
  case AST_INDEX: return lower_named(s, e);
  case AST_CALL: return lower_call(s, e)[0];
  case AST_METHOD: return lower_method(s, e)[0];
  case AST_UNARY: return lower_unary(s, e);
  case AST_BINARY: return lower_binary(s, e);
  case AST_AND: return lower_logic(s, e);
  case AST_OR: return choice_is(s, e) ? lower_choice(s, e) : lower_logic(s, e);
  case AST_TERNARY: return lower_choice(s, e);
  case AST_PAREN: return lower_expr(s, e->left);
  default: return ir_const_int(&s->b, TYPE(I32), 0); /* refused by resolve */
  }
}
