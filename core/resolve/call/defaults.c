/* defaults.c - omitted arguments and their defaults.
 *
 *     function shade(x, n, out)      shade(x) passes neither n nor out: both are nil
 *       n = n or 3                   a default: from here on, n is the argument, or 3 without one
 *       if out == nil then ..        known at compile time: one arm is left
 *
 * A default is a statement at the top level of the function, before any other assignment to the
 * parameter. It becomes a declaration of a new variable, or nothing if there is an argument that is
 * not a boolean. So a parameter that only has a default is never assigned, and facts about its
 * value stay known. */
#include "resolve/resolve.h"

bool nil_is(const Entity *entity) {
  return entity->kind == ENTITY_OTHER && entity->other.value == VALUE_NIL;
}

Entity nil_missing(const char *name) {
  return (Entity){.kind = ENTITY_OTHER,
                  .name = name,
                  .other = {.value = VALUE_NIL, .what = "nil", .is_missing = true}};
}

void nil_fail_assigned(Resolve *r, const Local *parameter, const char *by) {
  const char *name = sema_text(r->s, parameter->name);
  sema_fail_pos(r->s, parameter->pos, parameter->name.length, RG_ERROR_NAME_NIL,
                scratch_format(r->scratch, "begin with a default: %s = %s or ..", name, name),
                "this %s does not give '%s', so it is nil and has no type", by, name);
}

/* -- which statements are defaults ------------------------------------------------------------- */

static const AstExpr *strip(const AstExpr *e) {
  while (e->kind == AST_PAREN) e = e->left;
  return e;
}

static bool is_local(const AstExpr *e, const AstLocal *local) {
  return e->kind == AST_LOCAL && e->local == local;
}

/* The value of a single assignment `x = ..`. */
static const AstExpr *assigned(const AstStmt *stmt, const AstLocal *local) {
  bool is_one = stmt->kind == AST_STMT_ASSIGN && stmt->targets.count == 1 &&
                stmt->values.count == 1 && is_local(stmt->targets.items[0], local);
  return is_one ? stmt->values.items[0] : NULL;
}

/* `if x == nil then x = e end` */
static const AstExpr *assigned_if_nil(const AstStmt *stmt, const AstLocal *local) {
  if (stmt->kind != AST_STMT_IF || stmt->bodies.count != 1 || stmt->bodies.items[0].count != 1)
    return NULL;
  const AstExpr *test = strip(stmt->values.items[0]);
  if (test->kind != AST_BINARY || test->op != AST_EQ) return NULL;
  bool asks = (is_local(test->left, local) && test->right->kind == AST_NIL) ||
              (is_local(test->right, local) && test->left->kind == AST_NIL);
  return asks ? assigned(stmt->bodies.items[0].items[0], local) : NULL;
}

/* The default's expression; NULL if stmt is not a default of this parameter. *is_or: `x = x or
 * e` */
static const AstExpr *default_in(const AstStmt *stmt, const AstLocal *local, bool *is_or) {
  const AstExpr *value = assigned(stmt, local);
  *is_or = value && value->kind == AST_OR && is_local(strip(value->left), local);
  return *is_or ? value->right : assigned_if_nil(stmt, local);
}

/* Does the block assign the local, or, with `in_part`, a part of it: `v.x = ..`, `x[i] = ..`? */
static bool assigns(const AstBlock *block, const AstLocal *local, bool in_part) {
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    for (int k = 0; k < stmt->targets.count; k++) {
      const AstExpr *target = stmt->targets.items[k];
      while (in_part &&
             (target->kind == AST_FIELD || target->kind == AST_INDEX || target->kind == AST_PAREN))
        target = target->left;
      if (is_local(target, local)) return true;
    }
    for (int k = 0; k < stmt->bodies.count; k++)
      if (assigns(&stmt->bodies.items[k], local, in_part)) return true;
  }
  return false;
}

/* The number of its default statement in the function's body, or -1. */
static int find_default(const AstBlock *body, const AstLocal *local) {
  bool is_or;
  for (int i = 0; i < body->count && local->is_assigned; i++) {
    AstStmt *stmt = body->items[i];
    if (default_in(stmt, local, &is_or)) return i;
    AstBlock one = {.items = &stmt, .count = 1};
    if (assigns(&one, local, true)) return -1;
  }
  return -1;
}

Local *default_parameter(Resolve *r, const AstLocal *ast, const AstBlock *body) {
  Local *parameter = build_local(r, ast);
  parameter->is_parameter = true;
  if (find_default(body, ast) < 0) return parameter;
  parameter->has_default = true;
  parameter->is_assigned = parameter->is_part_assigned = false;
  return parameter;
}

/* -- their meaning ----------------------------------------------------------------------------- */

/* Is it certainly neither nil nor false? */
static bool is_given(const Resolve *r, const Local *parameter) {
  const Entity *entity = &parameter->alias;
  if (!parameter->is_alias || nil_is(entity)) return false;
  return entity->kind != ENTITY_ARGUMENT ||
         r->s->launch_args.items[entity->launch_arg.number].ty.kind != TY_BOOL;
}

/* Does it refer to a field, a table, a function ..? */
static bool refers(const Local *local) {
  EntityKind kind = local->alias.kind;
  return local->is_alias && kind != ENTITY_ARGUMENT && kind != ENTITY_CONSTANT &&
         !nil_is(&local->alias);
}

/* Makes the name mean a new variable, initialised with the default, or with a choice. */
static void declare(Resolve *r, const AstStmt *ast, const AstLocal *name, const AstExpr *value,
                    const AstBlock *rest, Block *to) {
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt = (Stmt){.kind = AST_STMT_LOCAL, .op = AST_NO_OP, .pos = ast->pos, .width = ast->width};
  vec_push(r->scratch, &stmt->values, build_expr(r, value));
  Local *local = build_local(r, name);
  local->is_assigned = assigns(rest, name, false);
  vec_push(r->scratch, &stmt->locals, local);
  vec_push(r->scratch, to, stmt);
  resolve_declaration(r, stmt);
  Entity entity = local->alias;
  resolve_take_literal(stmt->values.items[0], &entity);
  if (entity.kind == ENTITY_CONSTANT && !local_is_variable(local) && !local->annotation) {
    local->is_alias = true;
    local->alias = entity;
  }
  sema_recover(r->s, stmt);
}

static const AstExpr *use_of(Resolve *r, const AstStmt *stmt, const AstLocal *name) {
  AstExpr *use = scratch_new(r->scratch, AstExpr);
  *use = (AstExpr){.kind = AST_LOCAL,
                   .op = AST_NO_OP,
                   .pos = stmt->pos,
                   .width = stmt->width,
                   .text = name->name,
                   .local = (AstLocal *)name};
  return use;
}

/* `if x == nil then x = e end` as `x or e` */
static const AstExpr *or_default(Resolve *r, const AstStmt *stmt, const AstLocal *name,
                                 const AstExpr *value) {
  AstExpr *either = scratch_new(r->scratch, AstExpr);
  *either = (AstExpr){.kind = AST_OR,
                      .op = AST_NO_OP,
                      .pos = stmt->pos,
                      .width = stmt->width,
                      .left = (AstExpr *)use_of(r, stmt, name),
                      .right = (AstExpr *)value};
  return either;
}

/* If statement `at` of the body is a default, resolves it and returns true. A parameter that is
 * also assigned later is a variable from there on. */
static bool take_default(Resolve *r, const AstFunction *function, const AstBlock *body, int at,
                         Block *to) {
  const AstStmt *stmt = body->items[at];
  for (int i = 0; i < function->parameters.count; i++) {
    const AstLocal *name = function->parameters.items[i];
    bool is_or;
    const AstExpr *value = default_in(stmt, name, &is_or);
    if (!value || find_default(body, name) != at) continue;
    const Local *parameter = build_find(r, name);
    bool is_nil = parameter->is_alias && nil_is(&parameter->alias);
    AstBlock rest = {.items = body->items + at + 1, .count = body->count - at - 1};
    if (is_nil) declare(r, stmt, name, value, &rest, to);
    else if (!is_or && parameter->presence)
      declare(r, stmt, name, or_default(r, stmt, name, value), &rest, to);
    else if (is_or && !is_given(r, parameter))
      declare(r, stmt, name, stmt->values.items[0], &rest, to);
    else if (assigns(&rest, name, !refers(parameter)))
      declare(r, stmt, name, use_of(r, stmt, name), &rest, to);
    return true;
  }
  return false;
}

void resolve_function_body(Resolve *r, const AstFunction *function, const AstBlock *body,
                           Block *to) {
  for (int i = 0; i < body->count; i++) {
    if (take_default(r, function, body, i, to)) continue;
    AstBlock one = {.items = body->items + i, .count = 1};
    if (!resolve_block(r, &one, to)) return;
  }
}

/* -- tests for nil ----------------------------------------------------------------------------- */

bool nil_is_expr(Resolve *r, Expr *e) {
  e = sema_strip(e);
  if (e->kind == AST_NIL) return true;
  if (e->kind == AST_LOCAL) return e->local && e->local->is_alias && nil_is(&e->local->alias);
  return resolve_is_nil(r, e);
}

int nil_test(Resolve *r, Expr *e) {
  e = sema_strip(e);
  if (nil_is_expr(r, e)) return 0;
  if (e->kind == AST_LOCAL && e->local && refers(e->local)) return maybe_is_nilable(r, e) ? -1 : 1;
  if (e->kind == AST_UNARY && e->op == AST_NOT) {
    int known = nil_test(r, e->left);
    return known < 0 ? -1 : !known;
  }
  if (e->kind != AST_BINARY || (e->op != AST_EQ && e->op != AST_NE)) return -1;
  bool is_right = e->right->kind == AST_NIL;
  if (!is_right && e->left->kind != AST_NIL) return -1;
  Expr *asked = is_right ? e->left : e->right;
  bool is_nil = nil_is_expr(r, asked);
  if (!is_nil && maybe_is_nilable(r, asked)) return -1;
  if (!is_nil) resolve_expr(r, asked);
  return r->s->failed ? -1 : is_nil == (e->op == AST_EQ);
}

/* Replaces e by the chosen expression. */
static Entity become(Resolve *r, Expr *e, Expr *chosen) {
  *e = (Expr){.kind = AST_PAREN,
              .op = AST_NO_OP,
              .pos = e->pos,
              .width = e->width,
              .ast = e->ast,
              .left = chosen};
  return resolve_expr(r, chosen);
}

static Entity become_bool(Resolve *r, Expr *e, bool value) {
  *e = *literal_static(r, e->ast, &(Static){.kind = STATIC_BOOL, .number = value});
  return e->entity;
}

bool nil_choose(Resolve *r, Expr *e, Entity *entity) {
  Expr *left = e->left ? sema_strip(e->left) : NULL;
  bool is_choice = e->kind == AST_OR && left->kind == AST_AND;
  int known = nil_test(r, is_choice ? left->left : e->kind == AST_BINARY ? e : e->left);
  if (known < 0) return false;
  if (is_choice) *entity = become(r, e, known ? left->right : e->right);
  else if (e->kind == AST_TERNARY) *entity = become(r, e, known ? e->right : e->third);
  else if (e->kind == AST_BINARY || known == (e->kind == AST_OR))
    *entity = become_bool(r, e, known);
  else *entity = become(r, e, e->right);
  return true;
}
