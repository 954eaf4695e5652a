/* text.c - the kernel's text: of an expression, and of what is written in one. */
#include "typed/typed.h"

const Source *sema_text_source(const Sema *s) { return s->frame ? s->frame->source : s->input->ast->source; }

enum { LONGEST_WORD = 60 };

const char *sema_text(Sema *s, Str text) {
  return scratch_copy_text(s->scratch, text.data, (size_t)(text.length < LONGEST_WORD ? text.length : LONGEST_WORD));
}

const char *sema_source(Sema *s, const AstExpr *e) {
  StrBuf text;
  strbuf_init(&text, s->scratch);
  ast_print_expr(&text, e);
  if (text.length <= LONGEST_WORD) return strbuf_end(&text);
  return scratch_format(s->scratch, "%.*s..", LONGEST_WORD, text.data);
}

AstExpr *sema_strip(AstExpr *e) {
  while (e->kind == AST_PAREN) e = e->left;
  return e;
}

bool sema_is_constant(const AstExpr *e, double *value) {
  double sign = 1;
  while (e->kind == AST_PAREN || (e->kind == AST_UNARY && e->op == AST_NEG)) {
    if (e->kind == AST_UNARY) sign = -sign;
    e = e->left;
  }
  if (e->kind != AST_NUMBER) return false;
  *value = sign * (e->number_kind == AST_NUMBER_FLOAT ? e->number : (double)e->integer);
  return true;
}
