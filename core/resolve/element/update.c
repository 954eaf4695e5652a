/* update.c - recognises assignments that are updates, per the contract ("Updates are atomic"):
 *
 *   t op= v     t = t op v     t = v op t (op commutes)
 *   t = math.max(t, v), math.min, bit.band, bit.bor, bit.bxor     t = t and v, t or v (a local)
 *   a chain of + and -, or of *, in which t occurs once, not subtracted
 *
 * t is the same place on both sides (same_place.c), and v does not read t. */
#include "resolve/resolve.h"

/* -- finding the target ------------------------------------------------------------------- */

static bool reads(Resolve *r, Expr *e, const Expr *target);

static bool list_reads(Resolve *r, Exprs *list, const Expr *target) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] && reads(r, list->items[i], target)) return true;
  return false;
}

static bool reads(Resolve *r, Expr *e, const Expr *target) {
  if (place_is_same(r, e, target)) return true;
  return (e->left && reads(r, e->left, target)) || (e->right && reads(r, e->right, target)) ||
         (e->third && reads(r, e->third, target)) || list_reads(r, &e->list, target);
}

static bool is_target(Resolve *r, Expr *e, const Expr *target) {
  return place_is_same(r, sema_strip(e), target);
}

/* -- the patterns ------------------------------------------------------------------------------ */

static void add_term(Resolve *r, Update *update, Expr *value, bool is_negative) {
  vec_push(r->scratch, &update->terms, ((UpdateTerm){value, is_negative}));
}

/* Flattens a chain of + and - (or of *): true if the target occurs in it once and is not
 * subtracted. */
static bool take_chain(Resolve *r, Expr *e, bool is_negative, bool of_sums, Update *update,
                       bool *found) {
  Expr *inner = sema_strip(e);
  bool is_link = inner->kind == AST_BINARY &&
                 (of_sums ? inner->op == AST_ADD || inner->op == AST_SUB : inner->op == AST_MUL);
  if (is_link)
    return take_chain(r, inner->left, is_negative, of_sums, update, found) &&
           take_chain(r, inner->right, is_negative != (inner->op == AST_SUB), of_sums, update,
                      found);
  if (is_target(r, inner, update->target)) {
    bool fits = !*found && !is_negative;
    *found = true;
    return fits;
  }
  if (reads(r, inner, update->target)) return false;
  add_term(r, update, e, is_negative);
  return true;
}

static bool match_chain(Resolve *r, Expr *value, Update *update) {
  bool of_sums = value->op == AST_ADD || value->op == AST_SUB, found = false;
  update->op = of_sums ? IR_UPDATE_ADD : IR_UPDATE_MUL;
  return take_chain(r, value, false, of_sums, update, &found) && found;
}

static bool match_binary(Resolve *r, Expr *value, Update *update) {
  if (value->op == AST_ADD || value->op == AST_SUB || value->op == AST_MUL)
    return match_chain(r, value, update);
  bool commutes;
  if (!update_find(value->op, &update->op, &commutes)) return false;
  Expr *other = is_target(r, value->left, update->target)                ? value->right
                : commutes && is_target(r, value->right, update->target) ? value->left
                                                                         : NULL;
  if (!other || reads(r, other, update->target)) return false;
  add_term(r, update, other, false);
  return true;
}

/* `op(t, v)` or `op(v, t)` */
static bool match_pair(Resolve *r, Expr *a, Expr *b, Update *update) {
  bool is_first = is_target(r, a, update->target);
  Expr *other = is_first ? b : a;
  if ((!is_first && !is_target(r, b, update->target)) || reads(r, other, update->target))
    return false;
  add_term(r, update, other, false);
  return true;
}

static bool match_call(Resolve *r, Expr *call, Update *update) {
  if (call->call.kind == CALL_CONVERSION) return false;
  Entity callee = resolve_expr(r, call->left);
  if (callee.kind != ENTITY_BUILTIN || !callee.builtin || call->list.count != 2) return false;
  switch (callee.builtin->op) {
  case IR_MIN: update->op = IR_UPDATE_MIN; break;
  case IR_MAX: update->op = IR_UPDATE_MAX; break;
  case IR_BAND: update->op = IR_UPDATE_BAND; break;
  case IR_BOR: update->op = IR_UPDATE_BOR; break;
  case IR_BXOR: update->op = IR_UPDATE_BXOR; break;
  default: return false;
  }
  return match_pair(r, call->list.items[0], call->list.items[1], update);
}

/* Is it a local's value, or a part of it? */
static bool is_of_local(const Expr *e) {
  while (e->kind == AST_FIELD || e->kind == AST_INDEX || e->kind == AST_PAREN) e = e->left;
  return e->kind == AST_LOCAL && e->local && !e->local->is_alias;
}

/* Only of a local: elements have no such updates. */
static bool match_logic(Resolve *r, Expr *value, Update *update) {
  update->op = value->kind == AST_AND ? IR_UPDATE_BAND : IR_UPDATE_BOR;
  update->is_logic = true;
  return is_of_local(update->target) && match_pair(r, value->left, value->right, update);
}

static bool match(Resolve *r, Stmt *stmt, Update *update) {
  if (stmt->targets.count != 1 || stmt->values.count != 1) return false;
  Expr *value = sema_strip(stmt->values.items[0]);
  bool commutes;
  if (stmt->kind == AST_STMT_COMPOUND) {
    add_term(r, update, stmt->values.items[0], false);
    return update_find(stmt->op, &update->op, &commutes);
  }
  if (value->kind == AST_BINARY) return match_binary(r, value, update);
  if (value->kind == AST_AND || value->kind == AST_OR) return match_logic(r, value, update);
  return value->kind == AST_CALL && match_call(r, value, update);
}

/* A product with a matrix is not elementwise. */
static bool has_matrix_term(Resolve *r, const Update *update) {
  for (int i = 0; i < update->terms.count; i++) {
    Shape shape = shape_of(update->terms.items[i].value);
    if (type_is_matrix(shape) ||
        (type_is_matrix(shape_of(update->target)) && !type_is_scalar(shape)))
      return true;
  }
  return false;
}

Update *update_match(Resolve *r, Stmt *stmt) {
  Update *update = scratch_new(r->scratch, Update);
  update->target = stmt->targets.items[0];
  if (!match(r, stmt, update) || (update->op == IR_UPDATE_MUL && has_matrix_term(r, update)))
    return NULL;
  stmt->update = update;
  return update;
}
