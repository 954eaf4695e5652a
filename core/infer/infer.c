/* infer.c - types of locals, parameters and captured numbers, to a fixpoint.
 *
 * A local's PartialType is the join of its values; a literal assigned to it is an i32 or a default
 * float there. Launch arguments start with an unknown type (TY_NUMBER). Rounds:
 *   1. join over all statements until nothing changes, with the launch arguments as known so far;
 *   2. from every place that needs an integer, walk back (demand.c): launch arguments that reach it
 *      become i32;
 *   3. if one did, start over from 1. Otherwise walk back likewise from numeric `for`s between
 *      launch arguments that were whole so far, and from conversions of such to integers (a guess:
 *      another value compiles once more);
 *   4. if one became an integer, start over from 1. Otherwise the remaining launch arguments are
 *      floats, and 1 runs a last time.
 * Joins only grow within a round, and each round determines a launch argument, so this
 * terminates. */
#include "infer/infer.h"

static bool is_equal(PartialType a, PartialType b) {
  return a.kind == b.kind && type_equal(a.type, b.type);
}

/* -- variables --------------------------------------------------------------------------------- */

static void fail_mixed(Infer *f, Expr *value, const Local *local, PartialType ty) {
  sema_fail(f->s, value, RG_ERROR_TYPE_MISMATCH, "declare another local for it",
            "'%s' is %s, and this gives it %s", sema_text(f->s, local->name),
            ty_text(f->s, local->ty), ty_text(f->s, ty));
  if (local->type_from)
    sema_note(f->s, local->type_from_source, local->type_from->pos, local->type_from->width,
              "'%s' becomes %s here", sema_text(f->s, local->name), ty_text(f->s, local->ty));
}

static void demand_assigned(Infer *f, const Local *local, Expr *value) {
  if (local->is_annotated)
    infer_demand(f, value, "which is stored in '%s'", sema_text(f->s, local->name));
  else demand_integer(f, value, local->reason);
}

/* `value` is the assigned expression, for positions and demands; NULL for a loop's index. */
void infer_assigned(Infer *f, Local *local, PartialType ty, Expr *value) {
  if (local->is_alias) return;
  bool is_integer = local->is_annotated ? type_is_integer(local->type) : local->is_demanded;
  if (f->is_demanding && value && is_integer) demand_assigned(f, local, value);
  if (local->is_annotated) {
    local->ty = ty_of(local->type);
    return;
  }
  if (ty.kind == TY_NONE) return;
  if (value && local->ty.kind != TY_NONE && (local->ty.kind == TY_BOOL) != (ty.kind == TY_BOOL)) {
    fail_mixed(f, value, local, ty);
    return;
  }
  PartialType joined = ty_join(local->ty, ty_default(f->s, ty));
  if (is_equal(joined, local->ty)) return;
  local->ty = joined;
  local->type_from = value;
  local->type_from_source = sema_text_source(f->s);
  f->has_changed = true;
}

/* -- assignments ------------------------------------------------------------------------------- */

/* The declared type of a struct's member, which assignments do not change. */
static Type member_type(Expr *target) {
  for (Expr *e = sema_strip(target); e->entity.kind == ENTITY_PART; e = sema_strip(e->left))
    if (!type_is_none(e->entity.parts.type)) return e->entity.parts.type;
  return TYPE(NONE);
}

static bool is_member(Expr *target) { return !type_is_none(member_type(target)); }

static void demand_member(Infer *f, Expr *target, Expr *value) {
  if (type_is_integer(member_type(target)))
    infer_demand(f, value, "which is stored in '%s'", sema_source(f->s, target));
}

PartialType infer_update(Sema *s, IrUpdate op, PartialType target, PartialType term) {
  AstOp binary = update_operator(op);
  return binary == AST_NO_OP ? ty_join(target, term) : ty_binary(s, binary, target, term);
}

/* Does an integer target make its operand an integer? Not with `/` and `^`. */
static bool keeps_integers(AstOp op) { return op != AST_DIV && op != AST_POW; }

static void infer_reduction(Infer *f, Update *update) {
  Local *local = shape_root(update->target)->local;
  bool is_of_struct = is_member(update->target);
  if (update->target->kind != AST_LOCAL) infer_expr(f, update->target);
  for (int i = 0; i < update->terms.count; i++) {
    Expr *term = update->terms.items[i].value;
    PartialType ty = infer_expr(f, term);
    if (is_of_struct) {
      demand_member(f, update->target, term);
      continue;
    }
    if (update->is_logic) {
      infer_assigned(f, local, ty, term);
      continue;
    }
    if (f->is_demanding && update_operator(update->op) >= AST_BAND &&
        update_operator(update->op) <= AST_SAR)
      infer_demand(f, term, "which is used with '%s'", ast_op_text(update_operator(update->op)));
    infer_assigned(f, local,
                   local->ty.kind == TY_NONE ? ty : infer_update(f->s, update->op, local->ty, ty),
                   term);
  }
}

/* Assigning one number of a variable determines its type, too. */
static PartialType infer_target_type(Infer *f, Expr *target) {
  infer_expr(f, target);
  return infer_expr(f, shape_root(target));
}

static void infer_target(Infer *f, Expr *target, PartialType ty, Expr *value) {
  Expr *root = shape_root(target);
  if (root != target) infer_expr(f, target);
  if (is_member(target)) {
    demand_member(f, target, value);
    return;
  }
  if (root->kind == AST_LOCAL) {
    infer_assigned(f, root->local, ty, value);
    return;
  }
  PartialType own = infer_target_type(f, target);
  if (ty_is_integer(own)) infer_demand(f, value, "which is stored in '%s'", root->entity.name);
}

static void infer_assign(Infer *f, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    PartialType ty = infer_expr(f, stmt->values.items[i]);
    if (i < stmt->targets.count) infer_target(f, stmt->targets.items[i], ty, stmt->values.items[i]);
  }
}

static void infer_compound(Infer *f, Stmt *stmt) {
  Expr *target = stmt->targets.items[0], *value = stmt->values.items[0];
  PartialType a = infer_expr(f, target), b = infer_expr(f, value);
  bool divides = stmt->op == AST_FLOORDIV || stmt->op == AST_MOD;
  bool takes_integer =
      (stmt->op >= AST_BAND && stmt->op <= AST_SAR) || (divides && ty_is_integer(a));
  const char *sign = ast_op_text(stmt->op);
  if (takes_integer) infer_demand(f, value, "which is used with '%s'", sign);
  if (divides && ty_is_integer(b))
    infer_demand(f, target, "which is used with '%s' and an integer", sign);
  Expr *root = shape_root(target);
  if (is_member(target)) {
    if (keeps_integers(stmt->op)) demand_member(f, target, value);
  } else if (root->kind == AST_LOCAL)
    infer_assigned(f, root->local, ty_binary(f->s, stmt->op, a, b), value);
  else if (f->is_demanding && keeps_integers(stmt->op) &&
           ty_is_integer(infer_target_type(f, target)))
    infer_demand(f, value, "which is stored in '%s'", root->entity.name);
}

static void infer_assignment(Infer *f, Stmt *stmt) {
  Update *update = stmt->update;
  if (update && shape_root(update->target)->kind == AST_LOCAL) infer_reduction(f, update);
  else if (stmt->kind == AST_STMT_COMPOUND) infer_compound(f, stmt);
  else infer_assign(f, stmt);
}

static void infer_declaration(Infer *f, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    PartialType ty = infer_expr(f, stmt->values.items[i]);
    if (i < stmt->locals.count) infer_assigned(f, stmt->locals.items[i], ty, stmt->values.items[i]);
  }
  for (int i = stmt->values.count; i < stmt->locals.count; i++)
    infer_assigned(f, stmt->locals.items[i], (PartialType){0}, NULL);
}

/* -- loops ------------------------------------------------------------------------------------- */

/* A numeric `for` between launch arguments runs over integers if begin and step were whole so
 * far. */
static void guess_bounds(Infer *f, Stmt *stmt) {
  Expr *const *values = stmt->values.items;
  bool has_step = stmt->values.count == 3;
  if (!demand_is_whole(f, values[0]) || (has_step && !demand_is_whole(f, values[2]))) return;
  stmt->is_guess = true;
  for (int i = 0; i < stmt->values.count; i++)
    if (demand_is_whole(f, values[i]))
      demand_integer(f, values[i],
                     (Reason){"which bounds a loop over integers", NULL, values[i],
                              sema_text_source(f->s), true});
}

static void infer_numeric_for(Infer *f, Stmt *stmt) {
  infer_list(f, &stmt->values);
  PartialType ty = ty_of_for(f->s, stmt);
  Local *index = stmt->locals.items[0];
  bool is_sure = ty.kind == TY_INT && !stmt->is_guess;
  is_sure |= index->is_demanded && !index->reason.is_guess;
  if (f->is_guessing && (ty.kind == TY_NUMBER || stmt->is_guess)) guess_bounds(f, stmt);
  if (f->is_demanding && is_sure)
    for (int i = 0; i < stmt->values.count; i++)
      infer_demand(f, stmt->values.items[i], "which bounds a loop over integers", NULL);
  infer_assigned(f, index, ty, NULL);
  infer_block(f, &stmt->bodies.items[0]);
}

static Type infer_range(Infer *f, LoopHead *head) {
  Type type = TYPE(I32);
  for (int i = 0; i < head->bounds.count; i++) {
    Expr *bound = head->bounds.items[i];
    if (!bound) continue;
    if (ty_is_wide(infer_expr(f, bound))) type = TYPE(I64);
    infer_demand(f, bound, "which bounds a range", NULL);
  }
  return type;
}

/* The index of a field with an offset may need more bits than those of its level. */
static Type active_index(const LoopHead *head) {
  for (int k = 0; head->offset && k < head->node->rank; k++)
    if (head->offset[k] < -INT32_MAX || head->offset[k] + head->node->shape[k] > INT32_MAX)
      return TYPE(I64);
  return ir_index_type(head->node);
}

static void infer_for_in(Infer *f, Stmt *stmt) {
  LoopHead *head = stmt->head;
  if (head->items) infer_expr(f, head->items);
  head->index = head->items ? TYPE(I32) : head->node ? active_index(head) : infer_range(f, head);
  for (int i = 0; i < stmt->locals.count; i++)
    if (!head->items || i == 0) infer_assigned(f, stmt->locals.items[i], ty_of(head->index), NULL);
  if (head->items) infer_items(f, head, stmt);
  infer_block(f, &stmt->bodies.items[0]);
}

/* -- statements -------------------------------------------------------------------------------- */

static void infer_result(Infer *f, Result *result, Expr *value) {
  PartialType ty = infer_expr(f, value);
  if (f->s->has_result_types) {
    if (type_is_integer(result->ty.type))
      infer_demand(f, value, "which becomes an integer result", NULL);
    return;
  }
  if (ty.kind == TY_NONE) return;
  if (result->ty.kind != TY_NONE && (result->ty.kind == TY_BOOL) != (ty.kind == TY_BOOL)) {
    sema_fail(f->s, value, RG_ERROR_TYPE_MISMATCH, NULL,
              "the kernel returns %s elsewhere, and here %s", ty_text(f->s, result->ty),
              ty_text(f->s, ty));
    return;
  }
  PartialType joined = ty_join(result->ty, ty_default(f->s, ty));
  f->has_changed |= !is_equal(joined, result->ty);
  result->ty = joined;
}

static void infer_return(Infer *f, Stmt *stmt) {
  if (stmt->returns_from) {
    infer_inline_return(f, stmt);
    return;
  }
  for (int i = 0; i < stmt->values.count; i++)
    infer_result(f, &f->s->results.items[i], stmt->values.items[i]);
}

static void infer_bodies(Infer *f, Stmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) infer_block(f, &stmt->bodies.items[i]);
}

static void infer_stmt(Infer *f, Stmt *stmt) {
  switch (stmt->kind) {
  case AST_STMT_LOCAL: infer_declaration(f, stmt); break;
  case AST_STMT_ASSIGN:
  case AST_STMT_COMPOUND: infer_assignment(f, stmt); break;
  case AST_STMT_RETURN: infer_return(f, stmt); break;
  case AST_STMT_FOR: infer_numeric_for(f, stmt); break;
  case AST_STMT_FOR_IN: infer_for_in(f, stmt); break;
  case AST_STMT_REPEAT:
    infer_block(f, &stmt->bodies.items[0]);
    infer_list(f, &stmt->values);
    break;
  default:
    infer_list(f, &stmt->values);
    infer_bodies(f, stmt);
    break;
  }
}

void infer_block(Infer *f, Block *block) {
  for (int i = 0; i < block->count; i++) {
    Stmt *stmt = block->items[i];
    if (stmt->is_head_broken) infer_bodies(f, stmt);
    if (stmt->is_broken) continue;
    infer_stmt(f, stmt);
    sema_recover_head(f->s, stmt);
  }
}

/* -- rounds ------------------------------------------------------------------------------------ */

/* The LaunchArg of parameter number i, or NULL. */
static LaunchArg *launch_arg_of(Infer *f, int i) {
  int number = f->s->parameter_launch_arg[i];
  return number ? &f->s->launch_args.items[number - 1] : NULL;
}

static void give_parameters(Infer *f) {
  for (int i = 0; i < f->s->parameters.count; i++) {
    const LaunchArg *launch_arg = launch_arg_of(f, i);
    if (launch_arg) infer_assigned(f, f->s->parameters.items[i], launch_arg->ty, NULL);
  }
}

/* If an assigned parameter must be an integer, so must its launch argument. */
static void demand_parameters(Infer *f) {
  for (int i = 0; i < f->s->parameters.count; i++) {
    Local *parameter = f->s->parameters.items[i];
    LaunchArg *launch_arg = launch_arg_of(f, i);
    if (!launch_arg || launch_arg->ty.kind != TY_NUMBER || !parameter->is_demanded) continue;
    Type type = demand_type(f, launch_arg, parameter->reason);
    if (type_is_none(type)) continue;
    launch_arg->ty = ty_of(type);
    launch_arg->reason = parameter->reason;
    f->has_changed = true;
  }
}

static bool run_until_stable(Infer *f) {
  bool changed_ever = false;
  do {
    f->has_changed = false;
    give_parameters(f);
    infer_block(f, &f->s->body);
    infer_functions(f);
    if (f->is_demanding) demand_parameters(f);
    changed_ever |= f->has_changed;
  } while (f->has_changed);
  return changed_ever;
}

static void reset_types(Infer *f) {
  for (int i = 0; i < f->s->locals.count; i++) f->s->locals.items[i]->ty = (PartialType){0};
  for (int i = 0; i < f->s->results.count && !f->s->has_result_types; i++)
    f->s->results.items[i].ty = (PartialType){0};
}

void infer_kernel(Sema *s) {
  Infer infer = {.s = s};
  Infer *f = &infer;
  bool is_stable = false;
  while (!is_stable) {
    reset_types(f);
    run_until_stable(f);
    f->is_demanding = true;
    is_stable = !run_until_stable(f);
    f->is_guessing = is_stable;
    if (is_stable) is_stable = !run_until_stable(f);
    f->is_demanding = f->is_guessing = false;
  }
  for (int i = 0; i < s->launch_args.count; i++)
    if (s->launch_args.items[i].ty.kind == TY_NUMBER) s->launch_args.items[i].ty.kind = TY_FLEXIBLE;
  reset_types(f);
  f->is_last_round = true;
  run_until_stable(f);
}
