/* static.c - what is known while a kernel is compiled: `rg.static(e)`, and the arm that `if rg.static(c)` picks.
 *
 * A static number of the launch is part of the kernel's pattern, so another value is another compile. Evaluated as Lua
 * does it, in doubles; the call becomes the literal that it stands for, and nothing behind resolve knows of it. */
#include <math.h>

#include "sema/inline.h"

static bool fail(Sema *s, AstExpr *e, const char *hint) {
  return sema_fail(s, e, RG_ERROR_STATIC, hint, "'%s' is not known when the kernel is compiled", sema_source(s, e));
}

/* -- leaves ------------------------------------------------------------------------------------------------- */

static bool want_static(Sema *s, AstExpr *e, SemaArg source) {
  SemaWants *wants = s->input->wants;
  if (wants && !s->failed) vec_push(s->scratch, &wants->statics, source);
  return fail(s, e, NULL);
}

/* A number or bool that the launch brings. */
bool static_of_value(Sema *s, AstExpr *e, SemaArg source, Static *out) {
  const SemaValue *value = source.is_parameter ? &s->input->parameters[source.index] : &s->input->captures[source.index];
  if (value->kind != VALUE_NUMBER && value->kind != VALUE_BOOL)
    return sema_fail(s, e, RG_ERROR_NOT_YET, "a plain number or a boolean can",
                     "'%s' is a vector or an integer of 64 bits, which cannot be static yet", sema_source(s, e));
  if (!value->is_static) return want_static(s, e, source);
  *out = (Static){.kind = value->kind == VALUE_BOOL ? STATIC_BOOL : STATIC_NUMBER, .number = value->number};
  return true;
}

static bool leaf(Sema *s, AstExpr *e, Static *out) {
  if (resolve_is_nil(s, e)) {
    *out = (Static){.kind = STATIC_NIL};
    return true;
  }
  Entity entity = resolve_expr(s, e);
  switch (entity.kind) {
  case ENTITY_NONE: return false;
  case ENTITY_CONSTANT: *out = (Static){.kind = STATIC_NUMBER, .number = (double)entity.constant}; return true;
  case ENTITY_LIVE: return static_of_value(s, e, s->lives.items[entity.live].source, out);
  case ENTITY_VALUE: case ENTITY_ELEMENT: case ENTITY_LOOP: case ENTITY_VOID:
    return fail(s, e, "captured numbers, shapes and literals are");
  default: *out = (Static){.kind = STATIC_OTHER}; return true;
  }
}

/* -- operators -------------------------------------------------------------------------------------------------- */

static bool is_true(const Static *value) {
  return value->kind == STATIC_BOOL ? value->number != 0 : value->kind != STATIC_NIL;
}

static Static of_bool(bool value) { return (Static){.kind = STATIC_BOOL, .number = value}; }

static double modulo(double a, double b) { return a - floor(a / b) * b; }

static bool combine(AstOp op, double a, double b, Static *out) {
  *out = (Static){.kind = STATIC_NUMBER};
  switch (op) {
  case AST_ADD: out->number = a + b; return true;
  case AST_SUB: out->number = a - b; return true;
  case AST_MUL: out->number = a * b; return true;
  case AST_DIV: out->number = a / b; return true;
  case AST_FLOORDIV: out->number = floor(a / b); return true;
  case AST_MOD: out->number = modulo(a, b); return true;
  case AST_POW: out->number = pow(a, b); return true;
  case AST_LT: *out = of_bool(a < b); return true;
  case AST_LE: *out = of_bool(a <= b); return true;
  case AST_GT: *out = of_bool(a > b); return true;
  case AST_GE: *out = of_bool(a >= b); return true;
  default: return false;
  }
}

static bool binary(Sema *s, AstExpr *e, Static *out) {
  Static a, b;
  if (!static_value(s, e->left, &a) || !static_value(s, e->right, &b)) return false;
  if (e->op == AST_EQ || e->op == AST_NE) {
    if (a.kind == STATIC_OTHER && b.kind == STATIC_OTHER) return fail(s, e, "compare numbers, booleans or nil");
    *out = of_bool((a.kind == b.kind && a.number == b.number) == (e->op == AST_EQ));
    return true;
  }
  if (a.kind == STATIC_NUMBER && b.kind == STATIC_NUMBER && combine(e->op, a.number, b.number, out)) return true;
  return fail(s, e, "static numbers know + - * / % ^ and comparisons");
}

static bool unary(Sema *s, AstExpr *e, Static *out) {
  if (e->op == AST_LEN) return leaf(s, e, out);
  if (!static_value(s, e->left, out)) return false;
  if (e->op == AST_NOT) {
    *out = of_bool(!is_true(out));
    return true;
  }
  if (e->op != AST_NEG || out->kind != STATIC_NUMBER) return fail(s, e, NULL);
  out->number = -out->number;
  return true;
}

/* Lua's: the operand that decides. */
static bool logic(Sema *s, AstExpr *e, Static *out) {
  if (!static_value(s, e->left, out)) return false;
  return is_true(out) == (e->kind == AST_OR) || static_value(s, e->right, out);
}

bool static_value(Sema *s, AstExpr *e, Static *out) {
  *out = (Static){0};
  switch (e->kind) {
  case AST_NIL: return true;
  case AST_TRUE: case AST_FALSE: *out = of_bool(e->kind == AST_TRUE); return true;
  case AST_NUMBER: *out = (Static){STATIC_NUMBER, e->number_kind == AST_NUMBER_FLOAT ? e->number : (double)e->integer}; return true;
  case AST_PAREN: return static_value(s, e->left, out);
  case AST_UNARY: return unary(s, e, out);
  case AST_BINARY: return binary(s, e, out);
  case AST_AND: case AST_OR: return logic(s, e, out);
  case AST_TERNARY: return static_value(s, e->left, out) && static_value(s, is_true(out) ? e->right : e->third, out);
  case AST_LOCAL: case AST_GLOBAL: case AST_FIELD: case AST_INDEX: return leaf(s, e, out);
  case AST_CALL: {
    AstExpr *inner = static_argument(s, e);
    return inner ? static_value(s, inner, out) : !s->failed && fail(s, e, "captured numbers, shapes and literals are");
  }
  default: return fail(s, e, "captured numbers, shapes and literals are");
  }
}

bool static_is_written(Sema *s, AstExpr *e) {
  switch (e->kind) {
  case AST_NUMBER: return true;
  case AST_PAREN: return static_is_written(s, e->left);
  case AST_UNARY: return e->op == AST_LEN || (e->op == AST_NEG && static_is_written(s, e->left));
  case AST_BINARY: return e->op <= AST_POW && static_is_written(s, e->left) && static_is_written(s, e->right);
  case AST_CALL: return static_argument(s, e) != NULL;
  case AST_LOCAL: case AST_INDEX: return resolve_expr(s, e).kind == ENTITY_CONSTANT;
  default: return false;
  }
}

bool static_integer(Sema *s, AstExpr *e, int64_t *out) {
  Static value;
  if (!static_value(s, e, &value)) return false;
  if (value.kind != STATIC_NUMBER || value.number != floor(value.number) || fabs(value.number) > 0x1p53)
    return sema_fail(s, e, RG_ERROR_STATIC, NULL, "'%s' is no whole number", sema_source(s, e));
  *out = (int64_t)value.number;
  return true;
}

/* -- rg.static(e) -------------------------------------------------------------------------------------------------- */

/* What it is given; NULL where e is no such call. */
AstExpr *static_argument(Sema *s, AstExpr *e) {
  if (e->kind != AST_CALL) return NULL;
  Entity callee = resolve_expr(s, e->left);
  if (callee.kind != ENTITY_BUILTIN || strcmp(callee.name, "rg.static") != 0) return NULL;
  if (e->list.count == 1) return e->list.items[0];
  sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'rg.static' takes 1 argument, here are %d", e->list.count);
  return NULL;
}

static bool is_whole(double number) { return number == floor(number) && number < 0x1p53; }

/* Turns e into the literal. */
void static_write(Sema *s, AstExpr *e, const Static *value) {
  AstExpr *literal = e;
  bool is_negative = value->kind == STATIC_NUMBER && signbit(value->number);
  e->list.count = 0;
  if (is_negative) {
    literal = clone_new_expr(s, e);
    *entity_of(s, literal) = (Entity){.kind = ENTITY_VALUE};
    e->kind = AST_UNARY;
    e->op = AST_NEG;
    e->left = literal;
  }
  double number = fabs(value->number);
  bool is_plain = is_whole(number) && !(is_negative && number == 0);
  literal->left = NULL;
  literal->kind = value->kind == STATIC_NUMBER ? AST_NUMBER : value->number != 0 ? AST_TRUE : AST_FALSE;
  literal->op = AST_NO_OP;
  literal->number_kind = is_plain ? AST_NUMBER_PLAIN : AST_NUMBER_FLOAT;
  literal->integer = is_plain ? (uint64_t)number : 0;
  literal->number = number;
  if (value->kind == STATIC_NUMBER) literal->text = str_of(scratch_format(s->scratch, "%.14g", number));
}

/* What is no number or bool stands for itself: `rg.static(f)`. */
Entity static_call(Sema *s, AstExpr *e) {
  AstExpr *argument = static_argument(s, e);
  Static value;
  if (!argument || !static_value(s, argument, &value)) return (Entity){0};
  if (value.kind == STATIC_OTHER) return *entity_of(s, argument);
  if (value.kind == STATIC_NIL) {
    sema_fail(s, e, RG_ERROR_NAME_NIL, "it must have a value when the kernel is launched", "'%s' is nil", sema_source(s, argument));
    return (Entity){0};
  }
  static_write(s, e, &value);
  return (Entity){.kind = ENTITY_VALUE};
}

/* -- if ------------------------------------------------------------------------------------------------------------ */

static void drop_arm(AstStmt *stmt, int arm) {
  for (int i = arm; i + 1 < stmt->values.count; i++) stmt->values.items[i] = stmt->values.items[i + 1];
  for (int i = arm; i + 1 < stmt->bodies.count; i++) stmt->bodies.items[i] = stmt->bodies.items[i + 1];
  stmt->values.count--;
  stmt->bodies.count--;
}

/* Arms that are known not to be taken go, unread; one that is known to be becomes the last. An `if` whose first arm is
 * that one, or which has none left, becomes a block. */
void static_if(Sema *s, AstStmt *stmt) {
  for (int i = 0; i < stmt->values.count && !s->failed;) {
    AstExpr *condition = static_argument(s, sema_strip(stmt->values.items[i]));
    Static value;
    if (!condition) {
      i++;
    } else if (!static_value(s, condition, &value)) {
      return;
    } else if (is_true(&value)) {
      stmt->values.count = i;
      stmt->bodies.count = i + 1;
    } else {
      drop_arm(stmt, i);
    }
  }
  if (stmt->values.count || s->failed) return;
  AstBlock nothing = {0};
  if (!stmt->bodies.count) vec_push(s->scratch, &stmt->bodies, nothing);
  stmt->kind = AST_STMT_DO;
}
