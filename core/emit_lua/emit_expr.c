/* emit_expr.c - expressions, each in the type that check settled for it.
 * Integers of up to 32 bits and floats are Lua numbers, i64 and u64 LuaJIT's own, bools booleans. Lua evaluates operands
 * and arguments from left to right, as lowering does. */
#include <inttypes.h>
#include <math.h>

#include "emit_lua/emit.h"

Type emit_type(Emit *e, const AstExpr *expr) { return e->s->at[sema_strip((AstExpr *)expr)->id]; }

/* What compiled kernels know and this room does not yet. */
void emit_refuse(Emit *e, const AstExpr *expr) {
  sema_fail(e->s, expr, RG_ERROR_NOT_YET, "run it with arch = \"cpu\"", "'%s' does not run with arch = \"lua\" yet",
            sema_source(e->s, expr));
}

/* -- constants ------------------------------------------------------------------------------------------- */

/* The low bits of `value`, as the type reads them. */
static int64_t wrap(Type type, int64_t value) {
  int unused = 64 - type_bits(type);
  if (!unused) return value;
  return type_is_signed(type) ? (int64_t)((uint64_t)value << unused) >> unused
                              : (int64_t)((uint64_t)value << unused >> unused);
}

void emit_integer(Emit *e, Type type, int64_t value) {
  value = wrap(type, value);
  if (type_is_bool(type)) emit_text(e, value ? "true" : "false");
  else if (type.scalar == TYPE_I64) emit_format(e, "0x%" PRIx64 "LL", (uint64_t)value);
  else if (type.scalar == TYPE_U64) emit_format(e, "0x%" PRIx64 "ULL", (uint64_t)value);
  else emit_format(e, value < 0 ? "(%" PRId64 ")" : "%" PRId64, value);
}

void emit_float(Emit *e, Type type, double value) {
  if (type.scalar == TYPE_F32) value = (double)(float)value;
  if (type.scalar == TYPE_F16) emit_text(e, "_rg.to_f16_f64");
  if (isinf(value)) emit_text(e, value > 0 ? "(1/0)" : "(-1/0)");
  else if (value == 0 && signbit(value)) emit_text(e, "(_rg.negative_zero)");
  else emit_format(e, "(%.17g)", value);
}

void emit_zero(Emit *e, Type type) {
  if (type_is_none(type)) emit_text(e, "nil");
  else emit_integer(e, type_is_float(type) ? TYPE(I32) : type, 0);
}

static void emit_literal(Emit *e, const AstExpr *number, Type type, bool is_negative) {
  bool is_float = number->number_kind == AST_NUMBER_FLOAT;
  double value = is_float ? number->number : (double)number->integer;
  if (type_is_float(type)) emit_float(e, type, is_negative ? -value : value);
  else emit_integer(e, type, (int64_t)(is_negative ? -number->integer : number->integer));
}

void emit_conversion(Emit *e, Type from, Type to) {
  if (!type_equal(from, to)) emit_format(e, "_rg.to_%s_%s", type_text(to), type_text(from));
  emit_text(e, "(");
}

void emit_as(Emit *e, AstExpr *expr, Type type) {
  Type from = emit_type(e, expr);
  if (type_equal(from, type)) {
    emit_expr(e, expr);
    return;
  }
  emit_conversion(e, from, type);
  emit_expr(e, expr);
  emit_text(e, ")");
}

/* -- elements -------------------------------------------------------------------------------------------- */

void emit_source(Emit *e, SemaArg source) {
  emit_format(e, "_rg_f[%d]", source.index + (source.is_parameter ? e->s->input->paths->count : 0));
}

void emit_on(Emit *e, SemaArg source, const char *function) {
  emit_source(e, source);
  emit_format(e, ".%s(", function);
  emit_source(e, source);
}

/* How many were given. */
static int index_list(Emit *e, const AstExprs *list, int count, int most) {
  int given = 0;
  for (int i = 0; i < count; i++) {
    AstExpr *index = list->items[i];
    if (index->kind == AST_TABLE) {
      given += index_list(e, &index->list, index->list.count, most - given);
    } else if (given < most) {
      emit_text(e, ", ");
      emit_expr(e, index);
      given++;
    }
  }
  return given;
}

void emit_index_list(Emit *e, const AstExprs *list, int count, int most) { index_list(e, list, count, most); }

static int indices(Emit *e, AstExpr *expr, int most) {
  if (expr->kind == AST_PAREN) return indices(e, expr->left, most);
  if (expr->kind == AST_LOCAL) { /* a view: {0, i, j} keeps those it was made with */
    const Local *local = local_of(e->s, expr->local);
    int count = local->is_alias ? local->alias.indexed : 0;
    for (int i = 0; i < count; i++) emit_format(e, ", %s[%d]", e->names[expr->local->id], i + 2);
    return count;
  }
  if (expr->kind != AST_INDEX) return 0;
  int given = indices(e, expr->left, most);
  return given + index_list(e, &expr->list, expr->list.count, most - given);
}

void emit_indices(Emit *e, AstExpr *expr, int most) { indices(e, expr, most); }

static void emit_element(Emit *e, AstExpr *expr, const Entity *element) {
  emit_on(e, element->source, "get");
  emit_indices(e, expr, element->node->rank);
  emit_text(e, ")");
}

/* -- names ----------------------------------------------------------------------------------------------- */

static void emit_named(Emit *e, AstExpr *expr) {
  const Entity *entity = entity_of(e->s, expr);
  Type at = emit_type(e, expr);
  switch (entity->kind) {
  case ENTITY_LIVE: {
    const Live *live = &e->s->lives.items[entity->live];
    emit_conversion(e, live->met, at);
    emit_format(e, "_rg_a[%d])", live->arg);
    break;
  }
  case ENTITY_CONSTANT:
    if (type_is_float(at)) emit_float(e, at, (double)entity->constant);
    else emit_integer(e, at, entity->constant);
    break;
  case ENTITY_ELEMENT: emit_element(e, expr, entity); break;
  default:
    if (expr->kind != AST_LOCAL || !e->names[expr->local->id]) {
      emit_refuse(e, expr);
      break;
    }
    emit_conversion(e, local_of(e->s, expr->local)->type, at);
    emit_format(e, "%s)", e->names[expr->local->id]);
    break;
  }
}

/* -- operators ------------------------------------------------------------------------------------------- */

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

static bool is_wide(Type type) { return type_is_integer(type) && type_bits(type) == 64; }

/* Lua compares its numbers exactly, and 64-bit integers of one type; where those meet others, _rg does. */
static void emit_comparison(Emit *e, AstExpr *expr) {
  Type a = emit_type(e, expr->left), b = emit_type(e, expr->right);
  bool is_plain = type_equal(a, b) || (!is_wide(a) && !is_wide(b));
  if (is_plain) emit_text(e, "(");
  else emit_format(e, "_rg.%s(", op_name(expr->op));
  emit_expr(e, expr->left);
  if (is_plain) emit_format(e, " %s ", expr->op == AST_NE ? "~=" : ast_op_text(expr->op));
  else emit_text(e, ", ");
  emit_expr(e, expr->right);
  emit_text(e, ")");
}

static void emit_binary(Emit *e, AstExpr *expr) {
  if (expr->op >= AST_EQ && expr->op <= AST_GE) {
    emit_comparison(e, expr);
    return;
  }
  Type at = emit_type(e, expr);
  emit_format(e, "_rg.%s_%s(", op_name(expr->op), type_text(at));
  emit_as(e, expr->left, at);
  emit_text(e, ", ");
  emit_as(e, expr->right, at);
  emit_text(e, ")");
}

static void emit_unary(Emit *e, AstExpr *expr) {
  Type at = emit_type(e, expr);
  if (expr->op == AST_LEN) {
    emit_named(e, expr);
  } else if (expr->op == AST_NEG && expr->left->kind == AST_NUMBER) {
    emit_literal(e, expr->left, at, true);
  } else if (expr->op == AST_NOT) {
    emit_text(e, "(not ");
    emit_expr(e, expr->left);
    emit_text(e, ")");
  } else {
    emit_format(e, "_rg.%s_%s(", expr->op == AST_NEG ? "neg" : "bnot", type_text(at));
    emit_as(e, expr->left, at);
    emit_text(e, ")");
  }
}

/* -- short circuits -------------------------------------------------------------------------------------- */

static void emit_logic(Emit *e, AstExpr *expr) {
  emit_text(e, "(");
  emit_expr(e, expr->left);
  emit_text(e, expr->kind == AST_AND ? " and " : " or ");
  emit_expr(e, expr->right);
  emit_text(e, ")");
}

/* Numbers are true in Lua; a bool that is chosen travels in a table. */
static void emit_arm(Emit *e, AstExpr *value, Type at) {
  bool is_bool = type_is_bool(at);
  if (is_bool) emit_text(e, "{");
  emit_as(e, value, at);
  if (is_bool) emit_text(e, "}");
}

static void emit_choice(Emit *e, AstExpr *expr) {
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
    emit_arm(e, arm->value, at);
    if (!arm->condition) break; /* nothing follows a value */
  }
  emit_text(e, type_is_bool(at) ? ")[1]" : ")");
}

/* -- all ------------------------------------------------------------------------------------------------- */

void emit_expr(Emit *e, AstExpr *expr) {
  switch (expr->kind) {
  case AST_TRUE: emit_text(e, "true"); break;
  case AST_FALSE: emit_text(e, "false"); break;
  case AST_NUMBER: emit_literal(e, expr, emit_type(e, expr), false); break;
  case AST_CALL: case AST_METHOD:
    if (inline_of(e->s, expr)) emit_function_call(e, expr, inline_of(e->s, expr));
    else if (expr->kind == AST_CALL) emit_call(e, expr);
    else emit_method(e, expr);
    break;
  case AST_UNARY: emit_unary(e, expr); break;
  case AST_BINARY: emit_binary(e, expr); break;
  case AST_AND: emit_logic(e, expr); break;
  case AST_OR:
    if (choice_is(e->s, expr)) emit_choice(e, expr);
    else emit_logic(e, expr);
    break;
  case AST_TERNARY: emit_choice(e, expr); break;
  case AST_PAREN: emit_expr(e, expr->left); break;
  default: emit_named(e, expr); break;
  }
}
