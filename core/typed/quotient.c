/* quotient.c - integer divisions made exact by rounding: math.floor(a / b), also through a local
 * that holds the quotient; and powers that are products. */
#include <math.h>

#include "typed/typed.h"

static bool is_division(const Expr *e) { return e->kind == AST_BINARY && e->op == AST_DIV; }

Expr *typed_quotient(Sema *s, Expr *e) {
  e = sema_strip(e);
  if (e->kind == AST_LOCAL) {
    const Local *local = e->local;
    if (!local->initial || local->is_annotated) return NULL;
    e = sema_strip((Expr *)local->initial);
  }
  if (!is_division(e)) return NULL;
  PartialType a = e->left->ty, b = e->right->ty;
  bool may_be =
      (ty_is_integer(a) || a.kind == TY_NUMBER) && (ty_is_integer(b) || b.kind == TY_NUMBER);
  return may_be && (ty_is_integer(a) || ty_is_integer(b)) ? e : NULL;
}

bool typed_integer_power(const Expr *e, Type at, int *exponent) {
  enum { MOST_FACTORS = 16 };
  SemaInteger whole;
  double number;
  if (e->kind != AST_BINARY || e->op != AST_POW || !type_is_float(type_element(at))) return false;
  if (sema_integer(e->right, false, &whole))
    number = whole.is_negative ? -(double)whole.size : (double)whole.size;
  else if (!sema_is_constant(e->right, &number)) return false;
  if (!(fabs(number) <= MOST_FACTORS) || number != floor(number)) return false;
  *exponent = (int)number;
  return true;
}

PartialType typed_quotient_type(Sema *s, const Expr *quotient) {
  return ty_join(quotient->left->ty, quotient->right->ty);
}
