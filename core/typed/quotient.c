/* quotient.c - divisions of integers that a rounding makes exact: math.floor(a / b), also through a local that keeps it. */
#include "typed/typed.h"

static bool is_division(const AstExpr *e) { return e->kind == AST_BINARY && e->op == AST_DIV; }

AstExpr *typed_quotient(Sema *s, AstExpr *e) {
  e = sema_strip(e);
  if (e->kind == AST_LOCAL) {
    const Local *local = local_of(s, e->local);
    if (!local->initial || local->is_annotated) return NULL;
    e = sema_strip((AstExpr *)local->initial);
  }
  if (!is_division(e)) return NULL;
  Ty a = s->types[e->left->id], b = s->types[e->right->id];
  bool may_be = (ty_is_integer(a) || a.kind == TY_NUMBER) && (ty_is_integer(b) || b.kind == TY_NUMBER);
  return may_be && (ty_is_integer(a) || ty_is_integer(b)) ? e : NULL;
}

Ty typed_quotient_type(Sema *s, const AstExpr *quotient) {
  return ty_join(s->types[quotient->left->id], s->types[quotient->right->id]);
}
