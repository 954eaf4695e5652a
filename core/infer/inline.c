/* inline.c - the types and checks of an expanded function. */
#include "infer/infer.h"

/* -- infer ------------------------------------------------------------------------------------- */

PartialType infer_inline(Infer *f, Inline *in) {
  for (int i = 0; i < in->arguments.count; i++) {
    Expr *argument = in->arguments.items[i];
    PartialType ty = infer_expr(f, argument);
    infer_give(f, in->parameters.items[i], ty, argument);
  }
  f->s->frame = in;
  infer_block(f, &in->body);
  f->s->frame = in->outer;
  return in->results.count ? in->results.items[0]->ty : (PartialType){0};
}

void infer_inline_return(Infer *f, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    PartialType ty = infer_expr(f, stmt->values.items[i]);
    infer_give(f, f->s->frame->results.items[i], ty, stmt->values.items[i]);
  }
}

/* -- check ------------------------------------------------------------------------------------- */

bool check_inline(Sema *s, Inline *in) {
  for (int i = 0; i < in->arguments.count; i++)
    check_given(s, in->parameters.items[i], in->arguments.items[i]);
  s->frame = in;
  if (!s->failed) check_block(s, &in->body);
  s->frame = in->outer;
  return !s->failed;
}

void check_inline_return(Sema *s, Stmt *stmt) {
  const char *what = scratch_format(s->scratch, "the result of '%s'", s->frame->name);
  for (int i = 0; i < stmt->values.count; i++)
    check_store(s, stmt->values.items[i], s->frame->results.items[i]->type, what);
}
