/* maybe.c - values that may be nil at run time: a boolean local next to the value tells whether it
 * is there (Local.presence).
 *
 *     local h = find(i)            find returns nothing on some path: h, and whether h has a value
 *     local best                   nil until it is assigned, if anything tests it
 *     if h then, h == nil          reads the boolean
 *     h or 0                       a choice by it
 *     h = nil                      assigns it
 *
 * A local gets the boolean only when something tests it, or assigns nil to it: then its declaration
 * and the earlier assignments are extended. Reading the value without a test gives the value that
 * the local held last, initially zero. */
#include "resolve/resolve.h"

static Local *first_result(const Expr *e) {
  const Inline *in = e->inlined;
  Local *first = in && in->returned.count ? in->returned.items[0] : NULL;
  if (!first) return NULL;
  bool is_first = first->is_alias ? record_is(&e->entity) && e->entity.record == first->alias.record
                                  : e->result == 0;
  return is_first ? first : NULL;
}

Local *maybe_of(Expr *e) {
  e = sema_strip(e);
  const Local *local = e->inlined ? first_result(e) : e->kind == AST_LOCAL ? e->local : NULL;
  return local ? local->presence : NULL;
}

static Expr *literal_bool(Resolve *r, const AstExpr *ast, bool value) {
  return literal_static(r, ast, &(Static){.kind = STATIC_BOOL, .number = value});
}

/* A boolean: does e have a value? If e is a call, this makes the call; the value is read later. */
Expr *maybe_read(Resolve *r, Expr *e) {
  e = sema_strip(e);
  Local *presence = maybe_of(e);
  if (!presence) return literal_bool(r, e->ast, true);
  if (!e->inlined) return build_read(r, presence, e);
  Expr *call = scratch_new(r->scratch, Expr);
  *call = *e;
  for (int i = 0; i < e->inlined->results.count; i++)
    if (e->inlined->results.items[i] == presence) call->result = i;
  call->entity = (Entity){.kind = ENTITY_VALUE};
  e->inlined->keeps_first = true;
  return call;
}

/* The same after e was computed. */
Expr *maybe_after(Resolve *r, Expr *e) {
  Local *presence = maybe_of(e);
  return presence ? build_read(r, presence, sema_strip(e)) : literal_bool(r, e->ast, true);
}

static Expr *value_after(Resolve *r, Expr *e) {
  e = sema_strip(e);
  return e->inlined ? build_read(r, first_result(e), e) : build_read(r, e->local, e);
}

/* -- locals ------------------------------------------------------------------------------------ */

Local *maybe_new(Resolve *r, const Local *of) {
  const char *name = scratch_format(r->scratch, "%s ~= nil", sema_text(r->s, of->name));
  Local *presence = build_hidden(r, str_of(name), of->pos);
  presence->loop = of->loop;
  presence->is_declared = presence->has_shape = true;
  presence->is_assigned = of->is_assigned;
  presence->is_parameter = of->is_parameter;
  return presence;
}

/* The position of the local's first variable in its declaration. */
static int find_declared(Resolve *r, const Stmt *stmt, const Local *local) {
  Locals leaves = {0};
  if (local->is_alias && record_is(&local->alias)) record_leaves(r, local->alias.record, &leaves);
  for (int i = 0; i < stmt->locals.count; i++)
    if (stmt->locals.items[i] == local ||
        (leaves.count && stmt->locals.items[i] == leaves.items[0]))
      return i;
  return stmt->locals.count;
}

static void declare(Resolve *r, Stmt *stmt, const Local *local, Local *presence) {
  int at = find_declared(r, stmt, local);
  bool has_value = at < stmt->values.count;
  const Expr *like = has_value ? stmt->values.items[at] : NULL;
  AstExpr *ast = scratch_new(r->scratch, AstExpr);
  *ast = (AstExpr){.kind = has_value ? AST_TRUE : AST_FALSE,
                   .op = AST_NO_OP,
                   .pos = local->pos,
                   .width = local->name.length};
  Expr *value = literal_bool(r, like && like->ast ? like->ast : ast, has_value);
  if (!has_value) at = stmt->values.count;
  vec_push(r->scratch, &stmt->locals, NULL);
  vec_push(r->scratch, &stmt->values, NULL);
  Local **locals = stmt->locals.items;
  Expr **values = stmt->values.items;
  for (int i = stmt->locals.count - 1; i > at; i--) locals[i] = locals[i - 1];
  for (int i = stmt->values.count - 1; i > at; i--) values[i] = values[i - 1];
  stmt->locals.items[at] = presence;
  stmt->values.items[at] = value;
}

static void add_to(Resolve *r, Stmt *stmt, Local *presence) {
  Expr *like = stmt->targets.items[0];
  vec_push(r->scratch, &stmt->targets, build_read(r, presence, like));
  vec_push(r->scratch, &stmt->values, literal_bool(r, like->ast, true));
}

/* Adds the boolean to a local, also to its declaration and to earlier assignments. */
static bool make_presence(Resolve *r, Local *local) {
  if (local->presence) return true;
  if (!local->declaration || local->is_poisoned || local->is_loop_variable) return false;
  local->presence = maybe_new(r, local);
  local->presence->is_assigned = true;
  declare(r, local->declaration, local, local->presence);
  for (int i = 0; i < local->assignments.count; i++)
    if (local->assignments.items[i]->kind == AST_STMT_ASSIGN)
      add_to(r, local->assignments.items[i], local->presence);
  return true;
}

/* May the local of this name be nil? */
static bool is_nilable(Resolve *r, Expr *e, bool of_nil) {
  Local *local = e->kind == AST_LOCAL ? e->local : NULL;
  if (!local || local->presence) return local != NULL;
  bool may_be = local->begins_nil || (of_nil && local->is_assigned && !local->is_parameter);
  return may_be && make_presence(r, local);
}

bool maybe_is_nilable(Resolve *r, Expr *e) {
  e = sema_strip(e);
  if (e->kind == AST_LOCAL) return is_nilable(r, e, true);
  if (e->kind != AST_CALL && e->kind != AST_METHOD) return false;
  resolve_expr(r, e);
  return !r->s->failed && maybe_of(e) != NULL;
}

/* -- declarations ------------------------------------------------------------------------------ */

static bool declare_presence(Resolve *r, Local *local, Expr *value, Locals *locals, Exprs *values) {
  if (!maybe_of(value) || local->presence) return false;
  local->presence = maybe_new(r, local);
  vec_push(r->scratch, locals, local);
  vec_push(r->scratch, values, value);
  vec_push(r->scratch, locals, local->presence);
  vec_push(r->scratch, values, maybe_after(r, value));
  return true;
}

/* If a value of the declaration may be nil, declares the boolean next to its local. */
void maybe_declare(Resolve *r, Locals *locals, Exprs *values) {
  resolve_expand_locals(r, locals, values, declare_presence);
}

static bool is_nil(const Expr *e) { return sema_strip((Expr *)e)->kind == AST_NIL; }

/* In `local a, best = 1, nil`, moves the locals that are nil to the end, without values. */
void maybe_begin(Resolve *r, Stmt *stmt) {
  Locals valued = {0}, nils = {0};
  Exprs values = {0};
  for (int i = 0; i < stmt->locals.count; i++) {
    bool has_value = i < stmt->values.count && !is_nil(stmt->values.items[i]);
    bool may_spread = stmt->values.count && i >= stmt->values.count &&
                      !is_nil(stmt->values.items[stmt->values.count - 1]) &&
                      (stmt->values.items[stmt->values.count - 1]->kind == AST_CALL ||
                       stmt->values.items[stmt->values.count - 1]->kind == AST_METHOD);
    if (may_spread && nils.count) return; /* refused later */
    vec_push(r->scratch, has_value || may_spread ? &valued : &nils, stmt->locals.items[i]);
    if (has_value) vec_push(r->scratch, &values, stmt->values.items[i]);
    stmt->locals.items[i]->begins_nil = !has_value && !may_spread;
  }
  if (stmt->values.count > stmt->locals.count) return;
  for (int i = 0; i < nils.count; i++) vec_push(r->scratch, &valued, nils.items[i]);
  stmt->locals = valued;
  stmt->values = values;
}

/* -- assignments ------------------------------------------------------------------------------- */

static bool is_outer(const Resolve *r, const Local *local) { return r->loop && local->loop == 0; }

static bool assign(Resolve *r, const Stmt *stmt, int k, Exprs *targets, Exprs *values) {
  Expr *target = stmt->targets.items[k];
  Expr *value = k < stmt->values.count ? stmt->values.items[k] : NULL;
  Local *local = target->kind == AST_LOCAL ? target->local : NULL;
  bool is_tracked = local && value && !is_outer(r, local) && stmt->kind == AST_STMT_ASSIGN;
  bool gives_nil = is_tracked && is_nil(value);
  Expr *inner = value ? sema_strip(value) : NULL;
  if (is_tracked && !gives_nil &&
      (inner->kind == AST_LOCAL || inner->kind == AST_CALL || inner->kind == AST_METHOD ||
       inner->kind == AST_OR))
    resolve_expr(r, inner);
  if (r->s->failed) return false;
  bool may_be_nil = gives_nil || (is_tracked && maybe_of(value));
  if (may_be_nil && !make_presence(r, local))
    return sema_fail(r->s, target, RG_ERROR_NAME_NIL, "declare a local for it: local v = ..",
                     "'%s' always has a value, but this may be nil", sema_source(r->s, target));
  if (!gives_nil) vec_push(r->scratch, targets, target);
  if (!gives_nil && value) vec_push(r->scratch, values, value);
  if (!is_tracked || !local->presence) return true;
  vec_push(r->scratch, targets, build_read(r, local->presence, target));
  vec_push(r->scratch, values,
           gives_nil ? literal_bool(r, target->ast, false) : maybe_after(r, value));
  return true;
}

bool maybe_assign(Resolve *r, Stmt *stmt) {
  Exprs targets = {0}, values = {0};
  Expr *last = stmt->values.count ? sema_strip(stmt->values.items[stmt->values.count - 1]) : NULL;
  if (last && last->kind == AST_CALL && stmt->targets.count > stmt->values.count) {
    resolve_expr(r, last);
    resolve_spread(r, &stmt->values, stmt->targets.count);
  }
  for (int i = 0; i < stmt->targets.count; i++)
    if (!assign(r, stmt, i, &targets, &values)) return false;
  for (int i = stmt->targets.count; i < stmt->values.count; i++)
    vec_push(r->scratch, &values, stmt->values.items[i]);
  for (int i = 0; i < stmt->targets.count; i++) {
    Local *local = stmt->targets.items[i]->kind == AST_LOCAL ? stmt->targets.items[i]->local : NULL;
    if (local && !local->presence && !is_outer(r, local))
      vec_push(r->scratch, &local->assignments, stmt);
  }
  stmt->targets = targets;
  stmt->values = values;
  return true;
}

/* -- tests ------------------------------------------------------------------------------------- */

/* A node that needs no resolving: a value. */
static Expr *new_value(Resolve *r, AstExprKind kind, AstOp op, const Expr *at) {
  Expr *e = build_node(r, kind, op, at);
  e->entity.kind = ENTITY_VALUE;
  return e;
}

/* Makes e its truth value as in Lua: neither nil nor false. */
static void make_truth(Resolve *r, Expr *e) {
  bool is_number = !record_is(&e->entity) && type_is_scalar(shape_of(e));
  Expr *truth = new_value(r, AST_AND, AST_NO_OP, e);
  truth->left = maybe_read(r, e);
  truth->right = is_number ? value_after(r, e) : literal_bool(r, e->ast, true);
  truth->is_truth = is_number;
  *e = *truth;
}

void maybe_condition(Resolve *r, Expr *e) {
  if (r->s->failed) return;
  switch (e->kind) {
  case AST_PAREN: maybe_condition(r, e->left); return;
  case AST_UNARY:
    if (e->op == AST_NOT) maybe_condition(r, e->left);
    return;
  case AST_AND:
  case AST_OR:
    if (e->is_truth) return;
    maybe_condition(r, e->left);
    maybe_condition(r, e->right);
    return;
  case AST_LOCAL:
    if (!is_nilable(r, e, false)) return;
    break;
  case AST_CALL:
  case AST_METHOD: break;
  default: return;
  }
  resolve_expr(r, e);
  if (!r->s->failed && maybe_of(e)) make_truth(r, e);
}

/* `h == nil`, `nil ~= h` */
static bool test_nil(Resolve *r, Expr *e) {
  Expr *tested = nil_is_expr(r, e->right) ? e->left : nil_is_expr(r, e->left) ? e->right : NULL;
  if (!tested || r->s->failed || !maybe_is_nilable(r, tested)) return false;
  resolve_expr(r, tested);
  Expr *read = maybe_read(r, tested);
  bool is_equal = e->op == AST_EQ;
  e->kind = is_equal ? AST_UNARY : AST_PAREN;
  e->op = is_equal ? AST_NOT : AST_NO_OP;
  e->left = read;
  e->right = NULL;
  e->entity = (Entity){.kind = ENTITY_VALUE};
  return !r->s->failed;
}

/* Nil equals no number, so `h == 3` first tests whether h has a value. */
static bool compare(Resolve *r, Expr *e) {
  Expr *tested = sema_strip(e->left)->kind == AST_LOCAL && maybe_of(e->left) ? e->left : e->right;
  if (sema_strip(tested)->kind != AST_LOCAL || !maybe_of(tested)) return false;
  bool is_equal = e->op == AST_EQ;
  Expr *both = new_value(r, is_equal ? AST_AND : AST_OR, AST_NO_OP, e);
  Expr *compared = scratch_new(r->scratch, Expr);
  *compared = *e;
  compared->is_truth = true; /* `both` tests for nil */
  both->left = maybe_read(r, tested);
  if (!is_equal) {
    Expr *lacks = new_value(r, AST_UNARY, AST_NOT, e);
    lacks->left = both->left;
    both->left = lacks;
  }
  both->right = compared;
  *e = *both;
  e->entity = resolve_expr(r, compared);
  return true;
}

/* `h or 0` becomes a choice by the boolean. */
static bool choose(Resolve *r, Expr *e) {
  Expr *left = sema_strip(e->left);
  if (left->kind == AST_AND && !left->is_truth) { /* c and h or 0 */
    Expr *chosen = sema_strip(left->right);
    if (chosen->kind != AST_LOCAL || !maybe_of(chosen)) return false;
    Expr *condition = new_value(r, AST_AND, AST_NO_OP, left);
    Expr *truth = new_value(r, AST_PAREN, AST_NO_OP, chosen);
    *truth = *chosen;
    make_truth(r, truth);
    condition->left = left->left;
    condition->right = truth;
    left->left = condition;
    return false;
  }
  bool is_call = left->kind == AST_CALL || left->kind == AST_METHOD;
  if (is_call) resolve_expr(r, left);
  else if (left->kind != AST_LOCAL || !is_nilable(r, left, false)) return false;
  if (r->s->failed || !maybe_of(left)) return false;
  resolve_expr(r, left);
  if (record_is(&left->entity)) return false;
  Expr *truth = new_value(r, AST_PAREN, AST_NO_OP, left);
  *truth = *left;
  make_truth(r, truth);
  e->kind = AST_TERNARY;
  e->third = e->right;
  e->right = value_after(r, left);
  e->left = truth;
  return true;
}

bool maybe_operator(Resolve *r, Expr *e, Entity *entity) {
  if (e->is_truth) return false;
  if (e->kind == AST_BINARY && (e->op == AST_EQ || e->op == AST_NE)) {
    *entity = (Entity){.kind = ENTITY_VALUE};
    return test_nil(r, e) || compare(r, e);
  }
  if (e->kind == AST_AND || e->kind == AST_TERNARY) maybe_condition(r, e->left);
  else if (e->kind == AST_OR) choose(r, e);
  return false;
}
