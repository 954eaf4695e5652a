/* new_literal.c - numbers that are not in the source: static values, and those known from the
 * layout. No literal is negative; it gets a minus in front, as in source. */
#include <math.h>

#include "resolve/resolve.h"

static Expr *leaf(Resolve *r, const AstExpr *ast, AstExprKind kind) {
  Expr *e = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *e = (Expr){.kind = kind,
              .op = AST_NO_OP,
              .pos = ast->pos,
              .width = ast->width,
              .ast = ast,
              .entity = {.kind = ENTITY_VALUE}};
  return e;
}

static Expr *with_sign(Resolve *r, Expr *number, bool is_negative) {
  if (!is_negative) return number;
  Expr *minus = leaf(r, number->ast, AST_UNARY);
  minus->op = AST_NEG;
  minus->left = number;
  return minus;
}

static Expr *whole(Resolve *r, const AstExpr *ast, AstNumberKind kind, uint64_t value) {
  const char *suffix = kind == AST_NUMBER_U64 ? "ULL" : kind == AST_NUMBER_I64 ? "LL" : "";
  Expr *e = leaf(r, ast, AST_NUMBER);
  e->number_kind = kind;
  e->integer = value;
  e->number = (double)value;
  e->text = str_of(scratch_format(r->scratch, "%llu%s", (unsigned long long)value, suffix));
  return e;
}

static Expr *fraction(Resolve *r, const AstExpr *ast, double value) {
  Expr *e = leaf(r, ast, AST_NUMBER);
  e->number_kind = AST_NUMBER_FLOAT;
  e->number = value;
  e->text = str_of(scratch_format(r->scratch, "%.14g", value));
  return e;
}

Expr *literal_integer(Resolve *r, const AstExpr *ast, int64_t value) {
  return with_sign(r,
                   whole(r, ast, AST_NUMBER_PLAIN, value < 0 ? -(uint64_t)value : (uint64_t)value),
                   value < 0);
}

Expr *literal_static(Resolve *r, const AstExpr *ast, const Static *value) {
  if (value->kind == STATIC_WIDE) {
    bool is_negative = !value->is_unsigned && (int64_t)value->bits < 0;
    AstNumberKind kind = value->is_unsigned ? AST_NUMBER_U64 : AST_NUMBER_I64;
    return with_sign(r, whole(r, ast, kind, is_negative ? -value->bits : value->bits), is_negative);
  }
  if (value->kind != STATIC_NUMBER) return leaf(r, ast, value->number != 0 ? AST_TRUE : AST_FALSE);
  bool is_negative = signbit(value->number);
  double size = fabs(value->number);
  bool is_plain = size == floor(size) && size < 0x1p53 && !(is_negative && size == 0);
  return with_sign(
      r, is_plain ? whole(r, ast, AST_NUMBER_PLAIN, (uint64_t)size) : fraction(r, ast, size),
      is_negative);
}

Expr *literal_at(Resolve *r, Pos pos, int32_t width, const Static *value) {
  AstExpr *ast = scratch_new(r->scratch, AstExpr);
  *ast = (AstExpr){.kind = AST_NUMBER, .op = AST_NO_OP, .pos = pos, .width = width};
  Expr *e = literal_static(r, ast, value);
  ast->text = e->kind == AST_NUMBER ? e->text
              : e->left             ? str_of(scratch_format(r->scratch, "-%s", e->left->text.data))
                                    : str_of("true");
  return e;
}
