/* new_node.c - nodes of the typed tree, each made from an Ast node, which stays unchanged.
 *
 * Source that is expanded several times (a function, the iterations of a static loop) gets new
 * nodes and variables each time: a name refers to the variable last made for it, in the kernel or
 * in this call of a function. */
#include "resolve/resolve.h"

/* -- variables --------------------------------------------------------------------------------- */

static Map *names_of(Resolve *r) { return r->s->frame ? &r->s->frame->names : &r->names; }

static Local *add_local(Resolve *r, Local from) {
  Local *local = scratch_new(r->scratch, Local);
  *local = from;
  local->id = r->s->locals.count;
  local->loop = r->loop;
  local->is_repeated = r->s->frame || r->in_unrolled;
  vec_push(r->scratch, &r->s->locals, local);
  return local;
}

Local *build_hidden(Resolve *r, Str name, Pos pos) {
  return add_local(r, (Local){.name = name, .pos = pos});
}

void build_name(Resolve *r, const AstLocal *ast, Local *local) {
  map_put_int(names_of(r), (uintptr_t)ast, local);
}

Local *build_local(Resolve *r, const AstLocal *ast) {
  Local *local = add_local(r, (Local){.name = ast->name,
                                      .pos = ast->pos,
                                      .annotation = ast->annotation,
                                      .is_const = ast->is_const,
                                      .is_loop_variable = ast->is_loop_variable,
                                      .is_assigned = ast->is_assigned,
                                      .is_part_assigned = ast->is_part_assigned});
  build_name(r, ast, local);
  return local;
}

/* Does the local have run-time values? A row is an alias, but its indices are numbers. */
static bool has_numbers(const Local *local) {
  return !local->is_alias || row_is(&local->alias) || record_is(&local->alias) ||
         (local->alias.kind == ENTITY_FIELD && local->alias.field.index_count);
}

/* An inner function sees the names around it, but if it is recursive, none that have run-time
 * values. */
static Local *find_around(Resolve *r, const Inline *in, const AstLocal *ast) {
  bool is_called = false;
  for (; in && in->is_inner; in = in->within) {
    is_called |= in->is_called;
    Local *local = map_find_int(in->within ? &in->within->names : &r->names, (uintptr_t)ast);
    if (local) return is_called && has_numbers(local) ? NULL : local;
  }
  return NULL;
}

Local *build_find(Resolve *r, const AstLocal *ast) {
  Local *local = map_find_int(names_of(r), (uintptr_t)ast);
  return local ? local : find_around(r, r->s->frame, ast);
}

bool build_is_lost(Resolve *r, const AstLocal *ast) {
  for (const Inline *in = r->s->frame; in && in->is_inner; in = in->within)
    if (map_find_int(in->within ? &in->within->names : &r->names, (uintptr_t)ast)) return true;
  return false;
}

bool build_is_around(Resolve *r, const AstLocal *ast) {
  return !map_find_int(names_of(r), (uintptr_t)ast) && find_around(r, r->s->frame, ast);
}

/* -- expressions ------------------------------------------------------------------------------- */

static Exprs build_list(Resolve *r, const AstExprs *list) {
  Exprs built = {0};
  for (int i = 0; i < list->count; i++) vec_push(r->scratch, &built, build_expr(r, list->items[i]));
  return built;
}

/* Nested functions are refused, so their parts are not built. */
Expr *build_expr(Resolve *r, const AstExpr *ast) {
  Expr *e = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *e = (Expr){.kind = ast->kind,
              .op = ast->op,
              .pos = ast->pos,
              .width = ast->width,
              .ast = ast,
              .text = ast->text,
              .number_kind = ast->number_kind,
              .number = ast->number,
              .integer = ast->integer};
  if (ast->local) e->local = build_find(r, ast->local);
  if (ast->left) e->left = build_expr(r, ast->left);
  if (ast->right) e->right = build_expr(r, ast->right);
  if (ast->third) e->third = build_expr(r, ast->third);
  e->list = build_list(r, &ast->list);
  if (ast->kind == AST_FIELD || ast->kind == AST_INDEX) record_resolve_member(r, e);
  return e;
}

Expr *build_generated(Resolve *r, const AstExpr *ast) {
  AstExpr *kept = scratch_new(r->scratch, AstExpr);
  *kept = *ast;
  return build_expr(r, kept);
}

Expr *build_node(Resolve *r, AstExprKind kind, AstOp op, const Expr *at) {
  Expr *e = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *e = (Expr){.kind = kind, .op = op, .pos = at->pos, .width = at->width, .ast = at->ast};
  return e;
}

Expr *build_read(Resolve *r, Local *local, const Expr *at) {
  AstExpr name = {
      .kind = AST_LOCAL, .pos = at->pos, .width = at->width, .op = AST_NO_OP, .text = local->name};
  Expr *e = build_generated(r, &name);
  e->local = local;
  if (at->ast) e->ast = at->ast; /* for messages */
  resolve_expr(r, e);
  return e;
}

/* -- statements -------------------------------------------------------------------------------- */

/* Values are outside the scope of the names that a statement declares. The condition of a `repeat`
 * is in the scope of its body, so it is built later. */
Stmt *build_stmt(Resolve *r, const AstStmt *ast) {
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt = (Stmt){.kind = ast->kind, .pos = ast->pos, .width = ast->width, .op = ast->op};
  stmt->targets = build_list(r, &ast->targets);
  if (ast->kind != AST_STMT_REPEAT) stmt->values = build_list(r, &ast->values);
  for (int i = 0; i < ast->locals.count; i++)
    vec_push(r->scratch, &stmt->locals, build_local(r, ast->locals.items[i]));
  for (int i = 0; i < ast->bodies.count; i++) vec_push(r->scratch, &stmt->bodies, ((Block){0}));
  return stmt;
}
