/* call.c - the arguments of a call, as every stage reads them. */
#include "typed/typed.h"

AstExprs call_arguments(Sema *s, AstExpr *e) {
  AstExprs arguments = {0};
  if (e->kind != AST_METHOD) return e->list;
  vec_push(s->scratch, &arguments, e->left);
  for (int i = 0; i < e->list.count; i++) vec_push(s->scratch, &arguments, e->list.items[i]);
  return arguments;
}

/* The numbers that a vector or matrix is made of, out of their tables. */
static void add_items(Sema *s, const AstExprs *list, AstExprs *items) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i]->kind == AST_TABLE)
      add_items(s, &list->items[i]->list, items);
    else
      vec_push(s->scratch, items, list->items[i]);
  }
}

AstExprs call_items(Sema *s, const AstExpr *e) {
  AstExprs items = {0};
  add_items(s, &e->list, &items);
  return items;
}
