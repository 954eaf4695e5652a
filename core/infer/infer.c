/* infer.c - types of locals, parameters and captured numbers, to a fixpoint.
 *
 * A local's Ty is the join of what it is given; a literal given to it is an i32 or a default float there. Live numbers
 * start open (TY_NUMBER). Rounds:
 *   1. join over all statements until nothing changes, with the live numbers as they are known;
 *   2. from every place where an integer must stand, walk back (demand.c): live numbers that reach it become i32;
 *   3. did one? then anew from 1. Otherwise the live numbers that are left are floats, and 1 runs a last time.
 * Joins only grow within a round, and each round settles a live number, so this ends. */
#include "infer/infer.h"

static bool is_equal(Ty a, Ty b) { return a.kind == b.kind && type_equal(a.type, b.type); }

/* -- variables ------------------------------------------------------------------------------------------- */

static void fail_mixed(Sema *s, Expr *value, const Local *local, Ty ty) {
  sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "declare another local for it", "'%s' is %s, and this gives it %s",
            sema_text(s, local->name), ty_text(s, local->ty), ty_text(s, ty));
  if (local->given)
    sema_note(s, local->given_source, local->given->pos, local->given->width, "'%s' becomes %s here",
              sema_text(s, local->name), ty_text(s, local->ty));
}

static void demand_given(Sema *s, const Local *local, Expr *value) {
  if (local->is_annotated) infer_demand(s, value, "which goes into '%s'", sema_text(s, local->name));
  else demand_integer(s, value, local->why);
}

/* `value` is what is given, for positions and demands; NULL for a loop's index. */
static void give(Sema *s, Local *local, Ty ty, Expr *value) {
  if (local->is_alias) return;
  bool is_integer = local->is_annotated ? type_is_integer(local->type) : local->is_demanded;
  if (s->is_demanding && value && is_integer) demand_given(s, local, value);
  if (local->is_annotated) {
    local->ty = ty_of(local->type);
    return;
  }
  if (ty.kind == TY_NONE) return;
  if (value && local->ty.kind != TY_NONE && (local->ty.kind == TY_BOOL) != (ty.kind == TY_BOOL)) {
    fail_mixed(s, value, local, ty);
    return;
  }
  Ty joined = ty_join(local->ty, ty_firm(s, ty));
  if (is_equal(joined, local->ty)) return;
  local->ty = joined;
  local->given = value;
  local->given_source = sema_text_source(s);
  s->has_changed = true;
}

void infer_give(Sema *s, Local *ast, Ty ty, Expr *value) { give(s, ast, ty, value); }

/* -- assignments ----------------------------------------------------------------------------------------- */

Ty infer_update(Sema *s, IrUpdate op, Ty target, Ty term) {
  AstOp binary = update_operator(op);
  return binary == AST_NO_OP ? ty_join(target, term) : ty_binary(s, binary, target, term);
}

/* Does an integer target make an integer of what it is combined with? Not by `/` and `^`. */
static bool keeps_integers(AstOp op) { return op != AST_DIV && op != AST_POW; }

static void infer_reduction(Sema *s, Update *update) {
  Local *local = update->target->local;
  for (int i = 0; i < update->terms.count; i++) {
    Expr *term = update->terms.items[i].value;
    Ty ty = infer_expr(s, term);
    if (s->is_demanding && update_operator(update->op) >= AST_BAND && update_operator(update->op) <= AST_SAR)
      infer_demand(s, term, "which meets '%s'", ast_op_text(update_operator(update->op)));
    give(s, local, local->ty.kind == TY_NONE ? ty : infer_update(s, update->op, local->ty, ty), term);
  }
}

/* A number of a variable gives the variable its type, too. */
static Ty infer_target_type(Sema *s, Expr *target) {
  infer_expr(s, target);
  return infer_expr(s, shape_root(target));
}

static void infer_target(Sema *s, Expr *target, Ty ty, Expr *value) {
  Expr *root = shape_root(target);
  if (root != target) infer_expr(s, target);
  if (root->kind == AST_LOCAL) {
    give(s, root->local, ty, value);
    return;
  }
  Ty own = infer_target_type(s, target);
  if (ty_is_integer(own)) infer_demand(s, value, "which goes into '%s'", root->entity.name);
}

static void infer_assign(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    Ty ty = infer_expr(s, stmt->values.items[i]);
    if (i < stmt->targets.count) infer_target(s, stmt->targets.items[i], ty, stmt->values.items[i]);
  }
}

static void infer_compound(Sema *s, Stmt *stmt) {
  Expr *target = stmt->targets.items[0], *value = stmt->values.items[0];
  Ty a = infer_expr(s, target), b = infer_expr(s, value);
  bool divides = stmt->op == AST_FLOORDIV || stmt->op == AST_MOD;
  bool takes_integer = (stmt->op >= AST_BAND && stmt->op <= AST_SAR) || (divides && ty_is_integer(a));
  const char *sign = ast_op_text(stmt->op);
  if (takes_integer) infer_demand(s, value, "which meets '%s'", sign);
  if (divides && ty_is_integer(b)) infer_demand(s, target, "which meets '%s' and an integer", sign);
  Expr *root = shape_root(target);
  if (root->kind == AST_LOCAL)
    give(s, root->local, ty_binary(s, stmt->op, a, b), value);
  else if (s->is_demanding && keeps_integers(stmt->op) && ty_is_integer(infer_target_type(s, target)))
    infer_demand(s, value, "which goes into '%s'", root->entity.name);
}

static void infer_assignment(Sema *s, Stmt *stmt) {
  Update *update = stmt->update;
  if (update && update->target->kind == AST_LOCAL) infer_reduction(s, update);
  else if (stmt->kind == AST_STMT_COMPOUND) infer_compound(s, stmt);
  else infer_assign(s, stmt);
}

static void infer_declaration(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    Ty ty = infer_expr(s, stmt->values.items[i]);
    if (i < stmt->locals.count) give(s, stmt->locals.items[i], ty, stmt->values.items[i]);
  }
  for (int i = stmt->values.count; i < stmt->locals.count; i++) give(s, stmt->locals.items[i], (Ty){0}, NULL);
}

/* -- loops ----------------------------------------------------------------------------------------------- */

static void infer_numeric_for(Sema *s, Stmt *stmt) {
  infer_list(s, &stmt->values);
  Ty ty = ty_of_for(s, stmt);
  Local *index = stmt->locals.items[0];
  if (s->is_demanding && (ty.kind == TY_INT || index->is_demanded))
    for (int i = 0; i < stmt->values.count; i++) infer_demand(s, stmt->values.items[i], "which bounds a loop over integers", NULL);
  give(s, index, ty, NULL);
  infer_block(s, &stmt->bodies.items[0]);
}

static Type infer_range(Sema *s, LoopHead *head) {
  Type type = TYPE(I32);
  for (int i = 0; i < head->bounds.count; i++) {
    Expr *bound = head->bounds.items[i];
    if (!bound) continue;
    if (ty_is_wide(infer_expr(s, bound))) type = TYPE(I64);
    infer_demand(s, bound, "which bounds a range", NULL);
  }
  return type;
}

/* An index of a field that starts elsewhere may need more bits than those of its level. */
static Type active_index(const LoopHead *head) {
  for (int k = 0; head->offset && k < head->node->rank; k++)
    if (head->offset[k] < -INT32_MAX || head->offset[k] + head->node->shape[k] > INT32_MAX) return TYPE(I64);
  return ir_index_type(head->node);
}

static void infer_for_in(Sema *s, Stmt *stmt) {
  LoopHead *head = stmt->head;
  if (head->items) infer_expr(s, head->items);
  head->index = head->items ? TYPE(I32) : head->node ? active_index(head) : infer_range(s, head);
  for (int i = 0; i < stmt->locals.count; i++)
    if (!head->items || i == 0) give(s, stmt->locals.items[i], ty_of(head->index), NULL);
  if (head->items) infer_items(s, head, stmt);
  infer_block(s, &stmt->bodies.items[0]);
}

/* -- statements ------------------------------------------------------------------------------------------ */

static void infer_result(Sema *s, Result *result, Expr *value) {
  Ty ty = infer_expr(s, value);
  if (s->has_result_types) {
    if (type_is_integer(result->ty.type)) infer_demand(s, value, "which becomes an integer result", NULL);
    return;
  }
  if (ty.kind == TY_NONE) return;
  if (result->ty.kind != TY_NONE && (result->ty.kind == TY_BOOL) != (ty.kind == TY_BOOL)) {
    sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, NULL, "the kernel returns %s elsewhere, and here %s",
              ty_text(s, result->ty), ty_text(s, ty));
    return;
  }
  Ty joined = ty_join(result->ty, ty_firm(s, ty));
  s->has_changed |= !is_equal(joined, result->ty);
  result->ty = joined;
}

static void infer_return(Sema *s, Stmt *stmt) {
  if (s->frame) {
    infer_inline_return(s, stmt);
    return;
  }
  for (int i = 0; i < stmt->values.count; i++) infer_result(s, &s->results.items[i], stmt->values.items[i]);
}

static void infer_bodies(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) infer_block(s, &stmt->bodies.items[i]);
}

static void infer_stmt(Sema *s, Stmt *stmt) {
  switch (stmt->kind) {
  case AST_STMT_LOCAL: infer_declaration(s, stmt); break;
  case AST_STMT_ASSIGN: case AST_STMT_COMPOUND: infer_assignment(s, stmt); break;
  case AST_STMT_RETURN: infer_return(s, stmt); break;
  case AST_STMT_FOR: infer_numeric_for(s, stmt); break;
  case AST_STMT_FOR_IN: infer_for_in(s, stmt); break;
  case AST_STMT_REPEAT:
    infer_block(s, &stmt->bodies.items[0]);
    infer_list(s, &stmt->values);
    break;
  default:
    infer_list(s, &stmt->values);
    infer_bodies(s, stmt);
    break;
  }
}

void infer_block(Sema *s, Block *block) {
  for (int i = 0; i < block->count; i++) {
    Stmt *stmt = block->items[i];
    if (stmt->is_head_broken) infer_bodies(s, stmt);
    if (stmt->is_broken) continue;
    infer_stmt(s, stmt);
    sema_recover_head(s, stmt);
  }
}

/* -- rounds ---------------------------------------------------------------------------------------------- */

static void give_parameters(Sema *s) {
  for (int i = 0; i < s->parameters.count; i++)
    if (s->parameter_live[i])
      give(s, s->parameters.items[i], s->lives.items[s->parameter_live[i] - 1].ty, NULL);
}

/* An assigned parameter that must be an integer passes this on to what the launch brings. */
static void demand_parameters(Sema *s) {
  for (int i = 0; i < s->parameters.count; i++) {
    Local *parameter = s->parameters.items[i];
    Live *live = s->parameter_live[i] ? &s->lives.items[s->parameter_live[i] - 1] : NULL;
    if (!live || live->ty.kind != TY_NUMBER || !parameter->is_demanded) continue;
    live->ty = ty_of(TYPE(I32));
    live->why = parameter->why;
    s->has_changed = true;
  }
}

static bool run_until_stable(Sema *s) {
  bool changed_ever = false;
  do {
    s->has_changed = false;
    give_parameters(s);
    infer_block(s, &s->body);
    if (s->is_demanding) demand_parameters(s);
    changed_ever |= s->has_changed;
  } while (s->has_changed);
  return changed_ever;
}

static void forget(Sema *s) {
  for (int i = 0; i < s->locals.count; i++) s->locals.items[i]->ty = (Ty){0};
  for (int i = 0; i < s->results.count && !s->has_result_types; i++) s->results.items[i].ty = (Ty){0};
}

void infer_kernel(Sema *s) {
  bool is_settled = false;
  while (!is_settled) {
    forget(s);
    run_until_stable(s);
    s->is_demanding = true;
    is_settled = !run_until_stable(s);
    s->is_demanding = false;
  }
  for (int i = 0; i < s->lives.count; i++)
    if (s->lives.items[i].ty.kind == TY_NUMBER) s->lives.items[i].ty.kind = TY_SOFT;
  forget(s);
  run_until_stable(s);
}
