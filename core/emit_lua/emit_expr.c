/* emit_expr.c - expressions, each in the type check determined for it. Integers of up to 32 bits
 * and floats are Lua numbers, i64 and u64 LuaJIT's own, bools booleans; a vector or matrix is a
 * table of its numbers, row-major from 1, immutable once made. Lua evaluates operands and arguments
 * from left to right, as lowering does. */
#include <inttypes.h>
#include <math.h>

#include "emit_lua/emit.h"

Type emit_type(Emit *e, const Expr *expr) { return sema_strip((Expr *)expr)->type; }

Shape emit_shape(Emit *e, const Expr *expr) { return shape_of(sema_strip((Expr *)expr)); }

/* Refuses a construct that only compiled kernels support so far. */
void emit_refuse(Emit *e, const Expr *expr) {
  sema_fail(e->s, expr, RG_ERROR_NOT_YET, "run it with arch = \"cpu\"",
            "'%s' does not run with arch = \"lua\" yet", sema_source(e->s, expr));
}

/* -- constants --------------------------------------------------------------------------------- */

/* The low bits of `value`, as a value of the type. */
static int64_t wrap(Type type, int64_t value) {
  int unused = 64 - type_bits(type);
  if (!unused) return value;
  return type_is_signed(type) ? (int64_t)((uint64_t)value << unused) >> unused
                              : (int64_t)((uint64_t)value << unused >> unused);
}

void emit_integer(Emit *e, Type type, int64_t value) {
  value = wrap(type, value);
  if (type_is_bool(type)) emit_text(e, value ? "true" : "false");
  else if (type_is(type, TYPE_I64)) emit_format(e, "0x%" PRIx64 "LL", (uint64_t)value);
  else if (type_is(type, TYPE_U64)) emit_format(e, "0x%" PRIx64 "ULL", (uint64_t)value);
  else emit_format(e, value < 0 ? "(%" PRId64 ")" : "%" PRId64, value);
}

void emit_float(Emit *e, Type type, double value) {
  if (type_is(type, TYPE_F32)) value = type_round(type, value);
  if (!type_equal(type_computed(type), type)) emit_format(e, "_rg.to_%s_f64", type_text(type));
  if (isinf(value)) emit_text(e, value > 0 ? "(1/0)" : "(-1/0)");
  else if (value == 0 && signbit(value)) emit_text(e, "(_rg.negative_zero)");
  else {
    emit_text(e, "(");
    strbuf_float(&e->out, 'g', 17, value);
    emit_text(e, ")");
  }
}

void emit_zero(Emit *e, Type base, Shape shape) {
  if (!type_is_scalar(shape)) emit_text(e, "{");
  for (int k = 0; k < type_parts(shape); k++) {
    if (k) emit_text(e, ", ");
    Type type = number_type(e->s, base, k);
    if (type_is_none(type)) emit_text(e, "nil");
    else emit_integer(e, type_is_float(type) ? TYPE(I32) : type, 0);
  }
  if (!type_is_scalar(shape)) emit_text(e, "}");
}

static void emit_literal(Emit *e, const Expr *number, Type type, bool is_negative) {
  bool is_float = number->number_kind == AST_NUMBER_FLOAT;
  double value = is_float ? number->number : (double)number->integer;
  if (type_is_float(type)) emit_float(e, type, is_negative ? -value : value);
  else emit_integer(e, type, (int64_t)(is_negative ? -number->integer : number->integer));
}

/* -- operations -------------------------------------------------------------------------------- */

void emit_operation(Emit *e, Shape shape, const char *name, Type type) {
  bool is_scalar = type_is_scalar(shape);
  emit_format(e, "%s_rg.%s_%s%s", is_scalar ? "" : "_rg.each(", name, type_text(type),
              is_scalar ? "(" : ", ");
}

void emit_operation_at(Emit *e, Pos pos, Shape shape, const char *name, Type type) {
  bool is_scalar = type_is_scalar(shape);
  if (!is_scalar) emit_text(e, "_rg.each(");
  emit_function_name(e, pos, name, type);
  emit_text(e, is_scalar ? "(" : ", ");
}

void emit_conversion(Emit *e, Shape shape, Type from, Type to) {
  if (type_equal(from, to)) emit_text(e, "(");
  else emit_operation(e, shape, scratch_format(e->scratch, "to_%s", type_text(to)), from);
}

void emit_conversion_at(Emit *e, Pos pos, Shape shape, Type from, Type to) {
  if (type_equal(from, to)) emit_text(e, "(");
  else emit_operation_at(e, pos, shape, scratch_format(e->scratch, "to_%s", type_text(to)), from);
}

void emit_converted(Emit *e, Expr *expr, Type type) {
  Type from = emit_type(e, expr);
  if (type_equal(from, type)) {
    emit_expr(e, expr);
    return;
  }
  emit_conversion_at(e, expr->pos, emit_shape(e, expr), from, type);
  emit_expr(e, expr);
  emit_text(e, ")");
}

void emit_broadcast(Emit *e, Expr *expr, Type type, Shape shape) {
  bool is_broadcast = !type_is_scalar(shape) && type_is_scalar(emit_shape(e, expr));
  if (is_broadcast) emit_format(e, "_rg.stretch(%d, ", type_parts(shape));
  emit_converted(e, expr, type);
  if (is_broadcast) emit_text(e, ")");
}

/* -- names ------------------------------------------------------------------------------------- */

static void emit_entity(Emit *e, Expr *expr) {
  const Entity *entity = &expr->entity;
  Type at = emit_type(e, expr);
  switch (entity->kind) {
  case ENTITY_ARGUMENT: emit_launch_arg(e, expr); break;
  case ENTITY_CONSTANT:
    if (type_is_float(at)) emit_float(e, at, (double)entity->constant);
    else emit_integer(e, at, entity->constant);
    break;
  case ENTITY_ELEMENT: emit_element(e, expr); break;
  case ENTITY_ITEM: emit_item(e, expr); break;
  case ENTITY_PART: emit_part(e, expr); break;
  default:
    if (expr->kind != AST_LOCAL || !e->names[expr->local->id]) {
      emit_refuse(e, expr);
      break;
    }
    emit_conversion(e, emit_shape(e, expr), expr->local->type, at);
    bool is_checked = emit_checked_local(e, expr);
    emit_format(e, is_checked ? "%s))" : "%s)", e->names[expr->local->id]);
    break;
  }
}

/* -- operators --------------------------------------------------------------------------------- */

static const char *op_name(AstOp op) {
  switch (op) {
  case AST_ADD: return "add";
  case AST_SUB: return "sub";
  case AST_MUL: return "mul";
  case AST_DIV: return "div";
  case AST_FLOORDIV: return "floordiv";
  case AST_MOD: return "mod";
  case AST_POW: return "pow";
  case AST_BAND: return "band";
  case AST_BOR: return "bor";
  case AST_BXOR: return "bxor";
  case AST_SHL: return "shl";
  case AST_SHR: return "shr";
  case AST_SAR: return "sar";
  case AST_EQ: return "eq";
  case AST_NE: return "ne";
  case AST_LT: return "lt";
  case AST_LE: return "le";
  case AST_GT: return "gt";
  default: return "ge";
  }
}

/* The name of the oracle's function for an operator. */
static const char *operation_name(const Expr *expr, Type at) {
  int exponent;
  return typed_integer_power(expr, at, &exponent) ? "integer_power" : op_name(expr->op);
}

static bool is_wide(Type type) { return type_is_integer(type) && type_bits(type) == 64; }

/* Lua compares numbers exactly, and 64-bit integers of one type; _rg compares mixed types and
 * vectors. */
static void emit_comparison(Emit *e, Expr *expr) {
  Type a = emit_type(e, expr->left), b = emit_type(e, expr->right);
  bool is_scalar =
      type_is_scalar(emit_shape(e, expr->left)) && type_is_scalar(emit_shape(e, expr->right));
  bool is_plain = is_scalar && (type_equal(a, b) || (!is_wide(a) && !is_wide(b)));
  bool is_equality = expr->op == AST_EQ || expr->op == AST_NE;
  if (is_plain) emit_text(e, "(");
  else if (!is_scalar && !is_equality) emit_format(e, "_rg.each(_rg.is_%s, ", op_name(expr->op));
  else emit_format(e, "_rg.%s%s(", is_scalar ? "" : "all_", op_name(expr->op));
  emit_expr(e, expr->left);
  if (is_plain) emit_format(e, " %s ", expr->op == AST_NE ? "~=" : ast_op_text(expr->op));
  else emit_text(e, ", ");
  emit_expr(e, expr->right);
  emit_text(e, ")");
}

static bool is_chained_operator(Emit *e, Expr *expr) {
  return expr->kind == AST_BINARY && !(expr->op >= AST_EQ && expr->op <= AST_GE) &&
         !emit_is_product(e, expr);
}

/* The number of operators nested on the left: 3 in ((a + b) - c) * d. */
static int chain_length(Emit *e, Expr *expr) {
  int length = 0;
  for (expr = sema_strip(expr); is_chained_operator(e, expr); expr = sema_strip(expr->left))
    length++;
  return length;
}

/* Lua allows at most 200 nested calls and 250 arguments. So a long chain becomes
 * `_rg.chain(_rg.chain(a, _rg.add_f32, b, ..), _rg.sub_f32, c, ..)`, in which a conversion is an
 * operation whose operand is nil. */
static void emit_chain(Emit *e, Expr *expr, int length) {
  enum { MAX_CHAIN = 40 };
  Expr **operators = scratch_array(e->scratch, Expr *, length);
  for (int i = length - 1; i >= 0; i--, expr = expr->left) operators[i] = expr = sema_strip(expr);
  for (int i = 0; i < length; i += MAX_CHAIN) emit_text(e, "_rg.chain(");
  emit_converted(e, expr, emit_type(e, operators[0]));
  for (int i = 0; i < length; i++) {
    Type at = emit_type(e, operators[i]), before = i ? emit_type(e, operators[i - 1]) : at;
    if (!type_equal(before, at))
      emit_format(e, ", _rg.to_%s_%s, nil", type_text(at), type_text(before));
    emit_format(e, ", _rg.%s_%s, ", operation_name(operators[i], at), type_text(at));
    emit_converted(e, operators[i]->right, at);
    if (i % MAX_CHAIN == MAX_CHAIN - 1 || i == length - 1) emit_text(e, ")");
  }
}

static void emit_binary(Emit *e, Expr *expr) {
  enum { LONG_CHAIN = 30 };
  int length = chain_length(e, expr);
  if (length > LONG_CHAIN) {
    emit_chain(e, expr, length);
    return;
  }
  if (expr->op >= AST_EQ && expr->op <= AST_GE) {
    emit_comparison(e, expr);
    return;
  }
  if (emit_is_product(e, expr)) {
    emit_product(e, expr);
    return;
  }
  Type at = emit_type(e, expr);
  emit_operation_at(e, expr->pos, emit_shape(e, expr), operation_name(expr, at), at);
  emit_converted(e, expr->left, at);
  emit_text(e, ", ");
  emit_converted(e, expr->right, at);
  emit_text(e, ")");
}

static void emit_unary(Emit *e, Expr *expr) {
  Type at = emit_type(e, expr);
  if (expr->op == AST_LEN) {
    emit_entity(e, expr);
  } else if (expr->op == AST_NEG && expr->left->kind == AST_NUMBER) {
    emit_literal(e, expr->left, at, true);
  } else if (expr->op == AST_NOT) {
    emit_text(e, type_is_scalar(emit_shape(e, expr)) ? "(not " : "_rg.each(_rg.negated, ");
    emit_expr(e, expr->left);
    emit_text(e, ")");
  } else {
    const char *name = expr->op == AST_NEG ? "neg" : "bnot";
    emit_operation_at(e, expr->pos, emit_shape(e, expr), name, at);
    emit_converted(e, expr->left, at);
    emit_text(e, ")");
  }
}

/* -- short circuits ---------------------------------------------------------------------------- */

/* Of vectors of booleans, elementwise; a single boolean on the left short-circuits. */
static void emit_logic_each(Emit *e, Expr *expr) {
  Shape shape = emit_shape(e, expr);
  bool is_and = expr->kind == AST_AND, is_one = type_is_scalar(emit_shape(e, expr->left));
  if (is_one) emit_text(e, "(");
  else emit_operation(e, shape, is_and ? "band" : "bor", TYPE(BOOL));
  emit_expr(e, expr->left);
  if (!is_one) emit_text(e, ", ");
  else if (is_and) emit_text(e, " and ");
  else emit_format(e, " and _rg.stretch(%d, true) or ", type_parts(shape));
  emit_expr(e, expr->right);
  if (is_one && is_and) emit_text(e, " or ");
  if (is_one && is_and) emit_zero(e, TYPE(BOOL), shape);
  emit_text(e, ")");
}

/* `a and b and c` without parentheses between them, since Lua nests at most 200. */
static void emit_logic(Emit *e, Expr *expr) {
  Expr *first = expr;
  int count = 0;
  if (!type_is_scalar(emit_shape(e, expr))) {
    emit_logic_each(e, expr);
    return;
  }
  for (; first->kind == expr->kind && !choice_is(e->s, first); first = sema_strip(first->left))
    count++;
  Expr **operators = scratch_array(e->scratch, Expr *, count);
  for (Expr *at = expr; count > 0; at = sema_strip(at->left)) operators[--count] = at;
  emit_text(e, "(");
  emit_expr(e, first);
  for (int i = 0;; i++) {
    emit_text(e, expr->kind == AST_AND ? " and " : " or ");
    emit_expr(e, operators[i]->right);
    if (operators[i] == expr) break;
  }
  emit_text(e, ")");
}

/* Numbers are true in Lua; a bool as the chosen value is wrapped in a table. */
static void emit_arm(Emit *e, Expr *value, Type at, Shape shape) {
  bool is_bool = type_is_bool(at);
  if (is_bool) emit_text(e, "{");
  emit_broadcast(e, value, at, shape);
  if (is_bool) emit_text(e, "}");
}

static void emit_choice(Emit *e, Expr *expr) {
  Choices arms = choice_arms(e->s, expr);
  Type at = emit_type(e, expr);
  emit_text(e, "(");
  for (int i = 0; i < arms.count; i++) {
    const Choice *arm = &arms.items[i];
    if (i) emit_text(e, " or ");
    if (arm->condition) {
      emit_expr(e, arm->condition);
      emit_text(e, " and ");
    }
    emit_arm(e, arm->value, at, emit_shape(e, expr));
    if (!arm->condition) break; /* the last arm */
  }
  emit_text(e, type_is_bool(at) ? ")[1]" : ")");
}

/* -- expressions ------------------------------------------------------------------------------- */

void emit_expr(Emit *e, Expr *expr) {
  guard_check_stack();
  if (expr->inlined) {
    emit_function_call(e, expr, expr->inlined);
    return;
  }
  if (expr->invoked) {
    emit_invocation(e, expr, expr->invoked);
    return;
  }
  switch (expr->kind) {
  case AST_TRUE: emit_text(e, "true"); break;
  case AST_FALSE: emit_text(e, "false"); break;
  case AST_NUMBER: emit_literal(e, expr, emit_type(e, expr), false); break;
  case AST_CALL: emit_call(e, expr); break;
  case AST_METHOD: emit_method(e, expr); break;
  case AST_UNARY: emit_unary(e, expr); break;
  case AST_BINARY: emit_binary(e, expr); break;
  case AST_AND: emit_logic(e, expr); break;
  case AST_OR:
    if (default_is(expr)) emit_expr(e, expr->left);
    else if (choice_is(e->s, expr)) emit_choice(e, expr);
    else emit_logic(e, expr);
    break;
  case AST_TERNARY: emit_choice(e, expr); break;
  case AST_PAREN: emit_expr(e, expr->left); break;
  default: emit_entity(e, expr); break;
  }
}
