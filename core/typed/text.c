/* text.c - the source text of a kernel's expressions. */
#include "typed/typed.h"

const Source *sema_text_source(const Sema *s) {
  return s->frame ? s->frame->source : s->input->ast->source;
}

enum { LONGEST_WORD = 60 };

const char *sema_text(Sema *s, Str text) {
  return scratch_copy_text(s->scratch, text.data,
                           (size_t)(text.length < LONGEST_WORD ? text.length : LONGEST_WORD));
}

const char *sema_written(Sema *s, const AstExpr *ast) {
  StrBuf text;
  strbuf_init(&text, s->scratch);
  ast_print_expr(&text, ast);
  if (text.length <= LONGEST_WORD) return strbuf_end(&text);
  return scratch_format(s->scratch, "%.*s..", LONGEST_WORD, text.data);
}

const char *sema_source(Sema *s, const Expr *e) { return sema_written(s, e->ast); }

Expr *sema_strip(Expr *e) {
  while (e->kind == AST_PAREN) e = e->left;
  return e;
}

bool sema_is_constant(const Expr *e, double *value) {
  double sign = 1;
  while (e->kind == AST_PAREN || (e->kind == AST_UNARY && e->op == AST_NEG)) {
    if (e->kind == AST_UNARY) sign = -sign;
    e = e->left;
  }
  if (e->kind != AST_NUMBER) return false;
  *value = sign * (e->number_kind == AST_NUMBER_FLOAT ? e->number : (double)e->integer);
  return true;
}

/* -- same access path -------------------------------------------------------------------------- */

static bool is_same_child(const Expr *a, const Expr *b) {
  return (!a && !b) || (a && b && sema_is_same(a, b));
}

static bool is_same_list(const Exprs *a, const Exprs *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (!sema_is_same(a->items[i], b->items[i])) return false;
  return true;
}

/* A call may return a different value each time, so an expression with a call equals nothing. */
bool sema_is_same(const Expr *a, const Expr *b) {
  if (a->kind != b->kind || a->op != b->op || a->local != b->local) return false;
  if (a->kind == AST_CALL || a->kind == AST_METHOD || a->kind == AST_FUNCTION ||
      a->kind == AST_VARARG)
    return false;
  return str_equal(a->text, b->text) && is_same_child(a->left, b->left) &&
         is_same_child(a->right, b->right) && is_same_child(a->third, b->third) &&
         is_same_list(&a->list, &b->list);
}
