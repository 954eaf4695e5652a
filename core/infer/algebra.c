/* algebra.c - types and arguments of the functions of vectors and matrices. */
#include "infer/infer.h"

PartialType infer_algebra(Sema *s, const Exprs *list, const Builtin *builtin) {
  int first = builtin->algebra == ALGEBRA_SELECT;
  PartialType all = list->items[first]->ty;
  for (int i = first + 1; i < list->count; i++)
    all = ty_binary(s, AST_ADD, all, list->items[i]->ty);
  switch ((Algebra)builtin->algebra) {
  case ALGEBRA_NORM:
  case ALGEBRA_NORMALIZE:
  case ALGEBRA_INVERSE:
  case ALGEBRA_STEP:
  case ALGEBRA_SMOOTHSTEP: return ty_binary(s, AST_DIV, all, all);
  default: return all;
  }
}

static bool check_booleans(Sema *s, Expr *e, const char *who) {
  if (e->ty.kind == TY_BOOL) return check_expr(s, e, TYPE(BOOL));
  return sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, "compare its numbers: v > 0",
                   "%s takes booleans, but each of these is %s", who, ty_text(s, e->ty));
}

bool check_algebra(Sema *s, Expr *e, const Builtin *builtin) {
  Exprs list = call_arguments(s, e);
  const char *who = scratch_format(s->scratch, "'%s'", builtin->name);
  for (int i = 0; i < list.count; i++) {
    if (builtin->algebra == ALGEBRA_ANY || builtin->algebra == ALGEBRA_ALL)
      return check_booleans(s, list.items[i], who);
    bool is_select = builtin->algebra == ALGEBRA_SELECT;
    bool ok = is_select && (i == 0 || type_is_bool(e->type))
                  ? check_condition(s, list.items[i])
                  : check_number(s, list.items[i], who) && check_expr(s, list.items[i], e->type);
    if (!ok) return false;
  }
  return true;
}
