/* iterator.c - loops over an iterator of the user: a function that calls its last parameter for
 * each item:
 *
 *     for j, d in near:of(i) do BODY end        near:of(i, function(j, d) BODY end), expanded
 *
 * Exits of BODY are returns from one of the expanded calls around it:
 *
 *     continue   from that of BODY
 *     break      from that of the iterator
 *     return     from that of the function which contains the loop, or from the kernel */
#include "resolve/resolve.h"

/* -- the loop ---------------------------------------------------------------------------------- */

/* What the expression of the loop's head calls, and for a method its object. */
static Entity callee_of(Resolve *r, Expr *e, Expr **self) {
  *self = NULL;
  if (e->kind == AST_CALL) return resolve_expr(r, e->left);
  const Method *method = method_find(e->text);
  if (method && method->form == METHOD_MODIFIER) return (Entity){0}; /* rg.range(n):serial() */
  Entity object = resolve_expr(r, e->left);
  *self = e->left;
  if (object.kind == ENTITY_TABLE) return table_member(r, e, &object, e->text);
  if (entity_is_value(&object) && type_is_struct(object.shape) && !type_is_array(object.shape))
    return struct_callee(r, e, &object);
  return (Entity){0};
}

static const AstFunction *function_around(const Resolve *r) {
  return r->s->frame ? r->s->frame->function : r->input->ast->function;
}

/* The loop's body, as a function of its variables. */
static Expr *body_function(Resolve *r, const AstStmt *ast, const Expr *call) {
  const AstFunction *around = function_around(r);
  AstFunction *function = scratch_new(r->scratch, AstFunction);
  *function = (AstFunction){
      .pos = ast->pos, .end = around->end, .body = ast->bodies.items[0], .height = around->height};
  for (int i = 0; i < ast->locals.count; i++)
    vec_push(r->scratch, &function->parameters, ast->locals.items[i]);
  AstExpr written = {.kind = AST_FUNCTION,
                     .op = AST_NO_OP,
                     .pos = ast->pos,
                     .width = ast->width,
                     .function = function};
  Expr *e = build_generated(r, &written);
  e->entity = resolve_inner_function(r, "loop body", function);
  e->entity.function.body_of = call;
  return e;
}

/* Arguments that the loop leaves out are nil. `self`: 1 for a method, whose object comes first. */
static void add_missing(Resolve *r, Expr *e, const AstFunction *function, int self) {
  AstExpr nil = {.kind = AST_NIL, .op = AST_NO_OP, .pos = e->pos, .width = e->width};
  while (e->list.count + self + 1 < function->parameters.count) {
    const AstLocal *parameter = function->parameters.items[e->list.count + self];
    Expr *missing = build_generated(r, &nil);
    missing->entity = nil_missing(sema_text(r->s, parameter->name));
    vec_push(r->scratch, &e->list, missing);
  }
}

static bool check_function(Resolve *r, Expr *e, const Entity *callee, int given) {
  const AstFunction *function = callee->function.text;
  const char *name = callee->name;
  if (!callee->function.is_iterator) {
    sema_fail(r->s, e, RG_ERROR_LOOP,
              scratch_format(r->scratch,
                             "make it one: rg.iterator(function(.., visit) .. end), which calls "
                             "visit(..) for each item; or call '%s' without 'for'",
                             name),
              "'%s' is a function, not an iterator, so 'for' cannot loop over it", name);
    return sema_note(r->s, callee->function.source_text, function->pos, (int)strlen("function"),
                     "'%s' is declared here", name);
  }
  if (given < function->parameters.count) return true;
  if (function->parameters.count)
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d %s, %d given", name,
              function->parameters.count - 1,
              function->parameters.count == 2 ? "argument" : "arguments", given);
  else
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, "rg.iterator(function(visit) .. end)",
              "the iterator '%s' has no parameter for the function that it calls for each item",
              name);
  return sema_note(r->s, callee->function.source_text, function->pos, (int)strlen("function"),
                   "'%s' is declared here", name);
}

bool iterator_loop(Resolve *r, const AstStmt *ast, Stmt *stmt) {
  Expr *self, *e = stmt->values.count == 1 ? sema_strip(stmt->values.items[0]) : NULL;
  if (!e || (e->kind != AST_CALL && e->kind != AST_METHOD)) return false;
  Entity callee = callee_of(r, e, &self);
  if (r->s->failed || callee.kind != ENTITY_FUNCTION) return r->s->failed;
  if (!callee.function.text) return !resolve_request_function(r, e, &callee);
  if (!check_function(r, e, &callee, e->list.count + (self != NULL))) return true;
  add_missing(r, e, callee.function.text, self != NULL);
  vec_push(r->scratch, &e->list, body_function(r, ast, e));
  stmt->kind = AST_STMT_CALL;
  stmt->locals.count = stmt->bodies.count = 0;
  stmt->values.items[0] = e;
  const Expr *outer = r->statement;
  r->statement = e;
  e->entity = resolve_inline_call(r, e, callee, self);
  r->statement = outer;
  return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

bool iterator_check(Resolve *r, Expr *e, const Entity *callee) {
  int given = e->list.count + (e->kind == AST_METHOD);
  if (e == r->statement && given >= callee->function.text->parameters.count) return true;
  return sema_fail(r->s, e, RG_ERROR_CALL,
                   scratch_format(r->scratch, "write for .. in %s do", sema_source(r->s, e)),
                   "'%s' is an iterator, which a loop runs over", callee->name);
}

/* Values that the loop has no variables for are dropped, as in Lua. */
bool iterator_take(Resolve *r, Expr *e, const Entity *body) {
  const AstFunction *function = body->function.text;
  Inline *frame = r->s->frame;
  int count = function->parameters.count;
  if (e->list.count >= count) {
    e->list.count = count;
    return true;
  }
  const AstLocal *extra = function->parameters.items[e->list.count];
  r->s->frame = body->function.within;
  sema_fail_pos(r->s, extra->pos, extra->name.length, RG_ERROR_LOOP, NULL,
                "there is no value for '%.*s': '%s' gives its loop %d %s", extra->name.length,
                extra->name.data, sema_source(r->s, body->function.body_of), e->list.count,
                e->list.count == 1 ? "value" : "values");
  r->s->frame = frame;
  return sema_note(r->s, NULL, e->pos, e->width, "it does so here");
}

/* -- exits ------------------------------------------------------------------------------------- */

bool iterator_leave(Resolve *r, Stmt *stmt, Inline *to) {
  stmt->returns_from = to;
  for (Inline *in = r->s->frame; in != to; in = in->outer) {
    if (!in || in->is_called)
      return sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_LOOP, "set a local instead",
                           "a loop over an iterator that calls itself cannot be left");
    if (!in->is_statement)
      return sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_LOOP,
                           scratch_format(r->scratch, "call '%s' as a statement", in->name),
                           "the iterator calls '%s' in an expression, so this loop cannot be left",
                           in->name);
    in->has_nonlocal_return = true;
  }
  return true;
}

void iterator_exit(Resolve *r, Stmt *stmt) {
  Inline *to = r->s->frame;
  bool is_break = stmt->kind == AST_STMT_BREAK;
  const Expr *call = to->body_of;
  while (is_break && to && to->call != call) to = to->outer;
  if (to && to->loop != r->loop) {
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_LOOP, "'continue' ends one iteration",
                  "a parallel loop cannot be left by 'break'");
    return;
  }
  stmt->kind = AST_STMT_RETURN;
  if (iterator_leave(r, stmt, to) && is_break) to->returns_early = true;
}
