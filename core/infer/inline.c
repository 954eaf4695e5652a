/* inline.c - the types and checks of a function that is written out at its call. */
#include "infer/infer.h"

/* -- infer ---------------------------------------------------------------------------------------------------- */

Ty infer_inline(Sema *s, Inline *in) {
  for (int i = 0; i < in->arguments.count; i++) {
    AstExpr *argument = in->arguments.items[i];
    Ty ty = infer_expr(s, argument);
    infer_give(s, in->function->parameters.items[i], ty, argument);
  }
  s->frame = in;
  infer_block(s, &in->function->body);
  s->frame = in->outer;
  return in->results.count ? local_of(s, in->results.items[0])->ty : (Ty){0};
}

void infer_inline_return(Sema *s, AstStmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    Ty ty = infer_expr(s, stmt->values.items[i]);
    infer_give(s, s->frame->results.items[i], ty, stmt->values.items[i]);
  }
}

/* -- check ------------------------------------------------------------------------------------------------------ */

bool check_inline(Sema *s, Inline *in) {
  for (int i = 0; i < in->arguments.count; i++) check_given(s, in->function->parameters.items[i], in->arguments.items[i]);
  s->frame = in;
  if (!s->failed) check_block(s, &in->function->body);
  s->frame = in->outer;
  return !s->failed;
}

void check_inline_return(Sema *s, AstStmt *stmt) {
  const char *what = scratch_format(s->scratch, "the result of '%s'", s->frame->name);
  for (int i = 0; i < stmt->values.count; i++)
    check_store(s, stmt->values.items[i], local_of(s, s->frame->results.items[i])->type, what);
}
