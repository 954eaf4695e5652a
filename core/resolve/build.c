/* build.c - nodes of the typed tree, each made from one of the Ast's, which stay as they are.
 *
 * A text that is written out several times (a function, the turns of a static loop) gets nodes and variables of its own
 * each time: a name of the text means the variable that was made for it last, in the kernel or in this call of a function. */
#include "resolve/resolve.h"

/* -- variables ------------------------------------------------------------------------------------------------- */

static Map *names_of(Sema *s) { return s->frame ? &s->frame->names : &s->names; }

static Local *add_local(Sema *s, Local from) {
  Local *local = scratch_new(s->scratch, Local);
  *local = from;
  local->id = s->local_count++;
  local->is_repeated = s->frame || s->is_turn;
  vec_push(s->scratch, &s->locals, local);
  return local;
}

Local *build_hidden(Sema *s, Str name, Pos pos) { return add_local(s, (Local){.name = name, .pos = pos}); }

void build_name(Sema *s, const AstLocal *ast, Local *local) { map_put_int(names_of(s), (uintptr_t)ast, local); }

Local *build_local(Sema *s, const AstLocal *ast) {
  Local *local = add_local(s, (Local){.name = ast->name, .pos = ast->pos, .annotation = ast->annotation,
                                      .is_const = ast->is_const, .is_loop_variable = ast->is_loop_variable,
                                      .is_assigned = ast->is_assigned, .is_part_assigned = ast->is_part_assigned});
  build_name(s, ast, local);
  return local;
}

Local *build_find(Sema *s, const AstLocal *ast) { return map_find_int(names_of(s), (uintptr_t)ast); }

/* -- expressions ----------------------------------------------------------------------------------------------- */

static Exprs build_list(Sema *s, const AstExprs *list) {
  Exprs built = {0};
  for (int i = 0; i < list->count; i++) vec_push(s->scratch, &built, build_expr(s, list->items[i]));
  return built;
}

/* Functions inside are refused, so they stay without their parts. */
Expr *build_expr(Sema *s, const AstExpr *ast) {
  Expr *e = scratch_new(s->scratch, Expr);
  s->expr_count++;
  *e = (Expr){.kind = ast->kind, .op = ast->op, .pos = ast->pos, .width = ast->width, .ast = ast, .text = ast->text,
              .number_kind = ast->number_kind, .number = ast->number, .integer = ast->integer};
  if (ast->local) e->local = build_find(s, ast->local);
  if (ast->left) e->left = build_expr(s, ast->left);
  if (ast->right) e->right = build_expr(s, ast->right);
  if (ast->third) e->third = build_expr(s, ast->third);
  e->list = build_list(s, &ast->list);
  return e;
}

Expr *build_written(Sema *s, const AstExpr *ast) {
  AstExpr *kept = scratch_new(s->scratch, AstExpr);
  *kept = *ast;
  return build_expr(s, kept);
}

/* -- statements ------------------------------------------------------------------------------------------------ */

/* Values do not see the names that a statement declares; the condition of a `repeat` sees its body's, and waits. */
Stmt *build_stmt(Sema *s, const AstStmt *ast) {
  Stmt *stmt = scratch_new(s->scratch, Stmt);
  *stmt = (Stmt){.kind = ast->kind, .pos = ast->pos, .width = ast->width, .op = ast->op};
  stmt->targets = build_list(s, &ast->targets);
  if (ast->kind != AST_STMT_REPEAT) stmt->values = build_list(s, &ast->values);
  for (int i = 0; i < ast->locals.count; i++) vec_push(s->scratch, &stmt->locals, build_local(s, ast->locals.items[i]));
  for (int i = 0; i < ast->bodies.count; i++) vec_push(s->scratch, &stmt->bodies, ((Block){0}));
  return stmt;
}
