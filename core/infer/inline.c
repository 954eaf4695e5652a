/* inline.c - the types and checks of an expanded function. */
#include "infer/infer.h"

/* -- infer ------------------------------------------------------------------------------------- */

PartialType infer_inline(Infer *f, Inline *in, int result) {
  for (int i = 0; i < in->arguments.count; i++) {
    Expr *argument = in->arguments.items[i];
    PartialType ty = infer_expr(f, argument);
    infer_assigned(f, in->parameters.items[i], ty, argument);
  }
  f->s->frame = in;
  infer_block(f, &in->body);
  f->s->frame = in->outer;
  return in->results.count ? in->results.items[result]->ty : (PartialType){0};
}

/* Annotated types hold from the start. */
static void set_annotated(Locals *locals) {
  for (int i = 0; i < locals->count; i++) locals->items[i]->ty = ty_of(locals->items[i]->type);
}

PartialType infer_invocation(Infer *f, Invocation *call) {
  for (int i = 0; i < call->arguments.count; i++) {
    PartialType ty = infer_expr(f, call->arguments.items[i]);
    infer_assigned(f, call->of->parameters.items[i], ty, call->arguments.items[i]);
  }
  set_annotated(&call->results);
  return call->results.count ? call->results.items[0]->ty : (PartialType){0};
}

void infer_functions(Infer *f) {
  for (int i = 0; i < f->s->functions.count; i++) {
    Inline *in = f->s->functions.items[i];
    set_annotated(&in->parameters);
    set_annotated(&in->results);
    f->s->frame = in;
    infer_block(f, &in->body);
    f->s->frame = NULL;
  }
}

void infer_inline_return(Infer *f, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    PartialType ty = infer_expr(f, stmt->values.items[i]);
    infer_assigned(f, stmt->returns_from->results.items[i], ty, stmt->values.items[i]);
  }
}

/* -- check ------------------------------------------------------------------------------------- */

bool check_inline(Sema *s, Inline *in) {
  for (int i = 0; i < in->arguments.count; i++)
    check_assigned(s, in->parameters.items[i], in->arguments.items[i]);
  s->frame = in;
  if (!s->failed) check_block(s, &in->body);
  s->frame = in->outer;
  return !s->failed;
}

bool check_invocation(Sema *s, Invocation *call) {
  for (int i = 0; i < call->arguments.count; i++)
    check_assigned(s, call->of->parameters.items[i], call->arguments.items[i]);
  return !s->failed;
}

void check_functions(Sema *s) {
  for (int i = 0; i < s->functions.count; i++) {
    s->frame = s->functions.items[i];
    check_block(s, &s->frame->body);
    s->frame = NULL;
  }
}

void check_inline_return(Sema *s, Stmt *stmt) {
  const char *what = scratch_format(s->scratch, "the result of '%s'", stmt->returns_from->name);
  for (int i = 0; i < stmt->values.count; i++)
    check_store(s, stmt->values.items[i], stmt->returns_from->results.items[i]->type, NULL, what);
}
